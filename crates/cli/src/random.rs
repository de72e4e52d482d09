//! Random numbers that are good enough for tests; not for secrets.

use std::{
    collections::hash_map::RandomState,
    hash::BuildHasher as _,
    sync::atomic::{AtomicU64, Ordering},
};

/// Returns another number each time: a hash with a random key of the system.
pub(crate) fn number() -> u64 {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    RandomState::new().hash_one(COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Returns a number from 0 up to, but not including, 1.
pub(crate) fn fraction() -> f64 {
    (number() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Returns a random UUID (RFC 9562 §5.4).
pub(crate) fn uuid() -> String {
    let (high, low) = (number() & !0xf000 | 0x4000, number() >> 2 | 1 << 63);
    let (a, b, c) = (high >> 32, high >> 16 & 0xffff, high & 0xffff);
    format!("{a:08x}-{b:04x}-{c:04x}-{:04x}-{:012x}", low >> 48, low & 0xffff_ffff_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_is_of_version_four_and_another_each_time() {
        for _ in 0..100 {
            let uuid = uuid();
            let parts: Vec<_> = uuid.split('-').map(str::len).collect();
            assert_eq!(parts, [8, 4, 4, 4, 12], "{uuid}");
            assert_eq!(&uuid[14..15], "4");
            assert!("89ab".contains(&uuid[19..20]), "{uuid}");
        }
        assert_ne!(uuid(), uuid());
        assert!((0..1000).all(|_| (0.0..1.0).contains(&fraction())));
    }
}
