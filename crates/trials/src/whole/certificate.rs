//! The words about a certificate that `-v` shows.

use crate::certificate_words::Certificate;

/// The octets as a certificate in DER.
pub fn certificate(data: &[u8]) {
    let Some(words) = Certificate::of(data) else { return };
    // Octets after it are no part of it.
    let trailed = [data, b"\x30\x00"].concat();
    assert_eq!(Certificate::of(&trailed).as_ref(), Some(&words));
    for time in [&words.not_before, &words.not_after] {
        assert!(time.ends_with(" GMT"), "{time:?}");
    }
    // A number of an identifier takes up to twenty digits for ten octets, and an octet that is no text three.
    let octets = words.subject.len() + words.issuer.len();
    assert!(octets <= 32 * data.len(), "{octets} octets of {}", data.len());
}
