//! Nothing hangs, nothing leaks, server side: clients that die, stall or babble at every point of a
//! connection, a thousand times, and `alula echo` is as it was: the same descriptors and threads, and an
//! answer for a client that behaves.

use std::io::Write;
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use alula_conformance::alula::{Echo, Reach, fetch};
use alula_conformance::certificates::Certificates;
use alula_conformance::hostile::requests::{self, Point};
use alula_conformance::hostile::{Ending, babble};
use alula_conformance::poll;
use alula_conformance::process::{self, Held};
use alula_conformance::wire::{self, Wire, closes};

/// With three endings of fourteen points: more than a thousand connections.
const ROUNDS: usize = 24;

pub(crate) fn clients_in_clear_text_leave_nothing_behind() {
    let certificates = Certificates::new();
    survives(&certificates, &Reach::Clear);
}

pub(crate) fn clients_over_tls_leave_nothing_behind() {
    let certificates = Certificates::new();
    survives(&certificates, &Reach::Tls(&certificates));
}

pub(crate) fn clients_that_break_off_the_handshake_leave_nothing_behind() {
    let certificates = Certificates::new();
    let (echo, before) = warm(&certificates, &Reach::Tls(&certificates));
    // The record layer's first bytes (RFC 8446 §5.1): a handshake record of 512 bytes, and a part of it.
    let hello = [&[0x16, 0x03, 0x01, 0x02, 0x00, 0x01][..], &[0; 200]].concat();
    for length in [1, 5, 6, 100, hello.len()] {
        let mut stalling = Vec::new();
        for ending in Ending::ALL {
            let socket = TcpStream::connect((Ipv4Addr::LOCALHOST, echo.port())).expect("it accepts");
            let mut wire: Box<dyn Wire> = Box::new(socket);
            wire.write_all(&hello[..length]).expect("it reads");
            end(ending, wire, &mut stalling).unwrap_or_else(|why| panic!("{length} bytes: {why}"));
        }
    }
    is_as_before(&echo, &Reach::Tls(&certificates), before);
}

fn survives(certificates: &Certificates, reach: &Reach<'_>) {
    let (echo, before) = warm(certificates, reach);
    for _ in 0..ROUNDS {
        let mut stalling = Vec::new();
        for (point, ending) in
            Point::ALL.into_iter().flat_map(|point| Ending::ALL.map(|ending| (point, ending)))
        {
            let mut wire = wire::connect(echo.port(), reach).expect("it accepts");
            requests::play(point, &mut *wire).unwrap_or_else(|error| panic!("{point:?}: {error}"));
            end(ending, wire, &mut stalling).unwrap_or_else(|why| panic!("{point:?}: {why}"));
        }
    }
    is_as_before(&echo, reach, before);
}

/// A server that has answered, and what it holds then.
fn warm(certificates: &Certificates, reach: &Reach<'_>) -> (Echo, Held) {
    let echo = Echo::start(certificates);
    answers(&echo, reach);
    // The connection of that answer closes in its own time.
    let held = || process::held(echo.id());
    let mut last = held();
    let settled = poll::within(Duration::from_secs(5), || {
        let same = std::mem::replace(&mut last, held()) == last;
        same.then_some(last)
    });
    let before = settled.expect("an idle server stays as it is");
    (echo, before)
}

/// Ends the connection so; one that stalls is kept with the others that do.
fn end(
    ending: Ending,
    mut wire: Box<dyn Wire>,
    stalling: &mut Vec<Box<dyn Wire>>,
) -> Result<(), &'static str> {
    match ending {
        Ending::Dies => drop(wire),
        Ending::Stalls => stalling.push(wire),
        Ending::Babbles => {
            // It may have had enough before all of it was written.
            let _ = babble(&mut *wire);
            return closes(&mut *wire).then_some(()).ok_or("it does not close on garbage");
        }
    }
    Ok(())
}

fn is_as_before(echo: &Echo, reach: &Reach<'_>, before: Held) {
    answers(echo, reach);
    let mut now = before;
    let same = poll::within(Duration::from_secs(20), || {
        now = process::held(echo.id());
        (now == before).then_some(())
    });
    assert!(same.is_some(), "it held {before:?} and holds {now:?}");
}

fn answers(echo: &Echo, reach: &Reach<'_>) {
    let outcome = fetch("get", &echo.url(reach, "well"), reach, &["--max-time", "10"]).expect_success();
    assert!(outcome.text().contains("\"target\":\"/well\""), "{outcome}");
}
