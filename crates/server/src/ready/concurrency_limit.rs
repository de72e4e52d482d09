//! A limit on the simultaneous requests of one peer.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use alula_fields::{KnownName, Status};

use super::keys::Keys;
use crate::{
    answer::Answer,
    exchange::{Exchange, request::Request},
    router::{Next, Wrap},
};

/// The parts of the table, each with a lock.
const PARTS: usize = 64;

/// Limits how many requests of one peer are handled at once, and answers others 503 with `retry-after`: a
/// [layer](crate::Wrap) around a route or a router. [`Route::concurrency`](crate::Route::concurrency) bounds
/// those of all peers together, and lets them wait.
///
/// A peer is a [client's address](crate::Exchange::client_address), whole if it is one of IPv4 or the first
/// 64 bits of one of IPv6, or what [`by`](Self::by) says. The table has an entry for each peer that has a
/// request under way and for no other, so the limits of connections and streams bound it. Allocates nothing
/// per request once warm, but for the answer 503. Writes memory that connections share, in one of 64 parts of
/// the table.
///
/// ```
/// use alula::{ConcurrencyLimit, Router};
///
/// let router = Router::<()>::new().wrap(ConcurrencyLimit::new(8).layer());
/// # router.build().unwrap();
/// ```
pub struct ConcurrencyLimit {
    max: u32,
    keys: Keys,
    parts: Box<[Arc<Part>]>,
}

/// The counts of requests by the hash of their key; zero counts are removed.
#[derive(Default)]
#[repr(align(128))]
struct Part(Mutex<HashMap<u64, u32>>);

impl ConcurrencyLimit {
    /// Creates a limit of so many requests at once, at least one.
    pub fn new(requests: u32) -> Self {
        let parts = (0..PARTS).map(|_| Arc::default()).collect();
        Self { max: requests.max(1), keys: Keys::default(), parts }
    }

    /// Counts requests by this key, such as a field, and those without one by the address of their peer. A
    /// peer that may choose its key is not bounded: take keys that were checked before.
    #[must_use]
    pub fn by(
        mut self,
        key: impl for<'r> Fn(&'r Request) -> Option<&'r [u8]> + Send + Sync + 'static,
    ) -> Self {
        self.keys.by(key);
        self
    }

    /// Returns the layer, for `Router::wrap` and `Route::wrap`.
    pub fn layer<S: 'static>(self) -> impl Wrap<S> {
        move |exchange: Exchange<S>, next: Next<S>| {
            let key = self.keys.hash(exchange.request(), exchange.client_address());
            let entered = Permit::take(&self.parts[key as usize % PARTS], key, self.max);
            async move {
                match entered {
                    Some(_permit) => next.run(exchange).await,
                    None => Err(refusal()),
                }
            }
        }
    }
}

impl fmt::Debug for ConcurrencyLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConcurrencyLimit").field("max", &self.max).finish_non_exhaustive()
    }
}

fn refusal() -> Answer {
    let answer = Answer::new(Status::SERVICE_UNAVAILABLE).detail("there are too many requests at once");
    answer.header(KnownName::RETRY_AFTER, "1")
}

/// A counted request, until this is dropped.
struct Permit {
    part: Arc<Part>,
    key: u64,
}

impl Permit {
    fn take(part: &Arc<Part>, key: u64, max: u32) -> Option<Self> {
        let mut counts = part.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(key).or_default();
        if *count >= max {
            return None;
        }
        *count += 1;
        Some(Self { part: part.clone(), key })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut counts = self.part.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.key);
            }
        }
    }
}
