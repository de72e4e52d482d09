//! SETTINGS (RFC 9113 §6.5, RFC 8441 §3, RFC 9218 §2.1): the values of each side and their rules.
//!
//! Rule 1: the peer's values hold as soon as they are read; ours hold once they are acknowledged.
//! Rule 2: every value is checked here, for both directions.

use alloc::vec::Vec;

use crate::frame::{FrameHeader, FrameKind, MAX_31};
use crate::guard::violation::Violation;

/// The parameters of SETTINGS, as numbers with names: unknown ones are ignored.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct SettingId(pub(crate) u16);

impl SettingId {
    pub(crate) const HEADER_TABLE_SIZE: Self = Self(0x1);
    pub(crate) const ENABLE_PUSH: Self = Self(0x2);
    pub(crate) const MAX_CONCURRENT_STREAMS: Self = Self(0x3);
    pub(crate) const INITIAL_WINDOW_SIZE: Self = Self(0x4);
    pub(crate) const MAX_FRAME_SIZE: Self = Self(0x5);
    pub(crate) const MAX_HEADER_LIST_SIZE: Self = Self(0x6);
    pub(crate) const ENABLE_CONNECT_PROTOCOL: Self = Self(0x8);
    pub(crate) const NO_RFC7540_PRIORITIES: Self = Self(0x9);
}

/// The smallest and the initial value of SETTINGS_MAX_FRAME_SIZE (RFC 9113 §6.5.2).
pub(crate) const FRAME_BYTES_MIN: u32 = 1 << 14;
/// The largest value of SETTINGS_MAX_FRAME_SIZE (RFC 9113 §6.5.2).
pub(crate) const FRAME_BYTES_MAX: u32 = (1 << 24) - 1;
/// The initial value of SETTINGS_INITIAL_WINDOW_SIZE, and of the connection's window (RFC 9113 §6.9.2).
pub(crate) const WINDOW_INITIAL: u32 = 65_535;
/// The bytes of an entry on the wire.
pub(crate) const ENTRY_BYTES: usize = 6;

/// The values of one side. `Default` is what holds before any SETTINGS (RFC 9113 §6.5.2).
///
/// ```
/// let settings = alula::h2::Settings::default();
/// assert_eq!((settings.frame_bytes_max, settings.stream_window), (16_384, 65_535));
/// assert_eq!(settings.streams_max, None);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Settings {
    /// SETTINGS_HEADER_TABLE_SIZE: bytes of dynamic table this side decodes with.
    pub table_bytes: u32,
    /// SETTINGS_ENABLE_PUSH: whether this side accepts pushed responses. Alula never pushes and never accepts
    /// it.
    pub push: bool,
    /// SETTINGS_MAX_CONCURRENT_STREAMS: streams this side lets the other open; `None` is no limit.
    pub streams_max: Option<u32>,
    /// SETTINGS_INITIAL_WINDOW_SIZE: bytes of DATA the other side may send on a new stream, at most 2^31-1.
    pub stream_window: u32,
    /// SETTINGS_MAX_FRAME_SIZE: bytes of payload this side takes, 2^14 to 2^24-1.
    pub frame_bytes_max: u32,
    /// SETTINGS_MAX_HEADER_LIST_SIZE: name + value + 32 summed over a field section this side takes; `None`
    /// is no limit.
    pub field_section_bytes_max: Option<u32>,
    /// SETTINGS_ENABLE_CONNECT_PROTOCOL: whether this side, a server, takes extended CONNECT (RFC 8441 §3).
    pub connect_protocol: bool,
    /// SETTINGS_NO_RFC7540_PRIORITIES: whether this side does without the priorities of RFC 7540 (RFC 9218
    /// §2.1). Our servers do; it cannot be changed later.
    pub no_rfc7540_priorities: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            table_bytes: 4096,
            push: true,
            streams_max: None,
            stream_window: WINDOW_INITIAL,
            frame_bytes_max: FRAME_BYTES_MIN,
            field_section_bytes_max: None,
            connect_protocol: false,
            no_rfc7540_priorities: false,
        }
    }
}

impl Settings {
    /// Sets one parameter as the peer sent it; unknown ones change nothing.
    pub(crate) fn set(&mut self, id: SettingId, value: u32, from_server: bool) -> Result<(), Violation> {
        match id {
            SettingId::HEADER_TABLE_SIZE => self.table_bytes = value,
            SettingId::ENABLE_PUSH => self.push = push_value(value, from_server)?,
            SettingId::MAX_CONCURRENT_STREAMS => self.streams_max = Some(value),
            SettingId::INITIAL_WINDOW_SIZE if value > MAX_31 => return Err(Violation::SETTING_WINDOW),
            SettingId::INITIAL_WINDOW_SIZE => self.stream_window = value,
            SettingId::MAX_FRAME_SIZE if !is_frame_size(value) => return Err(Violation::SETTING_FRAME_SIZE),
            SettingId::MAX_FRAME_SIZE => self.frame_bytes_max = value,
            SettingId::MAX_HEADER_LIST_SIZE => self.field_section_bytes_max = Some(value),
            SettingId::ENABLE_CONNECT_PROTOCOL => {
                if value > 1 || (self.connect_protocol && value == 0) {
                    return Err(Violation::SETTING_CONNECT);
                }
                self.connect_protocol = value == 1;
            }
            SettingId::NO_RFC7540_PRIORITIES if value > 1 => return Err(Violation::SETTING_PRIORITIES),
            SettingId::NO_RFC7540_PRIORITIES => self.no_rfc7540_priorities = value == 1,
            _ => {}
        }
        Ok(())
    }

    /// Returns true if these may be sent after `before` (RFC 9113 §6.5.2, RFC 8441 §3).
    pub(crate) fn may_follow(&self, before: &Self) -> bool {
        is_frame_size(self.frame_bytes_max)
            && self.stream_window <= MAX_31
            && !self.push
            && (self.connect_protocol || !before.connect_protocol)
            && self.no_rfc7540_priorities == before.no_rfc7540_priorities
            && (self.streams_max.is_some() || before.streams_max.is_none())
            && (self.field_section_bytes_max.is_some() || before.field_section_bytes_max.is_none())
    }

    /// Returns the frame that takes the peer from `before` to these; only what differs is in it.
    pub(crate) fn frame(&self, before: &Self, client: bool) -> SettingsFrame {
        let mut frame = SettingsFrame { bytes: [0; SettingsFrame::BYTES_MAX], len: 9 };
        let mut entry = |id: SettingId, value: u32, old: u32| {
            if value != old {
                frame.push(id, value);
            }
        };
        entry(SettingId::HEADER_TABLE_SIZE, self.table_bytes, before.table_bytes);
        if client {
            entry(SettingId::ENABLE_PUSH, self.push.into(), before.push.into());
        }
        entry(SettingId::INITIAL_WINDOW_SIZE, self.stream_window, before.stream_window);
        entry(SettingId::MAX_FRAME_SIZE, self.frame_bytes_max, before.frame_bytes_max);
        if let (false, Some(streams)) = (client, self.streams_max) {
            entry(SettingId::MAX_CONCURRENT_STREAMS, streams, before.streams_max.unwrap_or(!streams));
        }
        if let Some(bytes) = self.field_section_bytes_max {
            entry(SettingId::MAX_HEADER_LIST_SIZE, bytes, before.field_section_bytes_max.unwrap_or(!bytes));
        }
        if !client {
            let enabled = self.connect_protocol.into();
            entry(SettingId::ENABLE_CONNECT_PROTOCOL, enabled, before.connect_protocol.into());
            let without = self.no_rfc7540_priorities.into();
            entry(SettingId::NO_RFC7540_PRIORITIES, without, before.no_rfc7540_priorities.into());
        }
        frame.finish()
    }
}

/// A SETTINGS frame on its way out.
pub(crate) struct SettingsFrame {
    bytes: [u8; Self::BYTES_MAX],
    len: usize,
}

impl SettingsFrame {
    const BYTES_MAX: usize = 9 + 8 * ENTRY_BYTES;

    fn push(&mut self, id: SettingId, value: u32) {
        self.bytes[self.len..self.len + 2].copy_from_slice(&id.0.to_be_bytes());
        self.bytes[self.len + 2..self.len + 6].copy_from_slice(&value.to_be_bytes());
        self.len += ENTRY_BYTES;
    }

    fn finish(mut self) -> Self {
        let length = (self.len - 9) as u32;
        let header = FrameHeader { length, kind: FrameKind::SETTINGS, flags: 0, stream: 0 };
        self.bytes[..9].copy_from_slice(&header.bytes());
        self
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// Our own settings: the ones in force, and those that wait for their ACK, in order.
#[derive(Clone, Debug)]
pub(crate) struct LocalSettings {
    acknowledged: Settings,
    /// The last of those that wait, or those in force; used by every request.
    newest: Settings,
    /// The SETTINGS that wait for an acknowledgment before the newest; mostly none.
    earlier: Vec<Settings>,
    /// The newest wait for their acknowledgment.
    await_ack: bool,
}

impl LocalSettings {
    pub(crate) fn new() -> Self {
        let settings = Settings::default();
        Self { acknowledged: settings, newest: settings, earlier: Vec::new(), await_ack: false }
    }

    /// Returns the SETTINGS that the peer has acknowledged.
    #[inline]
    pub(crate) const fn acknowledged(&self) -> &Settings {
        &self.acknowledged
    }

    /// Returns the SETTINGS that were sent last.
    #[inline]
    pub(crate) const fn newest(&self) -> &Settings {
        &self.newest
    }

    /// Returns by how much the windows of streams may still rise above the acknowledged ones.
    pub(crate) fn window_rise(&self) -> u32 {
        let waiting = self.earlier.iter().chain(self.await_ack.then_some(&self.newest));
        let highest = waiting.map(|settings| settings.stream_window).max().unwrap_or(0);
        highest.saturating_sub(self.acknowledged.stream_window)
    }

    pub(crate) fn sent(&mut self, settings: Settings) {
        if core::mem::replace(&mut self.await_ack, true) {
            self.earlier.push(self.newest);
        }
        self.newest = settings;
    }

    pub(crate) fn await_ack(&self) -> bool {
        self.await_ack
    }

    /// Takes an acknowledgment of the oldest that wait; returns the settings before and after it, or `None`
    /// if none wait.
    pub(crate) fn acknowledge(&mut self) -> Option<(Settings, Settings)> {
        let settings = match self.earlier.is_empty() {
            false => self.earlier.remove(0),
            true if core::mem::take(&mut self.await_ack) => self.newest,
            true => return None,
        };
        let before = core::mem::replace(&mut self.acknowledged, settings);
        Some((before, settings))
    }
}

fn push_value(value: u32, from_server: bool) -> Result<bool, Violation> {
    match value {
        0 => Ok(false),
        1 if !from_server => Ok(true),
        _ => Err(Violation::SETTING_PUSH),
    }
}

const fn is_frame_size(value: u32) -> bool {
    value >= FRAME_BYTES_MIN && value <= FRAME_BYTES_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_out_of_range_are_refused_with_their_code() {
        for (id, value, from_server, rule) in [
            (2, 2, false, Violation::SETTING_PUSH),
            (2, 1, true, Violation::SETTING_PUSH),
            (4, MAX_31 + 1, false, Violation::SETTING_WINDOW),
            (5, FRAME_BYTES_MIN - 1, false, Violation::SETTING_FRAME_SIZE),
            (5, FRAME_BYTES_MAX + 1, false, Violation::SETTING_FRAME_SIZE),
            (8, 2, true, Violation::SETTING_CONNECT),
            (9, 2, false, Violation::SETTING_PRIORITIES),
        ] {
            let mut settings = Settings::default();
            assert_eq!(settings.set(SettingId(id), value, from_server), Err(rule), "{id} {value}");
            assert_eq!(settings, Settings::default());
        }
    }

    #[test]
    fn extended_connect_is_not_taken_back() {
        let mut settings = Settings::default();
        assert_eq!(settings.set(SettingId::ENABLE_CONNECT_PROTOCOL, 0, true), Ok(()));
        assert_eq!(settings.set(SettingId::ENABLE_CONNECT_PROTOCOL, 1, true), Ok(()));
        assert_eq!(
            settings.set(SettingId::ENABLE_CONNECT_PROTOCOL, 0, true),
            Err(Violation::SETTING_CONNECT)
        );
    }

    #[test]
    fn unknown_settings_change_nothing() {
        let mut settings = Settings::default();
        for id in [0, 7, 10, 0x0a0a, 0xffff] {
            assert_eq!(settings.set(SettingId(id), u32::MAX, true), Ok(()));
        }
        assert_eq!(settings, Settings::default());
    }

    #[test]
    fn only_what_differs_is_sent() {
        let settings = Settings { push: false, streams_max: Some(100), ..Settings::default() };
        assert_eq!(
            settings.frame(&Settings::default(), true).bytes(),
            [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0]
        );
        assert_eq!(
            settings.frame(&Settings::default(), false).bytes(),
            [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100]
        );
        assert_eq!(settings.frame(&settings, true).bytes(), [0, 0, 0, 4, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn acknowledgments_come_in_order() {
        let mut local = LocalSettings::new();
        let (small, large) = (
            Settings { table_bytes: 0, ..Settings::default() },
            Settings { table_bytes: 9, ..Settings::default() },
        );
        local.sent(small);
        local.sent(large);
        assert_eq!(local.acknowledge(), Some((Settings::default(), small)));
        assert_eq!(local.acknowledge(), Some((small, large)));
        assert_eq!(local.acknowledge(), None);
    }
}
