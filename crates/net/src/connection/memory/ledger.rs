//! The ledger that all connections of a server, or of a client, share: the memory that they hold, and how
//! often peers broke each rule or ran into each limit.

use std::sync::{
    Arc,
    atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
};

use alula_h1 as h1;
use alula_h2::{Awaited, ConnectionError, Violation};
use alula_machine::{Limits, MemoryBudget, Reservation, Rule};

use crate::{
    connection::memory::kit,
    error::{Error, cause::Cause, limit::Overrun},
};

/// The name under which errors of compression are counted: the rules of HPACK have no names of their own.
const COMPRESSION: &str = "COMPRESSION";
const PREFACE_LATE: &str = "PREFACE_LATE";
const SETTINGS_ACK_LATE: &str = "SETTINGS_ACK_LATE";
const HEAD_LATE: &str = "HEAD_LATE";
const PONG_LATE: &str = "PONG_LATE";

const OTHERS: [&str; 5] = [COMPRESSION, PREFACE_LATE, SETTINGS_ACK_LATE, HEAD_LATE, PONG_LATE];
const COUNTS: usize = Violation::ALL.len() + h1::Violation::ALL.len() + Overrun::ALL.len() + OTHERS.len();

/// The memory held and the rules broken by peers, over all connections of a server or a client; for metrics.
///
/// Reading is a few loads; nothing here is counted but what goes wrong, so a peer that behaves costs nothing.
#[derive(Debug)]
pub struct Ledger {
    pub(crate) memory: Arc<MemoryBudget>,
    counts: [AtomicU64; COUNTS],
    /// Connections that have the memory that a request needs.
    kits: AtomicUsize,
}

/// Counts the connections that have the memory for a request.
impl Ledger {
    pub(crate) fn kit_taken(&self) {
        self.kits.fetch_add(1, Relaxed);
    }

    pub(crate) fn kit_left(&self) {
        self.kits.fetch_sub(1, Relaxed);
    }

    /// Returns true if many connections have the memory for a request.
    #[inline]
    pub(crate) fn is_crowded(&self) -> bool {
        self.kits.load(Relaxed) > kit::FEW
    }
}

impl Ledger {
    /// Creates an empty ledger. Allocates.
    pub fn new(limits: &Limits) -> Self {
        Self {
            memory: Arc::new(MemoryBudget::with_soft(
                limits.process_memory_bytes,
                limits.process_memory_soft_bytes(),
            )),
            counts: [const { AtomicU64::new(0) }; COUNTS],
            kits: AtomicUsize::new(0),
        }
    }

    /// Returns the bytes that all connections hold, buffers included.
    pub fn memory_held(&self) -> u64 {
        self.memory.held()
    }

    /// Charges bytes that the program itself holds for its peers, such as a cache or a buffer of a stream,
    /// beside what all connections hold. They are given back when the reservation is dropped.
    ///
    /// Returns `None` if all together would pass `Limits::process_memory_soft_percent` of
    /// `Limits::process_memory_bytes`: a handler then answers 503. Allocates nothing; costs one atomic
    /// addition, here and when it is dropped.
    pub fn reserve(&self, bytes: u64) -> Option<Reservation> {
        self.memory.reserve(bytes)
    }

    /// Charges bytes that the program holds already, as [`reserve`](Self::reserve) does, but regardless of
    /// the bounds: for what it cannot do without. New requests find less room.
    pub fn hold(&self, bytes: u64) -> Reservation {
        self.memory.hold(bytes)
    }

    /// Returns true while as much is held as `Limits::process_memory_soft_percent` allows, or more: servers
    /// refuse new requests.
    #[inline]
    pub fn is_overloaded(&self) -> bool {
        self.memory.is_used_up()
    }

    /// Returns how often something happened, by the name of a rule ([`Violation::ALL`],
    /// [`h1::Violation::ALL`]), of a limit ([`Overrun::ALL`]), or of another end that [`Self::counts`] lists.
    /// Zero for any other name. Allocates nothing.
    pub fn count(&self, name: &str) -> u64 {
        self.counter(name).map_or(0, |count| count.load(Relaxed))
    }

    /// Returns every name with its count, zeros included. Allocates nothing.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        names().zip(self.counts.iter().map(|count| count.load(Relaxed)))
    }

    /// Counts something that happened once more.
    #[cold]
    pub(crate) fn note(&self, name: &str) {
        if let Some(count) = self.counter(name) {
            count.fetch_add(1, Relaxed);
        }
    }

    fn counter(&self, name: &str) -> Option<&AtomicU64> {
        names().zip(&self.counts).find_map(|(known, count)| (known == name).then_some(count))
    }

    /// Notes a limit that a peer ran into before there was a connection.
    pub fn note_overrun(&self, overrun: Overrun) {
        self.note(overrun.name);
    }

    #[cold]
    pub(crate) fn note_violation(&self, violation: impl Rule) {
        self.note(violation.name());
    }

    /// Counts the end of a connection or a stream, if the peer caused it.
    #[cold]
    pub(crate) fn note_error(&self, error: &Error) {
        match error.cause() {
            Cause::Overrun(overrun) => self.note(overrun.name),
            Cause::Peer(violation) | Cause::Connection(ConnectionError::Peer(violation)) => {
                self.note_violation(*violation);
            }
            Cause::Connection(ConnectionError::Compression { .. }) => self.note(COMPRESSION),
            Cause::Http1(h1::ConnectionError::Peer(violation)) => self.note_violation(*violation),
            Cause::Connection(ConnectionError::TimedOut(awaited))
            | Cause::Http1(h1::ConnectionError::TimedOut(awaited)) => {
                name_of(*awaited).into_iter().for_each(|name| self.note(name));
            }
            _ => {}
        }
    }
}

/// Returns the name under which a missed deadline of the peer is counted; none if the peer had sent no
/// request.
const fn name_of(awaited: Awaited) -> Option<&'static str> {
    Some(match awaited {
        Awaited::Preface => PREFACE_LATE,
        Awaited::SettingsAck => SETTINGS_ACK_LATE,
        Awaited::Head => HEAD_LATE,
        Awaited::Pong => PONG_LATE,
        Awaited::Request => return None,
    })
}

fn names() -> impl Iterator<Item = &'static str> {
    let violations = Violation::ALL.iter().map(|(name, _)| *name);
    let violations = violations.chain(h1::Violation::ALL.iter().map(|(name, _)| *name));
    violations.chain(Overrun::ALL.iter().map(|overrun| overrun.name)).chain(OTHERS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_one_of_its_own() {
        let mut all: Vec<&str> = names().collect();
        assert_eq!(all.len(), COUNTS);
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), COUNTS);
    }

    #[test]
    fn what_is_noted_is_counted() {
        let ledger = Ledger::new(&Limits::default());
        ledger.note_violation(Violation::TOO_MANY_GLITCHES);
        ledger.note_error(&Error::connection(ConnectionError::Peer(Violation::TOO_MANY_GLITCHES)));
        ledger.note_error(&Error::connection(ConnectionError::TimedOut(Awaited::Head)));
        ledger.note_error(&Error::closed());
        assert_eq!((ledger.count("TOO_MANY_GLITCHES"), ledger.count("HEAD_LATE")), (2, 1));
        assert_eq!(ledger.counts().map(|(_, count)| count).sum::<u64>(), 3);
        assert_eq!(ledger.count("no such name"), 0);
    }
}
