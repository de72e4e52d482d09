//! `--timing`: when each step of an exchange was done, as a table.

use std::{
    fmt::Write as _,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use alula::h2::{FrameKind, FrameSummary};

use super::report::Report;

/// ACK (RFC 9113 §6.5).
const ACK: u8 = 1;

/// A step that is over before the head of the response comes. A connection that is used again has only the last one.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// The host's addresses are known.
    LookedUp,
    /// The connection is there, TLS included: our first frame is written. Over HTTP/1.1 nobody tells.
    Connected,
    /// The head of the request is written. Over HTTP/1.1 nobody tells.
    Sent,
}

/// When each step was done, for the first time since the exchange began.
pub(super) type Steps = [Option<Duration>; 3];

/// Notes the steps of one exchange after another.
#[derive(Clone, Debug)]
pub(super) struct Clock(Arc<Mutex<(Instant, Steps)>>);

impl Clock {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new((Instant::now(), Steps::default()))))
    }

    /// The next exchange begins.
    pub(super) fn begin(&self) {
        *self.lock() = (Instant::now(), Steps::default());
    }

    pub(super) fn note(&self, step: Step) {
        let (since, steps) = &mut *self.lock();
        steps[step as usize].get_or_insert_with(|| since.elapsed());
    }

    /// What a frame says about the steps.
    pub(super) fn see(&self, frame: &FrameSummary) {
        match frame.kind {
            FrameKind::SETTINGS if frame.sent && frame.flags & ACK == 0 => self.note(Step::Connected),
            FrameKind::HEADERS if frame.sent => self.note(Step::Sent),
            _ => {}
        }
    }

    pub(super) fn steps(&self) -> Steps {
        self.lock().1
    }

    fn lock(&self) -> MutexGuard<'_, (Instant, Steps)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A line for each step that is known: when it was done, and how long after the one before.
pub(super) fn table(report: &Report) -> String {
    let [looked_up, connected, sent] = report.steps;
    let until_head = report.head.is_some().then_some(report.until_head);
    let mut table = String::from("                   at       took\n");
    let mut before = Duration::ZERO;
    for (name, at) in [
        ("looked up", looked_up),
        ("connected", connected),
        ("request sent", sent),
        ("head", until_head),
        ("end", Some(report.until_end)),
    ] {
        let Some(at) = at else { continue };
        // Writing to a string does not fail.
        let _ = writeln!(table, "{name:<12}  {:>9} {:>9}", ms(at), ms(at.saturating_sub(before)));
        before = at;
    }
    table
}

fn ms(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use alula::{Version, h2::Detail};

    use super::*;
    use crate::fetch::report::Head;

    #[test]
    fn steps_that_are_known_have_a_line() {
        let mut report = Report::new("GET", "http://a/", 0);
        report.until_end = Duration::from_micros(12_300);
        assert_eq!(table(&report).lines().count(), 2);
        report.head = Some(Head { status: 200, version: Version::Http2, fields: Vec::new() });
        report.steps = [Some(Duration::from_micros(400)), None, Some(Duration::from_micros(2_500))];
        report.until_head = Duration::from_millis(12);
        let expected = "                   at       took\n\
                        looked up        0.4 ms    0.4 ms\n\
                        request sent     2.5 ms    2.1 ms\n\
                        head            12.0 ms    9.5 ms\n\
                        end             12.3 ms    0.3 ms\n";
        assert_eq!(table(&report), expected);
    }

    #[test]
    fn frames_that_are_sent_tell_of_steps_and_the_first_counts() {
        let clock = Clock::new();
        let frame = |sent, kind, flags| FrameSummary {
            sent,
            kind,
            flags,
            stream: 0,
            length: 0,
            detail: Detail::None,
        };
        clock.see(&frame(false, FrameKind::SETTINGS, 0));
        clock.see(&frame(true, FrameKind::SETTINGS, ACK));
        assert_eq!(clock.steps(), Steps::default());
        clock.see(&frame(true, FrameKind::SETTINGS, 0));
        clock.see(&frame(true, FrameKind::HEADERS, 0));
        let steps = clock.steps();
        assert!(steps[0].is_none() && steps[1].is_some() && steps[1] <= steps[2]);
        clock.see(&frame(true, FrameKind::HEADERS, 0));
        assert_eq!(clock.steps(), steps);
        clock.begin();
        assert_eq!(clock.steps(), Steps::default());
    }
}
