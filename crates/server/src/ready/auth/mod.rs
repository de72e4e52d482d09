//! Credentials of requests (RFC 9110 §11).
//!
//! Rule: a comparison takes as long for wrong credentials as for right ones, and every one that is known is
//! compared.
//! Rule: nothing here shows credentials, neither `Debug` nor an error.

mod basic;
mod bearer;

use std::hint::black_box;

use alula_fields::{FieldSection, KnownName, Status, parameters};

#[cfg(feature = "fuzzing")]
pub(crate) use self::basic::decode_pair;
pub use self::{basic::BasicAuth, bearer::BearerAuth};
use crate::{answer::Answer, exchange::request::Request};

/// The user that a layer has found.
enum Verdict<'a> {
    Refused,
    /// A user by name, or one without.
    Admitted(Option<&'a str>),
}

/// The field in which handlers find the user. Values that the peer sent in the field are removed.
#[derive(Debug, Default)]
struct UserHeader(Option<String>);

impl UserHeader {
    /// Sets the user in the field; returns false if the name is not a valid value.
    fn note(&self, request: &mut Request, verdict: &Verdict<'_>) -> bool {
        let Some(name) = &self.0 else { return true };
        // The client may have sent the field by itself.
        request.remove(&**name);
        match verdict {
            Verdict::Admitted(Some(user)) => request.set(&**name, user).is_ok(),
            Verdict::Admitted(None) | Verdict::Refused => true,
        }
    }
}

/// Returns the credentials of a scheme, if the request has exactly one set of credentials, of that scheme
/// (RFC 9110 §11.4).
fn credentials<'a>(headers: &'a FieldSection, scheme: &str) -> Option<&'a [u8]> {
    let mut values = headers.get_all(KnownName::AUTHORIZATION);
    // If there are several fields, none counts: a proxy may have checked another one.
    let (value, None) = (values.next()?, values.next()) else { return None };
    let (named, credentials) = value.split_at_checked(scheme.len())?;
    let credentials = credentials.strip_prefix(b" ")?.trim_ascii();
    named.eq_ignore_ascii_case(scheme.as_bytes()).then_some(credentials)
}

/// Writes a realm as a quoted string (RFC 9110 §5.6.4); any byte but visible ASCII becomes a question mark.
fn quoted(realm: &str) -> String {
    let visible = realm.chars().map(|it| if (' '..='~').contains(&it) { it } else { '?' });
    parameters::quote(&visible.collect::<String>())
}

fn unauthorized(challenge: &str) -> Answer {
    Answer::new(Status::UNAUTHORIZED).header(KnownName::WWW_AUTHENTICATE, challenge)
}

/// Compares in a time that depends only on the length of the expected value.
fn is_equal(expected: &[u8], given: &[u8]) -> bool {
    let mut difference = u8::from(expected.len() != given.len());
    for (at, byte) in expected.iter().enumerate() {
        // `black_box` keeps the compiler from leaving the loop at the first difference.
        difference = black_box(difference | (byte ^ given.get(at).copied().unwrap_or_default()));
    }
    black_box(difference) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_is_equal() {
        for (one, other, is) in
            [("", "", true), ("a", "a", true), ("a", "b", false), ("a", "ab", false), ("ab", "a", false)]
        {
            assert_eq!(is_equal(one.as_bytes(), other.as_bytes()), is);
        }
        assert!(!is_equal(b"a\0", b"a") && !is_equal(b"", b"a"));
    }

    #[test]
    fn realms_are_quoted() {
        assert_eq!(quoted("a \"b\" \\ \r\n\u{f6}"), r#""a \"b\" \\ ???""#);
    }
}
