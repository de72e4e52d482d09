//! The rules a peer can break: what it is told, what it brings down, and which section says so.
//!
//! Rule 1: every error a peer can cause is a row of this table and nothing else.
//! Rule 2: the text ends in the section that has the rule; tests pin that.

use core::fmt;

pub use alula_machine::Scope;

use alula_machine::Rule;

use crate::frame::error_code::ErrorCode;

/// A rule that the peer broke. `Copy` and free of allocation: it is built on hostile paths.
///
/// ```
/// use alula::h2::{ErrorCode, Scope, Violation};
///
/// let violation = Violation::DATA_ON_IDLE;
/// assert_eq!((violation.code, violation.scope), (ErrorCode::PROTOCOL_ERROR, Scope::Connection));
/// assert_eq!(violation.to_string(), "DATA on an idle stream (RFC 9113 §5.1)");
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Violation {
    /// The error code for the peer (RFC 9113 §7).
    pub code: ErrorCode,
    /// The scope of the error: the stream or the connection (RFC 9113 §5.4).
    pub scope: Scope,
    /// The rule in words, ending in its section.
    pub rule: &'static str,
}

impl Violation {
    const fn stream(code: ErrorCode, rule: &'static str) -> Self {
        Self { code, scope: Scope::Stream, rule }
    }

    pub(crate) const fn connection(code: ErrorCode, rule: &'static str) -> Self {
        Self { code, scope: Scope::Connection, rule }
    }
}

impl Rule for Violation {
    type Code = ErrorCode;

    const PROTOCOL: &'static str = "HTTP/2";

    fn name(self) -> &'static str {
        let row = Self::ALL.iter().find(|(_, known)| known.rule == self.rule);
        row.map_or("UNKNOWN", |(name, _)| *name)
    }

    fn scope(self) -> Scope {
        self.scope
    }

    fn is_of_limit(self) -> bool {
        [
            Self::SETTINGS_TOO_MANY,
            Self::CONTINUATION_FLOOD,
            Self::FIELDS_FAR_TOO_LARGE,
            Self::FIELDS_TOO_LARGE,
            Self::INTERIM_FLOOD,
            Self::TOO_MANY_GLITCHES,
            Self::TOO_MANY_ACKS,
        ]
        .contains(&self)
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.rule)
    }
}

impl core::error::Error for Violation {}

macro_rules! violations {
    ($($name:ident: $scope:ident $code:ident $rule:literal;)*) => {
        /// The rules, one constant each; the text of a rule is its documentation.
        impl Violation {
            $(
                #[doc = concat!($rule, ".")]
                pub const $name: Self = Self::$scope(ErrorCode::$code, $rule);
            )*

            /// The rules with the names of their constants, in the order of the table.
            pub const ALL: &'static [(&'static str, Self)] = &[$((stringify!($name), Self::$name)),*];
        }
    };
}

violations! {
    // Opening a connection, frames as such.
    BAD_PREFACE: connection PROTOCOL_ERROR "the connection does not start with the client preface (RFC 9113 §3.4)";
    SETTINGS_NOT_FIRST: connection PROTOCOL_ERROR "the first frame is not SETTINGS (RFC 9113 §3.4)";
    FRAME_TOO_LARGE: connection FRAME_SIZE_ERROR "a frame is longer than SETTINGS_MAX_FRAME_SIZE allows (RFC 9113 §4.2)";
    PADDING_TOO_LONG: connection PROTOCOL_ERROR "the padding is as long as the payload or longer (RFC 9113 §6.1)";
    FRAME_TOO_SHORT: connection FRAME_SIZE_ERROR "a frame is too short for the fields its flags announce (RFC 9113 §4.2)";

    // Streams.
    DATA_ON_CONNECTION: connection PROTOCOL_ERROR "DATA on stream 0 (RFC 9113 §6.1)";
    HEADERS_ON_CONNECTION: connection PROTOCOL_ERROR "HEADERS on stream 0 (RFC 9113 §6.2)";
    PRIORITY_ON_CONNECTION: connection PROTOCOL_ERROR "PRIORITY on stream 0 (RFC 9113 §6.3)";
    RST_STREAM_ON_CONNECTION: connection PROTOCOL_ERROR "RST_STREAM on stream 0 (RFC 9113 §6.4)";
    SETTINGS_ON_STREAM: connection PROTOCOL_ERROR "SETTINGS on a stream other than 0 (RFC 9113 §6.5)";
    PING_ON_STREAM: connection PROTOCOL_ERROR "PING on a stream other than 0 (RFC 9113 §6.7)";
    GOAWAY_ON_STREAM: connection PROTOCOL_ERROR "GOAWAY on a stream other than 0 (RFC 9113 §6.8)";
    DATA_ON_IDLE: connection PROTOCOL_ERROR "DATA on an idle stream (RFC 9113 §5.1)";
    RST_STREAM_ON_IDLE: connection PROTOCOL_ERROR "RST_STREAM on an idle stream (RFC 9113 §5.1)";
    WINDOW_UPDATE_ON_IDLE: connection PROTOCOL_ERROR "WINDOW_UPDATE on an idle stream (RFC 9113 §5.1)";
    HEADERS_ON_IDLE: connection PROTOCOL_ERROR "a response on a stream that was never opened (RFC 9113 §5.1.1)";
    EVEN_STREAM_ID: connection PROTOCOL_ERROR "a client opened a stream with an even identifier (RFC 9113 §5.1.1)";
    STREAM_ID_NOT_NEW: connection PROTOCOL_ERROR "a new stream's identifier is not above all before it (RFC 9113 §5.1.1)";
    FRAME_AFTER_END: stream STREAM_CLOSED "a frame after the one with END_STREAM (RFC 9113 §5.1)";
    FRAME_AFTER_RESET: stream STREAM_CLOSED "a frame on a stream the peer itself has reset (RFC 9113 §5.1)";
    FRAME_ON_CLOSED: connection STREAM_CLOSED "a frame on a stream that both sides have ended (RFC 9113 §5.1)";
    HEADERS_ON_CLOSED: stream STREAM_CLOSED "HEADERS on a stream that closed long ago (RFC 9113 §5.1)";
    DATA_ON_CLOSED: stream STREAM_CLOSED "DATA on a stream that closed long ago (RFC 9113 §6.1)";
    TOO_MANY_STREAMS: stream REFUSED_STREAM "more streams than SETTINGS_MAX_CONCURRENT_STREAMS allows (RFC 9113 §5.1.2)";
    PUSH_PROMISE: connection PROTOCOL_ERROR "PUSH_PROMISE although push is disabled (RFC 9113 §6.6)";
    PRIORITY_LENGTH: stream FRAME_SIZE_ERROR "PRIORITY is not 5 bytes long (RFC 9113 §6.3)";
    SELF_DEPENDENCY: stream PROTOCOL_ERROR "a stream depends on itself (RFC 7540 §5.3.1)";
    PRIORITY_UPDATE_TO_CLIENT: connection PROTOCOL_ERROR "PRIORITY_UPDATE from a server (RFC 9218 §7.1)";
    PRIORITY_UPDATE_ON_STREAM: connection PROTOCOL_ERROR "PRIORITY_UPDATE on a stream other than 0 (RFC 9218 §7.1)";
    PRIORITY_UPDATE_LENGTH: connection FRAME_SIZE_ERROR "PRIORITY_UPDATE is shorter than 4 bytes (RFC 9218 §7.1)";
    PRIORITY_UPDATE_OF_NOTHING: connection PROTOCOL_ERROR "PRIORITY_UPDATE for stream 0 or for one that was never promised (RFC 9218 §7.1)";
    PRIORITY_UPDATES_TOO_MANY: connection PROTOCOL_ERROR "PRIORITY_UPDATE for more streams than SETTINGS_MAX_CONCURRENT_STREAMS allows (RFC 9218 §7.1)";
    RST_STREAM_LENGTH: connection FRAME_SIZE_ERROR "RST_STREAM is not 4 bytes long (RFC 9113 §6.4)";

    // Settings, ping, going away.
    SETTINGS_LENGTH: connection FRAME_SIZE_ERROR "the length of SETTINGS is no multiple of 6 (RFC 9113 §6.5)";
    SETTINGS_ACK_LENGTH: connection FRAME_SIZE_ERROR "the acknowledgment of SETTINGS is not empty (RFC 9113 §6.5)";
    SETTING_PUSH: connection PROTOCOL_ERROR "SETTINGS_ENABLE_PUSH has a value it must not have (RFC 9113 §6.5.2)";
    SETTING_WINDOW: connection FLOW_CONTROL_ERROR "SETTINGS_INITIAL_WINDOW_SIZE is above 2^31-1 (RFC 9113 §6.5.2)";
    SETTING_FRAME_SIZE: connection PROTOCOL_ERROR "SETTINGS_MAX_FRAME_SIZE is out of range (RFC 9113 §6.5.2)";
    SETTING_CONNECT: connection PROTOCOL_ERROR "SETTINGS_ENABLE_CONNECT_PROTOCOL is neither 0 nor 1, or went back to 0 (RFC 8441 §3)";
    SETTING_PRIORITIES: connection PROTOCOL_ERROR "SETTINGS_NO_RFC7540_PRIORITIES is neither 0 nor 1, or was changed (RFC 9218 §2.1)";
    SETTINGS_TOO_MANY: connection ENHANCE_YOUR_CALM "a SETTINGS frame has too many entries (RFC 9113 §10.5)";
    PING_LENGTH: connection FRAME_SIZE_ERROR "PING is not 8 bytes long (RFC 9113 §6.7)";
    GOAWAY_LENGTH: connection FRAME_SIZE_ERROR "GOAWAY is shorter than 8 bytes (RFC 9113 §6.8)";
    GOAWAY_RAISED: connection PROTOCOL_ERROR "GOAWAY names a higher stream than the one before (RFC 9113 §6.8)";

    // Flow control.
    WINDOW_UPDATE_LENGTH: connection FRAME_SIZE_ERROR "WINDOW_UPDATE is not 4 bytes long (RFC 9113 §6.9)";
    ZERO_INCREMENT: connection PROTOCOL_ERROR "WINDOW_UPDATE of the connection adds nothing (RFC 9113 §6.9)";
    ZERO_STREAM_INCREMENT: stream PROTOCOL_ERROR "WINDOW_UPDATE of a stream adds nothing (RFC 9113 §6.9)";
    WINDOW_OVERFLOW: connection FLOW_CONTROL_ERROR "the connection's window would exceed 2^31-1 (RFC 9113 §6.9.1)";
    STREAM_WINDOW_OVERFLOW: stream FLOW_CONTROL_ERROR "a stream's window would exceed 2^31-1 (RFC 9113 §6.9.1)";
    SETTINGS_WINDOW_OVERFLOW: connection FLOW_CONTROL_ERROR "SETTINGS would push a stream's window above 2^31-1 (RFC 9113 §6.9.2)";
    WINDOW_EXCEEDED: connection FLOW_CONTROL_ERROR "more DATA than the connection's window allows (RFC 9113 §6.9.1)";
    STREAM_WINDOW_EXCEEDED: stream FLOW_CONTROL_ERROR "more DATA than the stream's window allows (RFC 9113 §6.9.1)";

    // Field blocks.
    CONTINUATION_UNEXPECTED: connection PROTOCOL_ERROR "CONTINUATION without an unfinished field block (RFC 9113 §6.10)";
    BLOCK_INTERRUPTED: connection PROTOCOL_ERROR "a frame between the frames of a field block (RFC 9113 §4.3)";
    CONTINUATION_EMPTY: connection ENHANCE_YOUR_CALM "an empty CONTINUATION that does not end the block (RFC 9113 §10.5)";
    CONTINUATION_FLOOD: connection ENHANCE_YOUR_CALM "too many CONTINUATION frames in one field block (RFC 9113 §10.5)";
    FIELDS_FAR_TOO_LARGE: connection ENHANCE_YOUR_CALM "a field section many times larger than SETTINGS_MAX_HEADER_LIST_SIZE (RFC 9113 §10.5.1)";
    FIELDS_TOO_LARGE: stream ENHANCE_YOUR_CALM "a field section larger than SETTINGS_MAX_HEADER_LIST_SIZE (RFC 9113 §10.5.1)";

    // Messages.
    DATA_BEFORE_HEAD: stream PROTOCOL_ERROR "DATA before the head of the message (RFC 9113 §8.1)";
    TRAILERS_WITHOUT_END: stream PROTOCOL_ERROR "a second HEADERS without END_STREAM (RFC 9113 §8.1)";
    INTERIM_ENDS_STREAM: stream PROTOCOL_ERROR "an interim response with END_STREAM (RFC 9113 §8.1)";
    INTERIM_AFTER_FINAL: stream PROTOCOL_ERROR "an interim response after the final one (RFC 9113 §8.1)";
    INTERIM_FLOOD: stream ENHANCE_YOUR_CALM "too many interim responses (RFC 9113 §10.5)";
    FIELDS_IN_TUNNEL: stream PROTOCOL_ERROR "a field section inside a tunnel (RFC 9113 §8.5)";
    NAME_INVALID: stream PROTOCOL_ERROR "a field name that is no token in lower case (RFC 9113 §8.2.1)";
    VALUE_INVALID: stream PROTOCOL_ERROR "a field value with a control, or with white space at an end (RFC 9113 §8.2.1)";
    CONNECTION_SPECIFIC: stream PROTOCOL_ERROR "a field that is about the connection (RFC 9113 §8.2.2)";
    TE_INVALID: stream PROTOCOL_ERROR "te says something other than trailers (RFC 9113 §8.2.2)";
    PSEUDO_AFTER_FIELD: stream PROTOCOL_ERROR "a pseudo-field after a field (RFC 9113 §8.3)";
    PSEUDO_UNKNOWN: stream PROTOCOL_ERROR "a pseudo-field that is not defined for this message (RFC 9113 §8.3)";
    PSEUDO_TWICE: stream PROTOCOL_ERROR "a pseudo-field that comes twice (RFC 9113 §8.3)";
    PSEUDO_IN_TRAILERS: stream PROTOCOL_ERROR "a pseudo-field in trailers (RFC 9113 §8.1)";
    PSEUDO_MISSING: stream PROTOCOL_ERROR "a request without :method, :scheme or :path (RFC 9113 §8.3.1)";
    METHOD_INVALID: stream PROTOCOL_ERROR "a :method that is no token (RFC 9113 §8.3.1)";
    SCHEME_INVALID: stream PROTOCOL_ERROR "a :scheme that is none (RFC 9113 §8.3.1)";
    PATH_INVALID: stream PROTOCOL_ERROR "a :path that is empty or no path, or has a byte that is to be written as %XX (RFC 9113 §8.3.1, RFC 3986 §2)";
    AUTHORITY_INVALID: stream PROTOCOL_ERROR "an :authority that is no host and port (RFC 9113 §8.3.1)";
    HOST_DIFFERS: stream PROTOCOL_ERROR "host differs from :authority, or comes twice (RFC 9113 §8.3.1)";
    CONNECT_PSEUDO: stream PROTOCOL_ERROR "CONNECT without :authority, or with :scheme or :path (RFC 9113 §8.5)";
    PROTOCOL_UNEXPECTED: stream PROTOCOL_ERROR ":protocol without CONNECT, or although it was not enabled (RFC 8441 §4)";
    STATUS_INVALID: stream PROTOCOL_ERROR "a response without a :status of three digits (RFC 9113 §8.3.2)";
    STATUS_SWITCHING: stream PROTOCOL_ERROR "a response with status 101 (RFC 9113 §8.6)";
    CONTENT_LENGTH_INVALID: stream PROTOCOL_ERROR "content-length is no number, or comes twice (RFC 9110 §8.6)";
    CONTENT_LENGTH_MISMATCH: stream PROTOCOL_ERROR "DATA does not add up to content-length (RFC 9113 §8.1.1)";

    // Behaviour that is legal once.
    TOO_MANY_GLITCHES: connection ENHANCE_YOUR_CALM "too many useless or broken frames (RFC 9113 §10.5)";
    TOO_MANY_ACKS: connection ENHANCE_YOUR_CALM "acknowledgments pile up because our output is not read (RFC 9113 §10.5)";
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn every_rule_ends_in_its_section() {
        for (name, violation) in Violation::ALL {
            let rule = violation.to_string();
            let (text, section) = rule.rsplit_once(" (RFC ").unwrap_or_else(|| panic!("{name}: {rule}"));
            assert!(text.len() > 10, "{name}");
            let (number, section) = section.split_once(" §").unwrap_or_else(|| panic!("{name}: {rule}"));
            assert!(["9113", "7540", "8441", "9218", "9110"].contains(&number), "{name}: {rule}");
            assert!(section.ends_with(')'), "{name}: {rule}");
        }
    }

    #[test]
    fn rules_are_told_apart() {
        for (at, (name, violation)) in Violation::ALL.iter().enumerate() {
            for (other, twin) in &Violation::ALL[..at] {
                assert_ne!(violation.rule, twin.rule, "{name} and {other}");
            }
        }
    }
}
