//! `-w`: prints facts about the exchange, by curl's names.

mod clock;
mod place;
mod variables;

use std::{fs, io::Read as _};

use anstyle::Style;

use super::tell::report::Report;
use crate::{
    failure::exit::{Failure, Outcome},
    terminal,
};
use place::{Printer, WriteTarget};
use variables::Name;
pub(crate) use variables::described;

/// The parsed format.
pub(super) struct WriteOut(Vec<Piece>);

enum Piece {
    Text(String),
    Variable(Name),
    /// The first field of this name.
    Field(String),
    /// The present time, in this format.
    Time(String),
    /// The fields of the response, as JSON.
    Fields,
    /// The variables, as JSON.
    All,
    /// A change of the output for the rest.
    To(WriteTarget),
    /// The rest is printed only if the exchange failed.
    OnError,
}

impl WriteOut {
    /// Parses the flag's value: the text, or `@FILE` (`@-` is stdin) with it. Unknown names are reported, and
    /// nothing is printed for them.
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
        // The lines of a file are for the eye: `\n` is where one ends.
        let text = if given.starts_with('@') { text.replace(['\r', '\n'], "") } else { text };
        let (pieces, unknown) = pieces(&text);
        for name in unknown {
            let line = format!("alula: unknown --write-out variable: '{name}'");
            terminal::tell(Style::new(), line.as_bytes());
        }
        Ok(Self(pieces))
    }

    /// Prints the format with the facts of an exchange. The text is the user's, the values are not.
    pub(super) fn print(&self, report: &Report) -> Outcome {
        let mut printer = Printer::stdout();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => printer.own(text),
                Piece::Variable(name) => printer.text(&name.text(report)),
                Piece::Field(name) => printer.text(report.header(name)),
                Piece::Time(format) => printer.own(&clock::now(format)),
                Piece::Fields => printer.text(fields(report).as_bytes()),
                Piece::All => printer.text(variables::json(report).as_bytes()),
                Piece::To(place) => printer.turn_to(place)?,
                Piece::OnError if report.end.exit == 0 => break,
                Piece::OnError => {}
            }
        }
        printer.end()
    }
}

/// Returns the pieces, and the unknown names.
fn pieces(text: &str) -> (Vec<Piece>, Vec<String>) {
    let (mut pieces, mut unknown) = (Vec::new(), Vec::new());
    let mut rest = text;
    while let Some(at) = rest.find(['%', '\\']) {
        let (plain, special) = rest.split_at(at);
        pieces.push(Piece::Text(plain.to_owned()));
        let (piece, length) = piece(special);
        match piece {
            Ok(piece) => pieces.push(piece),
            Err(name) => unknown.push(name),
        }
        rest = &special[length..];
    }
    pieces.push(Piece::Text(rest.to_owned()));
    (pieces, unknown)
}

/// Parses the piece at a percent sign or a backslash, or returns the unknown name; and its length.
fn piece(text: &str) -> (Result<Piece, String>, usize) {
    for (start, piece) in BRACED {
        let braced = text.strip_prefix(start).and_then(|rest| rest.split_once('}'));
        if let Some((inner, _)) = braced {
            return (piece(inner), start.len() + inner.len() + 1);
        }
    }
    let plain = |text: &str, length| (Ok(Piece::Text(text.to_owned())), length);
    match text.get(..2) {
        Some("%%") => plain("%", 2),
        Some(r"\n") => plain("\n", 2),
        Some(r"\r") => plain("\r", 2),
        Some(r"\t") => plain("\t", 2),
        // A backslash before any other letter is two characters.
        Some(pair) if pair.starts_with('\\') => plain(pair, 2),
        _ => plain(&text[..1], 1),
    }
}

/// Creates a piece from the text between braces, or returns it as an unknown name.
type Make = fn(&str) -> Result<Piece, String>;

const BRACED: [(&str, Make); 4] = [
    ("%{", named),
    ("%header{", |name| Ok(Piece::Field(name.to_owned()))),
    ("%time{", |format| Ok(Piece::Time(format.to_owned()))),
    ("%output{", |path| Ok(Piece::To(WriteTarget::file(path)))),
];

fn named(name: &str) -> Result<Piece, String> {
    Ok(match name {
        "header_json" => Piece::Fields,
        "json" => Piece::All,
        "onerror" => Piece::OnError,
        "stderr" => Piece::To(WriteTarget::Stderr),
        "stdout" => Piece::To(WriteTarget::Stdout),
        _ => Piece::Variable(Name::find(name).ok_or_else(|| name.to_owned())?),
    })
}

/// Returns the fields as JSON: each name in lower case with all of its values, laid out as curl does.
fn fields(report: &Report) -> String {
    let mut members: Vec<(String, Vec<String>)> = Vec::new();
    for (name, value) in report.head.iter().flat_map(|head| &head.fields) {
        let value = json_string(value);
        match members.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            Some((_, values)) => values.push(value),
            None => members.push((name.to_ascii_lowercase(), vec![value])),
        }
    }
    let members: Vec<String> = members
        .iter()
        .map(|(name, values)| format!("{}:[{}]", json_string(name.as_bytes()), values.join(",")))
        .collect();
    format!("{{{}\n}}", members.join(",\n"))
}

fn json_string(bytes: &[u8]) -> String {
    serde_json::Value::String(String::from_utf8_lossy(bytes).into_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use alula::Version;

    use super::*;
    use crate::fetch::tell::report::Head;

    fn printed_on(is_terminal: bool, text: &str, report: &Report) -> String {
        let mut printer = Printer::tried(is_terminal);
        for piece in pieces(text).0 {
            match piece {
                Piece::Text(text) => printer.own(&text),
                Piece::Variable(name) => printer.text(&name.text(report)),
                Piece::Field(name) => printer.text(report.header(&name)),
                Piece::Time(format) => printer.own(&clock::now(&format)),
                Piece::Fields => printer.text(fields(report).as_bytes()),
                _ => {}
            }
        }
        printer.tried_text()
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
            (r"a\\n\%{urlnum}\", r"a\\n\%{urlnum}\"),
            ("%header{etag}.", "."),
            ("%{time_total}", "0.000000"),
            ("é%{exitcode}é\\é", "é0é\\é"),
            ("%{", "%{"),
            ("a%{nothing}b%{|%{onerror}c", "abc"),
            ("%x%header%output", "%x%header%output"),
            ("%{http_connect}|%{proxy_used}|%{conn_id}|%{xfer_id}|%{num_retries}", "000|0|-1|1|0"),
        ] {
            assert_eq!(printed(text, &report), expected, "{text}");
        }
        let fields = vec![
            ("content-type".to_owned(), b"text/x".to_vec()),
            ("x".to_owned(), b"1\"".to_vec()),
            ("X".to_owned(), b"2".to_vec()),
        ];
        report.head = Some(Head { status: 204, version: Version::Http2, fields });
        report.bytes_received = 10;
        report.until_end = Duration::from_millis(2500);
        let all = "%{response_code} %{http_version} %{content_type} %header{Content-Type} %{size_download} %{time_total} %{speed_download}";
        assert_eq!(printed(all, &report), "204 2 text/x text/x 10 2.500000 4");
        let expected = "{\"content-type\":[\"text/x\"],\n\"x\":[\"1\\\"\",\"2\"]\n}";
        assert_eq!(printed("%{header_json}", &report), expected);
        let json: serde_json::Value = serde_json::from_str(&variables::json(&report)).unwrap();
        assert_eq!(
            (&json["http_code"], &json["errormsg"], &json["scheme"]),
            (&204.into(), &().into(), &"https".into())
        );
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
    fn names_that_mean_nothing_are_told_and_a_file_that_is_missing_fails() {
        let (_, unknown) = pieces("%{nothing} %{http_code} %{|%{onerror}");
        assert_eq!(unknown, ["nothing", "|%{onerror"]);
        assert!(WriteOut::of("@no such file").is_err());
    }
}
