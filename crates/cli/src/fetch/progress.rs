//! A progress bar for long content, where somebody can see it and nothing else is written there.

use std::{
    io::{IsTerminal as _, stderr, stdout},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use alula::{KnownName, Response};
use anstyle::Style;
use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use tokio::time::{MissedTickBehavior, interval};

use super::destination::Destination;
use crate::{args::OutputArgs, terminal};

/// What takes less time needs no bar.
const LONG: Duration = Duration::from_millis(500);
/// The time between two looks at what was sent.
const LOOK: Duration = Duration::from_millis(100);

/// Shows how far the content is, once it takes long; clears the line when dropped. Nothing when nobody looks.
pub(crate) struct Progress(Option<Bar>);

struct Bar {
    bar: ProgressBar,
    since: Instant,
    /// It counts from the start, so that its rates are right, and is drawn later.
    is_drawn: bool,
    /// Octets that were there before.
    offset: u64,
}

impl Progress {
    /// For content that is received, of which the first octets, up to `offset`, are there already.
    pub(crate) fn of_response(
        response: &Response,
        args: &OutputArgs,
        to: &Destination,
        offset: Option<u64>,
    ) -> Self {
        let content_is_shown = to.path().is_none() && stdout().is_terminal();
        let is_seen = is_seen(args) && !content_is_shown;
        let length = response.headers().get(KnownName::CONTENT_LENGTH);
        let length = length.and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
        Self(is_seen.then(|| Bar::new(length, offset.unwrap_or(0))))
    }

    /// For content of this length, if it is known, that is sent.
    pub(crate) fn of_request(length: Option<u64>, args: &OutputArgs) -> Self {
        Self(is_seen(args).then(|| Bar::new(length, 0)))
    }

    /// So much more has come.
    pub(crate) fn add(&mut self, octets: usize) {
        if let Some(bar) = &mut self.0 {
            bar.advance(bar.bar.position() + octets as u64);
        }
    }

    /// Does this, and shows meanwhile how far the count of what was sent has come.
    pub(crate) async fn during<T>(mut self, sending: impl Future<Output = T>, sent: &Arc<AtomicU64>) -> T {
        let Some(bar) = &mut self.0 else { return sending.await };
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        tokio::pin!(sending);
        loop {
            tokio::select! {
                biased;
                outcome = &mut sending => return outcome,
                _ = looks.tick() => bar.advance(sent.load(Relaxed)),
            }
        }
    }

    /// All is there: says how much of it came into the file, how long that took, and how fast it was.
    pub(crate) fn end(self, file: Option<&Path>) {
        let (Some(bar), Some(file)) = (&self.0, file) else { return };
        let line = format!("{}: {}", file.display(), bar.summary(bar.since.elapsed()));
        drop(self);
        terminal::tell(Style::new(), line.as_bytes());
    }
}

/// Returns true if somebody would see a bar.
fn is_seen(args: &OutputArgs) -> bool {
    let is_wanted = args.verbose == 0 && !args.silent && !args.no_progress_meter && !args.parallel;
    is_wanted && stderr().is_terminal()
}

impl Bar {
    /// A bar for so many octets more, if their number is known, after so many.
    fn new(length: Option<u64>, offset: u64) -> Self {
        let bar = bar(length.map(|length| length.saturating_add(offset))).with_position(offset);
        bar.reset_eta();
        Self { bar, since: Instant::now(), is_drawn: false, offset }
    }

    fn advance(&mut self, position: u64) {
        if !self.is_drawn && self.since.elapsed() >= LONG {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.is_drawn = true;
        }
        self.bar.set_position(position);
    }

    /// Octets, time and rate of what has come since the bar began.
    fn summary(&self, took: Duration) -> String {
        let octets = self.bar.position().saturating_sub(self.offset);
        let rate = octets as f64 / took.as_secs_f64().max(1e-6);
        let all = match self.offset {
            0 => String::new(),
            offset => format!(" more, {} in all", HumanBytes(octets + offset)),
        };
        format!("{}{all} in {:.1} s, {}/s", HumanBytes(octets), took.as_secs_f64(), HumanBytes(rate as u64))
    }
}

fn bar(length: Option<u64>) -> ProgressBar {
    let template = match length {
        Some(_) => {
            "{bar:30} {percent:>3} %  {binary_bytes} of {binary_total_bytes}  {binary_bytes_per_sec}  {eta}"
        }
        None => "{spinner} {binary_bytes}  {binary_bytes_per_sec}",
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::hidden());
    bar.with_style(style).with_finish(ProgressFinish::AndClear)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_counts_but_is_not_drawn_before_it_takes_long() {
        for length in [Some(10), None] {
            let mut progress = Progress(Some(Bar::new(length, 0)));
            progress.add(4);
            progress.add(5);
            let Some(Bar { bar, is_drawn, .. }) = &progress.0 else { unreachable!() };
            assert_eq!((bar.position(), bar.length(), *is_drawn), (9, length, false));
        }
    }

    #[test]
    fn the_bar_is_of_the_whole_file_and_the_rate_of_what_came() {
        let mut progress = Progress(Some(Bar::new(Some(3 << 20), 1 << 20)));
        progress.add(2 << 20);
        let Some(bar) = &progress.0 else { unreachable!() };
        assert_eq!((bar.bar.position(), bar.bar.length()), (3 << 20, Some(4 << 20)));
        let summary = bar.summary(Duration::from_secs(2));
        assert_eq!(summary, "2.00 MiB more, 3.00 MiB in all in 2.0 s, 1.00 MiB/s");
        let whole = Bar::new(None, 0).summary(Duration::ZERO);
        assert_eq!(whole, "0 B in 0.0 s, 0 B/s");
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_sent_is_looked_at_while_it_is_sent() {
        let sent = Arc::new(AtomicU64::new(0));
        let progress = Progress(Some(Bar::new(Some(8), 0)));
        let Some(bar) = progress.0.as_ref().map(|bar| bar.bar.clone()) else { unreachable!() };
        let count = sent.clone();
        let sending = async {
            count.store(5, Relaxed);
            tokio::time::sleep(LOOK * 2).await;
            bar.position()
        };
        assert_eq!(progress.during(sending, &sent).await, 5);
    }
}
