//! A progress bar for long content, where somebody can see it and nothing else is written there.

use std::{
    io::{IsTerminal as _, stderr, stdout},
    time::{Duration, Instant},
};

use alula::{KnownName, Response};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};

use super::destination::Destination;
use crate::args::OutputArgs;

/// What takes less time needs no bar.
const LONG: Duration = Duration::from_millis(500);

/// Shows how far the content is, once it takes long; clears the line when dropped. Nothing when nobody looks.
pub(crate) struct Progress(Option<Bar>);

struct Bar {
    bar: ProgressBar,
    since: Instant,
    /// It counts from the start, so that its rates are right, and is drawn later.
    is_drawn: bool,
}

impl Progress {
    pub(crate) fn new(response: &Response, args: &OutputArgs, to: &Destination) -> Self {
        let content_is_shown = to.path().is_none() && stdout().is_terminal();
        let is_wanted = args.verbose == 0 && !args.silent && !args.no_progress_meter && !args.parallel;
        let is_seen = is_wanted && stderr().is_terminal() && !content_is_shown;
        let length = response.headers().get(KnownName::CONTENT_LENGTH);
        let length = length.and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
        Self(is_seen.then(|| Bar { bar: bar(length), since: Instant::now(), is_drawn: false }))
    }

    /// So much more has come.
    pub(crate) fn add(&mut self, octets: usize) {
        let Some(Bar { bar, since, is_drawn }) = &mut self.0 else { return };
        if !*is_drawn && since.elapsed() >= LONG {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            *is_drawn = true;
        }
        bar.inc(octets as u64);
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
            let mut progress =
                Progress(Some(Bar { bar: bar(length), since: Instant::now(), is_drawn: false }));
            progress.add(4);
            progress.add(5);
            let Some(Bar { bar, is_drawn, .. }) = &progress.0 else { unreachable!() };
            assert_eq!((bar.position(), bar.length(), *is_drawn), (9, length, false));
        }
    }
}
