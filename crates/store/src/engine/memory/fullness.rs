//! The events of a bound on memory, for an operator: one when it is reached, and one when there is room
//! again.

use std::fmt;
use std::time::Duration;

use tokio::time::Instant;

const MIB: u64 = 1024 * 1024;

/// The time without a refused write after which the operator is told of room: until then it may come and go
/// with each request.
const SETTLED: Duration = Duration::from_secs(5);

/// An event of an engine in memory that its operator hears of once, however many writes it strikes.
///
/// `Display` gives a sentence without a full stop.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoryEvent {
    /// The bound is reached: writes that grow are refused, and deletes are taken.
    Full {
        /// The bytes that are free.
        free: u64,
        /// The bytes of the bound.
        bound: u64,
    },
    /// The engine has room again, and all writes are taken.
    HasRoom {
        /// The bytes that are free.
        free: u64,
        /// The bytes of the bound.
        bound: u64,
    },
}

impl fmt::Display for MemoryEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { free, bound } => write!(
                f,
                "the memory for objects is full ({} of {} MiB are free): writes that grow are refused with 507, \
                 reads and deletes go on",
                free / MIB,
                bound.div_ceil(MIB)
            ),
            Self::HasRoom { free, bound } => write!(
                f,
                "the memory for objects has room again ({} of {} MiB are free): all writes are taken",
                free / MIB,
                bound.div_ceil(MIB)
            ),
        }
    }
}

/// The state of a bound: whether writes are refused for want of room, and the event that is not told yet.
#[derive(Debug)]
pub(super) struct Fullness {
    refused: Option<Refused>,
    news: Option<MemoryEvent>,
}

/// The refused writes since the bound was reached.
#[derive(Debug)]
struct Refused {
    /// The fewest bytes by which one of them would have grown.
    least: u64,
    last: Instant,
}

impl Fullness {
    pub(super) const fn new() -> Self {
        Self { refused: None, news: None }
    }

    /// Notes a refused write that would have grown by so many bytes. One that has no room in an empty engine
    /// says nothing of others.
    #[cold]
    pub(super) fn refuse(&mut self, growth: u64, free: u64, bound: u64) {
        if growth > bound {
            return;
        }
        let last = Instant::now();
        match &mut self.refused {
            Some(refused) => *refused = Refused { least: refused.least.min(growth), last },
            None => {
                self.refused = Some(Refused { least: growth, last });
                self.news = Some(MemoryEvent::Full { free, bound });
            }
        }
    }

    /// Records the number of free bytes, and returns an event for the operator, if there is one.
    #[inline]
    pub(super) fn news(&mut self, free: u64, bound: u64) -> Option<MemoryEvent> {
        self.refused.as_ref()?;
        self.look(free, bound);
        self.news.take()
    }

    #[cold]
    fn look(&mut self, free: u64, bound: u64) {
        let has_room = |refused: &Refused| free >= refused.least && refused.last.elapsed() >= SETTLED;
        if self.refused.as_ref().is_some_and(has_room) {
            self.refused = None;
            self.news = Some(MemoryEvent::HasRoom { free, bound });
        }
    }
}
