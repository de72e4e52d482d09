//! The parts of a URL: its origin and its path.
//!
//! A URL that begins as an origin seen before, and whose rest is a plain path, is split without parsing; any
//! other is parsed and normalised by the `url` crate.

use alula_fields::Authority;
use alula_net::Error;
use url::Url;

use crate::{
    request::auth::Credentials,
    url::{
        error::{bad_url, odd_host, other_scheme},
        reference,
        zone::Zone,
    },
};

/// The parts of a URL that a request needs.
pub(crate) struct Location {
    /// The scheme, `https` or `http`.
    pub(crate) scheme: &'static str,
    /// The host name or address, IPv6 without brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// The interface of this machine for the address, which is not sent.
    pub(crate) zone: Option<Zone>,
    /// The authority as it is sent: without the default port (RFC 9110 §4.2).
    pub(crate) authority: String,
    /// The path and query.
    pub(crate) path: String,
    /// The fragment, which is not sent.
    pub(crate) fragment: Option<String>,
    /// The user information, which is sent as a field.
    pub(crate) user: Option<Credentials>,
}

impl Location {
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        let (text, zone) = Zone::taken_out(text)?;
        Ok(Self { zone, ..Self::of(&reference::parse(&text)?)? })
    }

    pub(crate) fn of(url: &Url) -> Result<Self, Error> {
        let scheme = match url.scheme() {
            "https" => "https",
            "http" => "http",
            _ => return Err(other_scheme(url)),
        };
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
            return Err(bad_url(url.as_str(), "it has no host"));
        };
        let authority = match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        // Such as a backquote, which the parser lets pass.
        if Authority::parse(&authority).is_err() {
            return Err(odd_host(url));
        }
        let mut path = url.path().to_owned();
        if let Some(query) = url.query() {
            path.push('?');
            path.push_str(query);
        }
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let fragment = url.fragment().map(str::to_owned);
        let user = Credentials::of_url(url)?;
        Ok(Self { scheme, host, port, zone: None, authority, path, fragment, user })
    }

    /// Returns scheme and authority, as they begin a URL that is sent.
    pub(crate) fn sent_prefix(&self) -> String {
        format!("{}://{}", self.scheme, self.authority)
    }

    /// Returns scheme and authority with the zone, as they begin a URL.
    pub(crate) fn prefix(&self) -> String {
        match &self.zone {
            Some(zone) => format!("{}://{}", self.scheme, zone.put_into(&self.authority)),
            None => self.sent_prefix(),
        }
    }
}

/// Checks that a URL can be requested: it is valid, of HTTP, and has a host. Nothing is looked up, and
/// nothing sent.
///
/// ```
/// alula::check_url("https://example.com/a?b=c")?;
/// let refused = alula::check_url("example.com").unwrap_err();
/// assert_eq!(refused.to_string(), "cannot use the URL example.com: it does not begin with http:// or https://");
/// # Ok::<(), alula::Error>(())
/// ```
///
/// # Errors
/// It cannot, with the reason.
pub fn check_url(url: &str) -> Result<(), Error> {
    Location::parse(url).map(drop)
}

/// Splits a URL that begins with this origin, if the rest is a path in normal form.
pub(crate) fn path_within<'u>(origin: &str, url: &'u str) -> Option<&'u str> {
    let rest = url.strip_prefix(origin)?;
    if rest.is_empty() {
        return Some("/");
    }
    (rest.starts_with('/') && is_normal(rest)).then_some(rest)
}

/// Returns true if all bytes are plain, and no segment begins with a dot.
fn is_normal(path: &str) -> bool {
    let mut before = 0;
    path.bytes().all(|byte| {
        // Any segment that begins with a dot is parsed, not `.` and `..` alone: that is simple, and they
        // are rare.
        let is_dot_segment = byte == b'.' && before == b'/';
        before = byte;
        IS_PLAIN[usize::from(byte)] && !is_dot_segment
    })
}

/// The result of `is_plain` for each byte.
static IS_PLAIN: [bool; 256] = {
    let mut are_plain = [false; 256];
    let mut byte = 0;
    while byte < are_plain.len() {
        are_plain[byte] = is_plain(byte as u8);
        byte += 1;
    }
    are_plain
};

/// Returns true for bytes that are plain in a path or query; the machine checks them again.
const fn is_plain(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9')
        || matches!(
            byte,
            b'-' | b'.'
                | b'_'
                | b'~'
                | b'/'
                | b'?'
                | b'='
                | b'&'
                | b'+'
                | b','
                | b';'
                | b':'
                | b'@'
                | b'!'
                | b'$'
                | b'('
                | b')'
                | b'*'
                | b'%'
        )
}

#[cfg(test)]
mod tests {
    use super::{Location, path_within};

    #[test]
    fn leaves_the_default_port_out() {
        let location = Location::parse("HTTPS://Example.COM:443/a?b#c").unwrap();
        assert_eq!((location.scheme, location.port), ("https", 443));
        assert_eq!(
            (&*location.authority, &*location.host, &*location.path),
            ("example.com", "example.com", "/a?b")
        );
        let location = Location::parse("http://[::1]:8080").unwrap();
        assert_eq!((&*location.authority, &*location.host, &*location.path), ("[::1]:8080", "::1", "/"));
    }

    #[test]
    fn refuses_what_is_no_origin() {
        for url in [
            "",
            "/path",
            "ftp://a/",
            "http://",
            "https:///x",
            "http://a`b/",
            "http://us%3Aer@host/",
            "http://a:99999/",
        ] {
            assert!(Location::parse(url).is_err(), "{url}");
        }
    }

    #[test]
    fn splits_a_known_origin_only_before_a_plain_path() {
        let origin = "http://example.com";
        assert_eq!(path_within(origin, "http://example.com/a?b=1"), Some("/a?b=1"));
        assert_eq!(path_within(origin, "http://example.com"), Some("/"));
        for url in [
            "http://example.com.evil/",
            "http://example.com:80/",
            "http://example.com/a b",
            "http://example.com/#x",
            "http://example.com/../a",
            "http://example.org/",
        ] {
            assert_eq!(path_within(origin, url), None, "{url}");
        }
    }
}
