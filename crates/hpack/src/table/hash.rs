//! A fast hash of bytes, for lookups and for recognising repeated fields.
//!
//! A peer that chooses the bytes can make hashes collide. A collision costs time bounded by the number of
//! entries in a table, or an entry that is never used; it never changes what is encoded, since an entry that
//! is found is compared.

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Hashes `bytes` on top of `seed`.
#[inline]
pub(crate) fn hash(seed: u64, bytes: &[u8]) -> u64 {
    let mut state = seed ^ bytes.len() as u64;
    let (words, _) = bytes.as_chunks::<8>();
    for word in words {
        state = mix(state ^ u64::from_le_bytes(*word));
    }
    if bytes.len().is_multiple_of(8) {
        return state;
    }
    // The last bytes; some of them a second time if there are eight to load.
    let last = match bytes.last_chunk::<8>() {
        Some(word) => u64::from_le_bytes(*word),
        None => bytes.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    };
    mix(state ^ last)
}

/// Returns the half of a hash that depends on all of its bits.
#[inline]
pub(crate) fn fold(state: u64) -> u32 {
    (mix(state) >> 32) as u32
}

#[inline]
fn mix(state: u64) -> u64 {
    let product = state.wrapping_mul(FACTOR);
    product ^ product >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn one_byte_more_or_less_or_other_changes_it() {
        let text: Vec<u8> = (0..100).collect();
        let mut all: Vec<u32> = (0..text.len()).map(|len| fold(hash(7, &text[..len]))).collect();
        for at in 0..text.len() {
            let mut other = text.clone();
            other[at] ^= 1;
            all.push(fold(hash(7, &other)));
        }
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
