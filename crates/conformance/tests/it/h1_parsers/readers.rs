//! Three readers of heads, and what each makes of one.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use alula_fields::{FieldSection, Head};
use alula_h1::{Config, Connection, ConnectionError, Event, RequestHead, Violation};
use alula_machine::{OutBuf, Time};
use serde_json::Value;

use super::heads::Kind;

/// Names in lower case, and values without white space around them.
pub(crate) type Fields = Vec<(String, Vec<u8>)>;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// Method or status, target where the reader keeps it, and the fields without `host`.
    Taken { begins: String, target: Option<String>, fields: Fields },
    /// The rule that is broken, if the reader is ours.
    Refused(Option<Violation>),
    /// More bytes are wanted.
    Waits,
}

impl Verdict {
    /// The fields of what was taken.
    pub(crate) fn fields(&self) -> &Fields {
        static NONE: Fields = Fields::new();
        match self {
            Self::Taken { fields, .. } => fields,
            _ => &NONE,
        }
    }
}

fn fields<'f>(all: impl Iterator<Item = (&'f [u8], &'f [u8])>) -> Fields {
    let lower = |name: &[u8]| String::from_utf8_lossy(name).to_ascii_lowercase();
    let pairs = all.map(|(name, value)| (lower(name), value.trim_ascii().to_vec()));
    pairs.filter(|(name, _)| name != "host").collect()
}

/// What Alula makes of a head.
pub(crate) fn alula(kind: Kind, bytes: &[u8]) -> Verdict {
    let mut machine = match kind {
        Kind::Request => Connection::server(Config::default()),
        Kind::Response => asking(),
    };
    match machine.receive(bytes, Time::ZERO).map(|received| received.event) {
        Err(ConnectionError::Peer(rule)) => Verdict::Refused(Some(rule)),
        Err(error) => panic!("{error}"),
        Ok(None) => Verdict::Waits,
        Ok(Some(Event::Head { stream, .. } | Event::Interim { stream })) => {
            let mut head = Head::new();
            machine.take_head(stream, &mut head).expect("a head was announced");
            let status = head.status().map(|status| status.as_u16().to_string());
            let begins = status.or(head.method().map(String::from)).unwrap_or_default();
            let target = head.path().map(String::from);
            let pairs = head.fields.iter().map(|field| (field.name_bytes(), field.value()));
            Verdict::Taken { begins, target, fields: fields(pairs) }
        }
        Ok(Some(event)) => panic!("{event:?}"),
    }
}

/// A client that has asked for something, and would switch protocols.
fn asking() -> Connection {
    let mut fields = FieldSection::new();
    fields.append("connection", "upgrade").expect("a good field");
    let (method, scheme, authority, path) = ("GET", "http", "a", "/");
    let head = RequestHead { method, scheme, authority, path, protocol: None, fields: &fields };
    let mut machine = Connection::client(Config::default());
    machine.send_request(&head, true, &mut OutBuf::new()).expect("a good request");
    machine
}

/// What the crate `httparse` makes of a head.
pub(crate) fn httparse(kind: Kind, bytes: &[u8]) -> Verdict {
    let mut space = [httparse::EMPTY_HEADER; 64];
    let (parsed, begins, target, headers) = match kind {
        Kind::Request => {
            let mut request = httparse::Request::new(&mut space);
            let parsed = request.parse(bytes);
            (parsed, request.method.map(String::from), request.path.map(String::from), request.headers)
        }
        Kind::Response => {
            let mut response = httparse::Response::new(&mut space);
            let parsed = response.parse(bytes);
            (parsed, response.code.map(|code| format!("{code:03}")), None, response.headers)
        }
    };
    match parsed {
        Err(_) => Verdict::Refused(None),
        Ok(httparse::Status::Partial) => Verdict::Waits,
        Ok(httparse::Status::Complete(_)) => {
            let pairs = headers.iter().map(|header| (header.name.as_bytes(), header.value));
            Verdict::Taken { begins: begins.unwrap_or_default(), target, fields: fields(pairs) }
        }
    }
}

/// What Python's h11 makes of many heads, read by one interpreter.
pub(crate) fn h11(python: &Path, heads: &[(Kind, Vec<u8>)]) -> Vec<Verdict> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/h11_reader.py");
    let mut command = Command::new(python);
    let mut child =
        command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("Python can be run");
    let mut input = child.stdin.take().expect("a pipe");
    let lines: String = heads.iter().map(|(kind, bytes)| line(*kind, bytes)).collect();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || input.write_all(lines.as_bytes()).expect("h11 reads all"));
        child.wait_with_output().expect("h11 answers")
    });
    assert!(output.status.success(), "h11 has failed");
    let answers = String::from_utf8(output.stdout).expect("JSON is text");
    answers.lines().map(|line| verdict(&serde_json::from_str(line).expect("JSON"))).collect()
}

fn line(kind: Kind, bytes: &[u8]) -> String {
    let kind = if kind == Kind::Request { "request " } else { "response " };
    kind.chars().chain(bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(hex)).chain(['\n']).collect()
}

fn hex(digit: u8) -> char {
    char::from_digit(digit.into(), 16).expect("below 16")
}

fn verdict(answer: &Value) -> Verdict {
    let text = |value: &Value| value.as_str().map(String::from);
    // Bytes come as Latin-1.
    let bytes = |value: &Value| text(value).unwrap_or_default().chars().map(|letter| letter as u8).collect();
    match answer[0].as_str() {
        Some("taken") => {
            let pairs = answer[3].as_array().expect("a list").iter();
            let pairs: Vec<(Vec<u8>, Vec<u8>)> =
                pairs.map(|pair| (bytes(&pair[0]), bytes(&pair[1]))).collect();
            let fields = fields(pairs.iter().map(|(name, value)| (&name[..], &value[..])));
            Verdict::Taken { begins: text(&answer[1]).unwrap_or_default(), target: text(&answer[2]), fields }
        }
        Some("refused") => Verdict::Refused(None),
        _ => Verdict::Waits,
    }
}
