//! The name and the password of a request (RFC 7617).

use alula::{FieldSection, KnownName, Scratch};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroize;

/// The longest credentials in base64, in bytes: a name of 255 bytes with a password of more than 1000.
/// Longer ones are not looked at.
const BASE64_BYTES_MAX: usize = 2048;

const SCHEME: &str = "Basic";

/// A name and a password, in memory that is cleared before others have it.
pub(crate) struct Credentials {
    /// The name, a colon, the password.
    pair: Scratch,
    colon: usize,
}

impl Credentials {
    /// Reads the field `authorization`. Allocates nothing once warm.
    ///
    /// Returns none if there are none that can be read: another scheme, no base64, no colon, a name that is
    /// no text, too many bytes, or several fields.
    pub(crate) fn read(headers: &FieldSection) -> Option<Self> {
        let mut values = headers.get_all(KnownName::AUTHORIZATION);
        let (Some(value), None) = (values.next(), values.next()) else { return None };
        let (scheme, coded) = value.split_at_checked(SCHEME.len())?;
        let coded = coded.strip_prefix(b" ")?.trim_ascii();
        if !scheme.eq_ignore_ascii_case(SCHEME.as_bytes()) || coded.len() > BASE64_BYTES_MAX {
            return None;
        }
        let mut credentials = Self { pair: Scratch::lend(), colon: 0 };
        STANDARD.decode_vec(coded, &mut credentials.pair).ok()?;
        credentials.colon = credentials.pair.iter().position(|byte| *byte == b':')?;
        std::str::from_utf8(&credentials.pair[..credentials.colon]).ok()?;
        Some(credentials)
    }

    /// Returns the name, which may be empty.
    pub(crate) fn name(&self) -> &str {
        std::str::from_utf8(&self.pair[..self.colon]).unwrap_or_default()
    }

    /// Returns the password, which need not be text.
    pub(crate) fn password(&self) -> &[u8] {
        &self.pair[self.colon + 1..]
    }
}

impl Drop for Credentials {
    fn drop(&mut self) {
        self.pair.as_mut_slice().zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: &[&str]) -> Option<(String, Vec<u8>)> {
        let mut headers = FieldSection::new();
        for value in values {
            headers.append("authorization", value).unwrap();
        }
        let credentials = Credentials::read(&headers)?;
        Some((credentials.name().to_owned(), credentials.password().to_vec()))
    }

    fn basic(pair: &[u8]) -> String {
        format!("Basic {}", STANDARD.encode(pair))
    }

    #[test]
    fn a_pair_is_a_name_and_a_password() {
        for (value, name, password) in [
            (basic(b"ann:secret"), "ann", &b"secret"[..]),
            (basic(b"ann:a:b"), "ann", b"a:b"),
            (basic(b":"), "", b""),
            (basic("\u{fc}:\u{e4}".as_bytes()), "\u{fc}", "\u{e4}".as_bytes()),
            (basic(b"ann:\xff\0"), "ann", b"\xff\0"),
            ("bAsIc   YTpi  ".to_owned(), "a", b"b"),
        ] {
            assert_eq!(read(&[&value]), Some((name.to_owned(), password.to_vec())), "{value}");
        }
    }

    #[test]
    fn anything_else_is_none() {
        let (right, long) = (basic(b"ann:secret"), basic(&[b'a'; BASE64_BYTES_MAX]));
        for values in [
            &[][..],
            &[""],
            &["Basic"],
            &["Basic "],
            &["BasicYTpi"],
            &["Bearer YTpi"],
            &["Basic YTpi="],
            &["Basic YTp"],
            &["Basic !!!!"],
            &["Basic YTpi YTpi"],
            &[&*basic(b"ann")],
            &[&*basic(b"\xff:secret")],
            &[&*long],
            &[&*right, &*right],
        ] {
            assert_eq!(read(values), None, "{values:?}");
        }
    }
}
