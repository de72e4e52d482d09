//! The encoding of forms and queries (WHATWG URL, application/x-www-form-urlencoded).

use std::fs;

use url::form_urlencoded::byte_serialize;

use super::stdin::Deadline;
use crate::failure::exit::Failure;

/// Encodes bytes as in a form (`application/x-www-form-urlencoded`): a space becomes `+`.
pub(in crate::fetch) fn encoded(bytes: &[u8]) -> String {
    byte_serialize(bytes).collect()
}

/// Encodes `name=value`.
pub(in crate::fetch) fn pair(name: &str, value: &[u8]) -> String {
    format!("{}={}", encoded(name.as_bytes()), encoded(value))
}

/// Reads an argument of `--data-urlencode`: `TEXT`, `=TEXT`, `NAME=TEXT`, `@FILE` or `NAME@FILE`. The name
/// is taken to be encoded.
pub(in crate::fetch) fn argument(text: &str, deadline: Deadline) -> Result<String, Failure> {
    let Some(at) = text.find(['=', '@']) else { return Ok(encoded(text.as_bytes())) };
    let (name, rest) = text.split_at(at);
    let value = match rest.strip_prefix('@') {
        Some("-") => encoded(&deadline.read_all()?),
        Some(file) => encoded(&fs::read(file).map_err(|error| Failure::unread(file, &error))?),
        // The first byte is the `=`, which separates and is not sent when there is no name.
        None => encoded(&rest.as_bytes()[1..]),
    };
    Ok(if name.is_empty() { value } else { format!("{name}={value}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_encoded_after_their_name() {
        for (given, expected) in [
            ("a b&c", "a+b%26c"),
            ("=a=b", "a%3Db"),
            ("a=b c", "a=b+c"),
            ("a%20=b", "a%20=b"),
            ("a=b@c", "a=b%40c"),
            ("é", "%C3%A9"),
            ("a=", "a="),
            ("", ""),
        ] {
            assert_eq!(argument(given, Deadline::default()).unwrap(), expected, "{given}");
        }
        let manifest =
            argument(concat!("a@", env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"), Deadline::default()).unwrap();
        assert!(manifest.starts_with("a=%5Bpackage%5D%0A"), "{manifest}");
        assert!(argument("a@no such file", Deadline::default()).is_err());
    }

    #[test]
    fn pairs_are_encoded_as_forms_are() {
        assert_eq!(pair("a b", "é&".as_bytes()), "a+b=%C3%A9%26");
    }
}
