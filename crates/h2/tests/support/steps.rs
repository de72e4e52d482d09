//! Rows of stimulus and answer: steps, and what they come to. Every row runs whole and octet by octet.

use alula_fields::FieldSection;
use alula_h2::{ErrorCode, RequestHead, StreamKey};

use super::End;
use super::wire::answers;
use Step::{Accept, Answer, Ask, GiveUp, In};

/// What happens before and after the input.
pub enum Step {
    In(Vec<u8>),
    /// The server answers its latest request with 204.
    Answer,
    /// The server answers CONNECT with 200.
    Accept,
    /// The application gives its latest stream up.
    GiveUp,
    /// The client sends a request with this method; one that has content is left open.
    Ask(&'static str),
}

/// Runs the steps, and says what the peer is told, or what the log says if it is told nothing.
pub fn run(mut end: End, steps: &[Step], piece: usize) -> (Vec<String>, Vec<String>) {
    let (mut told, mut latest) = (Vec::new(), None);
    for step in steps {
        match step {
            In(octets) => octets.chunks(piece).for_each(|octets| end.receive(octets)),
            Answer => end.respond(*end.streams.last().unwrap(), 204, &[], true).unwrap(),
            Accept => end.respond(*end.streams.last().unwrap(), 200, &[], false).unwrap(),
            GiveUp => {
                let stream = end.streams.last().copied().or(latest).unwrap();
                end.machine.reset(stream, ErrorCode::CANCEL);
            }
            Ask(method) => latest = Some(ask(&mut end, method)),
        }
        let octets = end.transmit();
        // What we ask for ourselves is no answer.
        if matches!(step, In(_)) {
            told.extend(answers(&octets));
        }
    }
    // Notices are asked for between inputs, so that their place among the events depends on the pieces.
    let mut log = end.take_log();
    log.sort();
    (told, log)
}

pub fn ask(end: &mut End, method: &str) -> StreamKey {
    let has_content = matches!(method, "POST" | "CONNECT");
    if method == "CONNECT" {
        let fields = FieldSection::new();
        let head = RequestHead {
            method,
            scheme: "",
            authority: "a.example:443",
            path: "",
            protocol: None,
            fields: &fields,
        };
        return end.machine.send_request(&head, false, &mut end.out).unwrap();
    }
    end.request(method, "/", !has_content).unwrap()
}

/// Checks one row: `expected` is what the peer is told, and `rule` is in the log.
pub fn check(name: &str, make: fn() -> End, steps: &[Step], expected: &[&str], rule: &str) {
    let whole = run(make(), steps, usize::MAX);
    assert_eq!(whole.0, expected, "{name}: {:?}", whole.1);
    assert!(whole.1.iter().any(|line| line.contains(rule)) || rule.is_empty(), "{name}: {:?}", whole.1);
    assert_eq!(run(make(), steps, 1), whole, "{name}, octet by octet");
}

pub type Row<'a> = (&'a str, Vec<Step>, &'a str, &'a str);

pub fn check_all(make: fn() -> End, rows: Vec<Row<'_>>) {
    for (name, steps, expected, rule) in rows {
        let expected: Vec<&str> = expected.split(", ").filter(|text| !text.is_empty()).collect();
        check(name, make, &steps, &expected, rule);
    }
}

/// One input.
pub fn one(octets: Vec<u8>) -> Vec<Step> {
    vec![In(octets)]
}

pub fn many(frames: &[Vec<u8>]) -> Vec<Step> {
    vec![In(frames.concat())]
}
