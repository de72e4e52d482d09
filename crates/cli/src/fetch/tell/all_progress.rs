//! `-Z` on a terminal: one line for all transfers, which is drawn again and again below what is told.

use std::{
    cell::Cell,
    io::{IsTerminal as _, stderr},
    pin::pin,
    rc::Rc,
    time::{Duration, Instant},
};

use anstyle::Style;
use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use tokio::time::{MissedTickBehavior, interval};

use crate::fetch::output::destination::Destination;
use crate::{
    args::OutputArgs,
    terminal::{self, COLUMNS, LiveLine},
};

/// Transfers that take less time need no line.
const LONG: Duration = Duration::from_millis(500);
/// The time between two drawings.
const PAUSE: Duration = Duration::from_millis(100);
/// The columns from which on counts are told in words.
const WORDY_COLUMNS: usize = 70;

/// The progress of all transfers of a run, if somebody is shown it.
#[derive(Clone, Default)]
pub(in crate::fetch) struct AllProgress(Option<Rc<Counts>>);

/// The numbers that all transfers add to.
struct Counts {
    transfers: usize,
    begun: Cell<usize>,
    done: Cell<usize>,
    /// Bytes of content in either direction.
    bytes: Cell<u64>,
}

/// A transfer, which ends when this is dropped.
pub(in crate::fetch) struct Transfer(AllProgress);

/// The part of one content in the bytes of all.
pub(in crate::fetch) struct Share {
    counts: Rc<Counts>,
    position: u64,
}

impl AllProgress {
    /// The progress of transfers to these destinations: shown with -Z on a terminal that no content goes to.
    pub(in crate::fetch) fn of(args: &OutputArgs, destinations: &[Destination]) -> Self {
        let is_wanted = args.parallel && !args.silent && !args.no_progress_meter && args.verbose == 0;
        let is_shown = is_wanted
            && destinations.len() > 1
            && stderr().is_terminal()
            && !destinations.iter().any(Destination::is_terminal);
        Self(is_shown.then(|| Rc::new(Counts::of(destinations.len()))))
    }

    /// Notes that a transfer begins.
    pub(in crate::fetch) fn begin(&self) -> Transfer {
        if let Some(counts) = &self.0 {
            counts.begun.set(counts.begun.get() + 1);
        }
        Transfer(self.clone())
    }

    /// Returns the part of one content, of which nothing has been transferred yet; none if nothing is shown.
    pub(in crate::fetch) fn share(&self) -> Option<Share> {
        self.0.clone().map(|counts| Share { counts, position: 0 })
    }

    /// Does all of the work, and shows its progress meanwhile once it takes long.
    pub(in crate::fetch) async fn during<T>(&self, work: impl Future<Output = T>) -> T {
        let Some(counts) = &self.0 else { return work.await };
        let mut line = Line::new();
        let mut drawings = interval(PAUSE);
        drawings.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                outcome = &mut work => {
                    line.end(counts);
                    return outcome;
                }
                _ = drawings.tick() => line.draw(counts),
            }
        }
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        if let Some(counts) = &self.0.0 {
            counts.done.set(counts.done.get() + 1);
        }
    }
}

impl Share {
    pub(in crate::fetch) fn position(&self) -> u64 {
        self.position
    }

    /// Notes that this much of the content has been transferred; it may begin anew.
    pub(in crate::fetch) fn advance(&mut self, position: u64) {
        let more = position.saturating_sub(self.position);
        self.counts.bytes.set(self.counts.bytes.get() + more);
        self.position = position;
    }
}

impl Counts {
    fn of(transfers: usize) -> Self {
        Self { transfers, begun: Cell::new(0), done: Cell::new(0), bytes: Cell::new(0) }
    }

    /// Returns the counts of transfers for a line of so many columns.
    fn told(&self, columns: usize) -> String {
        let (done, all) = (self.done.get(), self.transfers);
        match columns {
            WORDY_COLUMNS.. => {
                format!("{done} of {all} done, {} running", self.begun.get().saturating_sub(done))
            }
            _ => format!("{done}/{all} done"),
        }
    }
}

/// The line on the terminal.
struct Line {
    bar: ProgressBar,
    since: Instant,
    columns: usize,
    /// Present once it was drawn.
    live: Option<LiveLine>,
}

impl Line {
    fn new() -> Self {
        let columns = terminal::columns().unwrap_or(COLUMNS);
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template(template(columns));
        let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner()).tick_chars("|/-\\ ");
        let bar = bar.with_style(style).with_finish(ProgressFinish::AndClear);
        Self { bar, since: Instant::now(), columns, live: None }
    }

    fn draw(&mut self, counts: &Counts) {
        self.bar.set_position(counts.bytes.get());
        if self.since.elapsed() < LONG {
            return;
        }
        self.bar.set_message(counts.told(self.columns));
        if self.live.is_none() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.live = Some(LiveLine::keep(&self.bar));
        }
        self.bar.tick();
    }

    /// Takes the line away, and says in its place what it came to.
    fn end(self, counts: &Counts) {
        let Self { bar, since, live, .. } = self;
        bar.finish_and_clear();
        if live.is_none() {
            return;
        }
        drop(live);
        let (took, bytes) = (since.elapsed().as_secs_f64(), counts.bytes.get());
        let rate = HumanBytes((bytes as f64 / took.max(1e-6)) as u64);
        let done = format!("{} of {} done", counts.done.get(), counts.transfers);
        let line = format!("{done}: {} in {took:.1} s, {rate}/s", HumanBytes(bytes));
        terminal::tell(Style::new(), line.as_bytes());
    }
}

/// The template of a line that fits: of one that is too long the terminal would make two, and draw them again
/// and again.
fn template(columns: usize) -> &'static str {
    match columns {
        WORDY_COLUMNS.. => "{spinner} {msg:!32}  {binary_bytes}  {binary_bytes_per_sec}",
        _ => "{msg:!13} {binary_bytes} {binary_bytes_per_sec}",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_all_transfers() {
        let all = AllProgress(Some(Rc::new(Counts::of(3))));
        let (one, two) = (all.begin(), all.begin());
        let mut shares = [all.share().unwrap(), all.share().unwrap()];
        shares[0].advance(10);
        shares[1].advance(5);
        shares[0].advance(12);
        // It is tried again.
        shares[1].advance(0);
        shares[1].advance(3);
        drop(one);
        let counts = all.0.clone().unwrap();
        assert_eq!((counts.bytes.get(), counts.told(80)), (20, "1 of 3 done, 1 running".to_owned()));
        drop(two);
        assert_eq!(counts.told(40), "2/3 done");
        assert!(AllProgress::default().share().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn work_goes_on_whether_or_not_it_is_shown() {
        for all in [AllProgress::default(), AllProgress(Some(Rc::new(Counts::of(2))))] {
            let work = async {
                tokio::time::sleep(PAUSE * 3).await;
                7
            };
            assert_eq!(all.during(work).await, 7);
        }
    }
}
