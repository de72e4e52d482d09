//! `--timing`: when each step of an exchange was done, as a table.

use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};

use alula::Timing;

use super::report::Report;

/// A line for each step that is known, in the order in which they were done: when, and how long after the one
/// before. Redirects and tries that failed are steps of their own. The last exchange may use the connection
/// of one before, which then stands before them.
pub(in crate::fetch) fn table(report: &Report) -> String {
    let timing = report.timing.as_ref();
    // The call began a little later than the report.
    let later = timing.map_or(Duration::ZERO, |timing| report.until_head.saturating_sub(timing.head));
    let step = |at: fn(&Timing) -> Option<Duration>| timing.and_then(at).map(|at| at + later);
    let sent = step(|timing| timing.sent);
    // The last request was sent after them, whoever was quicker to note it.
    let before = before_the_last(report).into_iter();
    let before = before.map(|(name, at)| (name, at.into_iter().chain(sent).min()));
    let steps = [
        ("looked up", step(|timing| timing.resolved)),
        ("connected", step(|timing| timing.connected)),
        ("TLS agreed", step(|timing| timing.secured)),
        ("request sent", sent),
        ("head", step(|timing| Some(timing.head))),
        ("end", Some(report.until_end)),
    ];
    let steps = steps.into_iter().map(|(name, at)| (name.to_owned(), at));
    let mut all: Vec<_> = before.chain(steps).collect();
    all.sort_by_key(|(_, at)| *at);
    lines(all)
}

/// The redirects that were followed and the tries that failed, in the order in which the last of each was
/// over.
fn before_the_last(report: &Report) -> Vec<(String, Option<Duration>)> {
    let since = |at: Instant| Some(at.saturating_duration_since(report.since));
    let count = |count: u64, one: &str, many: &str| match count {
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    };
    let redirects =
        report.seen.redirected.map(|at| (count(report.redirects(), "redirect", "redirects"), since(at)));
    let retries =
        report.seen.sent_again.map(|at| (count(report.seen.retries(), "retry", "retries"), since(at)));
    let mut before: Vec<_> = redirects.into_iter().chain(retries).collect();
    before.sort_by_key(|(_, at)| *at);
    before
}

fn lines(steps: impl IntoIterator<Item = (String, Option<Duration>)>) -> String {
    let mut lines = String::from("                   at       took\n");
    let mut before = Duration::ZERO;
    for (name, at) in steps {
        let Some(at) = at else { continue };
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
        assert_eq!(lines(steps.map(|(name, at)| (name.to_owned(), at))), expected);
    }

    #[test]
    fn redirects_and_retries_come_before_the_steps_of_the_last_exchange() {
        let mut report = Report::new("GET", "http://a/", 0);
        let at = |ms| report.since + Duration::from_millis(ms);
        (report.seen.redirected, report.seen.sent_again) = (Some(at(5)), Some(at(3)));
        report.seen.sent.requests = 3;
        report.until_end = Duration::from_millis(6);
        let table = table(&report);
        let steps: Vec<&str> = table.lines().skip(1).collect();
        assert_eq!(steps[0], "2 retries        3.0 ms    3.0 ms");
        assert!(
            steps[1].ends_with("redirects      5.0 ms    2.0 ms") && steps[2].starts_with("end"),
            "{table}"
        );
    }

    #[test]
    fn an_exchange_that_failed_has_an_end() {
        assert_eq!(table(&Report::new("GET", "http://a/", 0)).lines().count(), 2);
    }
}
