//! The prefixes of addresses by which peers are told apart, and tables of a fixed size with a value for each
//! of them.
//!
//! Rule: two that meet in a slot of a table take it from each other, and nobody can foresee who meets whom.

use std::hash::{BuildHasher as _, RandomState};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};

/// The part of an address that a peer cannot choose itself, and the network around it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Prefixes {
    /// The address of IPv4, or the first 64 bits of one of IPv6.
    pub(super) address: u128,
    /// The /24 or the /48 around it.
    pub(super) network: u128,
}

/// A table of fixed size with a value for each peer, or for each network.
pub(super) struct PeerTable<T> {
    hasher: RandomState,
    slots: Box<[Slot<T>]>,
}

#[derive(Debug, Default)]
struct Slot<T> {
    /// The hash of the peer.
    peer: AtomicU64,
    kept: T,
}

impl Prefixes {
    pub(super) fn of(peer: IpAddr) -> Self {
        // The networks of IPv4 are below those of IPv6 that can be called from.
        let (address, host_bits) = match peer.to_canonical() {
            IpAddr::V4(address) => (u128::from(address.to_bits()), 8),
            IpAddr::V6(address) => (address.to_bits() >> 64 << 64, 80),
        };
        Self { address, network: address >> host_bits << host_bits }
    }
}

impl<T: Default> PeerTable<T> {
    /// Makes a table of so many slots, at least one.
    pub(super) fn new(slots: usize) -> Self {
        Self { hasher: RandomState::new(), slots: (0..slots).map(|_| Slot::default()).collect() }
    }

    /// Returns what is kept of a peer, if it has its slot.
    pub(super) fn get(&self, peer: u128) -> Option<&T> {
        let (slot, hash) = self.slot(peer);
        (slot.peer.load(Ordering::Relaxed) == hash).then_some(&slot.kept)
    }

    /// Gives a peer its slot, which is emptied by `clear` if another has it.
    pub(super) fn take(&self, peer: u128, clear: impl FnOnce(&T)) -> &T {
        let (slot, hash) = self.slot(peer);
        if slot.peer.swap(hash, Ordering::Relaxed) != hash {
            clear(&slot.kept);
        }
        &slot.kept
    }

    fn slot(&self, peer: u128) -> (&Slot<T>, u64) {
        let hash = self.hasher.hash_one(peer);
        (&self.slots[hash as usize % self.slots.len()], hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefixes(text: &str) -> Prefixes {
        Prefixes::of(text.parse().expect("an address"))
    }

    #[test]
    fn peers_are_addresses_or_the_half_of_them() {
        let (one, other) = (prefixes("192.0.2.1"), prefixes("192.0.2.255"));
        assert!(one.address != other.address && one.network == other.network);
        assert_ne!(one.network, prefixes("192.0.3.1").network);
        assert_eq!(one, prefixes("::ffff:192.0.2.1"));
        let (one, same) = (prefixes("2001:db8::1"), prefixes("2001:db8::ffff:2"));
        let (near, far) = (prefixes("2001:db8:0:1::1"), prefixes("2001:db8:1::1"));
        assert_eq!(one, same);
        assert!(one.address != near.address && one.network == near.network && near.network != far.network);
    }

    #[test]
    fn a_table_keeps_its_size_and_tells_peers_apart() {
        let table = PeerTable::<AtomicU64>::new(64);
        let clear = |kept: &AtomicU64| kept.store(0, Ordering::Relaxed);
        for peer in 0..10_000 {
            assert!(table.get(peer).is_none());
            assert_eq!(table.take(peer, clear).swap(peer as u64 + 1, Ordering::Relaxed), 0, "of another");
            assert_eq!(table.get(peer).map(|kept| kept.load(Ordering::Relaxed)), Some(peer as u64 + 1));
        }
        assert_eq!(table.slots.len(), 64);
    }
}
