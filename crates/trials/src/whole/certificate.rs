//! The words about a certificate that `-v` shows.

use crate::certificate_words::Certificate;

/// The bytes as a certificate in DER.
pub fn certificate(data: &[u8]) {
    let Some(words) = Certificate::of(data) else { return };
    // Bytes after it are no part of it.
    let trailed = [data, b"\x30\x00"].concat();
    assert_eq!(Certificate::of(&trailed).as_ref(), Some(&words));
    for time in [&words.not_before, &words.not_after] {
        assert!(time.ends_with(" GMT"), "{time:?}");
    }
    // A number of an identifier takes up to twenty digits for ten bytes, and a byte that is no text three.
    let bytes = words.subject.len() + words.issuer.len();
    assert!(bytes <= 32 * data.len(), "{bytes} bytes of {}", data.len());
}
