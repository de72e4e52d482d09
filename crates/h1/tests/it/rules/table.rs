//! How a row of the table is run, and what is checked beside what it says: a connection that has ended takes nothing more, and
//! one that is idle answers another request.

use std::panic::{AssertUnwindSafe, catch_unwind};

use alula_testkit::{Pieces, Rng, byte_by_byte, random_split, whole};

use Step::{Ask, Cut, Eof, GiveUp, GoAway, In, Interim, Invite, Open, Say, Trail, Wait};

use crate::support::End;

/// Names and values.
pub(crate) type Pairs = &'static [(&'static str, &'static str)];

/// What happens to a machine.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// The peer sends bytes.
    In(Vec<u8>),
    /// The peer closes its side.
    Eof,
    /// The transport ends and does not say that nothing more would come.
    Cut,
    /// So many milliseconds pass.
    Wait(u64),
    /// The client asks; without `end` the request has content.
    Ask(&'static str, Pairs, bool),
    /// The server begins its answer; with `end` that is all of it.
    Open(u16, Pairs, bool),
    Interim(u16),
    /// Content, and whether it ends the message.
    Say(&'static str, bool),
    Trail(Pairs),
    /// The server wants the content.
    Invite,
    GiveUp,
    GoAway,
}

pub(crate) struct Row {
    pub(crate) stimulus: String,
    pub(crate) section: &'static str,
    pub(crate) steps: Vec<Step>,
    /// All output, its lines ended by `|`; an answer of the machine's own is `!` and its status, a refused command `?` and why.
    pub(crate) told: String,
    /// All events and notices.
    pub(crate) log: String,
}

/// Rows that begin with the same machine.
pub(crate) struct Rows {
    pub(crate) subject: &'static str,
    pub(crate) make: fn() -> End,
    pub(crate) rows: Vec<Row>,
}

/// A row whose bytes are taken.
pub(crate) fn row(stimulus: &str, section: &'static str, steps: Vec<Step>, told: &str, log: &str) -> Row {
    Row { stimulus: stimulus.into(), section, steps, told: told.into(), log: log.into() }
}

/// The first three of a row that is too long for one line.
pub(crate) struct Given<'a>(&'a str, &'static str, Vec<Step>);

pub(crate) fn given<'a>(stimulus: &'a str, section: &'static str, steps: Vec<Step>) -> Given<'a> {
    Given(stimulus, section, steps)
}

impl Given<'_> {
    /// Makes the row: all output, and all events.
    pub(crate) fn then(self, told: &str, log: &str) -> Row {
        row(self.0, self.1, self.2, told, log)
    }

    /// Makes the row of steps that break this rule.
    pub(crate) fn breaks(self, rule: &str) -> Row {
        let status = crate::support::rule(rule).expect(rule).status.as_u16();
        self.then(&format!("!{status}"), &format!("closed {rule}"))
    }
}

/// Bytes that break a rule, and the answer that says so.
pub(crate) fn bad(stimulus: &str, section: &'static str, bytes: &[u8], rule: &str) -> Row {
    given(stimulus, section, one(bytes)).breaks(rule)
}

/// One input.
pub(crate) fn one(bytes: impl AsRef<[u8]>) -> Vec<Step> {
    vec![In(bytes.as_ref().to_vec())]
}

/// Runs all rows and prints a line for each; fails in the end if one did.
pub(crate) fn run_all(tables: Vec<Rows>) {
    let (mut count, mut failed) = (0, 0);
    for Rows { subject, make, rows } in tables {
        for row in rows {
            count += 1;
            let verdict = catch_unwind(AssertUnwindSafe(|| check(make, &row, count)));
            let (word, after) = match &verdict {
                Ok(after) => ("ok    ", *after),
                Err(_) => ("FAILED", ""),
            };
            failed += u64::from(verdict.is_err());
            println!(
                "{word} {subject}: {} (RFC {}): {}{after}",
                row.stimulus,
                row.section,
                row.log.replace("\r\n", "|")
            );
        }
    }
    println!("{count} rows, {} passed, {failed} failed", count - failed);
    assert_eq!(failed, 0, "rows that failed are printed above");
    assert_eq!(count, 479, "a row was added or lost: say so here");
}

/// Checks one row, and says what became of the connection.
fn check(make: fn() -> End, row: &Row, seed: u64) -> &'static str {
    let mut end = make();
    let heard = run(&mut end, &row.steps, whole);
    assert_eq!(heard, (row.told.clone(), row.log.clone()), "{}", row.stimulus);
    for rule in row.log.split("; ").filter_map(|line| line.strip_prefix("closed ")) {
        let known = crate::support::rule(rule);
        let has_section = known.is_none_or(|rule| rule.rule.contains(row.section));
        assert!(has_section, "{}: {rule} is of another section", row.stimulus);
    }
    assert_eq!(run(&mut make(), &row.steps, byte_by_byte), heard, "{}, byte by byte", row.stimulus);
    for way in 0..4 {
        let mut rng = Rng::new(seed * 4 + way);
        let cut = run(&mut make(), &row.steps, |bytes| random_split(bytes, &mut rng));
        assert_eq!(cut, heard, "{}, cut in way {way}", row.stimulus);
    }
    after(&mut end)
}

/// What has ended takes nothing more; what is idle takes another request.
fn after(end: &mut End) -> &'static str {
    end.log.clear();
    if end.machine.error().is_some() {
        assert!(end.machine.is_closed());
        end.receive(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        assert_eq!((end.transmit(), end.log.len()), (Vec::new(), 0), "something comes after the end");
        return "; the connection has ended";
    }
    match (end.machine.is_closed(), end.machine.is_idle(), end.machine.is_client()) {
        (true, ..) => "; the connection is done",
        (_, false, _) => "; the exchange goes on",
        (.., true) => {
            end.request("GET", "/", &[], true).unwrap();
            end.transmit();
            end.receive(b"HTTP/1.1 299 x\r\nContent-Length: 0\r\n\r\n");
            assert_eq!(end.log, ["299 content-length=0 end", "idle"], "no use any more");
            "; another request is answered"
        }
        (.., false) if end.has_half_a_head() => "; the head goes on",
        (.., false) => {
            end.receive(b"GET /after HTTP/1.1\r\nHost: a\r\n\r\n");
            assert_eq!(end.log.first().map(String::as_str), Some("GET http a /after end"), "no use any more");
            "; another request is taken"
        }
    }
}

/// Runs the steps, and says what the peer is told, and what the application is.
fn run(
    end: &mut End,
    steps: &[Step],
    mut cut: impl for<'i> FnMut(&'i [u8]) -> Pieces<'i>,
) -> (String, String) {
    let mut told = String::new();
    for step in steps {
        let done = match step {
            In(bytes) => {
                cut(bytes).iter().for_each(|piece| end.receive(piece));
                Ok(())
            }
            Eof => {
                end.receive_end();
                Ok(())
            }
            Cut => {
                end.receive_truncation();
                Ok(())
            }
            other => command(end, other),
        };
        let bytes = end.transmit();
        told += &shown(&bytes);
        if let Err(error) = done {
            told += &format!("?{error:?}");
        }
        end.notices();
        if !matches!(step, In(_) | Eof | Cut) {
            end.go_on();
            told += &shown(&end.transmit());
        }
    }
    end.flush(false);
    (told, end.log.join("; "))
}

fn command(end: &mut End, step: &Step) -> Result<(), alula_h1::SendError> {
    match step {
        Wait(millis) => end.wait(millis * 1_000_000),
        Ask(method, pairs, is_all) => drop(end.request(method, "/", pairs, *is_all)?),
        Open(status, pairs, is_all) => end.respond(*status, pairs, *is_all)?,
        Interim(status) => end.respond(*status, &[], false)?,
        Say(text, is_all) => drop(end.data_out(text.as_bytes(), *is_all)?),
        Trail(pairs) => end.trailers_out(pairs)?,
        Invite => end.machine.invite_content(end.stream.expect("an exchange"), &mut end.out),
        GiveUp => end.machine.reset(end.stream.expect("an exchange")),
        GoAway => end.machine.goaway(),
        In(_) | Eof | Cut => {}
    }
    Ok(())
}

/// Output as one line; the machine's own answers are short.
fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "|");
    // One with a text is as one without: `repeats` reads it.
    let text = match text.split_once("|Content-Type: text/plain|Content-Length: ") {
        Some((status, rest)) if rest.contains("|Connection: close||") => {
            format!("{status}|Content-Length: 0|Connection: close||")
        }
        _ => text,
    };
    let Some(at) = text.find("|Content-Length: 0|Connection: close||") else { return text };
    let line = text[..at].rfind("HTTP/1.1 ").expect("a status line");
    let status = &text[line + 9..line + 12];
    // Ours are errors; what a handler answers has its own reason to close.
    if status < "400" {
        return text;
    }
    format!("{}!{status}{}", &text[..line], &text[at + 38..])
}
