//! Names and passwords of `authorization` (RFC 7617).

use alula_server::fuzzing::basic_credentials;

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The bytes are a value as it is sent, and then name and password as they are encoded.
pub fn credentials(data: &[u8]) {
    if let Some((name, password)) = basic_credentials(data) {
        assert!(!name.contains(':'), "{data:?}");
        let expected = encode(format!("{name}:{password}").as_bytes());
        assert_eq!(data[b"Basic ".len()..].trim_ascii(), expected.as_bytes(), "{data:?}");
    }
    let pair = std::str::from_utf8(data).ok().and_then(|text| text.split_once(':'));
    let read = basic_credentials(format!("bAsIC {}", encode(data)).as_bytes());
    assert_eq!(read, pair.map(|(name, password)| (name.to_owned(), password.to_owned())), "{data:?}");
}

/// Base64 with padding (RFC 4648 §4).
fn encode(bytes: &[u8]) -> String {
    let three = |group: &[u8]| {
        let number =
            (0..3).fold(0, |number, at| number << 8 | usize::from(group.get(at).copied().unwrap_or(0)));
        let letters: [char; 4] = [18, 12, 6, 0].map(|shift| char::from(LETTERS[number >> shift & 63]));
        let count = group.len() + 1;
        letters.into_iter().take(count).chain("=".repeat(4 - count).chars().collect::<Vec<_>>())
    };
    bytes.chunks(3).flat_map(three).collect()
}
