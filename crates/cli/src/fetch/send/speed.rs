//! `-Y` and `-y`: a transfer that is too slow for too long is given up.

use std::{collections::VecDeque, time::Duration};

use tokio::time::{Instant, sleep};

use crate::{
    args::TransferArgs,
    failure::exit::{Exit, Failure},
};

/// The speed is that of the last so many seconds, as with curl.
const SAMPLES: usize = 5;
const SECOND: Duration = Duration::from_secs(1);

/// The speed that a transfer has to have, and the time for which it may be slower.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::fetch) struct SpeedLimit {
    bytes: u64,
    time: Duration,
}

impl SpeedLimit {
    /// Returns `None` if neither flag is given, or one is 0.
    pub(in crate::fetch) fn of(args: &TransferArgs) -> Option<Self> {
        let (bytes, seconds) = match (args.speed_limit, args.speed_time) {
            (None, None) => return None,
            (bytes, seconds) => (bytes.unwrap_or(1), seconds.unwrap_or(30)),
        };
        (bytes > 0 && seconds > 0).then_some(Self { bytes, time: Duration::from_secs(seconds.into()) })
    }

    /// Returns when the transfer was too slow for too long. `moved` says how many bytes were transferred in
    /// all; the time does not count before a request was sent, as `is_sent` says.
    pub(in crate::fetch) async fn missed(
        self,
        moved: impl Fn() -> u64,
        is_sent: impl Fn() -> bool,
    ) -> Failure {
        let mut pace = Pace::new(self);
        loop {
            sleep(SECOND).await;
            let is_sent = is_sent();
            if is_sent && pace.is_too_slow(moved()) {
                let seconds = self.time.as_secs();
                let why =
                    format!("fewer than {} bytes a second were transferred for {seconds} s", self.bytes);
                return Failure::new(Exit::Timeout, why);
            }
            // Looking up, connecting and TLS have limits of their own: the time begins with the request.
            if !is_sent {
                pace = Pace::new(self);
            }
        }
    }
}

/// The last totals, one for each second.
struct Pace {
    limit: SpeedLimit,
    totals: VecDeque<u64>,
    slow_since: Option<Instant>,
}

impl Pace {
    fn new(limit: SpeedLimit) -> Self {
        Self { limit, totals: VecDeque::from([0]), slow_since: Some(Instant::now()) }
    }

    fn is_too_slow(&mut self, total: u64) -> bool {
        self.totals.push_back(total);
        if self.totals.len() > SAMPLES + 1 {
            self.totals.pop_front();
        }
        let before = self.totals.front().copied().unwrap_or_default();
        let speed = total.saturating_sub(before) / (self.totals.len() as u64 - 1).max(1);
        if speed >= self.limit.bytes {
            self.slow_since = None;
            return false;
        }
        self.slow_since.get_or_insert_with(Instant::now).elapsed() >= self.limit.time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_transfer_may_be_slow_for_a_while() {
        let limit = SpeedLimit { bytes: 100, time: Duration::from_secs(3) };
        for (moved, ends_after) in [
            (&[0, 0, 0, 0][..], Some(3)),
            (&[100, 200, 300, 400, 500, 600], None),
            (&[90, 180, 270, 360], Some(3)),
            (&[0, 0, 300, 300, 300, 300, 300, 300, 300, 300, 300], Some(7)),
        ] {
            let mut pace = Pace::new(limit);
            let mut ended = None;
            for (second, total) in (1..).zip(moved) {
                tokio::time::advance(SECOND).await;
                if pace.is_too_slow(*total) {
                    ended = ended.or(Some(second));
                }
            }
            assert_eq!(ended, ends_after, "{moved:?}");
        }
    }
}
