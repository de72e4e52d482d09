//! Counts in the text format 0.0.4 of Prometheus.

use std::fmt::{self, Display, Write};

use super::counts::{Counts, MethodCounts};

/// Writes all metrics. To write to memory does not fail.
pub(super) fn write(routes: &[(Box<str>, Counts)], in_flight: i64) -> String {
    let mut text = String::new();
    let _ = write_all(&mut text, routes, in_flight);
    text
}

fn write_all(text: &mut String, routes: &[(Box<str>, Counts)], in_flight: i64) -> fmt::Result {
    begin(text, "http_requests_total", "counter", "Requests that have ended.")?;
    each(routes, |labels, counts| {
        counts.classes().try_for_each(|(status, count)| {
            writeln!(text, "http_requests_total{{{labels},status=\"{status}\"}} {count}")
        })
    })?;
    begin(text, "http_requests_in_flight", "gauge", "Requests that have begun and not ended.")?;
    // A request ends on another thread than it began on: between two reads the sum may be negative.
    writeln!(text, "http_requests_in_flight {}", in_flight.max(0))?;
    let name = "http_request_duration_seconds";
    begin(text, name, "histogram", "Time from the arrival of a request until its handler had ended.")?;
    each(routes, |labels, counts| histogram(text, name, labels, counts))?;
    let name = "http_request_content_bytes_total";
    begin(text, name, "counter", "Bytes of content that came with requests.")?;
    each(routes, |labels, counts| writeln!(text, "{name}{{{labels}}} {}", counts.received))?;
    let name = "http_response_content_bytes_total";
    begin(text, name, "counter", "Bytes of content that were sent in answers.")?;
    each(routes, |labels, counts| writeln!(text, "{name}{{{labels}}} {}", counts.sent))
}

fn begin(text: &mut String, name: &str, kind: &str, help: &str) -> fmt::Result {
    writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}")
}

fn each(
    routes: &[(Box<str>, Counts)],
    mut write: impl FnMut(Labels<'_>, &MethodCounts) -> fmt::Result,
) -> fmt::Result {
    let rows = routes.iter().flat_map(|(route, counts)| {
        counts.methods().map(move |(method, counts)| (Labels { route, method }, counts))
    });
    rows.into_iter().try_for_each(|(labels, counts)| write(labels, counts))
}

fn histogram(text: &mut String, name: &str, labels: Labels<'_>, counts: &MethodCounts) -> fmt::Result {
    for (bound, count) in counts.buckets() {
        writeln!(text, "{name}_bucket{{{labels},le=\"{bound}\"}} {count}")?;
    }
    writeln!(text, "{name}_bucket{{{labels},le=\"+Inf\"}} {}", counts.total())?;
    let time = counts.time;
    writeln!(text, "{name}_sum{{{labels}}} {}.{:09}", time.as_secs(), time.subsec_nanos())?;
    writeln!(text, "{name}_count{{{labels}}} {}", counts.total())
}

/// The labels of a route and a method. Patterns may hold what the format escapes.
#[derive(Clone, Copy)]
struct Labels<'a> {
    route: &'a str,
    method: &'static str,
}

impl Display for Labels<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("route=\"")?;
        self.route.chars().try_for_each(|character| match character {
            '"' | '\\' => write!(f, "\\{character}"),
            '\n' => f.write_str("\\n"),
            other => f.write_char(other),
        })?;
        write!(f, "\",method=\"{}\"", self.method)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped() {
        let labels = Labels { route: "/a\"b\\c\nd", method: "GET" };
        assert_eq!(labels.to_string(), r#"route="/a\"b\\c\nd",method="GET""#);
    }
}
