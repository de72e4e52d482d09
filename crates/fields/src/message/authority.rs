//! Host and port (RFC 3986 §3.2, RFC 9110 §7.2).

use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt;
use core::net::Ipv6Addr;

use crate::{
    error::{FieldError, FieldErrorKind},
    message::scheme::Scheme,
    text::bytes,
};

/// A checked authority: a host, and a port if one is given. Borrowed, cheap to copy.
///
/// No user information: HTTP/2 forbids it (RFC 9113 §8.3.1), and HTTP/1 takes it for an attack (RFC 9110
/// §4.2.4). An IPv6 address is in brackets, without a zone. A name is ASCII: whoever has another form makes
/// it so first.
///
/// ```
/// use alula::fields::{Authority, Scheme};
///
/// let authority = Authority::parse("Example.com:443")?;
/// assert_eq!((authority.host(), authority.port()), ("Example.com", Some(443)));
/// assert_eq!(authority.normal(Scheme::Https), "example.com");
/// assert_eq!(authority.normal(Scheme::Http), "example.com:443");
/// # Ok::<(), alula::FieldError>(())
/// ```
#[derive(Copy, Clone)]
pub struct Authority<'a> {
    text: &'a str,
    host_len: usize,
    port: Option<u16>,
}

impl<'a> Authority<'a> {
    /// Checks `host` or `host:port`. An empty port counts as none (RFC 3986 §3.2.3).
    ///
    /// # Errors
    /// When the host is empty, has a byte no host has, or is no IPv6 address in brackets; when the port is
    /// above 65535 or not made of one to five digits.
    pub fn parse(text: &'a str) -> Result<Self, FieldError> {
        let host_len = host_len(text)?;
        let port = match &text.as_bytes()[host_len..] {
            [] | [b':'] => None,
            [b':', digits @ ..] => Some(port(digits).ok_or_else(|| malformed(text))?),
            _ => return Err(malformed(text)),
        };
        Ok(Self { text, host_len, port })
    }

    /// Returns the text that was parsed.
    #[inline]
    pub const fn as_str(self) -> &'a str {
        self.text
    }

    /// Returns the host, in brackets when it is an IPv6 address.
    #[inline]
    pub fn host(self) -> &'a str {
        &self.text[..self.host_len]
    }

    /// Returns the host as a resolver wants it: an IPv6 address without its brackets.
    #[inline]
    pub fn bare_host(self) -> &'a str {
        let host = self.host();
        host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host)
    }

    /// Returns the port, if one is given.
    #[inline]
    pub const fn port(self) -> Option<u16> {
        self.port
    }

    /// Returns the port to connect to: the given one, or else the scheme's.
    #[inline]
    pub fn port_or_default(self, scheme: Scheme<'_>) -> Option<u16> {
        self.port.or(scheme.default_port())
    }

    /// Returns the authority as it is sent: without a port that is the scheme's own, its host in lower case.
    ///
    /// Borrows, and so costs no copy, unless the host has upper-case letters.
    pub fn normal(self, scheme: Scheme<'_>) -> Cow<'a, str> {
        // `example.com:` and `example.com:443` are the same origin as `example.com` (RFC 9110 §4.2.3).
        let without_port = self.port.is_none() || self.port == scheme.default_port();
        let sent = if without_port { self.host() } else { self.text };
        match sent.bytes().any(|byte| byte.is_ascii_uppercase()) {
            true => Cow::Owned(sent.to_ascii_lowercase()),
            false => Cow::Borrowed(sent),
        }
    }

    /// Returns true if both stand for the same host and port under this scheme; copies nothing.
    pub fn is_same(self, other: Authority<'_>, scheme: Scheme<'_>) -> bool {
        self.host().eq_ignore_ascii_case(other.host())
            && self.port_or_default(scheme) == other.port_or_default(scheme)
    }

    /// Returns the authority of a host, an address or a name, and a port: as [`normal`](Self::normal), IPv6
    /// addresses bracketed.
    ///
    /// Allocates; done once per origin.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    ///
    /// ```
    /// use alula::fields::{Authority, Scheme};
    ///
    /// assert_eq!(Authority::compose("::1", 8080, Scheme::Http)?, "[::1]:8080");
    /// assert_eq!(Authority::compose("Example.com", 80, Scheme::Http)?, "example.com");
    /// # Ok::<(), alula::FieldError>(())
    /// ```
    pub fn compose(host: &str, port: u16, scheme: Scheme<'_>) -> Result<String, FieldError> {
        let is_bare_ipv6 = host.parse::<Ipv6Addr>().is_ok();
        let mut text = if is_bare_ipv6 { alloc::format!("[{host}]") } else { String::from(host) };
        // The host must not bring a port of its own.
        if Authority::parse(&text)?.host_len != text.len() {
            return Err(malformed(&text));
        }
        text.make_ascii_lowercase();
        if scheme.default_port() != Some(port) {
            use fmt::Write;
            let _ = write!(text, ":{port}");
        }
        Ok(text)
    }
}

impl PartialEq for Authority<'_> {
    /// Compares hosts in any case; both sides have the same port or none.
    fn eq(&self, other: &Self) -> bool {
        self.host().eq_ignore_ascii_case(other.host()) && self.port == other.port
    }
}

impl Eq for Authority<'_> {}

impl fmt::Debug for Authority<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)
    }
}

impl fmt::Display for Authority<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text)
    }
}

/// Returns the length of the host at the start.
fn host_len(text: &str) -> Result<usize, FieldError> {
    if let Some(literal) = text.strip_prefix('[') {
        let end = literal.find(']').ok_or_else(|| malformed(text))?;
        return match literal[..end].parse::<Ipv6Addr>() {
            Ok(_) => Ok(end + 2),
            Err(_) => Err(malformed(text)),
        };
    }
    let len = text.bytes().position(|byte| byte == b':').unwrap_or(text.len());
    match bytes::position_outside(&text.as_bytes()[..len], bytes::HOST) {
        None if len > 0 => Ok(len),
        None => Err(malformed(text)),
        Some(at) => Err(bad_byte(text, at)),
    }
}

/// Parses a port: one to five digits, no more than 65535.
fn port(digits: &[u8]) -> Option<u16> {
    if digits.len() > 5 || !bytes::all_in(digits, bytes::DIGIT) {
        return None;
    }
    let value = digits.iter().fold(0, |value: u32, digit| value * 10 + (digit - b'0') as u32);
    u16::try_from(value).ok()
}

#[cold]
fn malformed(text: &str) -> FieldError {
    FieldError::form(FieldErrorKind::Authority, text.as_bytes())
}

#[cold]
fn bad_byte(text: &str, at: usize) -> FieldError {
    let before = &text.as_bytes()[..at + 1];
    FieldError::outside(FieldErrorKind::Authority, text.as_bytes(), before, bytes::HOST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn hosts_and_ports() {
        for (text, host, bare, port) in [
            ("example.com", "example.com", "example.com", None),
            ("example.com:", "example.com", "example.com", None),
            ("a_b-c.d~:0", "a_b-c.d~", "a_b-c.d~", Some(0)),
            ("127.0.0.1:65535", "127.0.0.1", "127.0.0.1", Some(65535)),
            ("[::1]", "[::1]", "::1", None),
            ("[2001:db8::A]:443", "[2001:db8::A]", "2001:db8::A", Some(443)),
        ] {
            let authority = Authority::parse(text).unwrap();
            assert_eq!((authority.host(), authority.bare_host(), authority.port()), (host, bare, port));
            assert_eq!(authority.as_str(), text);
        }
    }

    #[test]
    fn the_default_port_is_left_out_and_a_lower_case_host_is_not_copied() {
        for (text, scheme, sent, borrowed) in [
            ("example.com:443", Scheme::Https, "example.com", true),
            ("example.com:443", Scheme::Http, "example.com:443", true),
            ("example.com:", Scheme::Http, "example.com", true),
            ("Example.COM:80", Scheme::Http, "example.com", false),
            ("[::A]:81", Scheme::Http, "[::a]:81", false),
            ("h:80", Scheme::Other("ws"), "h:80", true),
        ] {
            let normal = Authority::parse(text).unwrap().normal(scheme);
            assert_eq!((&*normal, matches!(normal, Cow::Borrowed(_))), (sent, borrowed), "{text}");
        }
    }

    #[test]
    fn sameness_looks_through_case_and_default_ports() {
        let parse = |text| Authority::parse(text).unwrap();
        assert!(parse("A.b:443").is_same(parse("a.B"), Scheme::Https));
        assert!(!parse("a.b:443").is_same(parse("a.b"), Scheme::Http));
        assert!(!parse("a.b").is_same(parse("a.c"), Scheme::Http));
        assert!(parse("A") == parse("a") && parse("a:1") != parse("a"));
    }

    #[test]
    fn compositions() {
        for (host, port, scheme, expected) in [
            ("::1", 443, Scheme::Https, "[::1]"),
            ("[::1]", 1, Scheme::Https, "[::1]:1"),
            ("10.0.0.1", 80, Scheme::Https, "10.0.0.1:80"),
        ] {
            assert_eq!(Authority::compose(host, port, scheme).unwrap(), expected);
        }
        Authority::compose("a:1", 2, Scheme::Http).unwrap_err();
        Authority::compose("", 2, Scheme::Http).unwrap_err();
    }

    #[test]
    fn what_is_no_authority_is_refused() {
        for bad in [
            "",
            ":80",
            "user@host",
            "a b",
            "a:b",
            "a:+1",
            "a:65536",
            "a:000080",
            "a:1:2",
            "[::1",
            "[::1]x",
            "[1]",
            "[fe80::1%25en0]",
            "a/b",
            "a\r\nb",
            "é",
            "a?b",
            "a#b",
            "[v1.a]",
            "a:80 ",
        ] {
            assert!(Authority::parse(bad).is_err(), "{bad:?}");
        }
        let message = Authority::parse("a b").unwrap_err().to_string();
        assert_eq!(
            message,
            r#"authority "a b" has byte 0x20 at 1, which no host and port have there (RFC 3986 §3.2)"#
        );
        let message = Authority::parse("a:b").unwrap_err().to_string();
        assert_eq!(message, r#"authority "a:b" has not the form of one (RFC 3986 §3.2)"#);
    }
}
