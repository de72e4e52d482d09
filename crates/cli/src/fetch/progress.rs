//! A progress bar for long content, where somebody can see it and nothing else is written there.

use std::{
    io::{IsTerminal as _, stderr, stdout},
    time::{Duration, Instant},
};

use alula::{KnownName, Response};
use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};

use crate::args::FetchArgs;

/// What takes less time needs no bar.
const LONG: Duration = Duration::from_millis(500);

/// Shows how far the content is, once it takes long; clears the line when dropped.
pub(crate) struct Progress {
    /// Nothing when nobody looks.
    since: Option<Instant>,
    length: Option<u64>,
    received: u64,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(crate) fn new(response: &Response, args: &FetchArgs) -> Self {
        let content_is_shown = args.output.is_none() && stdout().is_terminal();
        let is_seen = stderr().is_terminal() && !content_is_shown && !args.verbose;
        let length = response.fields().get(KnownName::CONTENT_LENGTH);
        let length = length.and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
        Self { since: is_seen.then(Instant::now), length, received: 0, bar: None }
    }

    /// So much more has come.
    pub(crate) fn add(&mut self, octets: usize) {
        self.received += octets as u64;
        if let Some(since) = self.since
            && (self.bar.is_some() || since.elapsed() >= LONG)
        {
            self.bar.get_or_insert_with(|| bar(self.length, since)).set_position(self.received);
        }
    }
}

fn bar(length: Option<u64>, since: Instant) -> ProgressBar {
    let template = match length {
        Some(_) => {
            "{bar:30} {percent:>3} %  {binary_bytes} of {binary_total_bytes}  {binary_bytes_per_sec}  {eta}"
        }
        None => "{spinner} {binary_bytes}  {binary_bytes_per_sec}",
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = length.map_or_else(ProgressBar::no_length, ProgressBar::new);
    bar.with_style(style).with_elapsed(since.elapsed()).with_finish(ProgressFinish::AndClear)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_templates_can_be_parsed() {
        for length in [Some(10), None] {
            let bar = bar(length, Instant::now());
            bar.set_position(5);
            assert_eq!(bar.position(), 5);
        }
        assert!(ProgressStyle::with_template("{bar:30} {percent:>3} %").is_ok());
    }

    #[test]
    fn nothing_is_shown_before_it_takes_long() {
        let mut progress = Progress { since: Some(Instant::now()), length: Some(9), received: 0, bar: None };
        progress.add(9);
        assert!(progress.bar.is_none());
        let mut unseen = Progress { since: None, length: Some(9), received: 0, bar: None };
        unseen.add(9);
        assert!(unseen.bar.is_none());
    }
}
