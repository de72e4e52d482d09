//! The status of a response (RFC 9110 §15).

use core::fmt;
use core::num::NonZeroU16;

use crate::{
    error::{FieldError, FieldErrorKind},
    text::bytes,
};

/// A status code: three digits, from 100 to 999. Two bytes, also as an `Option`.
///
/// Codes from 600 on have no class but are accepted: a client that sees one treats it as 500 would be (RFC
/// 9110 §15).
///
/// ```
/// use alula::Status;
///
/// assert_eq!(Status::parse(b"404")?, Status::NOT_FOUND);
/// assert_eq!(Status::NOT_FOUND.reason(), Some("Not Found"));
/// assert!(Status::NOT_FOUND == 404 && u16::from(Status::NOT_FOUND) == 404);
/// assert_eq!(Status::new(99), None);
/// # Ok::<(), alula::FieldError>(())
/// ```
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub struct Status(NonZeroU16);

macro_rules! statuses {
    ($($constant:ident $code:literal $reason:literal;)*) => {
        /// The registered codes.
        impl Status {
            $(
                #[doc = concat!($code, " ", $reason)]
                pub const $constant: Status = match Status::new($code) {
                    Some(status) => status,
                    None => panic!("a code has three digits"),
                };
            )*

            /// Returns the reason phrase of HTTP/1 for a registered code; HTTP/2 has none.
            pub const fn reason(self) -> Option<&'static str> {
                Some(match self.as_u16() {
                    $($code => $reason,)*
                    _ => return None,
                })
            }
        }
    };
}

statuses! {
    CONTINUE 100 "Continue";
    SWITCHING_PROTOCOLS 101 "Switching Protocols";
    PROCESSING 102 "Processing";
    EARLY_HINTS 103 "Early Hints";
    OK 200 "OK";
    CREATED 201 "Created";
    ACCEPTED 202 "Accepted";
    NON_AUTHORITATIVE_INFORMATION 203 "Non-Authoritative Information";
    NO_CONTENT 204 "No Content";
    RESET_CONTENT 205 "Reset Content";
    PARTIAL_CONTENT 206 "Partial Content";
    MULTI_STATUS 207 "Multi-Status";
    ALREADY_REPORTED 208 "Already Reported";
    IM_USED 226 "IM Used";
    MULTIPLE_CHOICES 300 "Multiple Choices";
    MOVED_PERMANENTLY 301 "Moved Permanently";
    FOUND 302 "Found";
    SEE_OTHER 303 "See Other";
    NOT_MODIFIED 304 "Not Modified";
    USE_PROXY 305 "Use Proxy";
    TEMPORARY_REDIRECT 307 "Temporary Redirect";
    PERMANENT_REDIRECT 308 "Permanent Redirect";
    BAD_REQUEST 400 "Bad Request";
    UNAUTHORIZED 401 "Unauthorized";
    PAYMENT_REQUIRED 402 "Payment Required";
    FORBIDDEN 403 "Forbidden";
    NOT_FOUND 404 "Not Found";
    METHOD_NOT_ALLOWED 405 "Method Not Allowed";
    NOT_ACCEPTABLE 406 "Not Acceptable";
    PROXY_AUTHENTICATION_REQUIRED 407 "Proxy Authentication Required";
    REQUEST_TIMEOUT 408 "Request Timeout";
    CONFLICT 409 "Conflict";
    GONE 410 "Gone";
    LENGTH_REQUIRED 411 "Length Required";
    PRECONDITION_FAILED 412 "Precondition Failed";
    CONTENT_TOO_LARGE 413 "Content Too Large";
    URI_TOO_LONG 414 "URI Too Long";
    UNSUPPORTED_MEDIA_TYPE 415 "Unsupported Media Type";
    RANGE_NOT_SATISFIABLE 416 "Range Not Satisfiable";
    EXPECTATION_FAILED 417 "Expectation Failed";
    MISDIRECTED_REQUEST 421 "Misdirected Request";
    UNPROCESSABLE_CONTENT 422 "Unprocessable Content";
    LOCKED 423 "Locked";
    FAILED_DEPENDENCY 424 "Failed Dependency";
    TOO_EARLY 425 "Too Early";
    UPGRADE_REQUIRED 426 "Upgrade Required";
    PRECONDITION_REQUIRED 428 "Precondition Required";
    TOO_MANY_REQUESTS 429 "Too Many Requests";
    REQUEST_HEADER_FIELDS_TOO_LARGE 431 "Request Header Fields Too Large";
    UNAVAILABLE_FOR_LEGAL_REASONS 451 "Unavailable For Legal Reasons";
    INTERNAL_SERVER_ERROR 500 "Internal Server Error";
    NOT_IMPLEMENTED 501 "Not Implemented";
    BAD_GATEWAY 502 "Bad Gateway";
    SERVICE_UNAVAILABLE 503 "Service Unavailable";
    GATEWAY_TIMEOUT 504 "Gateway Timeout";
    HTTP_VERSION_NOT_SUPPORTED 505 "HTTP Version Not Supported";
    VARIANT_ALSO_NEGOTIATES 506 "Variant Also Negotiates";
    INSUFFICIENT_STORAGE 507 "Insufficient Storage";
    LOOP_DETECTED 508 "Loop Detected";
    NETWORK_AUTHENTICATION_REQUIRED 511 "Network Authentication Required";
}

impl Status {
    /// Returns the status with this code, if it has three digits.
    #[inline]
    pub const fn new(code: u16) -> Option<Self> {
        match NonZeroU16::new(code) {
            Some(code) if 100 <= code.get() && code.get() <= 999 => Some(Self(code)),
            _ => None,
        }
    }

    /// Returns the status of three ASCII digits.
    ///
    /// # Errors
    /// When they are not exactly three digits, or the first is zero.
    #[inline]
    pub fn parse(digits: &[u8]) -> Result<Self, FieldError> {
        if let &[hundreds @ b'1'..=b'9', tens @ b'0'..=b'9', ones @ b'0'..=b'9'] = digits {
            let code = |digit: u8, weight: u16| (digit - b'0') as u16 * weight;
            if let Some(status) = Self::new(code(hundreds, 100) + code(tens, 10) + code(ones, 1)) {
                return Ok(status);
            }
        }
        Err(FieldError::outside(FieldErrorKind::Status, digits, digits, bytes::DIGIT))
    }

    /// Returns the code, from 100 to 999.
    #[doc(alias = "code")]
    #[inline]
    pub const fn as_u16(self) -> u16 {
        self.0.get()
    }

    /// Returns the code as three ASCII digits.
    #[inline]
    pub const fn digits(self) -> [u8; 3] {
        let code = self.as_u16();
        [b'0' + (code / 100) as u8, b'0' + (code / 10 % 10) as u8, b'0' + (code % 10) as u8]
    }

    /// Returns true if another response to the same request follows: 1xx, but not 101, which ends HTTP (RFC
    /// 9110 §15.2).
    #[inline]
    pub const fn is_interim(self) -> bool {
        self.is_informational() && self.as_u16() != 101
    }

    /// Returns true if this is 1xx.
    #[inline]
    pub const fn is_informational(self) -> bool {
        self.as_u16() < 200
    }

    /// Returns true if this is 2xx.
    #[inline]
    pub const fn is_success(self) -> bool {
        matches!(self.as_u16(), 200..=299)
    }

    /// Returns true if this is 3xx.
    #[inline]
    pub const fn is_redirection(self) -> bool {
        matches!(self.as_u16(), 300..=399)
    }

    /// Returns true if this is 4xx.
    #[inline]
    pub const fn is_client_error(self) -> bool {
        matches!(self.as_u16(), 400..=499)
    }

    /// Returns true if this is 5xx.
    #[inline]
    pub const fn is_server_error(self) -> bool {
        matches!(self.as_u16(), 500..=599)
    }

    /// Returns true if a response with this status never has content: 1xx, 204 and 304 (RFC 9110 §6.4.1).
    #[inline]
    pub const fn is_bodiless(self) -> bool {
        matches!(self.as_u16(), 100..=199 | 204 | 304)
    }
}

impl From<Status> for u16 {
    #[inline]
    fn from(status: Status) -> Self {
        status.as_u16()
    }
}

impl PartialEq<u16> for Status {
    #[inline]
    fn eq(&self, code: &u16) -> bool {
        self.as_u16() == *code
    }
}

impl PartialEq<Status> for u16 {
    #[inline]
    fn eq(&self, status: &Status) -> bool {
        *self == status.as_u16()
    }
}

impl fmt::Debug for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.as_u16(), f)
    }
}

impl TryFrom<u16> for Status {
    type Error = FieldError;

    fn try_from(code: u16) -> Result<Self, FieldError> {
        Self::new(code).ok_or_else(|| {
            use core::fmt::Write;
            let mut digits = crate::text::inline::Text::<5>::default();
            let _ = write!(digits, "{code}");
            FieldError::form(FieldErrorKind::Status, digits.as_bytes())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn digits_and_codes_agree() {
        for code in 0..=u16::MAX {
            let digits = code.to_string();
            let status = Status::new(code);
            assert_eq!(status.is_some(), (100..=999).contains(&code));
            assert_eq!(Status::parse(digits.as_bytes()).ok(), status);
            assert_eq!(Status::try_from(code).ok(), status);
            if let Some(status) = status {
                assert_eq!((status.as_u16(), &status.digits()[..]), (code, digits.as_bytes()));
            }
        }
    }

    #[test]
    fn what_is_no_status_is_refused() {
        for (bad, message) in [
            (&b"2x0"[..], r#"status "2x0" has byte 0x78 at 1, which is no digit (RFC 9110 §15)"#),
            (b"", r#"status "" has not the form of one (RFC 9110 §15)"#),
            (b"099", r#"status "099" has not the form of one (RFC 9110 §15)"#),
            (b"0200", r#"status "0200" has not the form of one (RFC 9110 §15)"#),
            (b"+20", r#"status "+20" has byte 0x2b at 0, which is no digit (RFC 9110 §15)"#),
        ] {
            assert_eq!(Status::parse(bad).unwrap_err().to_string(), message);
        }
        let message = Status::try_from(12345).unwrap_err().to_string();
        assert_eq!(message, r#"status "12345" has not the form of one (RFC 9110 §15)"#);
    }

    #[test]
    fn classes() {
        assert!(Status::EARLY_HINTS.is_interim() && !Status::SWITCHING_PROTOCOLS.is_interim());
        assert!(Status::OK.is_success() && Status::FOUND.is_redirection());
        assert!(Status::GONE.is_client_error() && Status::BAD_GATEWAY.is_server_error());
        assert!(Status::NO_CONTENT.is_bodiless() && Status::CONTINUE.is_bodiless());
        assert!(!Status::OK.is_bodiless() && !Status::OK.is_informational());
        assert_eq!(size_of::<Option<Status>>(), 2);
    }
}
