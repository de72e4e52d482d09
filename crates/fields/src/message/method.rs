//! The method of a request (RFC 9110 §9).

use core::fmt;

use crate::{
    error::{FieldError, FieldErrorKind},
    text::bytes,
};

/// A method: one of the standard ones, or any other token, borrowed.
///
/// Methods are case-sensitive on the wire: [`parse`](Self::parse) takes `get` for a method of its own, and
/// [`parse_folded`](Self::parse_folded) is for text that people write.
///
/// ```
/// use alula::Method;
///
/// assert_eq!(Method::parse("GET")?, Method::Get);
/// assert_eq!(Method::parse("get")?, Method::Other("get"));
/// assert_eq!(Method::parse_folded("get")?, Method::Get);
/// assert!(Method::Get.is_safe() && !Method::Post.is_idempotent());
/// # Ok::<(), alula::FieldError>(())
/// ```
#[derive(Copy, Clone, Eq, PartialEq, Hash)]
#[non_exhaustive]
pub enum Method<'a> {
    /// Fetch a representation.
    Get,
    /// Fetch the head of a representation: as GET, but the answer has no content.
    Head,
    /// Process the content as the resource sees fit.
    Post,
    /// Replace the resource with the content.
    Put,
    /// Remove the resource.
    Delete,
    /// Open a tunnel.
    Connect,
    /// Ask what is possible.
    Options,
    /// Send the request back.
    Trace,
    /// Change the resource in part (RFC 5789).
    Patch,
    /// Any other token.
    Other(&'a str),
}

const STANDARD: [Method<'static>; 9] = [
    Method::Get,
    Method::Head,
    Method::Post,
    Method::Put,
    Method::Delete,
    Method::Connect,
    Method::Options,
    Method::Trace,
    Method::Patch,
];

impl<'a> Method<'a> {
    /// Returns the method with exactly this spelling; copies nothing.
    ///
    /// # Errors
    /// When the text is no token.
    #[inline]
    pub fn parse(text: &'a str) -> Result<Self, FieldError> {
        match Self::standard(text) {
            Some(method) => Ok(method),
            None => Self::other(text),
        }
    }

    /// Returns the standard method with exactly this spelling, if there is one; it borrows nothing.
    #[inline]
    pub fn standard(text: &str) -> Option<Method<'static>> {
        STANDARD.into_iter().find(|method| method.as_str() == text)
    }

    /// Returns the method with this spelling in any case: `get` is `GET`. Methods that are not standard stay
    /// as they are; copies nothing.
    ///
    /// # Errors
    /// When the text is no token.
    #[inline]
    pub fn parse_folded(text: &'a str) -> Result<Self, FieldError> {
        match STANDARD.iter().find(|method| Self::eq_ignore_case(method.as_str(), text)) {
            Some(method) => Ok(*method),
            None => Self::other(text),
        }
    }

    /// Returns true if two methods are the same when ASCII case is folded; copies nothing.
    #[inline]
    pub fn eq_ignore_case(one: &str, other: &str) -> bool {
        one.eq_ignore_ascii_case(other)
    }

    /// Returns the method as it is sent.
    #[inline]
    pub const fn as_str(self) -> &'a str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
            Self::Connect => "CONNECT",
            Self::Options => "OPTIONS",
            Self::Trace => "TRACE",
            Self::Patch => "PATCH",
            Self::Other(token) => token,
        }
    }

    /// Returns true if the client asks for no change (RFC 9110 §9.2.1).
    #[inline]
    pub const fn is_safe(self) -> bool {
        matches!(self, Self::Get | Self::Head | Self::Options | Self::Trace)
    }

    /// Returns true if sending it twice has the effect of sending it once, so that it may be sent again (RFC
    /// 9110 §9.2.2).
    #[inline]
    pub const fn is_idempotent(self) -> bool {
        self.is_safe() || matches!(self, Self::Put | Self::Delete)
    }

    /// Returns true if a request without content should state `content-length: 0`, because content is usual
    /// for it (RFC 9110 §8.6).
    #[inline]
    pub const fn expects_content(self) -> bool {
        matches!(self, Self::Post | Self::Put | Self::Patch)
    }

    fn other(text: &'a str) -> Result<Self, FieldError> {
        match bytes::is_token(text.as_bytes()) {
            true => Ok(Self::Other(text)),
            false => Err(FieldError::outside(
                FieldErrorKind::Method,
                text.as_bytes(),
                text.as_bytes(),
                bytes::TOKEN,
            )),
        }
    }
}

/// The method as it is sent.
impl AsRef<str> for Method<'_> {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Debug for Method<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Method<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn standard_methods_parse_to_themselves() {
        for method in STANDARD {
            let lower = method.as_str().to_ascii_lowercase();
            assert_eq!(Method::parse(method.as_str()), Ok(method));
            assert_eq!(Method::parse(&lower), Ok(Method::Other(&lower)));
            assert_eq!(Method::parse_folded(&lower), Ok(method));
            assert!(Method::eq_ignore_case(&lower, method.as_str()));
        }
        assert_eq!(Method::parse_folded("purge"), Ok(Method::Other("purge")));
    }

    #[test]
    fn what_is_no_token_is_refused() {
        let message = Method::parse("GE T").unwrap_err().to_string();
        assert_eq!(message, r#"method "GE T" has byte 0x20 at 2, which no token has (RFC 9110 §9.1)"#);
        let message = Method::parse_folded("").unwrap_err().to_string();
        assert_eq!(message, r#"method "" has not the form of one (RFC 9110 §9.1)"#);
    }

    #[test]
    fn properties_of_rfc_9110() {
        let names = |property: fn(Method<'static>) -> bool| {
            STANDARD
                .iter()
                .filter(|method| property(**method))
                .map(|method| method.as_str())
                .collect::<alloc::vec::Vec<_>>()
        };
        assert_eq!(names(Method::is_safe), ["GET", "HEAD", "OPTIONS", "TRACE"]);
        assert_eq!(names(Method::is_idempotent), ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"]);
        assert_eq!(names(Method::expects_content), ["POST", "PUT", "PATCH"]);
    }
}
