//! Figures as text and as one line of JSON.

use std::fmt::Write;

use crate::play::Figures;
use crate::times::{Kind, within};

/// Thousandths of the answers, and the names of these.
const PERCENTILES: [(usize, &str); 4] = [(500, "p50"), (990, "p99"), (999, "p999"), (1000, "max")];

/// A few lines to read.
pub(crate) fn text(figures: &Figures) -> String {
    let mut text = format!(
        "{} clients: {} requests in {:.2} s, {:.0} per second\n",
        figures.clients,
        figures.times.count(),
        figures.elapsed.as_secs_f64(),
        per_second(figures)
    );
    writeln!(
        text,
        "{:<8}{:>10}{:>12}{:>12}{:>12}{:>12}",
        "", "requests", "p50 µs", "p99 µs", "p99.9 µs", "max µs"
    )
    .expect("a String takes any text");
    for kind in Kind::ALL {
        let times = figures.times.of(kind);
        if times.is_empty() {
            continue;
        }
        write!(text, "{:<8}{:>10}", kind.name(), times.len()).expect("as above");
        for (permille, _) in PERCENTILES {
            let time = within(times, permille).map_or("-".into(), |micros| format!("{micros:.1}"));
            write!(text, "{time:>12}").expect("as above");
        }
        text.push('\n');
    }
    text
}

/// `{"clients":12,"requests":…,"seconds":…,"per_second":…,"get":{"requests":…,"p50":…,"p99":…,"p999":…,"max":…},…}`:
/// times in microseconds, and no kind that was not asked for.
pub(crate) fn json(figures: &Figures) -> String {
    let Figures { clients, elapsed, times } = figures;
    let (requests, seconds) = (times.count(), elapsed.as_secs_f64());
    let mut json = format!(
        r#"{{"clients":{clients},"requests":{requests},"seconds":{seconds:.6},"per_second":{:.1}"#,
        per_second(figures)
    );
    for kind in Kind::ALL {
        let times = times.of(kind);
        if times.is_empty() {
            continue;
        }
        write!(json, r#","{}":{{"requests":{}"#, kind.name(), times.len()).expect("a String takes any text");
        for (permille, name) in PERCENTILES {
            let time = within(times, permille).unwrap_or_default();
            write!(json, r#","{name}":{time:.1}"#).expect("as above");
        }
        json.push('}');
    }
    json + "}\n"
}

fn per_second(figures: &Figures) -> f64 {
    figures.times.count() as f64 / figures.elapsed.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::times::Times;

    #[test]
    fn json_has_the_kinds_that_were_asked_for() {
        let mut times = Times::default();
        times.add(Kind::Put, Duration::from_micros(30));
        let figures = Figures { clients: 1, elapsed: Duration::from_millis(500), times: times.sorted() };
        let put = r#""put":{"requests":1,"p50":30.0,"p99":30.0,"p999":30.0,"max":30.0}"#;
        let whole = format!(r#"{{"clients":1,"requests":1,"seconds":0.500000,"per_second":2.0,{put}}}"#);
        assert_eq!(json(&figures).trim_end(), whole);
        assert!(text(&figures).contains("1 clients: 1 requests in 0.50 s, 2 per second"));
    }
}
