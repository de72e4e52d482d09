//! What an attacker gets, and its name in the table.

use std::fmt;

/// What an attacker gets.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Answer {
    /// The connection goes on: a PING is answered.
    Served,
    /// The connection goes on, and the first stream of the attack was reset with this code.
    Reset(u32),
    /// The connection goes on, and the first stream of the attack was answered with this status.
    Status(u16),
    /// GOAWAY with this code, and the end.
    GoAway(u32),
    /// The end of the connection without GOAWAY.
    Closed,
    /// Nothing at all, for as long as one waits.
    Silence,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Served => f.write_str("served"),
            Self::Reset(code) => write!(f, "RST_STREAM {}", name(*code)),
            Self::Status(status) => write!(f, "{status}"),
            Self::GoAway(code) => write!(f, "GOAWAY {}", name(*code)),
            Self::Closed => f.write_str("closed"),
            Self::Silence => f.write_str("nothing"),
        }
    }
}

/// The name of an error code (RFC 9113 §7).
fn name(code: u32) -> String {
    const NAMES: [&str; 14] = [
        "NO_ERROR",
        "PROTOCOL_ERROR",
        "INTERNAL_ERROR",
        "FLOW_CONTROL_ERROR",
        "SETTINGS_TIMEOUT",
        "STREAM_CLOSED",
        "FRAME_SIZE_ERROR",
        "REFUSED_STREAM",
        "CANCEL",
        "COMPRESSION_ERROR",
        "CONNECT_ERROR",
        "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY",
        "HTTP_1_1_REQUIRED",
    ];
    NAMES.get(code as usize).map_or_else(|| format!("code {code}"), |name| (*name).to_owned())
}
