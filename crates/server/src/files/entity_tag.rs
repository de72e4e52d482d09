//! Entity-tags of content and of files (RFC 9110 §8.8.3).
//!
//! A strong entity-tag must differ whenever the content does. That of content in memory is made of the
//! content. That of a file is made of its inode, its size and the times of its last change: no program can
//! set the time of change (`ctime`) back, and what is written later gets a later one, unless it is written
//! within the same tick of the system's clock. The tag is therefore weak until the last change lies some
//! seconds back, and so is the tag of what may have changed unnoticed while it was read.

use aws_lc_rs::digest::{Context, SHA256};

use super::stamp::Stamp;

/// Bytes of a digest that are told: two contents with the same 128 bits are not to be expected.
const DIGEST_BYTES: usize = 16;

/// Bytes of a strong tag, with its quotes.
const TAG_BYTES: usize = 2 * DIGEST_BYTES + 2;

/// An entity-tag as it is sent.
///
/// ```
/// let tag = alula::files::EntityTag::of_content(b"abc");
/// assert_eq!(tag.as_str(), "\"ba7816bf8f01cfea414140de5dae2223\"");
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EntityTag(String);

impl EntityTag {
    /// Makes the tag of content that is here: strong, and the same wherever the content is the same, by 128
    /// bits of its SHA-256.
    pub fn of_content(content: &[u8]) -> Self {
        Self(text_of(&strong_tag([content])).to_owned())
    }

    /// Makes the tag of a file by its state: strong if that [is settled](Stamp::is_settled).
    pub fn of_stamp(stamp: &Stamp, is_settled: bool) -> Self {
        let tag = strong_tag([format!("{stamp:?}").as_bytes()]);
        Self(format!("{}{}", if is_settled { "" } else { "W/" }, text_of(&tag)))
    }

    /// Returns the tag with quotes, and `W/` if it is weak.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns the strong tag of content in these pieces: part of its digest in hexadecimal, in quotes.
pub(crate) fn strong_tag<'p>(pieces: impl IntoIterator<Item = &'p [u8]>) -> [u8; TAG_BYTES] {
    let mut context = Context::new(&SHA256);
    pieces.into_iter().for_each(|piece| context.update(piece));
    let mut tag = [b'"'; TAG_BYTES];
    for (byte, digits) in context.finish().as_ref().iter().zip(tag[1..TAG_BYTES - 1].chunks_exact_mut(2)) {
        digits.copy_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 0xf)]]);
    }
    tag
}

const HEX: &[u8; 16] = b"0123456789abcdef";

/// Returns a tag as text: it is ASCII.
fn text_of(tag: &[u8]) -> &str {
    std::str::from_utf8(tag).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    const EPOCH: SystemTime = SystemTime::UNIX_EPOCH;

    #[test]
    fn a_tag_of_content_is_part_of_its_sha_256() {
        // FIPS 180-4, the example "abc".
        assert_eq!(EntityTag::of_content(b"abc").as_str(), "\"ba7816bf8f01cfea414140de5dae2223\"");
    }

    #[test]
    fn a_tag_of_a_stamp_differs_with_all_of_it() {
        let stamp = Stamp::new(10, Some(EPOCH), Some((1_000, 1)), (1, 2));
        let tag = |stamp| EntityTag::of_stamp(&stamp, true);
        for other in [
            Stamp::new(11, Some(EPOCH), Some((1_000, 1)), (1, 2)),
            Stamp::new(10, Some(EPOCH + Duration::from_secs(1)), Some((1_000, 1)), (1, 2)),
            Stamp::new(10, Some(EPOCH), Some((1_000, 2)), (1, 2)),
            Stamp::new(10, Some(EPOCH), Some((1_000, 1)), (1, 3)),
        ] {
            assert_ne!(tag(stamp), tag(other), "{other:?}");
        }
        assert_eq!(tag(stamp), tag(stamp));
        assert!(tag(stamp).as_str().starts_with('"'));
        assert!(EntityTag::of_stamp(&stamp, false).as_str().starts_with("W/\""));
    }
}
