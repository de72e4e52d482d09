//! How a row of the table is run: whole and byte by byte, with equal answers and equal events; and
//! afterwards the connection either answers another stream, or has ended.

use std::panic::{AssertUnwindSafe, catch_unwind};

use alula_fields::FieldSection;
use alula_h2::{Connection, ErrorCode, RequestHead, StreamKey};

use Step::{Accept, Answer, Ask, GiveUp, GoAway, In, Tunnel};

use crate::support::wire::{END, PING, answers, get, headers, response};
use crate::support::{End, frame};

/// What happens to a machine.
pub(crate) enum Step {
    In(Vec<u8>),
    /// The server answers its latest request with 204.
    Answer,
    /// The server answers CONNECT with 200.
    Accept,
    /// The application gives its latest stream up.
    GiveUp,
    /// The client sends a request with this method; one that has content is left open.
    Ask(&'static str),
    /// The client asks for a tunnel by extended CONNECT.
    Tunnel,
    /// We go away, at once.
    GoAway,
}

/// Stimulus, section, steps, what the peer is told, what the application is told.
pub(crate) type Row = (&'static str, &'static str, Vec<Step>, &'static str, &'static str);

/// The first three of a row that is too long for one line.
pub(crate) struct Given(&'static str, &'static str, Vec<Step>);

pub(crate) fn given(stimulus: &'static str, section: &'static str, steps: Vec<Step>) -> Given {
    Given(stimulus, section, steps)
}

impl Given {
    /// Makes the row: what the peer is told, and what the application is.
    pub(crate) fn then(self, told: &'static str, log: &'static str) -> Row {
        (self.0, self.1, self.2, told, log)
    }
}

/// Rows that begin with the same machine.
pub(crate) struct Rows {
    pub(crate) subject: &'static str,
    pub(crate) make: fn() -> End,
    pub(crate) rows: Vec<Case>,
}

pub(crate) struct Case {
    pub(crate) stimulus: String,
    pub(crate) section: &'static str,
    pub(crate) steps: Vec<Step>,
    pub(crate) told: Vec<String>,
    pub(crate) log: &'static str,
}

impl Rows {
    pub(crate) fn new(subject: &'static str, make: fn() -> End, rows: Vec<Row>) -> Self {
        let case = |(stimulus, section, steps, told, log): Row| Case {
            stimulus: stimulus.into(),
            section,
            steps,
            told: told.split(", ").filter(|text| !text.is_empty()).map(String::from).collect(),
            log,
        };
        Self { subject, make, rows: rows.into_iter().map(case).collect() }
    }
}

/// Runs all rows and prints a line for each; fails in the end if one did.
pub(crate) fn run_all(tables: Vec<Rows>) {
    let (mut count, mut failed) = (0, 0);
    for Rows { subject, make, rows } in tables {
        for case in rows {
            count += 1;
            let told = if case.told.is_empty() { "nothing".into() } else { case.told.join(", ") };
            let verdict = catch_unwind(AssertUnwindSafe(|| check(make, &case)));
            let (word, after) = match &verdict {
                Ok(after) => ("ok    ", *after),
                Err(_) => ("FAILED", ""),
            };
            failed += usize::from(verdict.is_err());
            println!("{word} {subject}: {} (RFC {}): told {told}{after}", case.stimulus, case.section);
        }
    }
    println!("{count} rows, {} passed, {failed} failed", count - failed);
    assert_eq!(failed, 0, "rows that failed are printed above");
    assert_eq!(count, 707, "a row was added or lost: say so here");
}

/// Checks one row, and says what became of the connection.
fn check(make: fn() -> End, case: &Case) -> &'static str {
    let mut end = make();
    let (told, log) = run(&mut end, &case.steps, usize::MAX);
    assert_eq!(told, case.told, "{}: {log:?}", case.stimulus);
    let has_line = log.iter().any(|line| line.contains(case.log));
    assert!(has_line || case.log.is_empty(), "{}: {log:?}", case.stimulus);
    // What a row about another RFC breaks of RFC 9113 is on the way to what it is about.
    let is_about = |line: &&String| !line.starts_with("Breach(") || case.section.starts_with("9113");
    for line in log.iter().filter(|line| line.contains("(RFC ")).filter(is_about) {
        assert!(line.contains(case.section), "{}: another section: {line}", case.stimulus);
    }
    let mut other = make();
    assert_eq!(run(&mut other, &case.steps, 1), (told, log), "{}, byte by byte", case.stimulus);
    after(&mut end, case)
}

/// A connection error has ended the connection; after anything else it goes on.
fn after(end: &mut End, case: &Case) -> &'static str {
    if end.error.is_some() {
        assert!(end.machine.is_closed(), "{}: not closed", case.stimulus);
        assert!(case.told.last().is_some_and(|told| told.starts_with("GOAWAY")), "{}", case.stimulus);
        end.receive(&frame(PING, 0, 0, &[0; 8]));
        assert_eq!(answers(&end.transmit()), [""; 0], "{}: answered after its end", case.stimulus);
        return "; the connection has ended";
    }
    assert!(!case.told.iter().any(|told| told.starts_with("GOAWAY") && !told.ends_with("NO_ERROR")));
    if end.machine.is_going() {
        return "; the connection takes no new streams";
    }
    if end.machine.is_client() {
        let stream = end.request("GET", "/", true).unwrap();
        let id = end.machine.stream_id(stream).unwrap();
        end.transmit();
        end.receive(&headers(END, id, &response("299", &[])));
        assert_eq!(end.take_log(), ["head 299 end"], "{}: no use any more", case.stimulus);
    } else {
        end.receive(&headers(END, 201, &get()));
        end.respond(*end.streams.last().unwrap(), 200, &[], true).unwrap();
        assert_eq!(answers(&end.transmit()), ["HEADERS 201"], "{}: no use any more", case.stimulus);
    }
    "; another stream is answered"
}

/// Runs the steps, and says what the peer is told, and what the application is.
fn run(end: &mut End, steps: &[Step], piece: usize) -> (Vec<String>, Vec<String>) {
    let (mut told, mut latest) = (Vec::new(), None);
    for step in steps {
        match step {
            In(bytes) => bytes.chunks(piece).for_each(|bytes| end.receive(bytes)),
            Answer => end.respond(*end.streams.last().unwrap(), 204, &[], true).unwrap(),
            Accept => end.respond(*end.streams.last().unwrap(), 200, &[], false).unwrap(),
            GiveUp => {
                let stream = end.streams.last().copied().or(latest).unwrap();
                end.machine.reset(stream, ErrorCode::CANCEL);
            }
            Ask(method) => latest = Some(ask(end, method)),
            Tunnel => latest = Some(connect(&mut end.machine, &mut end.out, Some("websocket"))),
            GoAway => end.machine.goaway(false),
        }
        let bytes = end.transmit();
        // What we ask for ourselves is no answer.
        if matches!(step, In(_)) {
            told.extend(answers(&bytes));
        }
    }
    // Notices are asked for between inputs, so that their place among the events depends on the pieces.
    let mut log = end.take_log();
    log.sort();
    (told, log)
}

fn ask(end: &mut End, method: &str) -> StreamKey {
    match method {
        "CONNECT" => connect(&mut end.machine, &mut end.out, None),
        _ => end.request(method, "/", method != "POST").unwrap(),
    }
}

fn connect(machine: &mut Connection, out: &mut alula_machine::OutBuf, protocol: Option<&str>) -> StreamKey {
    let fields = FieldSection::new();
    let (scheme, path) = if protocol.is_some() { ("https", "/chat") } else { ("", "") };
    let (method, authority) = ("CONNECT", "a.example:443");
    let head = RequestHead { method, scheme, authority, path, protocol, fields: &fields };
    machine.send_request(&head, false, out).unwrap()
}

/// One input.
pub(crate) fn one(bytes: Vec<u8>) -> Vec<Step> {
    vec![In(bytes)]
}

pub(crate) fn many(frames: &[Vec<u8>]) -> Vec<Step> {
    vec![In(frames.concat())]
}

/// A request and what the server sends then.
pub(crate) fn asked(method: &'static str, frames: &[Vec<u8>]) -> Vec<Step> {
    vec![Ask(method), In(frames.concat())]
}
