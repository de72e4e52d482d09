//! URLs, and where the field `location` leads from one: whatever comes of them can be asked for.

use alula_client::fuzzing::{self, Located};
use alula_fields::{Authority, Scheme, bytes};

const FROM: [&str; 3] =
    ["http://a.example/b/c?d#e", "https://user:secret@a.example:8443/", "http://[2001:db8::1]/"];

/// The first byte chooses the URL that redirects; the others are a location, and a URL by themselves.
pub fn location(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let from = FROM[usize::from(*first) % FROM.len()];
    if let Ok(located) = fuzzing::location(from, rest) {
        good(&located);
        assert!(!located.url.contains('@') || !before_path(&located.url).contains('@'), "{located:?}");
        let again = fuzzing::location(from, located.url.as_bytes()).expect("what was led to");
        assert_eq!(again, located);
        names_its_host(from, rest, &located);
    }
    let Ok(text) = std::str::from_utf8(rest) else { return };
    if let Ok(located) = fuzzing::url(text) {
        good(&located);
        let rest = text.trim_start_matches(|c: char| c <= ' ').chars().filter(|c| !c.is_ascii_control());
        let rest: String = rest.skip_while(|c| *c != ':').skip(1).collect();
        let slashes = rest.chars().take_while(|c| matches!(c, '/' | '\\')).count();
        assert_eq!(slashes, 2, "{text:?} has no authority, or an empty one");
    }
}

/// The machines take it.
fn good(located: &Located) {
    let scheme = Scheme::parse(located.scheme).expect("a scheme");
    assert!(matches!(scheme, Scheme::Http | Scheme::Https));
    assert!(!located.host.is_empty(), "{located:?}");
    let authority = Authority::parse(&located.authority).unwrap_or_else(|e| panic!("{e}: {located:?}"));
    assert_eq!(authority.bare_host(), located.host);
    assert!(located.path.starts_with('/') && bytes::is_path(located.path.as_bytes()), "{located:?}");
}

fn before_path(url: &str) -> &str {
    let after = url.split_once("://").map_or("", |(_, after)| after);
    after.split(['/', '?', '#']).next().unwrap_or_default()
}

/// A location without two slashes and without a scheme stays with its host.
fn names_its_host(from: &str, location: &[u8], located: &Located) {
    let bytes: Vec<u8> = location.iter().copied().filter(|byte| !matches!(byte, 9 | 10 | 13)).collect();
    let is_plain = bytes.first().is_some_and(|first| first.is_ascii_alphanumeric() || *first == b'/')
        && !bytes.contains(&b':')
        && !bytes.contains(&b'\\')
        && !bytes.starts_with(b"//");
    if is_plain {
        let here = before_path(from).rsplit('@').next().unwrap_or_default();
        assert_eq!(located.authority, here, "{location:?}");
    }
}
