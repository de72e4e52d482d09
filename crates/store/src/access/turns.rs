//! The order in which passwords are checked, and the choice of the login that is dropped when too many wait.
//!
//! Rule 1: a peer and a name have one place at a time before others have their next.
//! Rule 2: peers that were right before come first, then networks and peers by how few wrong passwords they
//! have sent.
//! Rule 3: where too many wait, the one whose turn would come last makes room, which may be the newcomer.
//! Rule 4: whether a name is a user's has no part in it, so that a refusal tells nothing of names.

use std::hash::{BuildHasher as _, RandomState};

use super::peers::Prefixes;

/// The number of addresses in a network that weigh as much as the network, as with connections.
const NETWORK_SHARE: u64 = 4;

/// The peer and the name for which a password is checked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Asker {
    /// The peer; `None` where peers are not told apart.
    peer: Option<Prefixes>,
    /// The hash of the name, which nobody can foresee.
    name: u64,
    standing: Standing,
}

/// The standing of a peer, by the passwords that came from it before. Lower ones come first.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Standing {
    is_unknown: bool,
    /// The number of binary digits of the count of wrong passwords from its network.
    network: u32,
    /// The number of binary digits of the count of wrong passwords from its address.
    own: u32,
}

/// The key by which the names of askers are hashed.
#[derive(Clone, Debug, Default)]
pub(super) struct Askers(RandomState);

/// The logins that wait for a turn, in the order in which they came.
///
/// Among those of one standing, tags give turns (start-time fair queueing). A tag is that of the turn that
/// was given last, or a step more than that of another who waits from the same address, the same network or
/// for the same name.
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
    /// Returns the asker with this peer and name; without a peer if peers are not told apart.
    pub(super) fn asker(&self, peer: Option<Prefixes>, name: &str, standing: Standing) -> Asker {
        Asker { peer, name: self.0.hash_one(name), standing }
    }
}

impl Standing {
    /// Returns the standing of a peer that was right before and has sent so many wrong passwords lately.
    pub(super) const fn known(own: u32) -> Self {
        Self { is_unknown: false, network: 0, own: digits(own) }
    }

    /// Returns the standing of a peer that was never right, by the wrong passwords of its network and of
    /// itself.
    pub(super) const fn unknown(network: u32, own: u32) -> Self {
        Self { is_unknown: true, network: digits(network), own: digits(own) }
    }
}

const fn digits(number: u32) -> u32 {
    u32::BITS - number.leading_zeros()
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

    /// Takes out the login whose turn it is, if `may` agrees.
    pub(super) fn next_if(&mut self, may: impl FnOnce(&T) -> bool) -> Option<T> {
        let first = (0..self.waiting.len()).min_by_key(|index| self.rank(*index))?;
        if !may(&self.waiting[first].one) {
            return None;
        }
        let Waiting { tag, one, .. } = self.waiting.remove(first);
        self.now = self.now.max(tag);
        Some(one)
    }

    /// Drops the logins whose callers have gone.
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

    /// Returns the rank of a login in the queue: lower ones come first.
    fn rank(&self, index: usize) -> (Standing, u64, usize) {
        let Waiting { asker, tag, .. } = &self.waiting[index];
        (asker.standing, *tag, index)
    }
}

impl Asker {
    /// Returns the step of the order that puts this login behind the other; 0 if they share nothing, or come
    /// in another order already.
    fn step_behind(&self, other: &Self) -> u64 {
        let is_same =
            |part: fn(Prefixes) -> u128| self.peer.is_some() && self.peer.map(part) == other.peer.map(part);
        match () {
            () if self.standing != other.standing => 0,
            () if is_same(|peer| peer.address) || self.name == other.name => NETWORK_SHARE,
            () if is_same(|peer| peer.network) => 1,
            () => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    const NEW: Standing = Standing::unknown(0, 0);

    fn prefixes(peer: impl Into<IpAddr>) -> Option<Prefixes> {
        Some(Prefixes::of(peer.into()))
    }

    /// Returns a queue of ten waiting askers: peers, names, and standings.
    fn full(askers: &Askers, who: impl Fn(usize) -> (String, String, Standing)) -> Turns<usize> {
        let mut turns = Turns::new(10);
        for number in 0..10 {
            let (peer, name, standing) = who(number);
            let peer = prefixes(peer.parse::<IpAddr>().expect("an address"));
            let asker = askers.asker(peer, &name, standing);
            assert_eq!(turns.push(asker, number), None);
        }
        turns
    }

    #[test]
    fn somebody_new_has_the_next_turn_but_one_in_every_flood() {
        let askers = Askers::default();
        let new = askers.asker(prefixes([192, 0, 2, 1]), "ann", NEW);
        type Who = fn(usize) -> (String, String, Standing);
        let floods: [(&str, Who); 5] = [
            ("one peer, many names", |number| ("10.0.0.1".into(), format!("n{number}"), NEW)),
            ("one network", |number| (format!("2001:db8:1:{number}::1"), format!("n{number}"), NEW)),
            ("one name, many peers", |number| (format!("10.{number}.0.1"), "bob".into(), NEW)),
            ("many peers that have failed", |number| {
                (format!("10.{number}.0.1"), format!("n{number}"), Standing::unknown(1, 1))
            }),
            ("many networks that have failed", |number| {
                (format!("10.{number}.0.1"), format!("n{number}"), Standing::unknown(1, 0))
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
            let goes = turns.push(askers.asker(None, name, Standing::default()), number);
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
            let peer = prefixes([10, host, 0, 1]);
            assert_eq!(turns.push(askers.asker(peer, &number.to_string(), NEW), number), None);
        }
        assert_eq!(turns.next_if(|one| *one != 0), None, "the first waits, and nobody passes it");
        let order: Vec<_> = std::iter::from_fn(|| turns.next_if(|_| true)).collect();
        assert_eq!(order, [0, 3, 5, 1, 4, 2], "each has a turn before others have their next");
    }

    #[test]
    fn standings_are_in_order() {
        let standings = [
            Standing::known(0),
            Standing::known(1),
            Standing::known(100),
            NEW,
            Standing::unknown(1, 0),
            Standing::unknown(1, 1),
            Standing::unknown(4, 1),
            Standing::unknown(100, 0),
        ];
        assert!(standings.is_sorted(), "{standings:?}");
        assert_eq!(Standing::unknown(4, 4), Standing::unknown(7, 7), "digits are compared");
        assert_eq!(Standing::default(), Standing::known(0));
    }

    #[test]
    fn who_was_right_has_the_next_turn_whatever_else_waits() {
        let askers = Askers::default();
        for standing in [Standing::known(0), Standing::known(100)] {
            let mut turns = full(&askers, |number| (format!("10.{number}.0.1"), "ann".into(), NEW));
            assert_eq!(turns.push(askers.asker(prefixes([192, 0, 2, 1]), "ann", standing), 99), Some(9));
            assert_eq!(turns.next_if(|_| true), Some(99));
        }
    }
}
