//! Connections that end because memory is scarce: those that hold much and make no progress, so that requests
//! of others need not be refused (decision 0038).
//!
//! Rule 1: those of the prefix that holds most go first, and of these those that hold most.
//! Rule 2: a connection is asked, not aborted: its task sees whether what it holds moves, and stays if it
//! does.
//! Rule 3: nothing is looked at before two thirds of what new requests may find are in use, and then now and
//! then.

use std::{
    cmp::Reverse,
    collections::HashMap,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use alula_machine::Limits;
use tokio::time::Instant;

use super::{Connections, weighing::Prefix};

/// The least bytes of a connection that is asked.
const HEAVY_BYTES: u64 = 32 * 1024;

/// The time between two checks.
const LOOK_AFTER: Duration = Duration::from_millis(100);

/// The bound on memory at which a server takes no new requests, and the last check of its holders.
pub(super) struct MemoryRelief {
    soft_bytes: u64,
    /// The time of the last check, in nanoseconds of the table's time.
    looked_at: AtomicU64,
}

/// A connection that holds much memory.
struct Holder {
    prefixes: [Prefix; 2],
    bytes: u64,
}

impl MemoryRelief {
    pub(super) fn new(limits: &Limits) -> Self {
        Self { soft_bytes: limits.process_memory_soft_bytes(), looked_at: AtomicU64::new(0) }
    }

    /// Returns true if it is time for a check, which is recorded.
    fn begins(&self, since: Duration) -> bool {
        let now = since.as_nanos() as u64 + 1;
        let last = self.looked_at.load(Relaxed);
        let is_due = last == 0 || now.saturating_sub(last) >= LOOK_AFTER.as_nanos() as u64;
        is_due && self.looked_at.compare_exchange(last, now, Relaxed, Relaxed).is_ok()
    }
}

impl Connections {
    /// Asks the connections with the most memory to make progress or to end, until half of the memory for new
    /// requests would be free. Memory that others than connections hold is not theirs to give. Allocates for
    /// each that holds much.
    #[cold]
    pub(super) fn relieve_memory(&self) {
        if !self.relief.begins(Instant::now().saturating_duration_since(self.epoch)) {
            return;
        }
        let table = self.table();
        let holds = |row: &&super::Row| row.entry.held() >= HEAVY_BYTES;
        let rows: Vec<_> = table.rows.iter().filter(holds).collect();
        let holder = |row: &&super::Row| Holder { prefixes: row.entry.prefixes, bytes: row.entry.held() };
        let holders: Vec<Holder> = rows.iter().map(holder).collect();
        let held = self.ledger.memory_held();
        // Most of the memory is with those who hold little each: ending a few would not help.
        if holders.iter().map(|holder| holder.bytes).sum::<u64>() < held / 2 {
            return;
        }
        let excess = held.saturating_sub(self.relief.soft_bytes / 2);
        heaviest(&holders, excess).into_iter().for_each(|index| rows[index].entry.ask_to_get_on());
    }
}

/// Returns the holders that together have so many bytes, in the order in which they should end.
fn heaviest(all: &[Holder], excess: u64) -> Vec<usize> {
    let mut weights: HashMap<Prefix, u64> = HashMap::new();
    for holder in all {
        for prefix in holder.prefixes {
            *weights.entry(prefix).or_default() += holder.bytes * prefix.factor() as u64;
        }
    }
    // As with their number: a network weighs more than an address only with four times as much.
    let weight = |holder: &Holder| holder.prefixes.iter().map(|prefix| weights[prefix]).max();
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|index| Reverse((weight(&all[*index]), all[*index].bytes)));
    let mut left = excess;
    let goes = |index: &usize| {
        let is_needed = left > 0;
        left = left.saturating_sub(all[*index].bytes);
        is_needed
    };
    order.into_iter().take_while(goes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn holders(all: &[(&str, u64)]) -> Vec<Holder> {
        let holder = |(peer, bytes): &(&str, u64)| {
            let address: std::net::IpAddr = peer.parse().expect("an address");
            Holder { prefixes: Prefix::both((address, 1).into()), bytes: *bytes }
        };
        all.iter().map(holder).collect()
    }

    #[test]
    fn the_address_that_holds_most_goes_first() {
        let all = [("10.1.0.1", 5 * MIB), ("10.2.0.1", 3 * MIB), ("10.2.0.1", 4 * MIB), ("10.3.0.1", MIB)];
        assert_eq!(heaviest(&holders(&all), MIB), [2]);
        assert_eq!(heaviest(&holders(&all), 5 * MIB), [2, 1]);
        assert_eq!(heaviest(&holders(&all), 100 * MIB), [2, 1, 0, 3]);
        assert!(heaviest(&holders(&all), 0).is_empty());
    }

    #[test]
    fn a_network_of_many_addresses_is_heavier_than_one_address() {
        let network: Vec<String> = (1..10).map(|host| format!("10.1.0.{host}")).collect();
        let mut all: Vec<(&str, u64)> = network.iter().map(|peer| (peer.as_str(), MIB)).collect();
        all.push(("192.0.2.1", 2 * MIB));
        assert_eq!(heaviest(&holders(&all), MIB), [0]);
        // With two addresses of one network, each of them weighs for itself.
        assert_eq!(
            heaviest(&holders(&[("10.1.0.1", MIB), ("10.1.0.2", MIB), ("192.0.2.1", 2 * MIB)]), 1),
            [2]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn those_who_hold_it_are_asked_while_memory_is_scarce() {
        let limits = Limits { process_memory_bytes: 64 * MIB, ..Limits::default() };
        let ledger = std::sync::Arc::new(alula_net::Ledger::new(&limits));
        let connections = Connections::new(&limits, ledger.clone());
        let enter = |host: u8| connections.enter(([10, 0, host, 1], 1).into());
        let mut all = [enter(1), enter(2)];
        let asked = |one: &mut super::super::Registration| {
            one.poll_asked(&mut std::task::Context::from_waker(std::task::Waker::noop())).gets_on()
        };
        let (large, _small) = (ledger.hold(30 * MIB), ledger.hold(8 * MIB));
        all[0].observer().holds(30 * MIB, false);
        all[1].observer().holds(8 * MIB, false);
        assert!(!asked(&mut all[0]) && !asked(&mut all[1]));
        all[1].observer().holds(8 * MIB, true);
        assert!(asked(&mut all[0]) && !asked(&mut all[1]), "the one that holds most is enough");
        all[0].is_looked_at();
        all[1].observer().holds(8 * MIB, true);
        assert!(!asked(&mut all[0]), "it was looked at just now");
        tokio::time::advance(LOOK_AFTER).await;
        all[1].observer().holds(8 * MIB, true);
        assert!(asked(&mut all[0]));
        // Connections cannot give back memory that others hold.
        all[0].is_looked_at();
        drop(large);
        let _other = ledger.hold(40 * MIB);
        tokio::time::advance(LOOK_AFTER).await;
        all[0].observer().holds(0, true);
        assert!(!asked(&mut all[0]) && !asked(&mut all[1]));
    }
}
