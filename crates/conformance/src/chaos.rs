//! A server that misbehaves at random, over both versions, and keeps books of what it has processed.

mod http1;
mod http2;

use std::{
    collections::HashSet,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use alula_testkit::Rng;

pub use http1::serve as serve_http1;
pub use http2::serve as serve_http2;

/// What the servers have done.
#[derive(Default)]
pub struct Books {
    processed: Mutex<HashSet<String>>,
    twice: Mutex<Vec<String>>,
    fates: [AtomicUsize; Fate::ALL.len()],
}

impl Books {
    /// Returns true if this POST was processed.
    pub fn has(&self, id: &str) -> bool {
        lock(&self.processed).contains(id)
    }

    /// The POSTs that were processed twice.
    pub fn twice(&self) -> Vec<String> {
        lock(&self.twice).clone()
    }

    /// How often what was done.
    pub fn fates(&self) -> impl Iterator<Item = (Fate, usize)> {
        Fate::ALL.into_iter().zip(self.fates.iter().map(|count| count.load(Relaxed)))
    }

    /// Processes a request: what is no POST may be processed as often as one likes.
    fn process(&self, method: &str, id: &str) {
        if method == "POST" && !lock(&self.processed).insert(id.to_owned()) {
            lock(&self.twice).push(id.to_owned());
        }
    }

    /// Draws what becomes of a request.
    fn draw(&self, rng: &mut Rng) -> Fate {
        let mut at = rng.below(Fate::ALL.into_iter().map(Fate::weight).sum());
        let drawn = Fate::ALL.into_iter().position(|fate| {
            let is_it = at < fate.weight();
            at = at.wrapping_sub(fate.weight());
            is_it
        });
        let place = drawn.expect("it is below the sum of all weights");
        self.fates[place].fetch_add(1, Relaxed);
        Fate::ALL[place]
    }
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fate {
    /// It is processed and answered.
    Answered,
    /// It is processed and answered a little later.
    Late,
    /// It is refused and not processed: REFUSED_STREAM, or the end of the connection.
    Refused,
    /// It is processed, and reset instead of answered.
    Reset,
    /// The server goes away: it is not processed over HTTP/2, and the last over HTTP/1.1.
    Farewell,
    /// It is processed, and the connection ends without a word.
    Broken,
    /// Half of the answer comes.
    Halved,
    /// It is processed or not, and nothing follows.
    Stalled,
    /// It is answered, and the connection is closed a moment later without a word.
    Closed,
}

impl Fate {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Answered,
        Self::Late,
        Self::Refused,
        Self::Reset,
        Self::Farewell,
        Self::Broken,
        Self::Halved,
        Self::Stalled,
        Self::Closed,
    ];

    /// How likely it is: of a thousand.
    const fn weight(self) -> usize {
        match self {
            Self::Answered => 806,
            Self::Late => 80,
            Self::Refused => 40,
            Self::Reset => 20,
            Self::Farewell => 15,
            Self::Broken => 6,
            Self::Halved => 15,
            Self::Stalled => 3,
            Self::Closed => 15,
        }
    }
}

/// The first line of a content: what comes after it is weight.
fn id_of(content: &[u8]) -> String {
    let first = content.split(|byte| *byte == b'\n').next().unwrap_or_default();
    String::from_utf8_lossy(first).into_owned()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
