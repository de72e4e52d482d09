//! The octets of content that all requests under way may hold together.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

/// The octets of one permit: 4 GiB of permits are 16 TiB of octets.
const UNIT_OCTETS: u64 = 4_096;

/// The octets up to which a request has no share: connections have a few of them at most, which servers bound by themselves, and a count
/// that all connections write would cost each request.
pub(crate) const SMALL_OCTETS_MAX: u64 = 64 * 1024;

/// A bound on octets, of which each request takes a share.
#[derive(Debug)]
pub(crate) struct Budget {
    units: Arc<Semaphore>,
    units_max: u32,
}

/// The octets of one request, given back when it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Share(Option<OwnedSemaphorePermit>);

/// There is no room for so many octets, or there was none in time.
#[derive(Debug)]
pub(crate) struct Spent;

impl Budget {
    /// A budget of so many octets.
    pub(crate) fn new(octets_max: u64) -> Self {
        let units_max = units(octets_max).max(1);
        Self { units: Arc::new(Semaphore::new(units_max as usize)), units_max }
    }

    /// Waits for so many octets. Requests are served in their order. Allocates nothing.
    pub(crate) async fn share(&self, octets: u64, deadline: Instant) -> Result<Share, Spent> {
        if octets <= SMALL_OCTETS_MAX {
            return Ok(Share::default());
        }
        // A request that is larger than the budget takes all of it.
        let units = units(octets).min(self.units_max);
        let taken = Arc::clone(&self.units).acquire_many_owned(units);
        let taken = timeout_at(deadline, taken).await.map_err(|_| Spent)?.map_err(|_| Spent)?;
        Ok(Share(Some(taken)))
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
