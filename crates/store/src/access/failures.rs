//! Wrong passwords by peer and by network, in tables of a fixed size.
//!
//! Rule: many peers make the bound laxer, never stricter for others.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::peers::{PeerTable, Prefixes};
use super::rate::{Rate, Used};

/// The peers that are counted, in 24 bytes each.
const PEERS_MAX: usize = 4096;
/// The networks that are counted, in 16 bytes each.
const NETWORKS_MAX: usize = 8192;
/// The wrong passwords that a peer may send at once.
const BURST: u32 = 20;
/// The wrong passwords that a peer may send in a second thereafter.
const PER_SECOND: u32 = 1;

/// A wrong password is counted in the span in which it came and in the one after it.
const SPAN: Duration = Duration::from_secs(300);

/// The wrong passwords of each peer.
pub(super) struct Failures {
    rate: Rate,
    peers: PeerTable<Peer>,
    networks: PeerTable<Recent>,
}

#[derive(Debug, Default)]
struct Peer {
    used: Used,
    recent: Recent,
}

/// The number of wrong passwords within the last five to ten minutes.
///
/// The higher half is the number of a span, the lower half two counts of 16 bits: of the span before, and of
/// it.
#[derive(Debug, Default)]
struct Recent(AtomicU64);

impl Failures {
    pub(super) fn new() -> Self {
        let rate = Rate::new(PER_SECOND, BURST);
        Self { rate, peers: PeerTable::new(PEERS_MAX), networks: PeerTable::new(NETWORKS_MAX) }
    }

    /// Returns the time for which no password of a peer is looked at, if it has sent too many wrong ones.
    pub(super) fn wait(&self, peer: Prefixes, now: Duration) -> Option<Duration> {
        self.peers.get(peer.address)?.used.early_by(self.rate, now)
    }

    /// Returns the wrong passwords that a peer has sent within the last five to ten minutes.
    pub(super) fn of_peer(&self, peer: Prefixes, now: Duration) -> u32 {
        self.peers.get(peer.address).map_or(0, |peer| peer.recent.count(now))
    }

    /// Returns the wrong passwords that have come from the network of a peer within the last five to ten
    /// minutes.
    pub(super) fn of_network(&self, peer: Prefixes, now: Duration) -> u32 {
        self.networks.get(peer.network).map_or(0, |recent| recent.count(now))
    }

    /// Counts a wrong password.
    pub(super) fn add(&self, peer: Prefixes, now: Duration) {
        self.networks.take(peer.network, Recent::clear).add(now);
        let peer = self.peers.take(peer.address, |peer| {
            peer.used.clear();
            peer.recent.clear();
        });
        peer.recent.add(now);
        // More than the rate allows is not counted: the peer waits for no longer than a burst takes.
        let _ = peer.used.take(self.rate, now);
    }
}

impl Recent {
    fn add(&self, now: Duration) {
        let add = |kept| {
            let (span, [before, count]) = counts(kept, now);
            Some(u64::from(span) << 32 | u64::from(before) << 16 | u64::from(count.saturating_add(1)))
        };
        // `add` refuses nothing.
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }

    fn count(&self, now: Duration) -> u32 {
        let (_, counts) = counts(self.0.load(Ordering::Relaxed), now);
        counts.into_iter().map(u32::from).sum()
    }

    fn clear(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

/// Returns the number of the span at this time, and the counts of the span before and of it.
fn counts(kept: u64, now: Duration) -> (u32, [u16; 2]) {
    let span = (now.as_secs() / SPAN.as_secs()) as u32;
    let (before, count) = ((kept >> 16) as u16, kept as u16);
    let counts = match span.wrapping_sub((kept >> 32) as u32) {
        0 => [before, count],
        1 => [count, 0],
        _ => [0, 0],
    };
    (span, counts)
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    fn peer(text: &str) -> Prefixes {
        Prefixes::of(text.parse::<IpAddr>().unwrap())
    }

    #[test]
    fn a_peer_waits_after_a_burst_of_wrong_passwords() {
        let (failures, now) = (Failures::new(), Duration::from_secs(100));
        let (one, same, other) = (peer("2001:db8::1"), peer("2001:db8::ffff:2"), peer("2001:db8:0:1::1"));
        for _ in 0..BURST {
            assert_eq!(failures.wait(one, now), None);
            failures.add(one, now);
        }
        assert_eq!(failures.wait(one, now), Some(Duration::from_secs(1)));
        assert_eq!(failures.wait(same, now), Some(Duration::from_secs(1)), "the same network");
        assert_eq!(failures.wait(other, now), None);
        assert_eq!(failures.wait(peer("192.0.2.1"), now), None);
        for _ in 0..1_000 {
            failures.add(one, now);
        }
        assert_eq!(failures.wait(one, now + Duration::from_secs(1)), None, "no longer than before");
    }

    #[test]
    fn wrong_passwords_are_forgotten_within_ten_minutes() {
        let (failures, begin) = (Failures::new(), SPAN * 7);
        let (one, near, far) = (peer("192.0.2.1"), peer("192.0.2.2"), peer("198.51.100.1"));
        let at = |peer, now| (failures.of_peer(peer, now), failures.of_network(peer, now));
        failures.add(one, begin);
        failures.add(one, begin + SPAN / 2);
        failures.add(near, begin + SPAN);
        for (now, expected) in [
            (begin + SPAN, [(2, 3), (1, 3), (0, 0)]),
            (begin + SPAN * 3 / 2, [(2, 3), (1, 3), (0, 0)]),
            (begin + SPAN * 2, [(0, 1), (1, 1), (0, 0)]),
            (begin + SPAN * 3, [(0, 0), (0, 0), (0, 0)]),
        ] {
            assert_eq!([one, near, far].map(|peer| at(peer, now)), expected, "{now:?}");
        }
        (0..100_000).for_each(|_| failures.add(far, begin));
        assert_eq!(at(far, begin), (u32::from(u16::MAX), u32::from(u16::MAX)), "no count begins anew");
    }

    #[test]
    fn many_peers_shut_no_other_out() {
        let (failures, now) = (Failures::new(), Duration::from_secs(100));
        for number in 0..100_000u32 {
            failures.add(Prefixes::of(IpAddr::V4(number.into())), now);
        }
        let other = peer("192.0.2.1");
        assert_eq!((failures.wait(other, now), failures.of_network(other, now)), (None, 0));
    }
}
