//! `-#`: a bar of hash signs, as curl draws it, on a terminal or wherever stderr goes.

use std::{
    io::{IsTerminal as _, stderr},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressState, ProgressStyle};

use crate::terminal::{Painted, tell_painted};

/// The time between two drawings, but for the last one.
const PAUSE: Duration = Duration::from_millis(100);
/// Drawings in a second on a terminal.
const DRAWINGS: u8 = 10;
/// The hash signs of a whole bar where there is no terminal: with the percentage they make 79 columns.
const SIGNS: usize = 72;

/// The drawings by turns while nobody knows how much is to come.
const STEPS: [&str; 6] = ["#=#=#", " #=#=#", "  #=#=#", "   #=#=#", "  #=#=#", " #=#=#"];

/// A bar that stays on its line in the end.
pub(in crate::fetch) struct Hashes {
    total: Option<u64>,
    position: u64,
    /// The bar, with the terminal's width; `None` if stderr is no terminal.
    bar: Option<ProgressBar>,
    drawn_at: Option<Instant>,
    step: usize,
    /// Another bar goes on in its line.
    has_successor: bool,
}

impl Hashes {
    /// A bar of so many bytes in all, if their number is known, of which these are there.
    pub(in crate::fetch) fn new(total: Option<u64>, position: u64) -> Self {
        let bar = stderr().is_terminal().then(|| bar(total).with_position(position));
        Self { total, position, bar, drawn_at: None, step: 0, has_successor: false }
    }

    pub(in crate::fetch) fn position(&self) -> u64 {
        self.position
    }

    pub(in crate::fetch) fn advance(&mut self, position: u64) {
        self.position = position;
        match &self.bar {
            Some(bar) => bar.set_position(position),
            None => self.draw(),
        }
    }

    /// The line is another bar's from now on.
    pub(in crate::fetch) fn hand_over(&mut self) {
        self.has_successor = true;
    }

    fn draw(&mut self) {
        let is_whole = self.total == Some(self.position);
        if self.drawn_at.is_some_and(|at| at.elapsed() < PAUSE) && !is_whole {
            return;
        }
        let Some(line) = line(self.total, self.position, self.step) else { return };
        self.drawn_at = Some(Instant::now());
        self.step += 1;
        tell(&format!("\r{line}"));
    }
}

impl Drop for Hashes {
    fn drop(&mut self) {
        match &self.bar {
            Some(bar) if self.has_successor => bar.finish_and_clear(),
            Some(bar) => {
                bar.abandon();
                tell("\n");
            }
            None if self.drawn_at.is_some() && !self.has_successor => tell("\n"),
            None => {}
        }
    }
}

/// The bar of so much of a total; nothing when there is nothing to come.
fn line(total: Option<u64>, position: u64, step: usize) -> Option<String> {
    let Some(total) = total else {
        return Some(format!("{:<width$}", STEPS[step % STEPS.len()], width = SIGNS + 7));
    };
    let total = total.max(position);
    let share = (total > 0).then(|| position as f64 / total as f64)?;
    let signs = "#".repeat((SIGNS as f64 * share) as usize);
    Some(format!("{signs:<SIGNS$} {:>5.1}%", share * 100.0))
}

fn tell(text: &str) {
    let mut painted = Painted::new(false, false);
    painted.own(text);
    tell_painted(painted);
}

fn bar(total: Option<u64>) -> ProgressBar {
    let template = if total.is_some() { "{wide_bar} {share}" } else { "{spinner}" };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let share = |state: &ProgressState, text: &mut dyn std::fmt::Write| {
        // A String takes all there is.
        let _ = write!(text, "{:>5.1}%", state.fraction() * 100.0);
    };
    let style = style.progress_chars("## ").with_key("share", share).tick_strings(&STEPS);
    let target = ProgressDrawTarget::stderr_with_hz(DRAWINGS);
    ProgressBar::with_draw_target(total, target).with_style(style).with_finish(ProgressFinish::Abandon)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_that_of_curl() {
        let of = |signs: usize, share: &str| Some(format!("{:<72} {share}", "#".repeat(signs)));
        for (total, position, expected) in [
            (Some(10), 0, of(0, "  0.0%")),
            (Some(10), 5, of(36, " 50.0%")),
            (Some(3), 1, of(24, " 33.3%")),
            (Some(10), 10, of(72, "100.0%")),
            // There is more than was said.
            (Some(10), 20, of(72, "100.0%")),
            (Some(0), 0, None),
        ] {
            assert_eq!(line(total, position, 0), expected, "{total:?} {position}");
        }
        assert_eq!(line(None, 5, 7).unwrap(), format!("{:<79}", " #=#=#"));
    }
}
