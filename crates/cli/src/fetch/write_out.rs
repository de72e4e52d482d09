//! `-w`: a line about the exchange, with curl's names for what can be said.

use std::{fs, io::Read as _, time::Duration};

use alula::{Timing, Version};

use super::report::Report;
use crate::{
    exit::{Exit, Failure},
    terminal::Painted,
};

type Value = fn(&Report) -> String;

/// Every name that can stand in `%{…}`.
const VARIABLES: [(&str, Value); 27] = [
    ("content_type", |report| String::from_utf8_lossy(report.field("content-type")).into_owned()),
    ("errormsg", |report| report.error.clone()),
    ("exitcode", |report| report.exit.to_string()),
    ("filename_effective", |report| report.file.clone().unwrap_or_default()),
    ("http_code", status),
    ("http_version", version),
    ("method", |report| report.method.clone()),
    ("num_headers", |report| report.head.as_ref().map_or(0, |head| head.fields.len()).to_string()),
    ("num_redirects", |report| report.redirects.to_string()),
    ("remote_ip", |report| report.remote.map(|remote| remote.ip().to_string()).unwrap_or_default()),
    ("remote_port", |report| report.remote.map_or(0, |remote| remote.port()).to_string()),
    ("response_code", status),
    ("scheme", |report| report.url_effective().split(':').next().unwrap_or_default().to_owned()),
    ("size_download", |report| report.octets_received.to_string()),
    ("size_upload", |report| report.octets_sent.to_string()),
    ("speed_download", |report| per_second(report.octets_received, report.until_end)),
    ("speed_upload", |report| per_second(report.octets_sent, report.until_end)),
    ("time_appconnect", |report| step(report, |timing| timing.secured)),
    ("time_connect", |report| step(report, |timing| timing.connected)),
    ("time_namelookup", |report| step(report, |timing| timing.resolved)),
    ("time_posttransfer", |report| step(report, |timing| timing.sent)),
    ("time_pretransfer", |report| step(report, |timing| Some(timing.queued))),
    ("time_starttransfer", |report| seconds(report.until_head)),
    ("time_total", |report| seconds(report.until_end)),
    ("url", |report| report.url.clone()),
    ("url_effective", |report| report.url_effective().to_owned()),
    ("urlnum", |report| report.place.to_string()),
];

/// What is to be printed, taken apart.
pub(super) struct WriteOut(Vec<Piece>);

enum Piece {
    Text(String),
    Variable(Value),
    Field(String),
}

impl WriteOut {
    /// From what the flag was given: the text, or `@FILE` (`@-` is stdin) that has it.
    pub(super) fn of(given: &str) -> Result<Self, Failure> {
        let text = match given.strip_prefix('@') {
            Some("-") => {
                let mut text = String::new();
                let read = std::io::stdin().read_to_string(&mut text);
                read.map_err(|error| Failure::local("stdin", &error))?;
                text
            }
            Some(file) => fs::read_to_string(file).map_err(|error| Failure::local(file, &error))?,
            None => given.to_owned(),
        };
        pieces(&text).map(Self).map_err(|sentence| Failure::new(Exit::Usage, sentence))
    }

    /// Prints it with what is known of an exchange. The text is the user's, the values are not.
    pub(super) fn print(&self, report: &Report, out: &mut Painted) {
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => out.own(text),
                Piece::Variable(value) => out.text(value(report).as_bytes()),
                Piece::Field(name) => out.text(report.field(name)),
            }
        }
    }
}

fn pieces(text: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['%', '\\']) {
        let (plain, special) = rest.split_at(at);
        pieces.push(Piece::Text(plain.to_owned()));
        let (piece, length) = piece(special)?;
        pieces.push(piece);
        rest = &special[length..];
    }
    pieces.push(Piece::Text(rest.to_owned()));
    Ok(pieces)
}

/// What begins with a percent sign or a backslash, and how long it is.
fn piece(text: &str) -> Result<(Piece, usize), String> {
    let between =
        |start: &str| text.strip_prefix(start).and_then(|rest| rest.split_once('}')).map(|(name, _)| name);
    let plain = |text: &str, length| Ok((Piece::Text(text.to_owned()), length));
    if let Some(name) = between("%{") {
        let known = VARIABLES.iter().find(|(known, _)| *known == name);
        let (_, value) =
            known.ok_or_else(|| format!("%{{{name}}} is nothing that -w can print: {}", names()))?;
        let piece = match name {
            // Not of text, but of octets.
            "content_type" => Piece::Field("content-type".to_owned()),
            _ => Piece::Variable(*value),
        };
        return Ok((piece, name.len() + "%{}".len()));
    }
    if let Some(name) = between("%header{") {
        return Ok((Piece::Field(name.to_owned()), name.len() + "%header{}".len()));
    }
    match text.get(..2) {
        Some("%%") => plain("%", 2),
        Some(r"\n") => plain("\n", 2),
        Some(r"\r") => plain("\r", 2),
        Some(r"\t") => plain("\t", 2),
        _ => plain(&text[..1], 1),
    }
}

fn names() -> String {
    VARIABLES.map(|(name, _)| name).join(", ")
}

fn status(report: &Report) -> String {
    format!("{:03}", report.head.as_ref().map_or(0, |head| head.status))
}

fn version(report: &Report) -> String {
    match report.head.as_ref().map(|head| head.version) {
        Some(Version::Http1) => "1.1",
        Some(_) => "2",
        None => "0",
    }
    .to_owned()
}

/// 0 when the step was not needed.
fn step(report: &Report, step: fn(&Timing) -> Option<Duration>) -> String {
    seconds(report.timing.as_ref().and_then(step).unwrap_or_default())
}

fn seconds(time: Duration) -> String {
    format!("{:.6}", time.as_secs_f64())
}

fn per_second(octets: u64, time: Duration) -> String {
    format!("{:.0}", octets as f64 / time.as_secs_f64().max(1e-6))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetch::report::Head;

    fn printed_on(is_terminal: bool, text: &str, report: &Report) -> String {
        let mut painted = Painted::new(is_terminal, false);
        WriteOut::of(text).unwrap().print(report, &mut painted);
        String::from_utf8(painted.into_octets()).unwrap()
    }

    fn printed(text: &str, report: &Report) -> String {
        printed_on(false, text, report)
    }

    #[test]
    fn names_are_those_of_curl() {
        let mut report = Report::new("GET", "https://a/b", 1);
        for (text, expected) in [
            ("", ""),
            ("a", "a"),
            (r"%{http_code}\n", "000\n"),
            (r"%{http_version}|%{method}|%{url_effective}|%{scheme}", "0|GET|https://a/b|https"),
            (r"%%\t\r\\%{urlnum}%", "%\t\r\\\\1%"),
            ("%header{etag}.", "."),
            ("%{time_total}", "0.000000"),
            ("é%{exitcode}é\\é", "é0é\\é"),
            ("%{", "%{"),
        ] {
            assert_eq!(printed(text, &report), expected, "{text}");
        }
        let fields = vec![("content-type".to_owned(), b"text/x".to_vec())];
        report.head = Some(Head { status: 204, version: Version::Http2, fields });
        report.octets_received = 10;
        report.until_end = Duration::from_millis(2500);
        let all = "%{response_code} %{http_version} %{content_type} %header{Content-Type} %{size_download} %{time_total} %{speed_download}";
        assert_eq!(printed(all, &report), "204 2 text/x text/x 10 2.500000 4");
    }

    #[test]
    fn values_are_no_orders_to_a_terminal() {
        let mut report = Report::new("GET", "https://a/b", 1);
        let fields = vec![("x".to_owned(), "a\u{9b}31m".into())];
        report.head = Some(Head { status: 200, version: Version::Http1, fields });
        let text = "\x1b[1m%header{x}\x1b[0m";
        assert_eq!(printed_on(true, text, &report), "\x1b[1ma\\u{9b}31m\x1b[0m");
        assert_eq!(printed_on(false, text, &report), "\x1b[1ma\u{9b}31m\x1b[0m");
    }

    #[test]
    fn a_name_that_is_none_is_an_error_before_anything_is_sent() {
        assert!(WriteOut::of("%{nothing}").is_err() && WriteOut::of("@no such file").is_err());
        assert!(VARIABLES.is_sorted_by_key(|(name, _)| *name));
    }
}
