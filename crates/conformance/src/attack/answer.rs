//! What an attacker gets, and its name in the table.

use std::fmt;

use ::alula::h2::ErrorCode;

/// What an attacker gets.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Answer {
    /// The connection goes on: a PING is answered.
    Served,
    /// The connection goes on, and the first stream of the attack was reset with this code.
    Reset(ErrorCode),
    /// The connection goes on, and the first stream of the attack was answered with this status.
    Status(u16),
    /// GOAWAY with this code, and the end.
    GoAway(ErrorCode),
    /// This status to the one request that was answered, whole, and the end; over HTTP/1.1.
    Last(u16),
    /// The end of the connection without GOAWAY; over HTTP/1.1 without a whole answer.
    Closed,
    /// Nothing at all, for as long as one waits.
    Silence,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Served => f.write_str("served"),
            Self::Reset(code) => write!(f, "RST_STREAM {}", code),
            Self::Status(status) => write!(f, "{status}"),
            Self::Last(status) => write!(f, "{status}, closed"),
            Self::GoAway(code) => write!(f, "GOAWAY {}", code),
            Self::Closed => f.write_str("closed"),
            Self::Silence => f.write_str("nothing"),
        }
    }
}
