//! Eight octets at a time, without unsafe code.

/// The high bit of each octet.
pub(crate) const HIGH: u64 = each(0x80);

/// A word in which each octet is this one.
#[inline]
pub(crate) const fn each(octet: u8) -> u64 {
    u64::from_le_bytes([octet; 8])
}

/// The high bit of each octet that is zero; octets must be below 0x80, or their high bit is not to be trusted.
#[inline]
pub(crate) const fn zeros(word: u64) -> u64 {
    !((word & !HIGH) + each(0x7f)) & HIGH
}

/// Folds A–Z to a–z in each octet and leaves the others alone.
#[inline]
pub(crate) const fn to_lower(word: u64) -> u64 {
    let low = word & !HIGH;
    let upper = (low + each(0x80 - b'A')) & !(low + each(0x80 - b'Z' - 1)) & !word & HIGH;
    word | upper >> 2
}

/// The last eight octets.
#[inline]
pub(crate) fn tail(octets: &[u8]) -> Option<u64> {
    octets.last_chunk().map(|chunk| u64::from_le_bytes(*chunk))
}

/// The first eight octets.
#[inline]
pub(crate) fn head(octets: &[u8]) -> Option<u64> {
    octets.first_chunk().map(|chunk| u64::from_le_bytes(*chunk))
}

/// Up to seven octets in a word; with the length known, different octets give different words.
///
/// Four to seven: the first four and the last four. One to three: first, middle and last. Unused octets are zero.
#[inline]
pub(crate) const fn short(octets: &[u8]) -> u64 {
    match (octets.first_chunk::<4>(), octets.last_chunk::<4>(), octets) {
        (Some(first), Some(last), _) => {
            u32::from_le_bytes(*first) as u64 | (u32::from_le_bytes(*last) as u64) << 32
        }
        (_, _, [first, .., last]) => {
            *first as u64 | (octets[octets.len() / 2] as u64) << 8 | (*last as u64) << 16
        }
        (_, _, [only]) => *only as u64 * 0x01_01_01,
        _ => 0,
    }
}

/// Whether `test` holds for words that cover all octets; octets may be seen twice, and `filler` fills short words.
#[inline]
pub(crate) fn all(octets: &[u8], filler: u64, test: impl Fn(u64) -> bool) -> bool {
    let Some(tail) = tail(octets) else {
        let unused = if octets.len() >= 4 { 64 } else { octets.len().min(1) * 24 };
        return test(short(octets) | filler.unbounded_shl(unused as u32));
    };
    octets.as_chunks().0.iter().all(|chunk| test(u64::from_le_bytes(*chunk))) && test(tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_strings_are_told_apart() {
        assert_eq!(short(b""), 0);
        assert_eq!(short(b"a"), 0x616161);
        assert_eq!(short(b"ab"), 0x626261);
        assert_eq!(short(b"abc"), 0x636261);
        assert_eq!(short(b"abcd").to_le_bytes(), *b"abcdabcd");
        assert_eq!(short(b"abcdefg").to_le_bytes(), *b"abcddefg");
    }

    #[test]
    fn letters_fold_and_nothing_else_does() {
        for octet in 0..=255u8 {
            let word = u64::from_le_bytes([octet, b'Z', octet, b'@', b'[', octet, 0xc1, octet]);
            let mut folded = word.to_le_bytes();
            folded.make_ascii_lowercase();
            assert_eq!(to_lower(word).to_le_bytes(), folded, "{octet:#x}");
        }
    }
}
