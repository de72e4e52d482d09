//! Many connections that wait: the other side of servers that are measured, and a client of Alula that is.
//!
//! - `idle hold h1|h2 unused|once|half|stalled PORT COUNT [ROOTS]` connects so often and keeps all until the
//!   standard input ends.
//! - `idle client h1|h2 PORT COUNT [tls]` is a client with one connection to each of so many origins, each
//!   used once.
//! - `idle serve ADDRESS STREAMS [CERTIFICATE KEY]` answers `/memory` with 1 KiB, with so many streams on a
//!   connection.
//!
//! `hold` and `client` print 0, wait for a line, make the connections and print their count; `serve` prints
//! its port.
#![forbid(unsafe_code)]

mod client;
mod hold;
mod serve;

use std::io;
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver};

/// The connections that are being made at once, at most.
const IN_FLIGHT: usize = 64;

/// The bytes of an answer.
const CONTENT: usize = 1024;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match dispatch(&arguments) {
        Some(Ok(())) => ExitCode::SUCCESS,
        Some(Err(error)) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
        None => {
            eprintln!("usage: idle hold|client|serve ..., as the source says");
            ExitCode::FAILURE
        }
    }
}

/// Returns `None` when the arguments are not understood.
fn dispatch(arguments: &[&str]) -> Option<io::Result<()>> {
    Some(match *arguments {
        ["hold", version, used, port, count, ref roots @ ..] => {
            let (port, count) = (port.parse().ok()?, count.parse().ok()?);
            let kind = hold::Kind::parse(version, used, !roots.is_empty())?;
            hold::run(kind, port, count, roots.first().copied())
        }
        ["client", version, port, count, ref tls @ ..] => {
            let (port, count) = (port.parse().ok()?, count.parse().ok()?);
            client::run(version == "h2", !tls.is_empty(), port, count)
        }
        ["serve", address, streams] => serve::run(address, streams.parse().ok()?, None),
        ["serve", address, streams, certificate, key] => {
            serve::run(address, streams.parse().ok()?, Some((certificate, key)))
        }
        _ => return None,
    })
}

/// Returns what tells each line of the standard input; this process ends with it, and with the process that
/// started it.
fn words() -> Receiver<()> {
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        for _ in io::stdin().lines() {
            // A server takes none.
            let _ = tell.send(());
        }
        std::process::exit(0);
    });
    told
}
