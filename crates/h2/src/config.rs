//! The configuration of a connection.

use core::time::Duration;

use alula_hpack::EncoderConfig;
use alula_machine::Limits;

use crate::frame::MAX_31;
use crate::frame::settings::{FRAME_BYTES_MAX, FRAME_BYTES_MIN, Settings};

/// The settings of one connection; the defaults are meant to be kept.
///
/// ```
/// use alula::h2::{Config, Connection};
///
/// let config = Config { connect_protocol: true, ..Config::default() };
/// let server = Connection::server(config);
/// assert!(server.wants_write());
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Config {
    /// The limits on what the peer may make us hold or do.
    pub limits: Limits,
    /// The compression of fields; the table is as large as this, the limits' `encoder_table_bytes` and the
    /// peer allow. By default the limit decides.
    pub encoder: EncoderConfig,
    /// True if a server takes extended CONNECT (RFC 8441); without effect on a client.
    pub connect_protocol: bool,
    /// True if a server sends DATA in the order of priorities (RFC 9218 §10); without effect on a client. Its
    /// driver has to say when a turn [ends](crate::Connection::end_turn).
    pub schedule: bool,
    /// The number of streams that a client opens before the server's SETTINGS state a limit; default 100,
    /// which is usual. Set it to the limit of a server that you know: it refuses streams beyond that. Without
    /// effect on a server.
    pub streams_expected: u32,
    /// The time for which the peer may be silent while streams are open, before it is pinged; `None` is
    /// never.
    pub keep_alive: Option<Duration>,
    /// The time that the peer may take to answer a PING; default 20 s.
    pub ping_timeout: Duration,
    /// The time that the peer may take to acknowledge our SETTINGS; default 30 s.
    pub settings_timeout: Duration,
    /// The faults of servers that are forgiven; without effect on a server.
    pub leniency: Leniency,
    /// True if [`poll_trace`](crate::Connection::poll_trace) tells of every frame.
    pub trace: bool,
}

/// The faults of a server's responses that are forgiven, one by one; none by default.
///
/// A request is forgiven nothing: what one reader takes out, another one behind it may take for something
/// else.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Leniency {
    /// Spaces and tabs at the ends of values, which RFC 9113 §8.2.1 calls malformed, in heads and trailers of
    /// responses: they are taken out. Over HTTP/1.1 they are no part of a value (RFC 9110 §5.5), and servers
    /// have passed them on.
    pub spaced_values: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            encoder: EncoderConfig { table_bytes_max: u32::MAX, ..EncoderConfig::default() },
            connect_protocol: false,
            schedule: false,
            streams_expected: 100,
            keep_alive: None,
            ping_timeout: Duration::from_secs(20),
            settings_timeout: Duration::from_secs(30),
            leniency: Leniency::default(),
            trace: false,
        }
    }
}

impl Config {
    pub(crate) fn encoder(&self) -> EncoderConfig {
        let table_bytes_max = self.encoder.table_bytes_max.min(self.limits.encoder_table_bytes);
        EncoderConfig { table_bytes_max, ..self.encoder }
    }

    /// Returns the SETTINGS that are sent first; limits beyond the range of SETTINGS are cut to it.
    pub(crate) fn settings(&self, client: bool) -> Settings {
        Settings {
            table_bytes: self.limits.table_bytes,
            push: false,
            streams_max: if client { None } else { Some(self.limits.streams) },
            stream_window: self.limits.stream_window.min(MAX_31),
            frame_bytes_max: self.limits.frame_bytes.clamp(FRAME_BYTES_MIN, FRAME_BYTES_MAX),
            field_section_bytes_max: Some(self.limits.field_section_bytes),
            connect_protocol: !client && self.connect_protocol,
            no_rfc7540_priorities: !client,
        }
    }
}
