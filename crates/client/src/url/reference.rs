//! References as they are written: the `url` crate would silently repair what RFC 9110 refuses.
//!
//! The `url` crate reads as browsers do: it skips any number of slashes before the host, so that `https:///x`
//! asks the host `x`. A URI with an empty authority is invalid (RFC 9110 §4.2.1, §4.2.2), and where it leads
//! is for nobody to guess.

use alula_net::Error;
use url::Url;

use crate::url::error::{bad_url, unparsed};

const NO_HOST: &str = "it has no host";

/// Parses a URL that names its host.
///
/// # Errors
/// It is no URL, or its authority is empty.
pub(crate) fn parse(text: &str) -> Result<Url, Error> {
    if lacks_host(text) {
        return Err(bad_url(text, NO_HOST));
    }
    Url::parse(text).map_err(|error| unparsed(text, error))
}

/// Returns true for a reference with `http` or `https`, or with two slashes in front, without a host. A path,
/// a query or a fragment alone takes its host from the base URL, and lacks none.
pub(crate) fn lacks_host(reference: &str) -> bool {
    // The parser skips these characters, too.
    let seen: String = reference.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect();
    let seen = seen.trim_start_matches(|c: char| c <= ' ');
    let is_slash = |c: char| matches!(c, '/' | '\\');
    let has_scheme =
        |scheme: &&str| seen.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    let rest = match ["http:", "https:"].iter().find(|scheme| has_scheme(scheme)) {
        Some(scheme) => &seen[scheme.len()..],
        None if seen.starts_with(is_slash) && seen[1..].starts_with(is_slash) => seen,
        None => return false,
    };
    let host = rest.strip_prefix(is_slash).and_then(|rest| rest.strip_prefix(is_slash));
    host.is_none_or(|host| host.is_empty() || host.starts_with(['/', '\\', '?', '#']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_authority_is_no_host() {
        for text in [
            "http:///x",
            "https:///x",
            "HTTPS:////x",
            "http:x",
            "https:/x",
            "https:\\\\\\x",
            " http:///x",
            "ht\ntp:/\t//x",
            "http://",
            "http://?q",
            "http://#f",
            "///x",
            "//",
            "/\\/x",
        ] {
            assert!(lacks_host(text) && parse(text).is_err(), "{text:?}");
        }
        for text in ["http://:80/", "http://@:80/", "http://user@/", "http://user:secret@/x", "http://@"] {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn what_has_a_host_or_takes_it_from_elsewhere_lacks_none() {
        for text in ["http://a", "https://[::1]/", "//a/b", "/x", "/", "x", "?q", "", "/x//y", "http://a@b/"]
        {
            assert!(!lacks_host(text), "{text:?}");
        }
        assert_eq!(parse("http://a@b/").unwrap().host_str(), Some("b"));
    }
}
