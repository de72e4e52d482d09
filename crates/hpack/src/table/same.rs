//! Fast comparison of short values.

/// The longest value that [`same`] compares.
pub(crate) const LEN_MAX: usize = 96;

/// Returns true if two strings of the same length, at most [`LEN_MAX`], are equal.
///
/// A call of the C library costs some twenty instructions before it compares anything, and as many registers
/// saved around it. Here the first and the last part are compared, which overlap or meet in the middle, so
/// that no byte is looked at alone.
#[inline(always)]
pub(crate) fn same(one: &[u8], other: &[u8]) -> bool {
    debug_assert!(one.len() == other.len() && one.len() <= LEN_MAX);
    match one.len() {
        33.. => same_first::<32>(one, other) && same_middle(one, other) && same_last::<32>(one, other),
        17.. => same_first::<16>(one, other) && same_last::<16>(one, other),
        8.. => same_first::<8>(one, other) && same_last::<8>(one, other),
        4.. => same_first::<4>(one, other) && same_last::<4>(one, other),
        _ => one.iter().zip(other).all(|(one, other)| one == other),
    }
}

#[inline(always)]
fn same_first<const COUNT: usize>(one: &[u8], other: &[u8]) -> bool {
    matches!((one.first_chunk::<COUNT>(), other.first_chunk::<COUNT>()), (Some(one), Some(other)) if one == other)
}

#[inline(always)]
fn same_last<const COUNT: usize>(one: &[u8], other: &[u8]) -> bool {
    matches!((one.last_chunk::<COUNT>(), other.last_chunk::<COUNT>()), (Some(one), Some(other)) if one == other)
}

/// Compares the bytes between the first and the last 32.
#[inline(always)]
fn same_middle(one: &[u8], other: &[u8]) -> bool {
    one.len() <= 64 || same_first::<32>(&one[32..], &other[32..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn a_difference_anywhere_is_seen() {
        for len in 0..=LEN_MAX {
            let one = vec![7; len];
            assert!(same(&one, &one.clone()));
            for at in 0..len {
                let mut other = one.clone();
                other[at] = 8;
                assert!(!same(&one, &other), "{at} of {len}");
            }
        }
    }
}
