//! Eight bytes at a time, without unsafe code.

/// The high bit of each byte.
pub(crate) const HIGH: u64 = each(0x80);

/// Returns a word in which each byte is this one.
#[inline]
pub(crate) const fn each(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Returns the high bit of each byte that is zero; bytes have to be below 0x80.
#[inline]
pub(crate) const fn zeros(word: u64) -> u64 {
    !((word & !HIGH) + each(0x7f)) & HIGH
}

/// Returns true for a lower-case letter, digit or `-`.
#[inline]
pub(crate) const fn is_plain(byte: u8) -> bool {
    byte.wrapping_sub(b'a') < 26 || byte.wrapping_sub(b'0') < 10 || byte == b'-'
}

/// Returns the high bit of each byte that is not a lower-case letter, digit or `-`.
#[inline]
pub(crate) const fn unplain(word: u64) -> u64 {
    let low = word & !HIGH;
    // Adding 0x80 − n sets a byte's high bit exactly when its low seven bits are n or more.
    let letter = (low + each(0x80 - b'a')) & !(low + each(0x80 - b'z' - 1));
    let digit = (low + each(0x80 - b'0')) & !(low + each(0x80 - b'9' - 1));
    let dash = zeros(low ^ each(b'-'));
    !(letter | digit | dash) | word
}

/// Returns true for a control character: below space, or DEL.
#[inline]
pub(crate) const fn is_control(byte: u8) -> bool {
    byte < b' ' || byte == 0x7f
}

/// Returns true for a control character, and for a byte beyond ASCII: one comparison of signed bytes.
#[inline]
pub(crate) const fn may_be_control(byte: u8) -> bool {
    byte.wrapping_add(1).cast_signed() <= 0x20
}

/// Returns the high bit of each byte that is a control character. The other bits mean nothing.
#[inline]
pub(crate) const fn controls(word: u64) -> u64 {
    let low = word & !HIGH;
    (!(low + each(0x80 - b' ')) | (low + each(1))) & !word
}

/// Folds A–Z to a–z in each byte.
#[inline]
pub(crate) const fn to_lower(word: u64) -> u64 {
    let low = word & !HIGH;
    let upper = (low + each(0x80 - b'A')) & !(low + each(0x80 - b'Z' - 1)) & !word & HIGH;
    word | upper >> 2
}

/// Folds A–Z to a–z in place.
#[inline]
pub(crate) fn make_lower(bytes: &mut [u8]) {
    let fold = |chunk: &mut [u8; 8]| *chunk = to_lower(u64::from_le_bytes(*chunk)).to_le_bytes();
    let len = bytes.len();
    if len < 8 {
        return bytes.make_ascii_lowercase();
    }
    if len > 16 {
        bytes[8..len - 1].as_chunks_mut().0.iter_mut().for_each(fold);
    }
    // Folding what is folded changes nothing, so the ends may overlap.
    bytes.first_chunk_mut().map(fold);
    bytes.last_chunk_mut().map(fold);
}

/// Returns the last eight bytes.
#[inline]
pub(crate) fn tail(bytes: &[u8]) -> Option<u64> {
    bytes.last_chunk().map(|chunk| u64::from_le_bytes(*chunk))
}

/// Returns the first eight bytes.
#[inline]
pub(crate) fn head(bytes: &[u8]) -> Option<u64> {
    bytes.first_chunk().map(|chunk| u64::from_le_bytes(*chunk))
}

/// Returns up to seven bytes in a word; with the length known, different bytes give different words.
///
/// Four to seven: the first four and the last four. One to three: first, middle and last. Unused bytes are
/// the `filler`.
#[inline]
pub(crate) const fn short(bytes: &[u8], filler: u8) -> u64 {
    match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>(), bytes) {
        (Some(first), Some(last), _) => {
            u32::from_le_bytes(*first) as u64 | (u32::from_le_bytes(*last) as u64) << 32
        }
        (_, _, [first, .., last]) => {
            let middle = bytes[bytes.len() / 2];
            *first as u64 | (middle as u64) << 8 | (*last as u64) << 16 | each(filler) << 24
        }
        (_, _, [only]) => (*only as u64 * 0x01_01_01) | each(filler) << 24,
        _ => each(filler),
    }
}

/// Returns true if `is` is false for all bytes. `marks` is the same test for short strings: it sets a high
/// bit for each byte for which `is` returns true.
///
/// A word of less than eight bytes is filled up with `filler`, which is not looked for.
#[inline(always)]
pub(crate) fn none(bytes: &[u8], filler: u8, marks: impl Fn(u64) -> u64, is: impl Fn(u8) -> bool) -> bool {
    match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(first), Some(last)) if bytes.len() > 16 => none_of_blocks(first, bytes, last, is),
        _ => gather(bytes, filler, marks) & HIGH == 0,
    }
}

/// Returns the same for more than one block; the first and the last may overlap the others.
#[inline(never)]
fn none_of_blocks(first: &[u8; 16], bytes: &[u8], last: &[u8; 16], is: impl Fn(u8) -> bool) -> bool {
    let none = |block: &[u8; 16]| !block.iter().fold(false, |any, byte| any | is(*byte));
    !any(first, last, &is) && bytes[16..bytes.len() - 1].as_chunks().0.iter().all(none)
}

/// Returns true if `is` is true for a byte of either block.
#[inline(always)]
pub(crate) fn any<const N: usize>(one: &[u8; N], other: &[u8; N], is: impl Fn(u8) -> bool) -> bool {
    one.iter().zip(other).fold(false, |any, (one, other)| any | is(*one) | is(*other))
}

/// Returns the union of the marks of words that cover all of at most sixteen bytes; some bytes may count
/// twice.
#[inline]
fn gather(bytes: &[u8], filler: u8, marks: impl Fn(u64) -> u64) -> u64 {
    match (head(bytes), tail(bytes)) {
        (Some(head), Some(tail)) => marks(head) | marks(tail),
        _ => marks(short(bytes, filler)),
    }
}

/// Returns the place of the first byte whose high bit `mark` sets in its word; later bytes of the word may be
/// marked wrongly. Less than a block is filled up with `filler`, which is not looked for.
///
/// Blocks of sixteen bytes are passed by a loop without branches, which the compiler makes vector code of:
/// `may_be` is true for each byte that is looked for, and better false for the usual others.
#[inline(always)]
pub(crate) fn first(
    bytes: &[u8],
    filler: u8,
    mark: impl Fn(u64) -> u64,
    may_be: impl Fn(u8) -> bool,
) -> Option<usize> {
    let (blocks, rest) = bytes.as_chunks::<16>();
    let mut before = 0;
    for block in blocks {
        if block.iter().fold(false, |any, byte| any | may_be(*byte))
            && let Some(at) = first_of_block(block, &mark)
        {
            return Some(before + at);
        }
        before += block.len();
    }
    first_of_rest(rest, filler, mark).map(|at| before + at)
}

#[inline(always)]
fn first_of_block(block: &[u8; 16], mark: impl Fn(u64) -> u64) -> Option<usize> {
    let ([low, high], _) = block.as_chunks() else { return None };
    let marks = mark(u64::from_le_bytes(*low));
    if marks != 0 {
        return Some(marks.trailing_zeros() as usize / 8);
    }
    let marks = mark(u64::from_le_bytes(*high));
    (marks != 0).then_some(8 + marks.trailing_zeros() as usize / 8)
}

/// Returns the same for less than a block.
#[cold]
fn first_of_rest(bytes: &[u8], filler: u8, mark: impl Fn(u64) -> u64) -> Option<usize> {
    let mut block = [filler; 16];
    block[..bytes.len()].copy_from_slice(bytes);
    first_of_block(&block, mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_strings_are_told_apart() {
        assert_eq!(short(b"", b' ').to_le_bytes(), *b"        ");
        assert_eq!(short(b"ab", b'-').to_le_bytes(), *b"abb-----");
        assert_eq!(short(b"a", b' ').to_le_bytes(), *b"aaa     ");
        assert_eq!(short(b"ab", b' ').to_le_bytes(), *b"abb     ");
        assert_eq!(short(b"abc", b' ').to_le_bytes(), *b"abc     ");
        assert_eq!(short(b"abcd", b' ').to_le_bytes(), *b"abcdabcd");
        assert_eq!(short(b"abcdefg", b' ').to_le_bytes(), *b"abcddefg");
    }

    #[test]
    fn every_byte_is_gathered() {
        for len in 1..=16 {
            for at in 0..len {
                let mut bytes = alloc::vec![b'a'; len];
                bytes[at] = 0xff;
                assert_ne!(gather(&bytes, b'a', |word| word & HIGH), 0, "{at} of {len}");
                bytes[at] = b'a';
                assert_eq!(gather(&bytes, b'a', |word| word ^ each(b'a')), 0);
            }
        }
        assert_eq!(gather(b"", b'a', |word| word), each(b'a'));
    }

    #[test]
    fn the_first_is_found_wherever_it_is() {
        let mark = |word: u64| zeros(word ^ each(b':')) & !word;
        for len in 0..40 {
            for fill in [b'a', 0xba, 0x80, b';', b'9'] {
                let mut bytes = alloc::vec![fill; len];
                assert_eq!(first(&bytes, 0x80, mark, |byte| byte == b':'), None, "{len} of {fill:#x}");
                for at in (0..len).rev() {
                    bytes[at] = b':';
                    assert_eq!(
                        first(&bytes, 0x80, mark, |byte| byte == b':'),
                        Some(at),
                        "{at} of {len}, {fill:#x}"
                    );
                }
            }
        }
    }

    #[test]
    fn letters_fold_and_nothing_else_does() {
        for byte in 0..=255u8 {
            let word = u64::from_le_bytes([byte, b'Z', byte, b'@', b'[', byte, 0xc1, byte]);
            let mut folded = word.to_le_bytes();
            folded.make_ascii_lowercase();
            assert_eq!(to_lower(word).to_le_bytes(), folded, "{byte:#x}");
            for len in 0..40 {
                let mut bytes = alloc::vec![byte; len];
                make_lower(&mut bytes);
                assert_eq!(bytes, alloc::vec![byte.to_ascii_lowercase(); len]);
            }
        }
    }
}
