//! Errors for URLs that cannot be requested, in words for their author.

use alula_fields::masked_url;
use alula_net::{Cause, Error, Phase, Retry};
use url::{ParseError, Url};

/// Returns an error that shows the URL without secrets.
#[cold]
pub(crate) fn bad_url(url: &str, why: &str) -> Error {
    let sentence = format!("cannot use the URL {}: {why}", masked_url(url));
    Error::new(Phase::Build, Cause::Url(sentence.into()), Retry::Pointless)
}

/// Returns the error for a URL that the parser refuses.
#[cold]
pub(crate) fn unparsed(url: &str, error: ParseError) -> Error {
    bad_url(url, &reason(url, error))
}

/// Returns the error for a scheme other than HTTP's.
#[cold]
pub(crate) fn other_scheme(url: &Url) -> Error {
    // `localhost:8080` is read as the path `8080` of a scheme.
    let looks_like_a_host = url.path().starts_with(|letter: char| letter.is_ascii_digit());
    let why = match looks_like_a_host {
        true => "it does not begin with http:// or https://".to_owned(),
        false => format!("its scheme is {}, and only http and https are supported", url.scheme()),
    };
    bad_url(url.as_str(), &why)
}

/// Returns the error for an invalid host that the parser accepts.
#[cold]
pub(crate) fn odd_host(url: &Url) -> Error {
    unparsed(url.as_str(), ParseError::InvalidDomainCharacter)
}

/// Returns the parser's error in words.
pub(crate) fn reason(url: &str, error: ParseError) -> String {
    match error {
        ParseError::RelativeUrlWithoutBase => "it does not begin with http:// or https://".to_owned(),
        ParseError::EmptyHost => "it has no host".to_owned(),
        ParseError::InvalidPort => match port(url) {
            Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
                format!("the port {port} is above 65535")
            }
            _ => "its port is not a number".to_owned(),
        },
        ParseError::InvalidIpv4Address => "its host is not a valid IPv4 address".to_owned(),
        ParseError::InvalidIpv6Address => "its host is not a valid IPv6 address".to_owned(),
        ParseError::InvalidDomainCharacter | ParseError::IdnaError => match odd_letter(url) {
            Some((letter, place)) => {
                format!("a host cannot contain {letter:?} (character {place} of the URL)")
            }
            None => "its host is not a valid name".to_owned(),
        },
        error => error.to_string(),
    }
}

/// Returns the place at which the authority begins, in bytes.
fn authority_at(url: &str) -> usize {
    url.find("//").map_or(0, |slashes| slashes + 2)
}

/// Returns the authority without user information.
fn authority(url: &str) -> &str {
    let rest = &url[authority_at(url)..];
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

fn port(url: &str) -> Option<&str> {
    let (host, port) = authority(url).rsplit_once(':')?;
    // Not the end of an address in brackets.
    (!port.contains(']') && !host.is_empty()).then_some(port)
}

/// Returns the first invalid letter of the host, and its place in the URL, counted from 1.
fn odd_letter(url: &str) -> Option<(char, usize)> {
    let host = authority(url);
    let odd = host.find(|letter: char| {
        letter.is_ascii() && !letter.is_ascii_alphanumeric() && !"-._~:[]%!$&'()*+,;=".contains(letter)
    })?;
    let at = url.find(host)? + odd;
    Some((url[at..].chars().next()?, url[..at].chars().count() + 1))
}

#[cfg(test)]
mod tests {
    use crate::url::location::Location;

    #[test]
    fn bad_urls_are_told_apart() {
        for (url, sentence) in [
            ("example.com/a", "example.com/a: it does not begin with http:// or https://"),
            ("localhost:8080", "localhost:8080: it does not begin with http:// or https://"),
            ("", ": it does not begin with http:// or https://"),
            ("ftp://a/", "ftp://a/: its scheme is ftp, and only http and https are supported"),
            ("http:///x", "http:///x: it has no host"),
            ("https://", "https://: it has no host"),
            ("http://a:99999/", "http://a:99999/: the port 99999 is above 65535"),
            ("http://a:8x/", "http://a:8x/: its port is not a number"),
            ("http://u:s3cret@a:99999/?k=v", "http://…@a:99999/?k=…: the port 99999 is above 65535"),
            ("http://a b/", "http://a b/: a host cannot contain ' ' (character 9 of the URL)"),
            ("http://a`b/", "http://a`b/: a host cannot contain '`' (character 9 of the URL)"),
            ("http://256.1.1.1/", "http://256.1.1.1/: its host is not a valid IPv4 address"),
            ("http://[::x]/", "http://[::x]/: its host is not a valid IPv6 address"),
        ] {
            let error = Location::parse(url).map(|_| ()).unwrap_err();
            assert_eq!(error.to_string(), format!("cannot use the URL {sentence}"));
        }
    }
}
