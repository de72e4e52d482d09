//! Stand-ins for the bytes of names that are not UTF-8, in texts that have to be.
//!
//! A byte that belongs to no character is the private character of its number above U+EF00, from U+EF80 to
//! U+EFFF. UTF-8 of these characters is three such bytes, so that a text stands for one name only. In a path
//! they stand for the same bytes: a client may ask for each name as a list has told it.

use std::borrow::Cow;
use std::ops::RangeInclusive;

/// The characters that stand for bytes.
pub(in crate::http) const CHARACTERS: RangeInclusive<char> = '\u{ef80}'..='\u{efff}';

/// The number of the character that would stand for the byte 0.
const ZERO: u32 = 0xef00;

/// The first byte of the stand-ins in UTF-8, and their second bytes.
const FIRST: u8 = 0xee;
const SECOND: RangeInclusive<u8> = 0xbe..=0xbf;

/// Appends a character for each byte. All of them are above 0x7f, as they are where UTF-8 is broken.
pub(in crate::http) fn put(bytes: &[u8], out: &mut Vec<u8>) {
    for byte in bytes {
        let character = char::from_u32(ZERO + u32::from(*byte)).unwrap_or(char::REPLACEMENT_CHARACTER);
        out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

/// Returns a name as it is written in a path: bytes that would be read as a stand-in have stand-ins
/// themselves. Allocates only for a name that has such.
pub(in crate::http) fn encoded(name: &[u8]) -> Cow<'_, [u8]> {
    if !name.contains(&FIRST) || *decoded(name.into()) == *name {
        return name.into();
    }
    let mut out = Vec::with_capacity(3 * name.len());
    let mut rest = name;
    while let Some((first, after)) = rest.split_first() {
        match rest {
            [FIRST, second, 0x80..=0xbf, after @ ..] if SECOND.contains(second) => {
                put(&rest[..3], &mut out);
                rest = after;
            }
            _ => {
                out.push(*first);
                rest = after;
            }
        }
    }
    out.into()
}

/// Returns a name of a path with the bytes for which it has stand-ins. Allocates only for a name that has
/// some.
pub(in crate::http) fn decoded(name: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    if !name.contains(&FIRST) {
        return name;
    }
    let mut out = Vec::with_capacity(name.len());
    let mut rest = &name[..];
    while let Some((first, after)) = rest.split_first() {
        match after {
            [second, third @ 0x80..=0xbf, after @ ..] if *first == FIRST && SECOND.contains(second) => {
                out.push(0x80 | (second & 1) << 6 | (third & 0x3f));
                rest = after;
            }
            _ => {
                out.push(*first);
                rest = after;
            }
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_above_127_has_one() {
        for byte in 0x80..=0xff {
            let mut text = b"a".to_vec();
            put(&[byte], &mut text);
            let character =
                std::str::from_utf8(&text).expect("UTF-8").chars().next_back().expect("a character");
            assert!(CHARACTERS.contains(&character));
            assert_eq!(decoded(text.into()), &[b'a', byte][..]);
        }
    }

    #[test]
    fn any_name_comes_back() {
        let mut rng = alula_testkit::Rng::new(11);
        for _ in 0..20_000 {
            let len = rng.below(12);
            let name = rng.bytes_of(b"a\xee\xee\xbe\xbf\x80\xbf\xff", len);
            assert_eq!(decoded(encoded(&name)), &name[..], "{name:?}");
        }
        assert_eq!(encoded(b"a\xff\xee"), &b"a\xff\xee"[..]);
    }

    #[test]
    fn other_characters_stay() {
        for text in ["", "key", "\u{ef7f}\u{f000}\u{e000}", "\u{eeff}", "gr\u{fc}n"] {
            assert_eq!(decoded(text.as_bytes().into()), text.as_bytes());
        }
        for cut in [&b"\xee"[..], b"\xee\xbe", b"\xee\xbe\xc0", b"a\xee\xbf\x7f"] {
            assert_eq!(decoded(cut.into()), cut);
        }
    }
}
