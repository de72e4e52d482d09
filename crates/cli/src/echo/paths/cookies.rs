//! `/cookies`: the cookies that came, and answers that set and delete some.

use alula::{Answer, KnownName, Status};
use serde_json::{Map, Value, json};

use super::{asked::Asked, made::Made, redirects};

/// `/cookies`.
pub(super) fn cookies(asked: &Asked<'_>) -> Result<Made, Answer> {
    let lines = asked.headers().get_all(KnownName::COOKIE);
    let text: Vec<_> = lines.map(String::from_utf8_lossy).collect();
    let pairs = text.iter().flat_map(|line| line.split(';')).filter_map(|pair| pair.split_once('='));
    let object: Map<String, Value> =
        pairs.map(|(name, value)| (name.trim().to_owned(), unquoted(value.trim()).into())).collect();
    Made::json(&json!({ "cookies": object }), asked.headers().bytes())
}

/// `/cookies/set?a=b`.
pub(super) fn set(asked: &Asked<'_>) -> Result<Made, Answer> {
    set_all(asked, asked.pairs())
}

/// `/cookies/set/a/b`.
pub(super) fn set_one(asked: &Asked<'_>) -> Result<Made, Answer> {
    set_all(asked, [(asked.path_text("name")?, asked.path_text("value")?)])
}

/// `/cookies/delete?a`.
pub(super) fn delete(asked: &Asked<'_>) -> Result<Made, Answer> {
    let past = "Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0; Path=/";
    asked.pairs().iter().try_fold(redirects::to("/cookies")?, |made, (name, _)| {
        made.header(KnownName::SET_COOKIE, format!("{}=; {past}", checked(name)?))
    })
}

fn set_all(asked: &Asked<'_>, pairs: impl IntoIterator<Item = (String, String)>) -> Result<Made, Answer> {
    let is_secure = asked.exchange.request().scheme() == Some("https");
    let end = if is_secure { "; Secure; Path=/" } else { "; Path=/" };
    pairs.into_iter().try_fold(redirects::to("/cookies")?, |made, (name, value)| {
        made.header(KnownName::SET_COOKIE, format!("{}={}{end}", checked(&name)?, quoted(&value)))
    })
}

/// A name that can be one (RFC 6265 §4.1.1).
fn checked(name: &str) -> Result<&str, Answer> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    match !name.is_empty() && name.bytes().all(is_token) {
        true => Ok(name),
        false => Err(Answer::new(Status::BAD_REQUEST).detail("a cookie cannot have that name")),
    }
}

/// A value as servers of Python write it: in quotes, with escapes in octal, where there is something to hide.
fn quoted(value: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"\",;\\".contains(&byte);
    if value.bytes().all(is_plain) {
        return value.to_owned();
    }
    let mut text = String::from("\"");
    for byte in value.bytes() {
        match byte {
            b'"' | b'\\' => text.extend(['\\', char::from(byte)]),
            b' ' => text.push(' '),
            plain if is_plain(plain) => text.push(char::from(plain)),
            other => text.push_str(&format!("\\{other:03o}")),
        }
    }
    text + "\""
}

/// The reverse of [`quoted`].
fn unquoted(value: &str) -> String {
    let inner = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    let Some(mut rest) = inner.map(str::as_bytes) else { return value.to_owned() };
    let mut bytes = Vec::new();
    while let [first, more @ ..] = rest {
        (bytes, rest) = match (first, more) {
            // Three octal digits are one byte of UTF-8, not one character.
            (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', more @ ..]) => {
                bytes.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                (bytes, more)
            }
            (b'\\', [escaped, more @ ..]) => {
                bytes.push(*escaped);
                (bytes, more)
            }
            _ => {
                bytes.push(*first);
                (bytes, more)
            }
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_quoted_where_they_must_be() {
        for (value, written) in [
            ("b", "b"),
            ("", ""),
            ("d e", "\"d e\""),
            ("a;b,c", "\"a\\073b\\054c\""),
            ("\"\\", "\"\\\"\\\\\""),
            ("é\r\n", "\"\\303\\251\\015\\012\""),
        ] {
            assert_eq!(quoted(value), written);
            assert_eq!(unquoted(written), value);
        }
        for odd in ["\"", "\"a", "\"\\\"", "\"\\4\"", "a\"b"] {
            let _ = unquoted(odd);
        }
        assert!(checked("a b").is_err() && checked("").is_err() && checked("a=b").is_err());
    }
}
