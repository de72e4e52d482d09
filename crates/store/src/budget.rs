//! The octets of content that all requests under way may hold together.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

/// The octets of one permit: 4 GiB of permits are 16 TiB of octets.
const UNIT_OCTETS: u64 = 4_096;

/// The octets up to which a request has no share: connections have a few of them at most, which servers bound by themselves, and a count
/// that all connections write would cost each request.
pub(crate) const SMALL_OCTETS_MAX: u64 = 64 * 1024;

/// The octets of a second that a transfer has to come to, and the time that it has beside, while others wait for its share.
const PACE_OCTETS: u64 = 256 * 1024;
const PACE_GRACE: Duration = Duration::from_secs(60);

/// The time after which a slow transfer looks again whether others wait.
const LOOK: Duration = Duration::from_secs(1);

/// A bound on octets, of which each request takes a share.
#[derive(Debug)]
pub(crate) struct Budget {
    units: Arc<Semaphore>,
    units_max: u32,
    waiting: AtomicUsize,
}

/// The octets of one request, given back when it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Share(Option<OwnedSemaphorePermit>);

/// There is no room for so many octets, or there was none in time.
#[derive(Debug)]
pub(crate) struct Spent;

/// A transfer was slow while others waited for its share.
#[derive(Debug)]
pub(crate) struct TooSlow;

impl Budget {
    /// A budget of so many octets.
    pub(crate) fn new(octets_max: u64) -> Self {
        let units_max = units(octets_max).max(1);
        Self { units: Arc::new(Semaphore::new(units_max as usize)), units_max, waiting: AtomicUsize::new(0) }
    }

    /// Returns true while a request has a share.
    pub(crate) fn is_in_use(&self) -> bool {
        self.units.available_permits() < self.units_max as usize
    }

    /// Waits for so many octets. Requests are served in their order. Allocates nothing.
    pub(crate) async fn share(&self, octets: u64, deadline: Instant) -> Result<Share, Spent> {
        if octets <= SMALL_OCTETS_MAX {
            return Ok(Share::default());
        }
        // A request that is larger than the budget takes all of it.
        let units = units(octets).min(self.units_max);
        let _waits = Waits::begin(&self.waiting);
        let taken = Arc::clone(&self.units).acquire_many_owned(units);
        let taken = timeout_at(deadline, taken).await.map_err(|_| Spent)?.map_err(|_| Spent)?;
        Ok(Share(Some(taken)))
    }

    /// Awaits a transfer that holds a share. While others wait for a share, it has to keep a pace: those who hold one and do not move would
    /// keep everybody out. One without a share has none to keep. Allocates nothing.
    pub(crate) async fn paced<F: Future>(
        &self,
        share_octets: u64,
        transfer: F,
    ) -> Result<F::Output, TooSlow> {
        let mut transfer = pin!(transfer);
        if share_octets <= SMALL_OCTETS_MAX {
            return Ok(transfer.await);
        }
        let mut end = Instant::now() + PACE_GRACE + Duration::from_secs(share_octets / PACE_OCTETS);
        loop {
            match timeout_at(end, transfer.as_mut()).await {
                Ok(output) => return Ok(output),
                Err(_) if self.waiting.load(Ordering::Relaxed) > 0 => return Err(TooSlow),
                Err(_) => end = Instant::now() + LOOK,
            }
        }
    }

    /// Takes what a share lacks of so many octets, if it is there: two requests that wait for what the other holds would wait without end.
    pub(crate) fn grow(&self, share: &mut Share, octets: u64) -> Result<(), Spent> {
        if octets <= SMALL_OCTETS_MAX {
            return Ok(());
        }
        let has = share.0.as_ref().map_or(0, |taken| taken.num_permits() as u32);
        let missing = units(octets).min(self.units_max).saturating_sub(has);
        if missing == 0 {
            return Ok(());
        }
        let more = Arc::clone(&self.units).try_acquire_many_owned(missing).map_err(|_| Spent)?;
        match &mut share.0 {
            Some(taken) => taken.merge(more),
            none => *none = Some(more),
        }
        Ok(())
    }
}

/// One who waits, until it is dropped.
struct Waits<'a>(&'a AtomicUsize);

impl<'a> Waits<'a> {
    fn begin(waiting: &'a AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::Relaxed);
        Self(waiting)
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Share {
    /// Gives back what is more than so many octets.
    pub(crate) fn shrink(&mut self, octets: u64) {
        if octets <= SMALL_OCTETS_MAX {
            self.0 = None;
        } else if let Some(taken) = &mut self.0 {
            let more = taken.num_permits().saturating_sub(units(octets) as usize);
            drop(taken.split(more));
        }
    }
}

fn units(octets: u64) -> u32 {
    u32::try_from(octets.div_ceil(UNIT_OCTETS)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn soon() -> Instant {
        Instant::now() + std::time::Duration::from_secs(1)
    }

    const UNITS: u64 = 100;

    const fn octets(units: u64) -> u64 {
        units * UNIT_OCTETS
    }

    #[tokio::test(start_paused = true)]
    async fn octets_are_given_back() {
        let budget = Budget::new(octets(UNITS));
        let share = budget.share(octets(80), soon()).await.expect("room");
        assert!(budget.share(octets(30), soon()).await.is_err());
        budget.share(SMALL_OCTETS_MAX, soon()).await.expect("no share");
        drop(share);
        budget.share(octets(UNITS), soon()).await.expect("room");
        budget.share(octets(10 * UNITS), soon()).await.expect("all of it");
    }

    #[tokio::test(start_paused = true)]
    async fn a_share_shrinks() {
        let budget = Budget::new(octets(UNITS));
        let mut share = budget.share(octets(UNITS), soon()).await.expect("all of it");
        share.shrink(octets(60));
        let other = budget.share(octets(40), soon()).await.expect("room");
        assert!(budget.share(octets(20), soon()).await.is_err());
        drop(other);
        share.shrink(1);
        assert!(!budget.is_in_use());
    }

    #[tokio::test(start_paused = true)]
    async fn a_transfer_keeps_a_pace_while_others_wait() {
        let budget = Budget::new(octets(UNITS));
        let far = Instant::now() + Duration::from_secs(24 * 3600);
        let share = budget.share(octets(UNITS), soon()).await.expect("all of it");
        let never = std::future::pending::<()>;
        // Nobody waits: it may take its time.
        let alone =
            timeout_at(Instant::now() + Duration::from_secs(3600), budget.paced(octets(UNITS), never()));
        alone.await.expect_err("it goes on");
        let (slow, waiting) = tokio::join!(
            async {
                let slow = budget.paced(octets(UNITS), never()).await;
                drop(share);
                slow
            },
            budget.share(octets(UNITS), far),
        );
        slow.expect_err("another one waits");
        let _share = waiting.expect("its room");
        let small = budget.paced(SMALL_OCTETS_MAX, async { 7 }).await;
        assert_eq!(small.expect("it has no share"), 7);
    }

    #[tokio::test(start_paused = true)]
    async fn a_share_grows_while_there_is_room() {
        let budget = Budget::new(octets(UNITS));
        let mut share = budget.share(1, soon()).await.expect("no share");
        budget.grow(&mut share, octets(60)).expect("room");
        let other = budget.share(octets(30), soon()).await.expect("room");
        assert!(budget.grow(&mut share, octets(80)).is_err());
        drop(other);
        budget.grow(&mut share, octets(80)).expect("room");
        drop(share);
        budget.share(octets(UNITS), soon()).await.expect("room");
    }
}
