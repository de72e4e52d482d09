//! The error codes of HTTP/2 (RFC 9113 §7), as a number with names, since peers may send unregistered ones.

use core::fmt;

use crate::error::{Awaited, ConnectionError};

/// The reason for which a stream or a connection ended, as a number on the wire (RFC 9113 §7).
///
/// ```
/// use alula::h2::ErrorCode;
///
/// assert_eq!(ErrorCode::CANCEL.to_string(), "CANCEL");
/// assert_eq!(ErrorCode(0xff).to_string(), "0xff");
/// ```
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ErrorCode(pub u32);

impl ErrorCode {
    /// The code for an end without an error.
    pub const NO_ERROR: Self = Self(0x0);
    /// A rule was broken that has no code of its own.
    pub const PROTOCOL_ERROR: Self = Self(0x1);
    /// The sender of this code failed.
    pub const INTERNAL_ERROR: Self = Self(0x2);
    /// More flow-controlled bytes came than were allowed, or a window grew too large.
    pub const FLOW_CONTROL_ERROR: Self = Self(0x3);
    /// SETTINGS were not acknowledged in time.
    pub const SETTINGS_TIMEOUT: Self = Self(0x4);
    /// A frame came on a stream that was half-closed or closed.
    pub const STREAM_CLOSED: Self = Self(0x5);
    /// A frame had a length it must not have.
    pub const FRAME_SIZE_ERROR: Self = Self(0x6);
    /// The stream was refused before it was acted on.
    pub const REFUSED_STREAM: Self = Self(0x7);
    /// The stream is not needed any more.
    pub const CANCEL: Self = Self(0x8);
    /// The field compression state cannot be maintained.
    pub const COMPRESSION_ERROR: Self = Self(0x9);
    /// The connection made for CONNECT was reset or closed abnormally.
    pub const CONNECT_ERROR: Self = Self(0xa);
    /// The peer causes too much work.
    pub const ENHANCE_YOUR_CALM: Self = Self(0xb);
    /// The transport is not secure enough.
    pub const INADEQUATE_SECURITY: Self = Self(0xc);
    /// HTTP/1.1 is required instead.
    pub const HTTP_1_1_REQUIRED: Self = Self(0xd);

    /// Returns the error code with which the connection ended, sent by either side.
    pub const fn of(error: &ConnectionError) -> Self {
        match error {
            ConnectionError::Peer(violation) => violation.code,
            ConnectionError::Compression { .. } => Self::COMPRESSION_ERROR,
            ConnectionError::GoAway { code, .. } | ConnectionError::Closed(Some(code)) => *code,
            ConnectionError::TimedOut(Awaited::SettingsAck) => Self::SETTINGS_TIMEOUT,
            ConnectionError::TimedOut(Awaited::Head) => Self::ENHANCE_YOUR_CALM,
            _ => Self::NO_ERROR,
        }
    }

    /// Returns the registered name, or `None` for an unregistered code.
    pub const fn name(self) -> Option<&'static str> {
        if (self.0 as usize) < NAMES.len() { Some(NAMES[self.0 as usize]) } else { None }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "{:#x}", self.0),
        }
    }
}

impl fmt::Debug for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The names in the order of the registry, from 0x0.
static NAMES: [&str; 14] = [
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

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn constants_and_names_agree() {
        for (code, name) in [
            (ErrorCode::NO_ERROR, "NO_ERROR"),
            (ErrorCode::SETTINGS_TIMEOUT, "SETTINGS_TIMEOUT"),
            (ErrorCode::STREAM_CLOSED, "STREAM_CLOSED"),
            (ErrorCode::COMPRESSION_ERROR, "COMPRESSION_ERROR"),
            (ErrorCode::HTTP_1_1_REQUIRED, "HTTP_1_1_REQUIRED"),
            (ErrorCode(0xe), "0xe"),
        ] {
            assert_eq!(code.to_string(), name);
        }
    }
}
