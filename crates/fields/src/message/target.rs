//! The target of a request (RFC 9112 §3.2).

use core::fmt;

use crate::{
    error::{FieldError, FieldErrorKind},
    message::{authority::Authority, method::Method, scheme::Scheme},
    text::bytes,
    value::masked::masked_target,
};

/// The target of a request, checked once; borrowed, cheap to copy.
///
/// ```
/// use alula::{Method, fields::Target};
///
/// let target = Target::parse(Method::Get, "/search?q=alula")?;
/// assert_eq!((target.path(), target.query()), (Some("/search"), Some("q=alula")));
///
/// let Target::Absolute { scheme, authority, path } = Target::parse(Method::Get, "https://example.com:443")? else {
///     panic!("a scheme makes it absolute");
/// };
/// assert_eq!((authority.normal(scheme).as_ref(), path), ("example.com", "/"));
/// # Ok::<(), alula::FieldError>(())
/// ```
#[derive(Copy, Clone, Eq, PartialEq)]
pub enum Target<'a> {
    /// The path and query on the requested origin; starts with `/`.
    Origin(&'a str),
    /// A whole URI without fragment, as a proxy receives it.
    Absolute {
        /// The scheme.
        scheme: Scheme<'a>,
        /// The host, and the port if it is given.
        authority: Authority<'a>,
        /// Path and query. An empty path is `/`; when there is a query alone, this starts with `?`.
        path: &'a str,
    },
    /// Host and port to which CONNECT opens a tunnel.
    Authority(Authority<'a>),
    /// `*`: the server as a whole, for OPTIONS only.
    Asterisk,
}

impl<'a> Target<'a> {
    /// Checks a target in the form that the method allows; copies nothing.
    ///
    /// # Errors
    /// When it has a space, a control, `#` or a byte outside ASCII; when it is in no form, or in one that the
    /// method does not have: CONNECT takes host and port alone, and `*` is for OPTIONS alone.
    pub fn parse(method: Method<'_>, text: &'a str) -> Result<Self, FieldError> {
        let bytes = text.as_bytes();
        if !bytes::is_path(bytes) {
            return Err(FieldError::outside(FieldErrorKind::Target, bytes, bytes, bytes::PATH));
        }
        match (method, bytes) {
            (Method::Connect, _) => Self::tunnel(text),
            (_, [b'/', ..]) => Ok(Self::Origin(text)),
            (Method::Options, b"*") => Ok(Self::Asterisk),
            _ => Self::absolute(method, text),
        }
    }

    /// Returns the path and query as HTTP/2 sends them in `:path`; `None` for CONNECT (RFC 9113 §8.5).
    ///
    /// A query without a path starts with `?`; whoever sends it puts `/` before (RFC 9112 §3.2.1).
    #[inline]
    pub const fn path_and_query(self) -> Option<&'a str> {
        match self {
            Self::Origin(path) | Self::Absolute { path, .. } => Some(path),
            Self::Asterisk => Some("*"),
            Self::Authority(_) => None,
        }
    }

    /// Returns the path, without the query.
    pub fn path(self) -> Option<&'a str> {
        let path_and_query = self.path_and_query()?;
        let path = path_and_query.split_once('?').map_or(path_and_query, |(path, _)| path);
        Some(if path.is_empty() { "/" } else { path })
    }

    /// Returns the part after the first `?`.
    pub fn query(self) -> Option<&'a str> {
        self.path_and_query()?.split_once('?').map(|(_, query)| query)
    }

    /// Returns the authority, if the target contains one.
    #[inline]
    pub const fn authority(self) -> Option<Authority<'a>> {
        match self {
            Self::Absolute { authority, .. } | Self::Authority(authority) => Some(authority),
            Self::Origin(_) | Self::Asterisk => None,
        }
    }

    fn tunnel(text: &'a str) -> Result<Self, FieldError> {
        let authority = Authority::parse(text)?;
        match authority.port() {
            // CONNECT has no scheme that would give a port (RFC 9112 §3.2.3).
            Some(_) => Ok(Self::Authority(authority)),
            None => Err(malformed(text)),
        }
    }

    fn absolute(method: Method<'_>, text: &'a str) -> Result<Self, FieldError> {
        let (scheme, rest) = text.split_once("://").ok_or_else(|| malformed(text))?;
        let scheme = Scheme::parse(scheme)?;
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let authority = Authority::parse(authority)?;
        let path = match path {
            // RFC 9112 §3.2.4: an OPTIONS request for a URI without path and query means the server.
            "" if method == Method::Options => "*",
            "" => "/",
            _ => path,
        };
        Ok(Self::Absolute { scheme, authority, path })
    }
}

/// Shows the form and the target, without the values of its query.
impl fmt::Debug for Target<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Origin(path) => f.debug_tuple("Origin").field(&masked_target(path)).finish(),
            Self::Absolute { scheme, authority, path } => {
                let mut target = f.debug_struct("Absolute");
                target.field("scheme", scheme).field("authority", authority);
                target.field("path", &masked_target(path)).finish()
            }
            Self::Authority(authority) => f.debug_tuple("Authority").field(authority).finish(),
            Self::Asterisk => f.write_str("Asterisk"),
        }
    }
}

impl fmt::Display for Target<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Origin(path) => f.write_str(path),
            // `*` is no part of the URI, and would be one of the host.
            Self::Absolute { scheme, authority, path: "*" } => write!(f, "{scheme}://{authority}"),
            Self::Absolute { scheme, authority, path } => write!(f, "{scheme}://{authority}{path}"),
            Self::Authority(authority) => write!(f, "{authority}"),
            Self::Asterisk => f.write_str("*"),
        }
    }
}

#[cold]
fn malformed(text: &str) -> FieldError {
    FieldError::form(FieldErrorKind::Target, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn each_form_is_found() {
        for (method, text, path, query) in [
            (Method::Get, "/", Some("/"), None),
            (Method::Get, "//a?", Some("//a"), Some("")),
            (Method::Get, "/a|b{c}?d=\"e\"?f", Some("/a|b{c}"), Some("d=\"e\"?f")),
            (Method::Options, "*", Some("*"), None),
            (Method::Options, "http://a", Some("*"), None),
            (Method::Get, "http://a", Some("/"), None),
            (Method::Get, "http://a?b", Some("/"), Some("b")),
            (Method::Get, "HTTP://a:1/b", Some("/b"), None),
            (Method::Connect, "a:443", None, None),
        ] {
            let target = Target::parse(method, text).unwrap();
            assert_eq!((target.path(), target.query()), (path, query), "{text}");
        }
        let tunnel = Target::parse(Method::Connect, "[::1]:443").unwrap();
        assert_eq!(tunnel.authority().unwrap().bare_host(), "::1");
        assert_eq!(tunnel.to_string(), "[::1]:443");
        assert_eq!(Target::parse(Method::Get, "HTTP://a:1/b").unwrap().to_string(), "http://a:1/b");
        assert_eq!(Target::parse(Method::Options, "http://a").unwrap().to_string(), "http://a");
    }

    #[test]
    fn what_the_method_does_not_have_is_refused() {
        for (method, text) in [
            (Method::Get, ""),
            (Method::Get, "*"),
            (Method::Get, "a"),
            (Method::Get, "/a b"),
            (Method::Get, "/a#b"),
            (Method::Get, "/\u{e9}"),
            (Method::Get, "/a\r\n"),
            (Method::Get, "http:///a"),
            (Method::Get, "http://u@h/"),
            (Method::Get, "1://h/"),
            (Method::Connect, "/"),
            (Method::Connect, "a"),
            (Method::Options, "**"),
        ] {
            assert!(Target::parse(method, text).is_err(), "{method} {text:?}");
        }
        let message = Target::parse(Method::Get, "a").unwrap_err().to_string();
        assert_eq!(message, r#"target "a" has not the form of one (RFC 9110 §7.1)"#);
    }
}
