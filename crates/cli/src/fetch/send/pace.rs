//! `--limit-rate`: content is read no faster than that, and the peer slows down.

use tokio::time::{Instant, sleep_until};

use crate::args::Rate;

/// The time at which so many bytes may have come, if there is a limit.
pub(in crate::fetch) struct Pace(Option<(Rate, Instant)>);

impl Pace {
    /// The content begins now.
    pub(in crate::fetch) fn new(limit: Option<Rate>) -> Self {
        Self(limit.map(|rate| (rate, Instant::now())))
    }

    /// Waits until so many bytes may have come in all.
    pub(in crate::fetch) async fn keep(&self, bytes: u64) {
        if let Some((rate, since)) = self.0 {
            sleep_until(since + rate.time_for(bytes)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{num::NonZeroU64, time::Duration};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn bytes_take_their_time() {
        let pace = Pace::new(NonZeroU64::new(1000).map(Rate));
        let since = Instant::now();
        for bytes in [500, 1500, 3000] {
            pace.keep(bytes).await;
            assert!(since.elapsed() >= Duration::from_millis(bytes), "{bytes}");
        }
        assert!(since.elapsed() < Duration::from_millis(3100));
        Pace::new(None).keep(u64::MAX).await;
    }
}
