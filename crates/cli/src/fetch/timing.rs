//! `--timing`: when each step of an exchange was done, as a table.

use std::{fmt::Write as _, time::Duration};

use super::report::Report;

/// A line for each step that is known: when it was done, and how long after the one before. Of a connection that is used
/// again nothing was waited for.
pub(super) fn table(report: &Report) -> String {
    let timing = report.timing.as_ref();
    let steps = [
        ("looked up", timing.and_then(|timing| timing.resolved)),
        ("connected", timing.and_then(|timing| timing.connected)),
        ("TLS agreed", timing.and_then(|timing| timing.secured)),
        ("request sent", timing.and_then(|timing| timing.sent)),
        ("head", timing.map(|timing| timing.head)),
        ("end", Some(report.until_end)),
    ];
    lines(&steps)
}

fn lines(steps: &[(&str, Option<Duration>)]) -> String {
    let mut lines = String::from("                   at       took\n");
    let mut before = Duration::ZERO;
    for (name, at) in steps {
        let Some(at) = *at else { continue };
        // Writing to a string does not fail.
        let _ = writeln!(lines, "{name:<12}  {:>9} {:>9}", ms(at), ms(at.saturating_sub(before)));
        before = at;
    }
    lines
}

fn ms(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_are_known_have_a_line() {
        let at = |micros| Some(Duration::from_micros(micros));
        let steps = [("looked up", at(400)), ("connected", None), ("head", at(12_000)), ("end", at(12_300))];
        let expected = "                   at       took\n\
                        looked up        0.4 ms    0.4 ms\n\
                        head            12.0 ms   11.6 ms\n\
                        end             12.3 ms    0.3 ms\n";
        assert_eq!(lines(&steps), expected);
    }

    #[test]
    fn an_exchange_that_failed_has_an_end() {
        assert_eq!(table(&Report::new("GET", "http://a/", 0)).lines().count(), 2);
    }
}
