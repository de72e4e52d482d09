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

use super::{
    all_progress::{AllProgress, Share},
    hashes::Hashes,
};
use crate::fetch::output::destination::Destination;
use crate::{
    args::OutputArgs,
    terminal::{self, COLUMNS, LiveLine},
};

/// The time after which a bar is shown; shorter transfers need none.
const LONG: Duration = Duration::from_millis(500);
/// The time between two looks at what was sent.
const LOOK: Duration = Duration::from_millis(100);

/// Shows how far the content is, once it takes long; clears the line when dropped. Nothing when nobody looks.
/// With -# it is shown at once, as curl does.
pub(crate) struct Progress(Option<Shown>);

enum Shown {
    Bar(Bar),
    Hashes(Hashes),
    /// A share of the line for all transfers.
    Share(Share),
}

struct Bar {
    bar: ProgressBar,
    since: Instant,
    /// The bar counts from the start, so that its rates are right, and is drawn later.
    is_drawn: bool,
    /// Bytes that were there before.
    offset: u64,
    /// Present once it was drawn.
    live: Option<LiveLine>,
}

impl Progress {
    /// Returns the progress of receiving content. The first `offset` bytes are present already; `sent`
    /// bytes were sent before.
    pub(crate) fn of_response(
        response: &Response,
        args: &OutputArgs,
        to: &Destination,
        (offset, sent): (Option<u64>, u64),
        all: &AllProgress,
    ) -> Self {
        if let Some(share) = all.share() {
            return Self(Some(Shown::Share(share)));
        }
        if is_shown(to) {
            return Self(None);
        }
        let length = response.headers().get(KnownName::CONTENT_LENGTH);
        let length = length.and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
        Self::new(args, length, offset.unwrap_or(0), sent)
    }

    /// Returns the progress of sending content, of `length` if that is known, whose response goes to `to`.
    pub(crate) fn of_request(
        length: Option<u64>,
        args: &OutputArgs,
        to: &Destination,
        all: &AllProgress,
    ) -> Self {
        if let Some(share) = all.share() {
            return Self(Some(Shown::Share(share)));
        }
        match args.progress_bar && is_shown(to) {
            true => Self(None),
            false => Self::new(args, length, 0, 0),
        }
    }

    /// Creates the progress after `offset` bytes that were there; `sent` bytes count for hash signs only.
    fn new(args: &OutputArgs, length: Option<u64>, offset: u64, sent: u64) -> Self {
        let is_wanted = !args.silent && !args.no_progress_meter && !args.parallel;
        Self(match args.progress_bar {
            _ if !is_wanted => None,
            true => {
                let before = offset + sent;
                let total = length.map(|length| length.saturating_add(before));
                Some(Shown::Hashes(Hashes::new(total, before)))
            }
            false if args.verbose > 0 || !stderr().is_terminal() => None,
            false => Some(Shown::Bar(Bar::new(length, offset))),
        })
    }

    /// Adds bytes that have come.
    pub(crate) fn add(&mut self, bytes: usize) {
        if let Some(shown) = &mut self.0 {
            shown.advance(shown.position() + bytes as u64);
        }
    }

    /// Does this, and shows meanwhile how far the count of what was sent has come.
    pub(crate) async fn during<T, E>(
        mut self,
        sending: impl Future<Output = Result<T, E>>,
        sent: &Arc<AtomicU64>,
    ) -> Result<T, E> {
        let Some(shown) = &mut self.0 else { return sending.await };
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        tokio::pin!(sending);
        loop {
            tokio::select! {
                biased;
                outcome = &mut sending => {
                    shown.advance(sent.load(Relaxed));
                    if let (Shown::Hashes(hashes), Ok(_)) = (shown, &outcome) {
                        hashes.hand_over();
                    }
                    return outcome;
                }
                _ = looks.tick() => shown.advance(sent.load(Relaxed)),
            }
        }
    }

    /// Ends the transfer: prints how much of it was saved in the file, how long that took, and how fast it
    /// was.
    pub(crate) fn end(self, file: Option<&Path>) {
        // Into a device nothing was saved.
        let (Some(Shown::Bar(bar)), Some(file)) = (&self.0, file.filter(|file| file.is_file())) else {
            return;
        };
        let line = format!("{}: {}", file.display(), bar.summary(bar.since.elapsed()));
        drop(self);
        terminal::tell(Style::new(), line.as_bytes());
    }
}

/// Returns true if what comes is shown on a terminal, where a bar would be in its way.
fn is_shown(to: &Destination) -> bool {
    to.path().is_none() && stdout().is_terminal()
}

impl Shown {
    fn position(&self) -> u64 {
        match self {
            Self::Bar(bar) => bar.bar.position(),
            Self::Hashes(hashes) => hashes.position(),
            Self::Share(share) => share.position(),
        }
    }

    fn advance(&mut self, position: u64) {
        match self {
            Self::Bar(bar) => bar.advance(position),
            Self::Hashes(hashes) => hashes.advance(position),
            Self::Share(share) => share.advance(position),
        }
    }
}

impl Bar {
    /// A bar for so many bytes more, if their number is known, after so many.
    fn new(length: Option<u64>, offset: u64) -> Self {
        let bar = bar(length.map(|length| length.saturating_add(offset))).with_position(offset);
        bar.reset_eta();
        Self { bar, since: Instant::now(), is_drawn: false, offset, live: None }
    }

    fn advance(&mut self, position: u64) {
        if !self.is_drawn && self.since.elapsed() >= LONG {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.is_drawn = true;
            self.live = Some(LiveLine::keep(&self.bar));
        }
        self.bar.set_position(position);
    }

    /// Bytes, time and rate of what has come since the bar began.
    fn summary(&self, took: Duration) -> String {
        let bytes = self.bar.position().saturating_sub(self.offset);
        let rate = bytes as f64 / took.as_secs_f64().max(1e-6);
        let all = match self.offset {
            0 => String::new(),
            offset => format!(" more, {} in all", HumanBytes(bytes + offset)),
        };
        let took = match took.as_secs_f64() {
            seconds if seconds < 1.0 => format!("{:.0} ms", seconds * 1e3),
            seconds => format!("{seconds:.1} s"),
        };
        format!("{}{all} in {took}, {}/s", HumanBytes(bytes), HumanBytes(rate as u64))
    }
}

/// The template of a bar that fits into one line; of a line that is too short the terminal would make two,
/// and draw them again and again.
fn template(length: Option<u64>, columns: usize) -> &'static str {
    match (length, columns) {
        (None, _) => "{spinner} {binary_bytes}  {binary_bytes_per_sec}",
        (Some(_), ..60) => "{percent:>3} % of {binary_total_bytes}  {binary_bytes_per_sec}  {eta}",
        (Some(_), ..90) => {
            "{wide_bar} {percent:>3} %  {binary_bytes} of {binary_total_bytes}  {binary_bytes_per_sec}  {eta}"
        }
        (Some(_), _) => {
            "{bar:30} {percent:>3} %  {binary_bytes} of {binary_total_bytes}  {binary_bytes_per_sec}  {eta}"
        }
    }
}

fn bar(length: Option<u64>) -> ProgressBar {
    let template = template(length, terminal::columns().unwrap_or(COLUMNS));
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let style = style.tick_chars("|/-\\ ");
    let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::hidden());
    bar.with_style(style).with_finish(ProgressFinish::AndClear)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_counts_but_is_not_drawn_before_it_takes_long() {
        for length in [Some(10), None] {
            let mut progress = Progress(Some(Shown::Bar(Bar::new(length, 0))));
            progress.add(4);
            progress.add(5);
            let Some(Shown::Bar(Bar { bar, is_drawn, .. })) = &progress.0 else { unreachable!() };
            assert_eq!((bar.position(), bar.length(), *is_drawn), (9, length, false));
        }
    }

    #[test]
    fn the_bar_is_of_the_whole_file_and_the_rate_of_what_came() {
        let mut progress = Progress(Some(Shown::Bar(Bar::new(Some(3 << 20), 1 << 20))));
        progress.add(2 << 20);
        let Some(Shown::Bar(bar)) = &progress.0 else { unreachable!() };
        assert_eq!((bar.bar.position(), bar.bar.length()), (3 << 20, Some(4 << 20)));
        let summary = bar.summary(Duration::from_secs(2));
        assert_eq!(summary, "2.00 MiB more, 3.00 MiB in all in 2.0 s, 1.00 MiB/s");
        let whole = Bar::new(None, 0).summary(Duration::ZERO);
        assert_eq!(whole, "0 B in 0 ms, 0 B/s");
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_sent_is_looked_at_while_it_is_sent() {
        let sent = Arc::new(AtomicU64::new(0));
        let progress = Progress(Some(Shown::Bar(Bar::new(Some(8), 0))));
        let Some(Shown::Bar(bar)) = &progress.0 else { unreachable!() };
        let bar = bar.bar.clone();
        let count = sent.clone();
        let sending = async {
            count.store(5, Relaxed);
            tokio::time::sleep(LOOK * 2).await;
            Ok::<_, ()>(bar.position())
        };
        assert_eq!(progress.during(sending, &sent).await, Ok(5));
    }
}
