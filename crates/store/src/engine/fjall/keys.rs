//! The keys of rows: whole names and entries if they are short, and a form with a hash if they are long.
//!
//! ```text
//! short   fewer than 4096 bytes: themselves
//! long    the first 4096 bytes, then the SHA-256 of all of them
//! ```
//!
//! fjall takes keys of up to 65535 bytes, and an object's key alone may be longer. Rows are in the order of
//! what they stand for, but for long ones with the same first bytes: those lie together as a *group*, in an
//! order of their own. A client can choose keys, so that the hash is one for which nobody finds two keys.

use aws_lc_rs::digest::{SHA256, SHA256_OUTPUT_LEN, digest};

const PREFIX_BYTES: usize = 4096;

/// Returns the key of the row of a whole name or entry; `out` is the memory of a long one.
pub(super) fn fold<'a>(whole: &'a [u8], out: &'a mut Vec<u8>) -> &'a [u8] {
    if !is_long(whole) {
        return whole;
    }
    out.clear();
    out.extend_from_slice(start(whole));
    out.extend_from_slice(digest(&SHA256, whole).as_ref());
    out
}

/// Returns true for a whole name or entry that is long, and for the key of its row.
pub(super) const fn is_long(bytes: &[u8]) -> bool {
    bytes.len() >= PREFIX_BYTES
}

/// Returns bytes that are not after the key of the row of `whole`, nor after the key of any row whose whole
/// name follows `whole`. For a long one it is what its group has in common.
pub(super) fn start(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().min(PREFIX_BYTES)]
}

/// Returns the greatest bytes that a row of a group may have as its key.
pub(super) fn end_of_group(group: &[u8]) -> Vec<u8> {
    [group, &[u8::MAX; SHA256_OUTPUT_LEN]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(whole: &[u8]) -> Vec<u8> {
        fold(whole, &mut Vec::new()).to_vec()
    }

    #[test]
    fn keys_are_in_order_but_within_a_group() {
        let long = |byte, count| [vec![b'a'; PREFIX_BYTES - 1], vec![byte; count]].concat();
        let ordered = [
            b"a".to_vec(),
            vec![b'a'; PREFIX_BYTES - 1],
            long(b'a', 1),
            long(b'b', 1),
            long(b'c', 70_000),
            b"b".to_vec(),
        ];
        assert!(ordered.is_sorted());
        let kept: Vec<Vec<u8>> = ordered.iter().map(|whole| folded(whole)).collect();
        assert!(kept.is_sorted());
        assert!(kept.iter().all(|key| key.len() <= PREFIX_BYTES + SHA256_OUTPUT_LEN));
    }

    #[test]
    fn a_group_lies_between_its_start_and_its_end() {
        let whole = [vec![b'k'; PREFIX_BYTES], b"one".to_vec()].concat();
        let other = [vec![b'k'; PREFIX_BYTES], b"two".to_vec()].concat();
        let (key, other) = (folded(&whole), folded(&other));
        assert_ne!(key, other);
        assert_eq!(start(&key), start(&whole));
        assert!(start(&whole) < &key[..] && key <= end_of_group(start(&key)));
    }
}
