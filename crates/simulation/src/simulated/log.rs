//! What happens in a run: told while it happens, summed up at the end.
//!
//! Each actor has a course of its own, and the courses together are that of the run: so it does not matter in
//! which order things happen that have nothing to do with each other.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

/// Who acts.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Actor {
    /// A direction of a connection: of this client, its how-manieth connection, to the server or from it.
    Cable { client: u32, number: u32, to_server: bool },
    /// Who makes this call.
    Caller(u32),
    /// Who answers this call.
    Handler(u32),
}

pub(super) struct Log {
    began: Instant,
    tells: bool,
    courses: Mutex<BTreeMap<Actor, u64>>,
    findings: Mutex<Vec<String>>,
}

impl Log {
    pub(super) fn new(tells: bool) -> Self {
        Self { began: Instant::now(), tells, courses: Mutex::default(), findings: Mutex::default() }
    }

    /// Notes what an actor does.
    pub(super) fn note(&self, actor: Actor, what: &'static str, amount: u64) {
        let at = self.began.elapsed().as_micros() as u64;
        if self.tells {
            println!("{:>10}.{:03} {actor:?}: {what} {amount}", at / 1_000, at % 1_000);
        }
        let mut courses = lock(&self.courses);
        let course = courses.entry(actor).or_insert(FNV_OFFSET);
        *course = mixed(mixed(mixed_bytes(*course, what.as_bytes()), at), amount);
    }

    /// Notes what must not be.
    pub(super) fn find(&self, finding: String) {
        if self.tells {
            println!("{:>10}     FOUND: {finding}", self.began.elapsed().as_millis());
        }
        lock(&self.findings).push(finding);
    }

    /// Notes what must not be, unless it was noted before.
    pub(super) fn find_once(&self, finding: String) {
        if !lock(&self.findings).contains(&finding) {
            self.find(finding);
        }
    }

    pub(super) fn take_findings(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.findings))
    }

    /// The sum of all courses.
    pub(super) fn course(&self) -> u64 {
        lock(&self.courses).values().fold(FNV_OFFSET, |sum, course| mixed(sum, *course))
    }
}

/// The hash of Fowler, Noll and Vo with 64 bits.
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

fn mixed(hash: u64, number: u64) -> u64 {
    mixed_bytes(hash, &number.to_le_bytes())
}

fn mixed_bytes(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME))
}

/// A number that tells bytes from others.
pub(super) fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks();
    let sum = words.iter().fold(FNV_OFFSET, |sum, word| {
        (sum ^ u64::from_le_bytes(*word)).wrapping_mul(FNV_PRIME).rotate_left(29)
    });
    mixed_bytes(sum, rest)
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
