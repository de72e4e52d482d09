//! Flow control (RFC 9113 §5.2, §6.9), for streams and connections alike.
//!
//! Rule 1: every change of a window happens in this file.
//! Rule 2: nothing here knows whether we are the client or the server, or which stream it is.
//!
//! A receive window moves in three steps. DATA moves bytes from `available` to `held` when it arrives; the
//! application moves them from `held` to `owed` when it has consumed them; `update` announces what is owed
//! once that is worth a frame: half of the window, or a quarter of a mebibyte of a large one, so that the
//! peer need not wait for it. The announced bytes are `available` again, and `available + held + owed` is
//! always the size of the window. Bytes of padding skip the middle step.

use crate::frame::MAX_31;
use crate::guard::violation::Violation;

/// The window in which this side may send; negative after a change of the peer's SETTINGS (RFC 9113 §6.9.2).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct SendWindow(i64);

impl SendWindow {
    #[inline]
    pub(crate) const fn new(bytes: u32) -> Self {
        Self(bytes as i64)
    }

    /// Returns how many bytes may be sent now; zero when the window is negative.
    #[inline]
    pub(crate) const fn available(self) -> u32 {
        if self.0 > 0 { self.0 as u32 } else { 0 }
    }

    /// Returns the window in bytes; negative after the peer has made it smaller.
    pub(crate) const fn bytes(self) -> i64 {
        self.0
    }

    /// Takes bytes that are being sent; at most what is available.
    #[inline]
    pub(crate) fn take(&mut self, bytes: u32) {
        debug_assert!(bytes == 0 || bytes <= self.available());
        self.0 -= i64::from(bytes);
    }

    /// Adds what the peer grants; an error, without a change, above 2^31-1.
    #[inline]
    pub(crate) fn grow(&mut self, increment: u32) -> Result<(), WindowOverflow> {
        self.shift(i64::from(increment))
    }

    /// Applies a change of SETTINGS_INITIAL_WINDOW_SIZE.
    pub(crate) fn shift(&mut self, delta: i64) -> Result<(), WindowOverflow> {
        let value = self.0 + delta;
        if value > i64::from(MAX_31) {
            return Err(WindowOverflow);
        }
        self.0 = value;
        Ok(())
    }
}

/// The error of a window that would exceed 2^31-1.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct WindowOverflow;

/// The bytes of DATA that always justify a WINDOW_UPDATE of thirteen bytes, however large the window.
const WORTH_A_FRAME_MAX: u32 = 256 * 1024;

/// Returns the bytes of DATA that justify a WINDOW_UPDATE along with other frames, for a window of this size.
const fn worth_company(size: u32) -> u32 {
    match size / 8 {
        0 => 1,
        eighth if eighth > 64 * 1024 => 64 * 1024,
        eighth => eighth,
    }
}

/// The window in which the peer may send, and the account of the bytes that it has sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct ReceiveWindow {
    /// The bytes that the peer may still send; negative after this side has made the window smaller.
    available: i64,
    /// The received bytes that are not consumed yet.
    held: u32,
    /// The consumed bytes that are not announced yet.
    owed: u32,
    /// The sum of the three.
    size: u32,
    /// The unannounced bytes from which on WINDOW_UPDATE goes along with other frames.
    company_at: u32,
}

impl ReceiveWindow {
    #[inline]
    pub(crate) const fn new(size: u32) -> Self {
        Self { available: size as i64, held: 0, owed: 0, size, company_at: worth_company(size) }
    }

    /// Takes a received frame, `consumed` bytes of which nobody waits for (padding).
    #[inline]
    pub(crate) fn receive(&mut self, bytes: u32, consumed: u32) -> Result<(), WindowExceeded> {
        debug_assert!(consumed <= bytes);
        // A frame without bytes may come whatever the window is, be it negative (RFC 9113 §6.9).
        if i64::from(bytes) > self.available.max(0) {
            return Err(WindowExceeded);
        }
        self.available -= i64::from(bytes);
        self.held += bytes - consumed;
        self.owed += consumed;
        Ok(())
    }

    /// Releases bytes that the application has consumed; at most those held are counted. Returns how many
    /// were.
    #[inline]
    pub(crate) fn release(&mut self, bytes: u32) -> u32 {
        let bytes = bytes.min(self.held);
        self.held -= bytes;
        self.owed += bytes;
        bytes
    }

    /// Returns the increment of a WINDOW_UPDATE that is worth sending now.
    #[inline]
    pub(crate) fn update(&mut self) -> Option<u32> {
        self.is_update_due().then(|| self.announce())
    }

    /// Returns true if a WINDOW_UPDATE should go along with other frames, which saves a later one.
    #[inline]
    pub(crate) const fn is_worth_company(&self) -> bool {
        self.owed >= self.company_at
    }

    /// Counts the consumed bytes as announced; returns their number.
    pub(crate) fn announce(&mut self) -> u32 {
        let increment = self.owed;
        self.owed = 0;
        self.available += i64::from(increment);
        increment
    }

    /// Returns true if half of the window is unannounced, or enough to justify a frame in any case. No window
    /// is above 2^31-1, so doubling overflows nothing.
    #[inline]
    const fn is_update_due(self) -> bool {
        (self.owed >= WORTH_A_FRAME_MAX || 2 * self.owed >= self.size) && self.owed > 0
    }

    /// Makes the window larger by what is announced at once; an error, without a change, above 2^31-1.
    pub(crate) fn grow(&mut self, increment: u32) -> Result<(), WindowOverflow> {
        let size = self.size.checked_add(increment).filter(|&size| size <= MAX_31).ok_or(WindowOverflow)?;
        self.size = size;
        self.company_at = worth_company(size);
        self.available += i64::from(increment);
        Ok(())
    }

    /// Returns true if a change of our own SETTINGS_INITIAL_WINDOW_SIZE would leave the window within 2^31-1.
    pub(crate) fn has_room(self, from: u32, to: u32) -> bool {
        i64::from(self.size) + i64::from(to) - i64::from(from) <= i64::from(MAX_31)
    }

    /// Applies a change of our own SETTINGS_INITIAL_WINDOW_SIZE, once it is acknowledged; there is room for
    /// it.
    pub(crate) fn resize(&mut self, from: u32, to: u32) {
        debug_assert!(self.has_room(from, to), "{self:?} from {from} to {to}");
        let delta = i64::from(to) - i64::from(from);
        self.available += delta;
        self.size = (i64::from(self.size) + delta) as u32;
        self.company_at = worth_company(self.size);
    }

    #[inline]
    pub(crate) const fn held(self) -> u32 {
        self.held
    }

    /// Returns how many bytes the peer may still send; negative after this side has made the window smaller.
    pub(crate) const fn available(self) -> i64 {
        self.available
    }

    pub(crate) const fn size(self) -> u32 {
        self.size
    }

    /// Panics unless the three parts add up.
    pub(crate) fn check_invariants(self) {
        let sum = self.available + i64::from(self.held) + i64::from(self.owed);
        assert_eq!(sum, i64::from(self.size), "{self:?}");
        assert!(!self.is_update_due(), "an update is overdue: {self:?}");
    }
}

/// The error of a frame that exceeds the window.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct WindowExceeded;

impl WindowExceeded {
    pub(crate) const ON_STREAM: Violation = Violation::STREAM_WINDOW_EXCEEDED;
    pub(crate) const ON_CONNECTION: Violation = Violation::WINDOW_EXCEEDED;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_send_window_goes_below_zero_by_settings_only() {
        let mut window = SendWindow::new(3);
        window.take(3);
        assert_eq!(window.shift(-1), Ok(()));
        assert_eq!((window, window.available()), (SendWindow(-1), 0));
        assert_eq!(window.grow(2), Ok(()));
        assert_eq!(window.available(), 1);
    }

    #[test]
    fn a_send_window_refuses_to_pass_the_maximum_and_stays() {
        let mut window = SendWindow::new(65_535);
        assert_eq!(window.grow(MAX_31), Err(WindowOverflow));
        assert_eq!(window, SendWindow::new(65_535));
        assert_eq!(window.grow(MAX_31 - 65_535), Ok(()));
        assert_eq!(window.available(), MAX_31);
    }

    #[test]
    fn updates_follow_consumption_and_come_by_halves() {
        let mut window = ReceiveWindow::new(100);
        assert_eq!(window.receive(60, 0), Ok(()));
        assert_eq!(window.update(), None, "nothing is consumed");
        assert_eq!(window.release(49), 49);
        assert_eq!(window.update(), None, "less than half");
        assert_eq!(window.release(49), 11, "only what is held");
        assert_eq!(window.update(), Some(60));
        assert_eq!(window, ReceiveWindow::new(100));
    }

    #[test]
    fn less_is_announced_in_company() {
        for (size, least) in [(100, 12), (1 << 20, 64 * 1024), (4, 1)] {
            let mut window = ReceiveWindow::new(size);
            assert!(!window.is_worth_company(), "nothing is owed");
            window.receive(least, least - 1).unwrap();
            assert!(!window.is_worth_company());
            window.release(1);
            assert!(window.is_worth_company());
            assert_eq!(window.announce(), least);
            window.check_invariants();
        }
    }

    #[test]
    fn padding_is_owed_at_once() {
        let mut window = ReceiveWindow::new(100);
        assert_eq!(window.receive(60, 50), Ok(()));
        assert_eq!(window.update(), Some(50));
        window.check_invariants();
        assert_eq!(window.held(), 10);
    }

    #[test]
    fn what_exceeds_the_window_is_refused_whole() {
        let mut window = ReceiveWindow::new(10);
        assert_eq!(window.receive(11, 0), Err(WindowExceeded));
        assert_eq!(window.receive(10, 0), Ok(()));
        assert_eq!(window.receive(1, 0), Err(WindowExceeded));
        assert_eq!(window.receive(0, 0), Ok(()), "an empty frame needs no window");
    }

    #[test]
    fn resizing_keeps_what_was_consumed() {
        let mut window = ReceiveWindow::new(100);
        assert_eq!(window.receive(80, 0), Ok(()));
        window.resize(100, 50);
        assert_eq!(window.receive(1, 0), Err(WindowExceeded), "the window is negative now");
        // A client that had sent its content before it heard of a smaller window was reset for its empty last
        // frame.
        assert_eq!(window.receive(0, 0), Ok(()), "an empty frame needs no window, not even one of nothing");
        assert_eq!(window.release(80), 80);
        assert_eq!(window.update(), Some(80));
        assert_eq!(window, ReceiveWindow::new(50));
    }
}
