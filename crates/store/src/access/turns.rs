//! The order in which passwords are checked, and who makes room where too many wait.
//!
//! Rule 1: a peer and a name have one place at a time before others have their next; peers that have sent
//! wrong
//! passwords come last.
//! Rule 2: where too many wait, the one whose turn would come last makes room, which may be the newcomer.
//! Somebody
//! new is not shut out by a flood of one network, of one name, or of peers whose passwords were wrong.

use std::hash::{BuildHasher as _, RandomState};
use std::net::IpAddr;

/// The number of addresses in a network that weigh as much as the network, as with connections.
const NETWORK_SHARE: u64 = 4;

/// The peer and the name for which a password is checked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Asker {
    /// The address of IPv4, or the first 64 bits of one of IPv6; none where peers are not told apart.
    address: Option<u128>,
    /// The /24 or the /48 around it.
    network: Option<u128>,
    /// The hash of the name, which nobody can foresee.
    name: u64,
    has_failed: bool,
}

/// The key by which the names of askers are hashed.
#[derive(Clone, Debug, Default)]
pub(super) struct Askers(RandomState);

/// Those who wait, in the order in which they came.
///
/// Each has a tag, by which turns are given (start-time fair queueing): that of the turn that was given last,
/// or a
/// step more than that of another who waits from the same address, the same network or for the same name.
#[derive(Debug)]
pub(super) struct Turns<T> {
    waiting: Vec<Waiting<T>>,
    most: usize,
    /// The tag of the turn that was given last.
    now: u64,
}

#[derive(Debug)]
struct Waiting<T> {
    asker: Asker,
    tag: u64,
    one: T,
}

impl Askers {
    /// Returns who asks: a peer, unless peers are not told apart, and a name.
    pub(super) fn asker(&self, peer: Option<IpAddr>, name: &str, has_failed: bool) -> Asker {
        let bits = peer.map(|peer| match peer.to_canonical() {
            IpAddr::V4(address) => (u128::from(address.to_bits()), 8),
            // The networks of IPv4 are below those of IPv6 that can be called from.
            IpAddr::V6(address) => (address.to_bits() >> 64 << 64, 80),
        });
        Asker {
            address: bits.map(|(bits, _)| bits),
            network: bits.map(|(bits, host)| bits >> host << host),
            name: self.0.hash_one(name),
            has_failed,
        }
    }
}

impl<T> Turns<T> {
    /// Makes a queue of so many.
    pub(super) const fn new(most: usize) -> Self {
        Self { waiting: Vec::new(), most, now: 0 }
    }

    /// Returns the number of those who wait.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Adds one. If too many wait then, the one is taken out and returned whose turn would come last.
    pub(super) fn push(&mut self, asker: Asker, one: T) -> Option<T> {
        let tag = self.tag(&asker);
        self.waiting.push(Waiting { asker, tag, one });
        if self.waiting.len() <= self.most {
            return None;
        }
        let last = (0..self.waiting.len()).max_by_key(|index| self.rank(*index))?;
        Some(self.waiting.remove(last).one)
    }

    /// Takes the one out whose turn it is, if `may` says so of it.
    pub(super) fn next_if(&mut self, may: impl FnOnce(&T) -> bool) -> Option<T> {
        let first = (0..self.waiting.len()).min_by_key(|index| self.rank(*index))?;
        if !may(&self.waiting[first].one) {
            return None;
        }
        let Waiting { tag, one, .. } = self.waiting.remove(first);
        self.now = self.now.max(tag);
        Some(one)
    }

    /// Drops those that no longer wait.
    pub(super) fn retain(&mut self, waits: impl Fn(&T) -> bool) {
        self.waiting.retain(|waiting| waits(&waiting.one));
    }

    fn tag(&self, asker: &Asker) -> u64 {
        let others = self.waiting.iter().map(|other| {
            let step = asker.step_behind(&other.asker);
            if step == 0 { 0 } else { other.tag + step }
        });
        others.fold(self.now, u64::max)
    }

    /// Returns the place of one who waits: lower ones come first.
    fn rank(&self, index: usize) -> (bool, u64, usize) {
        let Waiting { asker, tag, .. } = &self.waiting[index];
        (asker.has_failed, *tag, index)
    }
}

impl Asker {
    /// Returns the step by which this one comes behind another who waits; 0 if they have nothing in common.
    fn step_behind(&self, other: &Self) -> u64 {
        let is_same = |one: Option<u128>, other: Option<u128>| one.is_some() && one == other;
        match () {
            () if is_same(self.address, other.address) || self.name == other.name => NETWORK_SHARE,
            () if is_same(self.network, other.network) => 1,
            () => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A queue of ten, with those who came before: peers, names, and whether they have failed.
    fn full(askers: &Askers, who: impl Fn(usize) -> (String, String, bool)) -> Turns<usize> {
        let mut turns = Turns::new(10);
        for number in 0..10 {
            let (peer, name, has_failed) = who(number);
            let asker = askers.asker(Some(peer.parse().expect("an address")), &name, has_failed);
            assert_eq!(turns.push(asker, number), None);
        }
        turns
    }

    #[test]
    fn somebody_new_has_the_next_turn_but_one_in_every_flood() {
        let askers = Askers::default();
        let new = askers.asker(Some(IpAddr::from([192, 0, 2, 1])), "ann", false);
        type Who = fn(usize) -> (String, String, bool);
        let floods: [(&str, Who); 4] = [
            ("one peer, many names", |number| ("10.0.0.1".into(), format!("n{number}"), false)),
            ("one network", |number| (format!("2001:db8:1:{number}::1"), format!("n{number}"), false)),
            ("one name, many peers", |number| (format!("10.{number}.0.1"), "bob".into(), false)),
            ("many peers that have failed", |number| {
                (format!("10.{number}.0.1"), format!("n{number}"), true)
            }),
        ];
        for (flood, who) in floods {
            let mut turns = full(&askers, who);
            let goes = turns.push(new, 99);
            assert_eq!(goes, Some(9), "{flood}: the last of the flood makes room");
            let order: Vec<_> = std::iter::from_fn(|| turns.next_if(|_| true)).collect();
            let place = order.iter().position(|one| *one == 99).expect("it waits");
            assert!(place <= 1, "{flood}: {order:?}");
        }
    }

    #[test]
    fn without_peers_names_take_turns() {
        let askers = Askers::default();
        let mut turns = Turns::new(3);
        for (number, name) in ["bob", "bob", "bob", "ann"].into_iter().enumerate() {
            let goes = turns.push(askers.asker(None, name, false), number);
            assert_eq!(goes, (number == 3).then_some(2));
        }
        let order: Vec<_> = std::iter::from_fn(|| turns.next_if(|_| true)).collect();
        assert_eq!(order, [0, 3, 1]);
    }

    #[test]
    fn peers_take_turns_in_the_order_in_which_they_came() {
        let askers = Askers::default();
        let mut turns = Turns::new(10);
        for (number, host) in [1, 1, 1, 2, 2, 3].into_iter().enumerate() {
            let peer = IpAddr::from([10, host, 0, 1]);
            assert_eq!(turns.push(askers.asker(Some(peer), &number.to_string(), false), number), None);
        }
        assert_eq!(turns.next_if(|one| *one != 0), None, "the first waits, and nobody passes it");
        let order: Vec<_> = std::iter::from_fn(|| turns.next_if(|_| true)).collect();
        assert_eq!(order, [0, 3, 5, 1, 4, 2], "each has a turn before others have their next");
    }
}
