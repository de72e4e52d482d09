//! The retries of requests that may succeed a little later.
//!
//! Rule: nothing is tried again that could be carried out twice, and an origin that fails is not asked much
//! more often than one that does not; `budget.rs` sees to that.

mod budget;
mod retry_after;

use std::{
    hash::{BuildHasher as _, Hasher as _, RandomState},
    time::{Duration, SystemTime},
};

use alula_fields::{KnownName, Status};

use crate::response::Response;
pub(crate) use budget::Budget;
#[cfg(feature = "fuzzing")]
pub(crate) use retry_after::wait as retry_after;

/// The wait before the second try, longer than most short failures.
const BACKOFF: Duration = Duration::from_millis(100);
const BACKOFF_MAX: Duration = Duration::from_secs(10);
/// A longer `retry-after` is returned to the caller.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(60);

/// The rules for retries: failures, number of tries and waits; see
/// [`ClientBuilder::retries`](crate::ClientBuilder::retries) and [`Call::retries`](crate::Call::retries).
///
/// Tried again are failures after which the request cannot have been carried out
/// ([`Retry::Safe`](crate::Retry::Safe)), and for methods that are idempotent (RFC 9110 §9.2.2) also other
/// failures that may pass, and responses with certain statuses. Content goes along when it was given whole; a
/// call that streams its own is tried once. A response that breaks off within its content is not asked for
/// again.
///
/// All calls of a client share a budget: a tenth of a retry for each call, and ten at once. When it is spent,
/// failures are told at once, so that an origin that fails gets at most a tenth more requests than usual.
///
/// ```
/// use std::time::Duration;
///
/// use alula::{Client, Retries};
///
/// # fn main() -> Result<(), alula::Error> {
/// let retries = Retries::new(3).backoff(Duration::from_millis(50), Duration::from_secs(2));
/// let client = Client::builder().retries(retries).build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Retries {
    pub(crate) tries_max: u32,
    backoff: Duration,
    backoff_max: Duration,
    retry_after_max: Duration,
    statuses: Vec<Status>,
}

/// The wait that a response asks for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Wait {
    /// The status does not ask for a retry.
    Unasked,
    /// The response asks for a longer wait than the rules allow.
    TooLong,
    For(Duration),
}

impl Retries {
    /// Sets the number of tries in all, redirects not counted; with 1 nothing is retried, except requests
    /// that the peer [has not acted on](crate::Call::send).
    pub fn new(tries_max: u32) -> Self {
        let statuses = [
            Status::REQUEST_TIMEOUT,
            Status::TOO_MANY_REQUESTS,
            Status::BAD_GATEWAY,
            Status::SERVICE_UNAVAILABLE,
            Status::GATEWAY_TIMEOUT,
        ];
        Self {
            tries_max,
            backoff: BACKOFF,
            backoff_max: BACKOFF_MAX,
            retry_after_max: RETRY_AFTER_MAX,
            statuses: statuses.into(),
        }
    }

    /// Sets the wait before the second try, which doubles for each further one, up to `max`; 100 milliseconds
    /// and 10 seconds unless set. Each wait is cut at random by up to its half, so that those who failed
    /// together do not come back together.
    #[must_use]
    pub fn backoff(mut self, first: Duration, max: Duration) -> Self {
        (self.backoff, self.backoff_max) = (first, max);
        self
    }

    /// Sets the longest wait that `retry-after` (RFC 9110 §10.2.3) may ask for; 60 seconds unless set. A
    /// response that asks for more is handed over.
    #[must_use]
    pub fn retry_after_max(mut self, max: Duration) -> Self {
        self.retry_after_max = max;
        self
    }

    /// Sets the statuses that are retried; 408, 429, 502, 503 and 504 unless set.
    #[must_use]
    pub fn statuses(mut self, statuses: impl IntoIterator<Item = Status>) -> Self {
        self.statuses = statuses.into_iter().collect();
        self
    }

    /// Returns the wait after so many tries and this response.
    pub(crate) fn wait_after(&self, tries: u32, response: &Response) -> Wait {
        if !self.statuses.contains(&response.status()) {
            return Wait::Unasked;
        }
        let asked = response.headers().get(KnownName::RETRY_AFTER);
        let asked = asked.and_then(|value| retry_after::wait(value, SystemTime::now()));
        match asked {
            Some(asked) if asked > self.retry_after_max => Wait::TooLong,
            asked => Wait::For(self.wait(tries).max(asked.unwrap_or_default())),
        }
    }

    /// Returns the wait after so many tries.
    pub(crate) fn wait(&self, tries: u32) -> Duration {
        let factor = 1_u32.checked_shl(tries.saturating_sub(1)).unwrap_or(u32::MAX);
        let whole = self.backoff.saturating_mul(factor).min(self.backoff_max);
        whole - (whole / 2).mul_f64(random())
    }
}

/// Returns a random number from 0 to 1. The keys of a hash map are random enough: it need not be secret.
fn random() -> f64 {
    let bytes = RandomState::new().build_hasher().finish();
    bytes as f64 / u64::MAX as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_up_to_their_bound_and_differ() {
        let ms = Duration::from_millis;
        let retries = Retries::new(9).backoff(ms(100), ms(1000));
        for (tries, longest) in
            [(1, 100), (2, 200), (3, 400), (4, 800), (5, 1000), (40, 1000), (u32::MAX, 1000)]
        {
            let waits: Vec<_> = (0..100).map(|_| retries.wait(tries)).collect();
            assert!(waits.iter().all(|wait| (ms(longest) / 2..=ms(longest)).contains(wait)), "{waits:?}");
            assert!(waits.iter().any(|wait| *wait != waits[0]));
            assert!(waits.iter().max().unwrap() > &(ms(longest) * 3 / 4), "{waits:?}");
        }
        assert_eq!(Retries::new(9).backoff(ms(0), ms(0)).wait(3), ms(0));
        assert!(Retries::new(9).backoff(Duration::MAX, Duration::MAX).wait(9) >= Duration::MAX / 2);
    }
}
