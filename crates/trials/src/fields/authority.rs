//! Authorities, against a parser that looks for the last colon.

use std::net::Ipv6Addr;

use alula_fields::{Authority, FieldErrorKind, Head, Scheme};

const SCHEMES: [Scheme<'_>; 3] = [Scheme::Http, Scheme::Https, Scheme::Other("ws")];

/// The bytes as an authority.
pub fn authority(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let parsed = Authority::parse(text);
    let own = parsed.map(|authority| (authority.host(), authority.port()));
    assert_eq!(own.ok(), naive(text), "{text:?}");
    assert_eq!(Head::new().set_authority(text).is_ok(), parsed.is_ok());
    match parsed {
        Ok(authority) => good(text, authority),
        Err(error) => {
            assert_eq!(error.kind(), FieldErrorKind::Authority);
            assert!(!error.to_string().is_empty());
        }
    }
    composed(text);
}

/// Host and port, if this is an authority.
fn naive(text: &str) -> Option<(&str, Option<u16>)> {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !text.ends_with(']') => (host, port),
        _ => (text, ""),
    };
    let is_port = port.len() <= 5 && port.bytes().all(|byte| byte.is_ascii_digit());
    let port = if port.is_empty() { None } else { Some(port.parse().ok()?) };
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let is_host = match address {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => !host.is_empty() && host.bytes().all(is_host),
    };
    (is_host && is_port).then_some((host, port))
}

/// RFC 3986 §3.2.2.
fn is_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=%".contains(&byte)
}

fn good(text: &str, authority: Authority<'_>) {
    assert_eq!((authority.as_str(), &*authority.to_string()), (text, text));
    assert_eq!(authority.bare_host(), authority.host().trim_matches(['[', ']']));
    for scheme in SCHEMES {
        let normal = authority.normal(scheme);
        assert!(!normal.bytes().any(|byte| byte.is_ascii_uppercase()));
        let again = Authority::parse(&normal).expect("what is normal is an authority");
        assert_eq!(again.normal(scheme), normal);
        assert!(again.is_same(authority, scheme) && authority.is_same(again, scheme));
        let (host, port) = (authority.bare_host(), authority.port_or_default(scheme));
        if let Some(port) = port {
            let composed = Authority::compose(host, port, scheme).expect("a host and a port");
            let composed = Authority::parse(&composed).expect("what was composed is an authority");
            assert!(composed.is_same(authority, scheme), "{composed} {authority}");
        }
    }
}

/// Anything as a host alone.
fn composed(host: &str) {
    for (scheme, port) in SCHEMES.into_iter().zip([80, 8443, 0]) {
        let Ok(text) = Authority::compose(host, port, scheme) else { continue };
        let authority = Authority::parse(&text).expect("what was composed is an authority");
        assert_eq!(authority.port_or_default(scheme), Some(port));
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        assert!(authority.bare_host().eq_ignore_ascii_case(bare), "{host:?}");
    }
}
