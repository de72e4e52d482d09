//! Chooses the connections that make room when there are too many: the oldest of the heaviest prefix,
//! repeatedly.
//!
//! An address (IPv4 /32, IPv6 /64) weighs the number of its connections. The network around it (/24, /48)
//! weighs a quarter of its number: it is the heavier one only if it has more than four times as many as any
//! of its addresses. An attacker with a whole network looks like that; a few proxies side by side do not.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap},
    net::{IpAddr, SocketAddr},
};

/// The weight of an address relative to its network, for the same number of connections.
const ADDRESS_FACTOR: usize = 4;

/// A part of the address space.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct Prefix {
    bits: u64,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
enum Kind {
    V4Address,
    V4Network,
    V6Address,
    V6Network,
}

/// A connection to be weighed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weighed {
    pub(crate) prefixes: [Prefix; 2],
    /// The time since which it could be closed; `None` if it cannot.
    pub(crate) since: Option<u64>,
}

/// The connections of one prefix.
struct Group {
    factor: usize,
    count: usize,
    /// The connections that can be closed, the oldest last.
    waiting: Vec<usize>,
}

impl Prefix {
    /// Returns the address and the network of a peer. An IPv4 address that is mapped into IPv6 is the IPv4
    /// address.
    pub(crate) fn both(peer: SocketAddr) -> [Self; 2] {
        match peer.ip().to_canonical() {
            IpAddr::V4(address) => {
                let bits = u64::from(address.to_bits());
                [Self { bits, kind: Kind::V4Address }, Self { bits: bits >> 8, kind: Kind::V4Network }]
            }
            IpAddr::V6(address) => {
                let bits = (address.to_bits() >> 64) as u64;
                [Self { bits, kind: Kind::V6Address }, Self { bits: bits >> 16, kind: Kind::V6Network }]
            }
        }
    }

    pub(super) const fn factor(self) -> usize {
        match self.kind {
            Kind::V4Address | Kind::V6Address => ADDRESS_FACTOR,
            Kind::V4Network | Kind::V6Network => 1,
        }
    }
}

/// Returns the first `most` connections to close, in order, by index. Costs a few passes over all of them.
pub(crate) fn first_to_go(all: &[Weighed], most: usize) -> Vec<usize> {
    let mut groups = group(all);
    let mut heaviest: BinaryHeap<_> =
        groups.iter().filter_map(|(prefix, group)| group.rank(*prefix, all)).collect();
    let mut chosen = Vec::with_capacity(most);
    let mut is_chosen = vec![false; all.len()];
    while let (true, Some(rank)) = (chosen.len() < most, heaviest.pop()) {
        let (_, _, prefix) = rank;
        let Some(group) = groups.get_mut(&prefix) else { continue };
        group.forget(&is_chosen);
        let now = group.rank(prefix, all);
        if now == Some(rank)
            && let Some(index) = group.waiting.pop()
        {
            is_chosen[index] = true;
            chosen.push(index);
            for prefix in all[index].prefixes {
                groups.entry(prefix).and_modify(|group| group.count -= 1);
            }
        }
        heaviest.extend(groups.get(&prefix).and_then(|group| group.rank(prefix, all)));
    }
    chosen
}

fn group(all: &[Weighed]) -> HashMap<Prefix, Group> {
    let mut groups: HashMap<Prefix, Group> = HashMap::new();
    let mut oldest_last: Vec<usize> = (0..all.len()).collect();
    oldest_last.sort_unstable_by_key(|index| Reverse(all[*index].since));
    for index in oldest_last {
        for prefix in all[index].prefixes {
            let group = groups.entry(prefix).or_insert_with(|| Group::new(prefix));
            group.count += 1;
            group.waiting.extend(all[index].since.map(|_| index));
        }
    }
    groups
}

/// The rank: the weight, and then the time of the longest waiting connection.
type Rank = (usize, Reverse<Option<u64>>, Prefix);

impl Group {
    const fn new(prefix: Prefix) -> Self {
        Self { factor: prefix.factor(), count: 0, waiting: Vec::new() }
    }

    /// Drops connections that wait no more, as far as they would be next.
    fn forget(&mut self, is_chosen: &[bool]) {
        while self.waiting.pop_if(|index| is_chosen[*index]).is_some() {}
    }

    fn rank(&self, prefix: Prefix, all: &[Weighed]) -> Option<Rank> {
        let oldest = self.waiting.last()?;
        Some((self.factor * self.count, Reverse(all[*oldest].since), prefix))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns connections of these peers, the first of which has waited longest.
    fn all_of(peers: &[&str]) -> Vec<Weighed> {
        let weighed = |(since, peer): (usize, &&str)| {
            let address: IpAddr = peer.parse().expect("an address");
            Weighed { prefixes: Prefix::both((address, 1).into()), since: Some(since as u64) }
        };
        peers.iter().enumerate().map(weighed).collect()
    }

    #[test]
    fn the_oldest_of_the_heaviest_address_goes_first() {
        let all = all_of(&["10.0.0.1", "10.9.0.1", "10.0.0.2", "10.9.0.1", "10.9.0.1"]);
        assert_eq!(first_to_go(&all, 3), [1, 3, 0]);
    }

    #[test]
    fn of_equal_addresses_the_longest_wait_counts() {
        let all = all_of(&["10.3.0.1", "10.1.0.1", "10.2.0.1"]);
        assert_eq!(first_to_go(&all, 9), [0, 1, 2]);
    }

    #[test]
    fn a_network_full_of_callers_is_heavier_than_an_office() {
        let network: Vec<String> = (0..20).map(|host| format!("2001:db8:1:{host:x}::1")).collect();
        let office = ["2001:db8:2::1"; 4];
        let mut peers = office.to_vec();
        peers.extend(network.iter().map(String::as_str));
        // Twenty of the /48 weigh more than four of the office until there are sixteen, then the office is as
        // heavy, and older.
        assert_eq!(first_to_go(&all_of(&peers), 5), [4, 5, 6, 7, 0]);
    }

    #[test]
    fn proxies_side_by_side_are_lighter_than_one_caller() {
        let mut peers = vec!["192.0.2.1", "192.0.2.2", "192.0.2.3"];
        peers.extend(["198.51.100.7"; 2]);
        assert_eq!(first_to_go(&all_of(&peers), 1), [3]);
    }

    #[test]
    fn a_busy_connection_weighs_and_stays() {
        let mut all = all_of(&["10.0.0.1", "10.0.0.2", "10.0.0.2", "10.0.0.2"]);
        (all[1].since, all[2].since) = (None, None);
        assert_eq!(first_to_go(&all, 9), [3, 0]);
    }

    #[test]
    fn a_mapped_address_is_the_one_of_ipv4() {
        let both = |peer: &str| Prefix::both((peer.parse::<IpAddr>().expect("an address"), 1).into());
        assert_eq!(both("::ffff:192.0.2.1"), both("192.0.2.1"));
        assert_ne!(both("192.0.2.1")[0], both("192.0.2.2")[0]);
        assert_eq!(both("192.0.2.1")[1], both("192.0.2.2")[1]);
        assert_eq!(both("2001:db8::1")[0], both("2001:db8::ffff")[0]);
        assert_eq!(both("2001:db8:0:1::")[1], both("2001:db8::1")[1]);
    }
}
