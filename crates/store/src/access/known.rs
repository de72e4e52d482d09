//! Peers whose credentials were right, in a table of a fixed size.
//!
//! Rule: only a password that was computed and found right makes a peer known. One who has an account cannot
//! make many known with it: credentials that are remembered are not computed again.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::peers::{PeerTable, Prefixes};

/// The peers that are known, in 16 bytes each.
const PEERS_MAX: usize = 8192;

/// The time for which a peer is known.
const REMEMBERED: Duration = Duration::from_secs(7 * 24 * 3600);

/// The time of the last right password of each peer, in seconds plus one; 0 stands for never.
pub(super) struct Known(PeerTable<AtomicU64>);

impl Known {
    pub(super) fn new() -> Self {
        Self(PeerTable::new(PEERS_MAX))
    }

    /// Returns true if a password of this peer was right within the last seven days.
    pub(super) fn has(&self, peer: Prefixes, now: Duration) -> bool {
        let last = self.0.get(peer.address).map_or(0, |last| last.load(Ordering::Relaxed));
        last > 0 && now.as_secs() < last - 1 + REMEMBERED.as_secs()
    }

    /// Remembers that a password of this peer was right.
    pub(super) fn add(&self, peer: Prefixes, now: Duration) {
        self.0.take(peer.address, |_| ()).store(now.as_secs() + 1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    #[test]
    fn a_peer_is_known_for_seven_days() {
        let (known, now) = (Known::new(), Duration::ZERO);
        let [one, other] = [1, 2].map(|host| Prefixes::of(IpAddr::from([192, 0, 2, host])));
        assert!(!known.has(one, now));
        known.add(one, now);
        assert!(known.has(one, now) && !known.has(other, now));
        assert!(known.has(one, REMEMBERED - Duration::from_secs(1)) && !known.has(one, REMEMBERED));
        known.add(one, REMEMBERED);
        assert!(known.has(one, REMEMBERED));
    }
}
