//! Flags for logs, metrics, probes and the fields of all answers.

use std::path::PathBuf;

use alula::{FieldSection, KnownName, LogFormat};
use clap::{Args as ClapArgs, ValueEnum};
use url::Url;

use crate::args::values;

#[derive(ClapArgs, Debug)]
pub(crate) struct WatchArgs {
    /// Write a line for each request to stderr, or append it to FILE; `-` is stdout.
    ///
    /// After SIGHUP or SIGUSR1 the FILE is opened again, by its name: move it away before. Requests do not
    /// wait for the disk; lines that find no room or cannot be written are counted, and the count is told on
    /// stderr. Text of peers is escaped, and values of queries are not shown.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub(crate) access_log: Option<Option<PathBuf>>,

    /// The form of these lines.
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "combined",
        requires = "access_log",
        hide_short_help = true
    )]
    pub(crate) access_log_format: LineFormat,

    /// Answer GET of PATH, or /metrics, with counts and durations for Prometheus.
    ///
    /// Anybody who can reach the server can read them.
    #[arg(long, value_name = "PATH", num_args = 0..=1, require_equals = true, default_missing_value = "/metrics", value_parser = own_path)]
    pub(crate) metrics: Option<String>,

    /// Answer GET of PATH, or /healthz, with 200 for probes.
    ///
    /// It is 200 as long as the server answers at all.
    #[arg(long, value_name = "PATH", num_args = 0..=1, require_equals = true, default_missing_value = "/healthz", value_parser = own_path)]
    pub(crate) health: Option<String>,

    /// Give each request a name of 32 digits in x-request-id, which its answer has as well.
    #[arg(long, hide_short_help = true)]
    pub(crate) request_id: bool,

    /// Add a field to answers that succeed or redirect, `name: value`.
    ///
    /// It takes the place of one that the answer has by itself. Errors go without: a browser would keep a 404
    /// for as long as a cache-control for pages says.
    #[arg(short = 'H', long = "header", value_name = "FIELD", value_parser = added)]
    pub(crate) headers: Vec<Added>,

    /// Add the fields of --header to errors as well.
    #[arg(long, requires = "headers", hide_short_help = true)]
    pub(crate) header_always: bool,

    /// Let pages of ORIGIN read the answers, or pages of any origin (CORS).
    ///
    /// An origin is https://app.example, with a port if it is not the usual one. Several are given by several
    /// flags.
    #[arg(long, value_name = "ORIGIN", num_args = 0..=1, require_equals = true, default_missing_value = ANY, value_parser = origin)]
    pub(crate) cors: Vec<String>,
}

/// The text for any origin.
pub(crate) const ANY: &str = "*";

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum LineFormat {
    /// Address, time, request, status, bytes of content
    Common,
    /// The same with `referer` and `user-agent`
    Combined,
    /// One JSON object
    Json,
}

impl From<LineFormat> for LogFormat {
    fn from(format: LineFormat) -> Self {
        match format {
            LineFormat::Common => Self::Common,
            LineFormat::Combined => Self::Combined,
            LineFormat::Json => Self::Json,
        }
    }
}

/// A field for all answers.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Added {
    pub(crate) name: String,
    pub(crate) value: String,
}

/// Fields that describe one answer or its connection: one value for all answers would be wrong for most.
const OF_ONE_ANSWER: [KnownName; 9] = [
    KnownName::ACCEPT_RANGES,
    KnownName::ALLOW,
    KnownName::CONTENT_LENGTH,
    KnownName::CONTENT_RANGE,
    KnownName::DATE,
    KnownName::ETAG,
    KnownName::LAST_MODIFIED,
    KnownName::LOCATION,
    KnownName::TRAILER,
];

/// Parses `name: value`, or `name;` for a field without a value.
fn added(text: &str) -> Result<Added, String> {
    let field = values::field(text)?;
    let value = field.value.ok_or("it has no value; an empty one is written `name;`")?;
    let known = KnownName::lookup_folded(field.name.as_bytes());
    if known.is_some_and(|name| name.is_connection_specific() || OF_ONE_ANSWER.contains(&name)) {
        return Err(format!("{} cannot be the same in all answers", field.name.to_ascii_lowercase()));
    }
    Ok(Added { name: field.name, value })
}

/// Returns the fields as one section.
///
/// # Errors
/// None that is known: each was checked when it was read.
pub(crate) fn section<'a>(
    fields: impl IntoIterator<Item = &'a Added>,
) -> Result<FieldSection, alula::FieldError> {
    let mut section = FieldSection::new();
    fields.into_iter().try_for_each(|field| section.append(&*field.name, &field.value))?;
    Ok(section)
}

/// Parses a path that every client and server reads in the same way.
pub(in crate::args) fn own_path(text: &str) -> Result<String, String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let mut segments = text.strip_prefix('/').unwrap_or_default().split('/');
    match segments.all(|segment| !matches!(segment, "" | "." | "..")) && text.bytes().all(is_plain) {
        true => Ok(text.to_owned()),
        false => Err("written as /NAME or /NAME/NAME, of letters, digits and -._~".to_owned()),
    }
}

/// Parses an origin as browsers write it, or `*`.
fn origin(text: &str) -> Result<String, String> {
    if text == ANY {
        return Ok(text.to_owned());
    }
    let complain = || "written as https://HOST or https://HOST:PORT".to_owned();
    let url = Url::parse(text).map_err(|_| complain())?;
    let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
    let is_anonymous = url.username().is_empty() && url.password().is_none();
    match url.origin() {
        origin if origin.is_tuple() && is_bare && is_anonymous => Ok(origin.ascii_serialization()),
        _ => Err(complain()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_one_answer_and_of_connections_are_refused() {
        let field = |name: &str, value: &str| Ok(Added { name: name.into(), value: value.into() });
        assert_eq!(added("X-Frame-Options: DENY "), field("X-Frame-Options", "DENY"));
        assert_eq!(added("x-a: b: c"), field("x-a", "b: c"));
        assert_eq!(added("x-a;"), field("x-a", ""));
        for text in [
            "",
            "x-a",
            "x-a:",
            ": b",
            "x a: b",
            "x-a: b\r\nx-b: c",
            "x-a: b\nc",
            "x-a: \0",
            "x-a\r\nx-b: c",
            ":status: 200",
            "Content-Length: 5",
            "transfer-encoding: chunked",
            "connection: close",
            "keep-alive: timeout=5",
            "upgrade: h2c",
            "trailer: x",
            "etag: \"a\"",
            "Date: now",
            "@file",
        ] {
            assert!(added(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn origins_are_written_as_browsers_do() {
        for (text, expected) in [
            ("*", Some("*")),
            ("https://app.example", Some("https://app.example")),
            ("HTTPS://App.Example:443/", Some("https://app.example")),
            ("http://localhost:3000", Some("http://localhost:3000")),
            ("http://[::1]:80", Some("http://[::1]")),
            ("app.example", None),
            ("localhost:3000", None),
            ("https://app.example/page", None),
            ("https://app.example/?", None),
            ("https://a@app.example", None),
            ("file:///a", None),
            ("null", None),
            ("", None),
        ] {
            assert_eq!(origin(text).ok().as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn paths_of_our_own_stand_for_themselves() {
        for path in ["/metrics", "/-/metrics", "/a.b_c~d"] {
            assert_eq!(own_path(path).as_deref(), Ok(path));
        }
        for path in [
            "", "/", "metrics", "/a/", "//a", "/{a}", "/{*a}", "/a?b", "/a%20", "/a b", "/..", "/./a",
            "/\u{e9}",
        ] {
            assert!(own_path(path).is_err(), "{path}");
        }
    }
}
