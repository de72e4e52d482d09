//! The classes of single bytes: one table, and checks of whole strings built on it.
//!
//! The checks test sixteen bytes a step, by a loop without branches that the compiler turns into vector code.
//! For shorter strings a step tests eight: a word is loaded, and each class is a few additions in which no
//! byte can carry into its neighbour. This decides nearly every string; a string with any unusual byte is
//! looked up in [`CLASS`], byte by byte.

pub use crate::name::lanes::{SHORT, copy_short};
use crate::name::word::{self, HIGH, controls, each, is_control, is_plain, may_be_control, unplain};

/// Bytes of field names (RFC 9110 §5.6.2 `tchar`).
pub const TOKEN: u8 = 1 << 0;
/// Bytes of field names in HTTP/2: token bytes except upper-case letters (RFC 9113 §8.2.1).
pub const LOWER_TOKEN: u8 = 1 << 1;
/// Bytes of field values: everything but control characters, of which only tab is allowed (RFC 9110 §5.5).
pub const FIELD_VALUE: u8 = 1 << 2;
/// Bytes of path and query: visible ASCII without `#` (RFC 9110 §7.1).
///
/// Wider than RFC 3986, which has neither `"<>\^` nor a backquote nor `{|}`: browsers send them unescaped.
pub const PATH: u8 = 1 << 3;
/// Bytes of hosts: unreserved, sub-delims and `%` (RFC 3986 §3.2.2).
pub const HOST: u8 = 1 << 4;
/// Bytes of a scheme after its first letter (RFC 3986 §3.1).
pub const SCHEME: u8 = 1 << 5;
/// Decimal digits.
pub const DIGIT: u8 = 1 << 6;
/// Upper-case ASCII letters.
pub const UPPER: u8 = 1 << 7;

/// The classes of each byte, as a sum of the bits above.
///
/// A decoder that emits bytes one by one can `&` the entries of all it emits: the bits left are the classes
/// of the whole string.
///
/// ```
/// use alula::fields::bytes::{CLASS, LOWER_TOKEN, TOKEN};
///
/// let all = b"Content-Type".iter().fold(!0, |all, &byte| all & CLASS[byte as usize]);
/// assert_eq!(all & (TOKEN | LOWER_TOKEN), TOKEN);
/// ```
pub static CLASS: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = class(byte as u8);
        byte += 1;
    }
    table
};

/// Returns true if these bytes are a token: at least one, all of them `tchar` (RFC 9110 §5.6.2).
///
/// ```
/// use alula::fields::bytes::is_token;
///
/// assert!(is_token(b"Content-Type"));
/// assert!(!is_token(b"content type") && !is_token(b":path") && !is_token(b""));
/// ```
#[inline]
pub fn is_token(bytes: &[u8]) -> bool {
    let unplain_in_any_case = |word| unplain(word | (word & each(0x40)) >> 1);
    let is_plain = word::none(bytes, b'a', unplain_in_any_case, |byte| !is_plain(byte | (byte & 0x40) >> 1));
    !bytes.is_empty() && (is_plain || all_in(bytes, TOKEN))
}

/// Returns true if these bytes are a token without upper-case letters, as HTTP/2 requires of names (RFC 9113
/// §8.2.1).
///
/// ```
/// use alula::fields::bytes::is_lower_token;
///
/// assert!(is_lower_token(b"content-type"));
/// assert!(!is_lower_token(b"Content-Type") && !is_lower_token(b""));
/// ```
#[inline]
pub fn is_lower_token(bytes: &[u8]) -> bool {
    let is_plain = word::none(bytes, b'a', unplain, |byte| !is_plain(byte));
    !bytes.is_empty() && (is_plain || all_in(bytes, LOWER_TOKEN))
}

/// Returns true if these bytes may be a field value: no control character but tab; empty is allowed.
///
/// Bytes from 0x80 up are allowed. White space at either end is allowed as well; see [`is_trimmed`].
///
/// ```
/// use alula::fields::bytes::is_field_value;
///
/// assert!(is_field_value("text/html;\tq=0.9, café".as_bytes()) && is_field_value(b""));
/// assert!(!is_field_value(b"a\r\nb: c") && !is_field_value(b"\0") && !is_field_value(b"\x7f"));
/// ```
#[inline]
pub fn is_field_value(bytes: &[u8]) -> bool {
    // Tabs are controls as well, but rare.
    word::none(bytes, b' ', controls, is_control) || all_in(bytes, FIELD_VALUE)
}

/// Returns true if every byte is ASCII. Two steps for up to sixteen bytes, and sixteen bytes a step beyond.
///
/// ```
/// use alula::fields::bytes::is_ascii;
///
/// assert!(is_ascii(b"/path") && is_ascii(b""));
/// assert!(!is_ascii("/café".as_bytes()));
/// ```
#[inline]
pub fn is_ascii(bytes: &[u8]) -> bool {
    word::none(bytes, b' ', |word| word, |byte| !byte.is_ascii())
}

/// Returns true if these bytes may be the path and query of a request: visible ASCII without `#`; empty is
/// allowed.
///
/// See [`PATH`] for what is accepted beyond RFC 3986, and why.
#[inline]
pub fn is_path(bytes: &[u8]) -> bool {
    word::none(bytes, b'/', outside_path, is_outside_path)
}

/// Returns the place of the first byte that may not be in a path or query; see [`PATH`]. Sixteen bytes a
/// step.
///
/// ```
/// use alula::fields::bytes::position_outside_path;
///
/// assert_eq!(position_outside_path(b"/a?b HTTP/1.1"), Some(4));
/// assert_eq!(position_outside_path(b"/a?b"), None);
/// ```
#[inline]
pub fn position_outside_path(bytes: &[u8]) -> Option<usize> {
    word::first(bytes, b'/', |word| outside_path(word) & HIGH, is_outside_path)
}

/// Returns true if a field value neither starts nor ends with a space or a tab, as HTTP/2 asks (RFC 9113
/// §8.2.1).
#[inline]
pub const fn is_trimmed(bytes: &[u8]) -> bool {
    match bytes {
        [] => true,
        [only] => !is_blank(*only),
        [first, .., last] => !is_blank(*first) && !is_blank(*last),
    }
}

/// Returns the same bytes without spaces and tabs at either end.
pub const fn trim(mut bytes: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = bytes
        && is_blank(*first)
    {
        bytes = rest;
    }
    while let [rest @ .., last] = bytes
        && is_blank(*last)
    {
        bytes = rest;
    }
    bytes
}

/// Returns the place of the first byte with this value, which is below 0x80. Sixteen bytes a step.
///
/// ```
/// use alula::fields::bytes::position;
///
/// assert_eq!(position(b"content-type: text/plain", b':'), Some(12));
/// assert_eq!(position(b"content-type", b':'), None);
/// ```
#[inline(always)]
pub fn position(bytes: &[u8], wanted: u8) -> Option<usize> {
    debug_assert!(wanted.is_ascii());
    word::first(bytes, 0x80, |word| word::zeros(word ^ each(wanted)) & !word, |byte| byte == wanted)
}

/// Returns the place of the first byte that may not be in a field value: a control character other than tab
/// (RFC 9110 §5.5). Sixteen bytes a step.
///
/// ```
/// use alula::fields::bytes::position_of_control;
///
/// assert_eq!(position_of_control(b"text/html;\tq=1\r\n"), Some(14));
/// assert_eq!(position_of_control(b"text/html"), None);
/// ```
#[inline]
pub fn position_of_control(bytes: &[u8]) -> Option<usize> {
    let at = position_of_control_or_tab(bytes)?;
    // Tabs are controls as well, but rare.
    if bytes[at] == b'\t' { position_behind_tab(bytes, at) } else { Some(at) }
}

/// Returns the place of the first control character, including tab. Sixteen bytes a step.
#[inline(always)]
pub fn position_of_control_or_tab(bytes: &[u8]) -> Option<usize> {
    word::first(bytes, b' ', |word| controls(word) & HIGH, may_be_control)
}

#[cold]
fn position_behind_tab(bytes: &[u8], tab: usize) -> Option<usize> {
    position_outside(&bytes[tab..], FIELD_VALUE).map(|at| tab + at)
}

/// Returns true if every byte has all of the `wanted` classes; true for no bytes at all.
pub fn all_in(bytes: &[u8], wanted: u8) -> bool {
    bytes.iter().all(|&byte| CLASS[byte as usize] & wanted == wanted)
}

/// Returns the place of the first byte that lacks one of the `wanted` classes.
pub fn position_outside(bytes: &[u8], wanted: u8) -> Option<usize> {
    bytes.iter().position(|&byte| CLASS[byte as usize] & wanted != wanted)
}

#[inline]
const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Returns true for a byte that may not be in a path or query.
#[inline]
const fn is_outside_path(byte: u8) -> bool {
    byte.wrapping_sub(b'!') > b'~' - b'!' || byte == b'#'
}

/// Returns the high bit of each byte that may not be in a path or query. The other bits mean nothing.
#[inline]
const fn outside_path(word: u64) -> u64 {
    word | controls(word) | word::zeros(word ^ each(b' ')) | word::zeros(word ^ each(b'#'))
}

const fn class(byte: u8) -> u8 {
    let token = matches!(byte, b'!' | b'#'..=b'\'' | b'*' | b'+' | b'-' | b'.' | b'^'..=b'`' | b'|' | b'~')
        || byte.is_ascii_alphanumeric();
    let value = byte == b'\t' || !byte.is_ascii_control();
    let path = byte.is_ascii_graphic() && byte != b'#';
    let host = byte.is_ascii_alphanumeric()
        || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'%' | b'!' | b'$' | b'&'..=b',' | b';' | b'=');
    let scheme = byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let lower_token = token && !byte.is_ascii_uppercase();
    set(TOKEN, token)
        | set(LOWER_TOKEN, lower_token)
        | set(FIELD_VALUE, value)
        | set(PATH, path)
        | set(HOST, host)
        | set(SCHEME, scheme)
        | set(DIGIT, byte.is_ascii_digit())
        | set(UPPER, byte.is_ascii_uppercase())
}

const fn set(class: u8, holds: bool) -> u8 {
    if holds { class } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn strings(odd: u8) -> impl Iterator<Item = Vec<u8>> {
        (1..=40).flat_map(move |len| {
            (0..len).map(move |at| {
                let mut bytes = alloc::vec![b'x'; len];
                bytes[at] = odd;
                bytes
            })
        })
    }

    #[test]
    fn word_steps_agree_with_the_table_for_every_byte_at_every_place() {
        for odd in 0..=255 {
            for bytes in strings(odd) {
                assert_eq!(is_token(&bytes), all_in(&bytes, TOKEN), "{bytes:?}");
                assert_eq!(is_lower_token(&bytes), all_in(&bytes, LOWER_TOKEN), "{bytes:?}");
                assert_eq!(is_field_value(&bytes), all_in(&bytes, FIELD_VALUE), "{bytes:?}");
                assert_eq!(is_path(&bytes), all_in(&bytes, PATH), "{bytes:?}");
            }
        }
    }

    #[test]
    fn the_first_of_an_byte_is_found_behind_bytes_that_are_not_ascii() {
        for odd in 0..128 {
            for mut bytes in strings(odd) {
                bytes.insert(0, 0xe9);
                let place = bytes.iter().position(|byte| *byte == odd);
                assert_eq!(position(&bytes, odd), place, "{bytes:?}");
                assert_eq!(position_of_control(&bytes), position_outside(&bytes, FIELD_VALUE), "{bytes:?}");
            }
        }
    }

    #[test]
    fn any_byte_that_is_not_ascii_is_seen() {
        for odd in [0, b' ', 0x7f, 0x80, 0xc3, 0xff] {
            for bytes in strings(odd) {
                assert_eq!(is_ascii(&bytes), odd < 0x80, "{bytes:?}");
            }
        }
        assert!(is_ascii(b""));
    }

    #[test]
    fn the_first_control_is_found_behind_tabs() {
        for odd in 0..=255 {
            for mut bytes in strings(odd) {
                for tab in [None, Some(0), Some(bytes.len() / 2), Some(bytes.len() - 1)] {
                    if let Some(tab) = tab.filter(|at| bytes[*at] == b'x') {
                        bytes[tab] = b'\t';
                    }
                    assert_eq!(
                        position_of_control(&bytes),
                        position_outside(&bytes, FIELD_VALUE),
                        "{bytes:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_table_is_the_grammar() {
        let chars = |bit: u8| (0..=255).filter(|&o: &u8| CLASS[o as usize] & bit != 0).collect::<Vec<u8>>();
        let tokens = b"!#$%&'*+-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ^_`abcdefghijklmnopqrstuvwxyz|~";
        assert_eq!(chars(TOKEN), tokens);
        assert_eq!(chars(UPPER), (b'A'..=b'Z').collect::<Vec<u8>>());
        assert_eq!(chars(DIGIT), b"0123456789");
        assert!(chars(FIELD_VALUE).contains(&b'\t') && !chars(FIELD_VALUE).contains(&0x7f));
        assert_eq!(chars(FIELD_VALUE).len(), 256 - 32);
        assert_eq!(chars(PATH).len(), 93);
        assert_eq!(chars(LOWER_TOKEN).len() + 26, chars(TOKEN).len());
        assert!(b"[]:/@?#\"<> ".iter().all(|&byte| CLASS[byte as usize] & HOST == 0));
    }

    #[test]
    fn ends_are_trimmed() {
        assert_eq!(trim(b" \ta b\t "), b"a b");
        assert_eq!(trim(b" \t"), b"");
        assert!(is_trimmed(b"") && is_trimmed(b"a b") && is_trimmed(b"a"));
        assert!(!is_trimmed(b" a") && !is_trimmed(b"a\t") && !is_trimmed(b" "));
    }

    #[test]
    fn a_place_is_named() {
        assert_eq!(position_outside(b"a b", TOKEN), Some(1));
        assert_eq!(position_outside(b"ab", TOKEN), None);
    }
}
