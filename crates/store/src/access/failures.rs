//! Wrong passwords by peer, in a table of a fixed size.
//!
//! Rule: many peers make the bound laxer, never stricter for others. Two that meet in a slot of the table take it from each other.

use std::hash::{BuildHasher as _, RandomState};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::rate::{Rate, Used};

/// The peers that are counted, in 16 octets each.
const PEERS_MAX: usize = 4096;
/// The wrong passwords that a peer may send at once.
const BURST: u32 = 20;
/// The wrong passwords that a peer may send in a second thereafter.
const PER_SECOND: u32 = 1;

/// The time for which a peer that has sent a wrong password comes after others, where many wait.
const REMEMBERED: Duration = Duration::from_secs(600);

/// The wrong passwords of each peer.
pub(super) struct Failures {
    rate: Rate,
    hasher: RandomState,
    slots: Box<[Slot]>,
}

#[derive(Debug, Default)]
struct Slot {
    /// The hash of the peer, which nobody can foresee.
    peer: AtomicU64,
    used: Used,
    /// The time of its last wrong password, in nanoseconds.
    last: AtomicU64,
}

impl Failures {
    pub(super) fn new() -> Self {
        let slots = (0..PEERS_MAX).map(|_| Slot::default()).collect();
        Self { rate: Rate::new(PER_SECOND, BURST), hasher: RandomState::new(), slots }
    }

    /// Returns the time for which no password of a peer is looked at, if it has sent too many wrong ones.
    pub(super) fn wait(&self, peer: IpAddr, now: Duration) -> Option<Duration> {
        let (slot, hash) = self.slot(peer);
        let is_counted = slot.peer.load(Ordering::Relaxed) == hash;
        slot.used.early_by(self.rate, now).filter(|_| is_counted)
    }

    /// Returns true if a peer has sent a wrong password within the last ten minutes.
    pub(super) fn is_recent(&self, peer: IpAddr, now: Duration) -> bool {
        let (slot, hash) = self.slot(peer);
        let last = Duration::from_nanos(slot.last.load(Ordering::Relaxed));
        slot.peer.load(Ordering::Relaxed) == hash && now.saturating_sub(last) < REMEMBERED
    }

    /// Counts a wrong password.
    pub(super) fn add(&self, peer: IpAddr, now: Duration) {
        let (slot, hash) = self.slot(peer);
        if slot.peer.swap(hash, Ordering::Relaxed) != hash {
            slot.used.clear();
        }
        slot.last.store(now.as_nanos() as u64, Ordering::Relaxed);
        // More than the rate allows is not counted: the peer waits for no longer than a burst takes.
        let _ = slot.used.take(self.rate, now);
    }

    fn slot(&self, peer: IpAddr) -> (&Slot, u64) {
        // A network of IPv6 has the first 64 bits, and its peers choose the others.
        let key = match peer.to_canonical() {
            IpAddr::V4(address) => u128::from(address.to_bits()),
            IpAddr::V6(address) => address.to_bits() >> 64 << 64,
        };
        let hash = self.hasher.hash_one(key);
        (&self.slots[hash as usize % self.slots.len()], hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_waits_after_a_burst_of_wrong_passwords() {
        let (failures, now) = (Failures::new(), Duration::from_secs(100));
        let peer = |text: &str| text.parse::<IpAddr>().unwrap();
        let (one, same, other) = (peer("2001:db8::1"), peer("2001:db8::ffff:2"), peer("2001:db8:0:1::1"));
        for _ in 0..BURST {
            assert_eq!(failures.wait(one, now), None);
            failures.add(one, now);
        }
        assert_eq!(failures.wait(one, now), Some(Duration::from_secs(1)));
        assert_eq!(failures.wait(same, now), Some(Duration::from_secs(1)), "the same network");
        assert_eq!(failures.wait(other, now), None);
        assert!(failures.is_recent(same, now) && !failures.is_recent(other, now));
        assert!(!failures.is_recent(same, now + REMEMBERED));
        assert_eq!(failures.wait(peer("192.0.2.1"), now), None);
        for _ in 0..1_000 {
            failures.add(one, now);
        }
        assert_eq!(failures.wait(one, now + Duration::from_secs(1)), None, "no longer than before");
    }

    #[test]
    fn many_peers_take_no_more_room() {
        let (failures, now) = (Failures::new(), Duration::from_secs(100));
        for number in 0..100_000u32 {
            failures.add(IpAddr::V4(number.into()), now);
        }
        assert_eq!(failures.slots.len(), PEERS_MAX);
        assert_eq!(failures.wait(IpAddr::V4([192, 0, 2, 1].into()), now), None);
    }
}
