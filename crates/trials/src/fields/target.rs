//! Targets of requests: what was taken apart is put together again, and the form fits the method.

use alula_fields::{Method, Scheme, Target};

const METHODS: [Method<'_>; 4] = [Method::Get, Method::Options, Method::Connect, Method::Other("X")];

/// The bytes as a target, for a method of each kind.
pub fn target(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for method in METHODS {
        match Target::parse(method, text) {
            Ok(target) => good(method, text, target),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

fn good(method: Method<'_>, text: &str, target: Target<'_>) {
    assert!(text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#'), "{text:?}");
    assert_eq!(Target::parse(method, &target.to_string()), Ok(target), "{method} {text:?}");
    match target {
        Target::Origin(path) => assert!(path == text && path.starts_with('/')),
        Target::Asterisk => assert!(text == "*" && method == Method::Options),
        Target::Authority(authority) => {
            assert!(method == Method::Connect && authority.port().is_some() && authority.as_str() == text);
        }
        Target::Absolute { scheme, authority, path } => {
            let start = text.get(..scheme.as_str().len()).expect("the scheme stands at the start");
            assert!(start.eq_ignore_ascii_case(scheme.as_str()) && Scheme::parse(start) == Ok(scheme));
            assert!(text[start.len() + 3..].starts_with(authority.as_str()));
            assert!(path.starts_with(['/', '?']) || path == "*" && method == Method::Options);
            assert!(text.ends_with(path) || matches!(path, "/" | "*"));
        }
    }
    assert_eq!(target.path().is_none(), method == Method::Connect);
    parts(target);
}

/// Path and query are all there is, and only a path can be missing.
fn parts(target: Target<'_>) {
    let Some(whole) = target.path_and_query() else { return };
    let (path, query) = (target.path().expect("with a query"), target.query());
    assert!(!path.contains('?') && !path.is_empty());
    let joined = query.map_or(path.into(), |query| format!("{path}?{query}"));
    assert!(joined == whole || joined == format!("/{whole}"), "{whole:?}");
}
