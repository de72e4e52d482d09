//! Text in a form that may be shown: in errors, logs, `Debug` and on terminals. No credential passes.
//!
//! Rule: whatever shows a URL, a target or the value of a field shows what the functions of this file return.
//! They hide too much rather than too little, and put `…` in its place. URLs and targets are written on one
//! line by [`OneLine`].

use alloc::{borrow::Cow, format, string::String, vec::Vec};
use core::fmt::{self, Write as _};

use crate::{name::known::KnownName, value::one_line::OneLine};

/// The replacement of a secret, whatever its length.
const HIDDEN: &str = "…";

/// The authentication schemes that are shown (RFC 9110 §11.1); any other word may be the credential itself.
const SCHEMES: [&str; 7] = ["Basic", "Bearer", "Digest", "Negotiate", "NTLM", "DPoP", "AWS4-HMAC-SHA256"];

/// The attributes of cookies that are shown (RFC 6265 §4.1.2 and its drafts).
const COOKIE_ATTRIBUTES: [&str; 9] =
    ["path", "domain", "expires", "max-age", "secure", "httponly", "samesite", "partitioned", "priority"];

/// The endings of names that carry secrets, beside the known ones.
const SECRET_ENDS: [&str; 11] = [
    "token",
    "secret",
    "password",
    "passwd",
    "key",
    "auth",
    "authorization",
    "cookie",
    "credential",
    "credentials",
    "signature",
];

/// Names with such endings that carry no secret.
const NO_SECRETS: [&str; 4] = ["sec-websocket-key", "idempotency-key", "surrogate-key", "cache-key"];

/// Returns a URL, or a text in its place, without user information, values of the query and fragment, on one
/// line with all control characters escaped.
///
/// Text before an `@` that may be a password with a slash in it is hidden as well. Allocates.
///
/// ```
/// use alula::fields::masked_url;
///
/// assert_eq!(masked_url("https://anna:secret@a.example/b?token=secret"), "https://…@a.example/b?token=…");
/// assert_eq!(masked_url("https://a.example/@scope/name"), "https://a.example/@scope/name");
/// ```
pub fn masked_url(text: &str) -> String {
    let (scheme, rest) = match text.find("//") {
        Some(slashes) => text.split_at(slashes + 2),
        None => ("", text),
    };
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    // Without a colon no name and password were begun.
    let is_user_possible = authority.contains(['@', ':']) || authority == rest;
    let (user, rest) = match rest.rsplit_once('@').filter(|_| is_user_possible) {
        Some((_, rest)) => ("…@", rest),
        None => ("", rest),
    };
    let (rest, fragment) = rest.split_once('#').map_or((rest, ""), |(rest, _)| (rest, "#…"));
    let mut shown = String::with_capacity(text.len());
    // To write to a string does not fail.
    let _ = write!(OneLine(&mut shown), "{scheme}{user}{}{fragment}", masked_target(rest));
    shown
}

/// Returns a displayable form of a target without the values of its query: `/login?user=…&token=…`, on one
/// line.
///
/// User information is hidden as well where the target is a whole URI or an authority, in which it is never
/// valid (RFC 9112 §3.2). Allocates nothing.
///
/// ```
/// use alula::fields::masked_target;
///
/// assert_eq!(masked_target("/a?b=secret&secret").to_string(), "/a?b=…&…");
/// assert_eq!(masked_target("http://anna:secret@a.example/b").to_string(), "http://…@a.example/b");
/// ```
pub const fn masked_target(text: &str) -> MaskedTarget<'_> {
    MaskedTarget(text)
}

/// A target as it may be shown; made by [`masked_target`].
#[derive(Clone, Copy)]
pub struct MaskedTarget<'a>(&'a str);

impl fmt::Display for MaskedTarget<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(&mut OneLine(f))
    }
}

impl MaskedTarget<'_> {
    fn write(&self, out: &mut impl fmt::Write) -> fmt::Result {
        let target = match user_of(self.0) {
            Some((before, after)) => {
                write!(out, "{before}{HIDDEN}@")?;
                after
            }
            None => self.0,
        };
        let Some((path, query)) = target.split_once('?') else { return out.write_str(target) };
        write!(out, "{path}?")?;
        for (place, pair) in query.split('&').enumerate() {
            out.write_str(if place == 0 { "" } else { "&" })?;
            match pair.split_once('=') {
                Some((_, "")) => out.write_str(pair)?,
                Some((name, _)) => write!(out, "{name}={HIDDEN}")?,
                None if pair.is_empty() => {}
                // A query without names may be a secret as a whole.
                None => out.write_str(HIDDEN)?,
            }
        }
        Ok(())
    }
}

/// Splits a whole URI or an authority around the user information and its `@`. Its password may hold a slash,
/// and then what stands before that is no host and port.
fn user_of(target: &str) -> Option<(&str, &str)> {
    if target.starts_with('/') || !target.contains('@') {
        return None;
    }
    let start = target.find("//").map_or(0, |slashes| slashes + 2);
    let (before, rest) = target.split_at(start);
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    let is_port = |end: &str| end.ends_with(']') || end.bytes().all(|digit| digit.is_ascii_digit());
    let has_host = authority.rsplit_once(':').is_none_or(|(_, port)| is_port(port));
    if !authority.contains('@') && has_host {
        return None;
    }
    rest.rsplit_once('@').map(|(_, after)| (before, after))
}

impl fmt::Debug for MaskedTarget<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = String::new();
        self.write(&mut shown)?;
        fmt::Debug::fmt(&shown, f)
    }
}

/// Returns the value of a field without the credentials in it; the name may be in any case.
///
/// `authorization` keeps its scheme, cookies keep their names and attributes, URLs are masked as by
/// [`masked_url`], and fields whose names end as `x-api-key` and `private-token` do keep nothing. Other
/// values are returned as they are. Allocates only where something is hidden.
///
/// ```
/// use alula::fields::masked_field;
///
/// assert_eq!(*masked_field("Authorization", b"Bearer secret"), *"Bearer …".as_bytes());
/// assert_eq!(*masked_field("cookie", b"a=secret; b=secret"), *"a=…; b=…".as_bytes());
/// assert_eq!(*masked_field("accept", b"text/html"), *b"text/html");
/// ```
pub fn masked_field<'v>(name: &str, value: &'v [u8]) -> Cow<'v, [u8]> {
    match KnownName::lookup_folded(name.as_bytes()) {
        Some(KnownName::AUTHORIZATION | KnownName::PROXY_AUTHORIZATION) => credentials(value),
        Some(KnownName::COOKIE) => text(value, |value| parts(value, |_, part| pair(part))),
        Some(KnownName::SET_COOKIE) => text(value, |value| parts(value, cookie_part)),
        Some(KnownName::LINK) => url(value, link),
        Some(KnownName::REFRESH) => url(value, refresh),
        Some(
            KnownName::LOCATION
            | KnownName::CONTENT_LOCATION
            | KnownName::REFERER
            | KnownName::HOST
            | KnownName::PSEUDO_AUTHORITY,
        ) => url(value, masked_url),
        Some(KnownName::PSEUDO_PATH) => url(value, |path| format!("{}", masked_target(path))),
        Some(known) if known.is_sensitive() => hidden(),
        _ if is_secret(name) => hidden(),
        _ if ends_in(name, "uri") || ends_in(name, "url") => url(value, masked_url),
        _ => Cow::Borrowed(value),
    }
}

/// Returns the displayed form of a value that is secret as a whole.
pub(crate) fn hidden<'v>() -> Cow<'v, [u8]> {
    Cow::Borrowed(HIDDEN.as_bytes())
}

/// Bytes between quotes, on one line, with all control characters escaped.
pub(crate) struct Quoted<'a>(pub(crate) &'a [u8]);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for chunk in self.0.utf8_chunks() {
            write!(f, "{}{}", chunk.valid().escape_debug(), chunk.invalid().escape_ascii())?;
        }
        f.write_str("\"")
    }
}

fn is_secret(name: &str) -> bool {
    SECRET_ENDS.iter().any(|end| ends_in(name, end))
        && !NO_SECRETS.iter().any(|known| name.eq_ignore_ascii_case(known))
}

fn ends_in(name: &str, end: &str) -> bool {
    let at = name.len().checked_sub(end.len());
    at.and_then(|at| name.get(at..)).is_some_and(|tail| tail.eq_ignore_ascii_case(end))
}

fn credentials(value: &[u8]) -> Cow<'_, [u8]> {
    if value.is_empty() {
        return Cow::Borrowed(value);
    }
    let scheme = value.split(|byte| *byte == b' ').next().unwrap_or_default();
    match SCHEMES.iter().find(|known| known.as_bytes().eq_ignore_ascii_case(scheme)) {
        Some(known) if known.len() == value.len() => Cow::Borrowed(value),
        Some(known) => Cow::Owned(format!("{known} {HIDDEN}").into_bytes()),
        None => hidden(),
    }
}

fn text(value: &[u8], masked: impl FnOnce(&str) -> String) -> Cow<'static, [u8]> {
    Cow::Owned(masked(&String::from_utf8_lossy(value)).into_bytes())
}

/// Returns a URL unchanged if nothing in it is secret, and masked otherwise.
fn url(value: &[u8], masked: impl FnOnce(&str) -> String) -> Cow<'_, [u8]> {
    match value.iter().any(|byte| b"?@#".contains(byte)) {
        true => text(value, masked),
        false => Cow::Borrowed(value),
    }
}

/// Writes the parts between semicolons, each in its displayed form.
fn parts<'a>(value: &'a str, shown: impl Fn(usize, &'a str) -> String) -> String {
    let parts = value.split(';').enumerate().map(|(place, part)| shown(place, part.trim()));
    parts.collect::<Vec<_>>().join("; ")
}

fn pair(part: &str) -> String {
    match part.split_once('=') {
        Some((name, _)) => format!("{name}={HIDDEN}"),
        None => String::from(if part.is_empty() { "" } else { HIDDEN }),
    }
}

/// Masks a part of `set-cookie`: the first is the cookie, the others are its attributes.
fn cookie_part(place: usize, part: &str) -> String {
    let name = part.split('=').next().unwrap_or_default().trim();
    match COOKIE_ATTRIBUTES.iter().any(|known| name.eq_ignore_ascii_case(known)) {
        true if place > 0 => String::from(part),
        _ => pair(part),
    }
}

/// Masks the URLs of `link`, which stand between angle brackets (RFC 8288 §3).
fn link(value: &str) -> String {
    let shown = |(place, piece): (usize, &str)| match piece.split_once('>') {
        Some((url, rest)) if place > 0 => format!("<{}>{rest}", masked_url(url)),
        _ if place > 0 => format!("<{}", masked_url(piece)),
        _ => masked_url(piece),
    };
    value.split('<').enumerate().map(shown).collect()
}

/// Masks a value such as `5; url=https://…`.
fn refresh(value: &str) -> String {
    match value.split_once('=') {
        Some((before, url)) if !before.contains(['?', '@']) => format!("{before}={}", masked_url(url)),
        _ => masked_url(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString as _;

    #[test]
    fn a_url_is_shown_without_secrets() {
        for (url, shown) in [
            ("http://a.example:80/b", "http://a.example:80/b"),
            ("http://user:secret@a.example:99999/", "http://…@a.example:99999/"),
            ("http://user:se/cr?e#t@a/", "http://…@a/"),
            ("http://user:se/cret@a/", "http://…@a/"),
            ("user:secret@a", "…@a"),
            ("http:///x?key=secret#secret", "http:///x?key=…#…"),
            ("https://a/@b/c", "https://a/@b/c"),
            ("https://a/?to=b@c", "https://a/?to=…"),
            ("", ""),
        ] {
            assert_eq!(masked_url(url), shown);
        }
    }

    #[test]
    fn values_of_a_query_are_not_shown() {
        for (path, shown) in [
            ("/", "/"),
            ("/a?b=c", "/a?b=…"),
            ("/a?b=c&d=&e", "/a?b=…&d=&…"),
            ("/a?", "/a?"),
            ("/a?&&b=c", "/a?&&b=…"),
            ("/a?t0k3n", "/a?…"),
            ("*", "*"),
            ("/@scope/name", "/@scope/name"),
            ("a.example:443", "a.example:443"),
            ("http://a.example:80/@scope/name", "http://a.example:80/@scope/name"),
            ("http://[::1]/@scope/name", "http://[::1]/@scope/name"),
            ("http://user:secret@a.example/b?c=d", "http://…@a.example/b?c=…"),
            ("http://user:se/cr?et@a.example/b", "http://…@a.example/b"),
            ("http://user:secret@secret@a.example", "http://…@a.example"),
            ("secret@a.example:443", "…@a.example:443"),
        ] {
            assert_eq!(masked_target(path).to_string(), shown);
        }
    }

    #[test]
    fn a_field_is_shown_without_secrets() {
        for (name, value, shown) in [
            ("Authorization", "basic s3cret", "Basic …"),
            ("proxy-authorization", "s3cret", "…"),
            ("proxy-authorization", "s3cret s3cret", "…"),
            ("authorization", "Negotiate", "Negotiate"),
            ("Cookie", "s3cret", "…"),
            ("cookie", "a=s3cret; b=s3cret=s3cret;", "a=…; b=…; "),
            ("set-cookie", "a=s3cret; Path=/; Secure; s3cret; b=s3cret", "a=…; Path=/; Secure; …; b=…"),
            ("set-cookie", "path=s3cret", "path=…"),
            ("location", "https://a/", "https://a/"),
            ("Location", "https://s3cret@a/?code=s3cret#s3cret", "https://…@a/?code=…#…"),
            (
                "link",
                "<https://a/?k=s3cret>; rel=next, </b#s3cret>; a=b",
                "<https://a/?k=…>; rel=next, </b#…>; a=b",
            ),
            ("refresh", "5; url=https://a/?k=s3cret", "5; url=https://a/?k=…"),
            (":path", "/a?k=s3cret", "/a?k=…"),
            ("X-Api-Key", "s3cret", "…"),
            ("Private-Token", "s3cret", "…"),
            ("x-forwarded-uri", "/?k=s3cret", "/?k=…"),
            ("idempotency-key", "7", "7"),
            ("accept", "a?b@c#d", "a?b@c#d"),
            ("é", "a", "a"),
        ] {
            let masked = masked_field(name, value.as_bytes());
            assert_eq!(String::from_utf8_lossy(&masked), shown, "{name}: {value}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_kept_where_nothing_is_hidden() {
        assert_eq!(*masked_field("location", b"/\xff"), *b"/\xff");
        assert_eq!(*masked_field("x", b"\xff?"), *b"\xff?");
        assert_eq!(*masked_field("cookie", b"a=\xff"), *"a=…".as_bytes());
    }
}
