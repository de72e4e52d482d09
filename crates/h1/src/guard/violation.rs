//! The rules a peer can break: what a server answers, and which section says so.
//!
//! Rule 1: every error a peer can cause is a row of this table and nothing else.
//! Rule 2: the text ends in the section that has the rule; tests pin that.
//! Rule 3: each of them ends the connection: where one message ends and the next begins is not known any
//! more.

use core::fmt;

use core::convert::Infallible;

use alula_fields::Status;
use alula_machine::{Rule, Scope};

/// A rule that the peer broke. `Copy` and free of allocation: it is built on hostile paths.
///
/// ```
/// use alula::h1::Violation;
///
/// assert_eq!(Violation::TARGET_LONG.status.as_u16(), 414);
/// assert_eq!(Violation::BARE_LF.to_string(), "a line ends in a line feed alone (RFC 9112 §2.2)");
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Violation {
    /// The status that a server answers with; a client sends none.
    pub status: Status,
    /// The rule in words, ending in its section.
    pub rule: &'static str,
}

impl Rule for Violation {
    /// A type without a value, since HTTP/1.1 has no error codes beside the status.
    type Code = Infallible;

    const PROTOCOL: &'static str = "HTTP/1.1";

    fn name(self) -> &'static str {
        let row = Self::ALL.iter().find(|(_, known)| known.rule == self.rule);
        row.map_or("H1_UNKNOWN", |(name, _)| *name)
    }

    fn scope(self) -> Scope {
        Scope::Connection
    }

    fn is_of_limit(self) -> bool {
        true
    }

    fn is_cut(self) -> bool {
        matches!(self, Self::CUT_HEAD | Self::CUT_CONTENT | Self::TRUNCATED)
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.rule)
    }
}

impl core::error::Error for Violation {}

macro_rules! violations {
    ($($name:ident: $status:ident $rule:literal;)*) => {
        /// The rules, one constant each; the text of a rule is its documentation.
        impl Violation {
            $(
                #[doc = concat!($rule, ".")]
                pub const $name: Self = Self { status: Status::$status, rule: $rule };
            )*

            /// The rules with the names under which they are counted, that of the constant with `H1_` before
            /// it, in the order of the table.
            pub const ALL: &'static [(&'static str, Self)] = &[$((concat!("H1_", stringify!($name)), Self::$name)),*];
        }
    };
}

violations! {
    // Lines.
    BARE_LF: BAD_REQUEST "a line ends in a line feed alone (RFC 9112 §2.2)";
    BARE_CR: BAD_REQUEST "a carriage return without a line feed (RFC 9112 §2.2)";
    EMPTY_LINES: BAD_REQUEST "more than one empty line before a request (RFC 9112 §2.2)";
    // The start line.
    REQUEST_LINE: BAD_REQUEST "the request line is not method, target and version, with one space between (RFC 9112 §3)";
    METHOD_INVALID: BAD_REQUEST "the method is not a token (RFC 9110 §9.1)";
    TARGET_INVALID: BAD_REQUEST "the target has not the form that its method asks for (RFC 9112 §3.2)";
    TARGET_LONG: URI_TOO_LONG "the target is longer than we take (RFC 9112 §3)";
    STATUS_LINE: BAD_REQUEST "the status line is not version, status and reason, with one space between (RFC 9112 §4)";
    STATUS_INVALID: BAD_REQUEST "the status is not a number from 100 to 999 (RFC 9110 §15)";
    VERSION_INVALID: BAD_REQUEST "the version is not HTTP, a slash and two digits (RFC 9112 §2.3)";
    VERSION_UNSUPPORTED: HTTP_VERSION_NOT_SUPPORTED "the major version is not 1 (RFC 9112 §2.3)";
    // Field lines.
    COLON_MISSING: BAD_REQUEST "a field line has no colon (RFC 9112 §5)";
    NAME_INVALID: BAD_REQUEST "a field name is not a token (RFC 9110 §5.1)";
    SPACE_BEFORE_COLON: BAD_REQUEST "white space in a field name, or between it and its colon (RFC 9112 §5.1)";
    FOLDED: BAD_REQUEST "a field line is folded (RFC 9112 §5.2)";
    VALUE_INVALID: BAD_REQUEST "a field value has a control (RFC 9110 §5.5)";
    HEAD_LONG: REQUEST_HEADER_FIELDS_TOO_LARGE "the head is longer than we take (RFC 9110 §5.4)";
    FIELDS_MANY: REQUEST_HEADER_FIELDS_TOO_LARGE "more fields than we take (RFC 9110 §5.4)";
    // Rules about several fields together.
    HOST_MISSING: BAD_REQUEST "a request of HTTP/1.1 without a host (RFC 9112 §3.2)";
    HOST_REPEATED: BAD_REQUEST "more than one host (RFC 9112 §3.2)";
    HOST_INVALID: BAD_REQUEST "the host is not one (RFC 9112 §3.2)";
    HOST_DIFFERS: BAD_REQUEST "the host is not the one of the target (RFC 9112 §3.2.2)";
    LENGTH_INVALID: BAD_REQUEST "a content-length is not a number of at most 19 digits (RFC 9112 §6.3)";
    LENGTH_REPEATED: BAD_REQUEST "more than one content-length (RFC 9112 §6.3)";
    LENGTH_WITH_CODING: BAD_REQUEST "content-length beside transfer-encoding (RFC 9112 §6.1)";
    CODING_UNKNOWN: NOT_IMPLEMENTED "a transfer coding other than chunked (RFC 9112 §6.1)";
    CODING_REPEATED: BAD_REQUEST "more than one transfer coding (RFC 9112 §6.1)";
    CODING_TOO_EARLY: BAD_REQUEST "transfer-encoding in HTTP/1.0 (RFC 9112 §6.1)";
    CONTENT_OF_CONNECT: BAD_REQUEST "content of a request for a tunnel (RFC 9110 §9.3.6)";
    CODING_UNEXPECTED: BAD_REQUEST "transfer-encoding in a response that has no content (RFC 9112 §6.1)";
    // Chunks.
    CHUNK_SIZE_INVALID: BAD_REQUEST "the size of a chunk is not a hexadecimal number (RFC 9112 §7.1)";
    CHUNK_SIZE_LARGE: CONTENT_TOO_LARGE "the size of a chunk has more than 16 digits (RFC 9112 §7.1)";
    CHUNK_EXTENSION_INVALID: BAD_REQUEST "a chunk extension has a control (RFC 9112 §7.1.1)";
    CHUNK_EXTENSIONS_LONG: BAD_REQUEST "more chunk extensions than we take (RFC 9112 §7.1.1)";
    CHUNK_END_MISSING: BAD_REQUEST "a chunk does not end where its size says (RFC 9112 §7.1)";
    // Rules about the order and the end of messages.
    UNSOLICITED: BAD_REQUEST "bytes that answer no request (RFC 9112 §9.2)";
    INTERIM_MANY: BAD_REQUEST "more interim responses than we take (RFC 9110 §15.2)";
    SWITCH_UNASKED: BAD_REQUEST "a switch of protocols that nobody asked for (RFC 9110 §7.8)";
    CUT_HEAD: BAD_REQUEST "the connection ended within a head (RFC 9112 §8)";
    CUT_CONTENT: BAD_REQUEST "the connection ended before the content was whole (RFC 9112 §8)";
    TRUNCATED: BAD_REQUEST "TLS ended without close_notify within content that lasts until the close (RFC 9112 §9.8)";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_ends_in_its_section() {
        for (name, violation) in Violation::ALL {
            let (_, section) = violation.rule.rsplit_once(" (RFC ").expect(name);
            let section = section.strip_suffix(')').expect(name);
            assert!(section.starts_with("9110 §") || section.starts_with("9112 §"), "{name}: {section}");
            assert!(violation.status.as_u16() >= 400, "{name}");
        }
    }

    #[test]
    fn no_two_rules_read_the_same() {
        for (at, (name, violation)) in Violation::ALL.iter().enumerate() {
            assert!(Violation::ALL[..at].iter().all(|(_, other)| other.rule != violation.rule), "{name}");
        }
    }
}
