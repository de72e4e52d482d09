//! A limit on the rate of one peer's requests.

mod table;

use std::{
    fmt,
    net::IpAddr,
    time::{Duration, Instant},
};

use alula_fields::{KnownName, Status};

use self::table::{Rate, Table};
use super::{gate::gate, keys::Keys};
use crate::{
    answer::Answer,
    exchange::request::Request,
    router::{Begun, Hook, Wrap},
};

/// The default number of counted keys: a table of 1 MiB.
const KEYS_MAX: usize = 65_536;

/// Limits how many requests a peer may send in a time, and answers others 429 with `retry-after`: a
/// [hook](crate::Hook) for all requests of a router, or a [layer](Self::layer) around a route.
///
/// Each peer has a bucket of tokens, which fills evenly up to the [burst](Self::burst); a request takes one.
/// A peer is a [client's address](crate::Exchange::client_address), whole if it is one of IPv4 or the first
/// 64 bits of one of IPv6, or what [`by`](Self::by) says.
///
/// The table has a fixed size, 1 MiB unless [set](Self::keys_max), and each key has 8 places in it. If all of
/// them are taken by buckets that are not full, the fullest of them is forgotten: its peer begins anew with
/// all tokens. Many addresses make the limit laxer so, never stricter for others. Allocates nothing per
/// request but for the answer 429. Writes memory that connections share, in one of 64 parts of the table,
/// each under a lock of its own.
///
/// ```
/// use alula::{RateLimit, Router};
/// use std::time::Duration;
///
/// // 100 in a minute, of which 20 may come at once.
/// let limit = RateLimit::new(100, Duration::from_secs(60)).burst(20);
/// let router = Router::<()>::new().hook(limit);
/// # router.build().unwrap();
/// ```
pub struct RateLimit {
    rate: Rate,
    keys: Keys,
    table: Table,
    begun: Instant,
}

impl RateLimit {
    /// Creates a limit of so many requests in a time, all of them at once unless a [burst](Self::burst) is
    /// set. At least one is allowed.
    pub fn new(requests: u32, per: Duration) -> Self {
        let rate = Rate::new(requests, per);
        Self { rate, keys: Keys::default(), table: Table::new(KEYS_MAX), begun: Instant::now() }
    }

    /// Sets the requests that may come at once, at least one.
    #[must_use]
    pub fn burst(mut self, requests: u32) -> Self {
        self.rate.set_burst(requests);
        self
    }

    /// Counts requests by this key, such as a field, and those without one by the address of their peer. A
    /// peer that may choose its key has a bucket for each: take keys that were checked before.
    ///
    /// ```
    /// # use alula::RateLimit;
    /// # let limit = RateLimit::new(1, std::time::Duration::from_secs(1));
    /// let limit = limit.by(|request| request.headers().get("x-user"));
    /// ```
    #[must_use]
    pub fn by(
        mut self,
        key: impl for<'r> Fn(&'r Request) -> Option<&'r [u8]> + Send + Sync + 'static,
    ) -> Self {
        self.keys.by(key);
        self
    }

    /// Sets the number of counted keys, in steps of 512; each takes 16 bytes.
    #[must_use]
    pub fn keys_max(mut self, keys: usize) -> Self {
        self.table = Table::new(keys);
        self
    }

    /// Returns a layer, for `Router::wrap` and `Route::wrap`.
    pub fn layer<S: 'static>(self) -> impl Wrap<S> {
        gate(move |exchange| self.check(exchange.request(), exchange.client_address()))
    }

    /// Returns the answer to a request beyond the limit.
    fn check(&self, request: &Request, peer: IpAddr) -> Option<Answer> {
        let key = self.keys.hash(request, peer);
        let wait = self.table.take(key, self.begun.elapsed(), self.rate).err()?;
        let seconds = wait.as_nanos().div_ceil(1_000_000_000).max(1);
        let answer = Answer::new(Status::TOO_MANY_REQUESTS).detail("there are too many requests");
        Some(answer.header(KnownName::RETRY_AFTER, seconds.to_string()))
    }
}

impl Hook for RateLimit {
    fn begin(&self, begun: &mut Begun<'_>) -> Option<Answer> {
        if begun.is_answered() { None } else { self.check(begun.request(), begun.client_address()) }
    }
}

impl fmt::Debug for RateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimit").field("rate", &self.rate).finish_non_exhaustive()
    }
}
