//! The variables of `%{…}` and their values.

use std::time::Duration;

use alula::{Timing, Version};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use url::Url;

use crate::fetch::tell::report::Report;

/// A value that can be written as text and as JSON.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Known {
    /// A text; `None` is written as nothing, and as `null` in JSON.
    Text(Option<Vec<u8>>),
    Number(u64),
    /// A status, 0 if there is none; a text has three digits.
    Status(u16),
    Time(Duration),
    /// A number, -1 if there is none.
    Id(Option<usize>),
}

/// Returns the value for an exchange.
pub(super) type Variable = fn(&Report) -> Known;

/// The variables in the order of their names, with their descriptions.
const VARIABLES: [(&str, &str, Variable); 47] = [
    ("certs", "the certificates of the server, in PEM", |report| text(certificates(report))),
    ("conn_id", "the number of the connection, from 0, or -1", |report| Known::Id(report.seen.way.number)),
    ("content_type", "the media type of the content", |report| bytes(report.header("content-type"))),
    ("errormsg", "the sentence of the failure", |report| some(&report.end.error)),
    ("exitcode", "the exit code", |report| Known::Number(report.end.exit.into())),
    ("filename_effective", "the file that the content was written to", |report| {
        Known::Text(report.file.clone().map(String::into_bytes))
    }),
    ("ftp_entry_path", "nothing: this program speaks no FTP", |_| Known::Text(None)),
    ("http_code", "the status of the response, 000 when none came", status),
    ("http_connect", "the status of the proxy's answer to CONNECT", |report| {
        Known::Status(report.seen.way.tunnel_status.unwrap_or_default())
    }),
    ("http_version", "the version of HTTP of the response", version),
    ("local_ip", "the address of this end", |report| {
        text(report.seen.way.local.map(|local| local.ip().to_string()).unwrap_or_default())
    }),
    ("local_port", "the port of this end", |report| {
        Known::Number(report.seen.way.local.map_or(0, |local| local.port().into()))
    }),
    ("method", "the method of the request", |report| text(report.method.clone())),
    ("num_certs", "the number of certificates that the server showed", |report| {
        Known::Number(report.seen.way.certificates.len() as u64)
    }),
    ("num_connects", "the number of connections that were opened", |report| {
        Known::Number(report.seen.way.connects.into())
    }),
    ("num_headers", "the number of fields of the response", |report| {
        Known::Number(report.head.as_ref().map_or(0, |head| head.fields.len() as u64))
    }),
    ("num_redirects", "the number of redirects that were followed", |report| {
        Known::Number(report.redirects())
    }),
    ("num_retries", "the number of times that the request was sent again", |report| {
        Known::Number(report.seen.retries())
    }),
    // A proxy whose certificate is not trusted ends the exchange.
    ("proxy_ssl_verify_result", "0: a proxy that is not trusted is not used", |_| Known::Number(0)),
    ("proxy_used", "1 if a proxy was used, else 0", |report| {
        Known::Number(report.seen.way.is_proxied.into())
    }),
    ("redirect_url", "the URL of a redirect that was not followed", |report| some(&report.redirect_url())),
    ("referer", "the value of the field referer", |report| bytes(&report.seen.sent.referer)),
    ("remote_ip", "the address of the other end", |report| {
        text(report.seen.way.remote.map(|remote| remote.ip().to_string()).unwrap_or_default())
    }),
    ("remote_port", "the port of the other end", |report| {
        Known::Number(report.seen.way.remote.map_or(0, |remote| remote.port().into()))
    }),
    ("response_code", "the same as http_code", status),
    ("scheme", "the scheme of the URL that answered", |report| {
        some(report.url_effective().split(':').next().unwrap_or_default())
    }),
    ("size_download", "bytes of content that came", |report| Known::Number(report.bytes_received)),
    ("size_header", "bytes of heads and trailers that came", |report| Known::Number(report.seen.head_bytes)),
    ("size_request", "bytes of the heads that were sent", |report| Known::Number(report.seen.sent.bytes)),
    ("size_upload", "bytes of content that were sent", |report| Known::Number(report.bytes_sent)),
    ("speed_download", "bytes of content that came, per second", |report| {
        per_second(report.bytes_received, report.until_end)
    }),
    ("speed_upload", "bytes of content that were sent, per second", |report| {
        per_second(report.bytes_sent, report.until_end)
    }),
    ("ssl_verify_result", "the result of checking the certificate, 0 if fine", |report| {
        Known::Number(report.end.verify_result.into())
    }),
    ("time_appconnect", "seconds until TLS was agreed on", |report| step(report, |timing| timing.secured)),
    ("time_connect", "seconds until the connection was open", |report| {
        step(report, |timing| timing.connected)
    }),
    ("time_namelookup", "seconds until the host was looked up", |report| {
        step(report, |timing| timing.resolved)
    }),
    ("time_posttransfer", "seconds until the request was sent", |report| step(report, |timing| timing.sent)),
    ("time_pretransfer", "seconds until the request could be sent", |report| {
        step(report, |timing| Some(timing.queued))
    }),
    ("time_redirect", "seconds until the last redirect was followed", |report| {
        Known::Time(report.until_redirected())
    }),
    ("time_starttransfer", "seconds until the head of the response came", |report| {
        Known::Time(report.until_head)
    }),
    ("time_total", "seconds until all was over", |report| Known::Time(report.until_end)),
    // No content goes before the handshake has ended.
    ("tls_earlydata", "0: nothing is sent before the handshake has ended", |_| Known::Number(0)),
    ("url", "the URL that was asked for", |report| text(report.url.clone())),
    ("url_effective", "the URL that answered in the end", |report| text(report.url_effective().to_owned())),
    ("urlnum", "the number of the URL, from 0", |report| Known::Number(report.place as u64)),
    // They are in no JSON of curl, and last here.
    ("xfer_id", "the same as urlnum", |report| Known::Number(report.place as u64)),
    ("version", "the name and version of this program", |_| {
        text(concat!("alula/", env!("CARGO_PKG_VERSION")).to_owned())
    }),
];

/// The parts of a URL: `%{url.host}` of the requested one, and `%{urle.host}` of the one that answered.
const PARTS: [(&str, Part); 8] = [
    // A fragment is not sent, and neither are options of mail.
    ("fragment", |_| None),
    ("host", |url| url.host_str().map(str::to_owned)),
    ("options", |_| None),
    ("path", |url| Some(url.path().to_owned())),
    ("port", |url| url.port_or_known_default().map(|port| port.to_string())),
    ("query", |url| url.query().map(str::to_owned)),
    ("scheme", |url| Some(url.scheme().to_owned())),
    ("zoneid", |_| None),
];

type Part = fn(&Url) -> Option<String>;

/// A name in `%{…}`.
#[derive(Clone, Copy)]
pub(super) enum Name {
    Variable(Variable),
    /// A part of a URL; of the one that answered if the flag is true.
    Part(Part, bool),
}

impl Name {
    /// Returns the variable of this name, if there is one.
    pub(super) fn find(name: &str) -> Option<Self> {
        let part = |rest: &str| PARTS.iter().find(|(part, _)| *part == rest).map(|(_, part)| *part);
        if let Some(rest) = name.strip_prefix("url.") {
            return part(rest).map(|part| Self::Part(part, false));
        }
        if let Some(rest) = name.strip_prefix("urle.") {
            return part(rest).map(|part| Self::Part(part, true));
        }
        let variable = VARIABLES.iter().find(|(known, ..)| *known == name);
        variable.map(|(_, _, variable)| Self::Variable(*variable))
    }

    pub(super) fn text(self, report: &Report) -> Vec<u8> {
        match self {
            Self::Variable(variable) => variable(report).text(),
            Self::Part(part, is_effective) => {
                let url = if is_effective { report.url_effective() } else { &report.url };
                Url::parse(url).ok().and_then(|url| part(&url)).unwrap_or_default().into_bytes()
            }
        }
    }
}

impl Known {
    fn text(self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.unwrap_or_default(),
            Self::Number(number) => number.to_string().into_bytes(),
            Self::Status(status) => format!("{status:03}").into_bytes(),
            Self::Time(time) => seconds(time).into_bytes(),
            Self::Id(id) => numbered(id).into_bytes(),
        }
    }

    fn json(self) -> String {
        match self {
            Self::Text(None) => "null".to_owned(),
            Self::Text(Some(text)) => super::json_string(&text),
            Self::Number(number) => number.to_string(),
            Self::Status(status) => status.to_string(),
            Self::Time(time) => seconds(time),
            Self::Id(id) => numbered(id),
        }
    }
}

/// Returns a line for each name, with its description.
pub(crate) fn described() -> String {
    VARIABLES.map(|(name, meaning, _)| format!("  {:<23} {meaning}\n", format!("%{{{name}}}"))).concat()
}

/// Returns the variables as a JSON object.
pub(super) fn json(report: &Report) -> String {
    let members = VARIABLES.map(|(name, _, variable)| format!("\"{name}\":{}", variable(report).json()));
    format!("{{{}}}", members.join(","))
}

fn text(text: String) -> Known {
    Known::Text(Some(text.into_bytes()))
}

/// Returns a text; an empty one is unknown.
fn some(text: &str) -> Known {
    bytes(text.as_bytes())
}

fn bytes(bytes: &[u8]) -> Known {
    Known::Text(Some(bytes.to_vec()).filter(|bytes| !bytes.is_empty()))
}

fn status(report: &Report) -> Known {
    Known::Status(report.head.as_ref().map_or(0, |head| head.status))
}

fn version(report: &Report) -> Known {
    let number = match report.head.as_ref().map(|head| head.version) {
        Some(Version::Http1) => "1.1",
        Some(_) => "2",
        None => "0",
    };
    text(number.to_owned())
}

/// Returns the time of a step; 0 if the step was not needed.
fn step(report: &Report, step: fn(&Timing) -> Option<Duration>) -> Known {
    Known::Time(report.timing.as_ref().and_then(step).unwrap_or_default())
}

fn seconds(time: Duration) -> String {
    format!("{:.6}", time.as_secs_f64())
}

fn numbered(id: Option<usize>) -> String {
    id.map_or("-1".to_owned(), |id| id.to_string())
}

fn per_second(bytes: u64, time: Duration) -> Known {
    Known::Number((bytes as f64 / time.as_secs_f64().max(1e-6)) as u64)
}

/// Returns the certificates in PEM (RFC 7468 §5), the server's own first.
fn certificates(report: &Report) -> String {
    let mut all = String::new();
    for certificate in &report.seen.way.certificates {
        all.push_str("-----BEGIN CERTIFICATE-----\n");
        for line in STANDARD.encode(certificate).as_bytes().chunks(64) {
            all.extend(line.iter().map(|byte| char::from(*byte)));
            all.push('\n');
        }
        all.push_str("-----END CERTIFICATE-----\n");
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_in_order() {
        let names: Vec<&str> = VARIABLES.iter().map(|(name, ..)| *name).collect();
        assert!(names[..45].is_sorted(), "{names:?}");
        assert!(Name::find("http_code").is_some() && Name::find("url.host").is_some());
        for wrong in ["nothing", "url.nothing", "url.", "urle.user", ""] {
            assert!(Name::find(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn parts_are_of_either_url() {
        let mut report = Report::new("GET", "http://a:81/b?c", 0);
        report.final_url = Some("https://d/".to_owned());
        for (name, expected) in [
            ("url.scheme", "http"),
            ("url.host", "a"),
            ("url.port", "81"),
            ("url.path", "/b"),
            ("url.query", "c"),
            ("urle.port", "443"),
            ("urle.query", ""),
        ] {
            assert_eq!(Name::find(name).unwrap().text(&report), expected.as_bytes(), "{name}");
        }
    }
}
