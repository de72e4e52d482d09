//! The matrix itself: checks, cells, rows, and how a row is run.

use std::any::Any;
use std::fmt;
use std::io::{self, Write as _};
use std::panic::{self, AssertUnwindSafe};
use std::time::{Duration, Instant};

use super::page_row;
use super::way::Way;

/// One cell: what is done with the peer, or why nothing can be.
#[derive(Debug)]
pub enum Cell<T> {
    /// Run both ways; the words say what is peculiar to this peer, if anything is.
    Checked(fn(&T, Way), &'static str),
    /// Run over TLS only, for this reason.
    OverTls(fn(&T, Way), &'static str),
    /// The peer has nothing to check here, for this reason.
    NotOffered(&'static str),
}

/// All cells of a peer: the compiler sees to it that none is missing.
#[derive(Debug)]
pub struct Cells<T> {
    /// See [`CHECKS`], which describes the checks in the same order.
    pub download: Cell<T>,
    /// Content of the request.
    pub upload: Cell<T>,
    /// Fields after the content of the response.
    pub response_trailers: Cell<T>,
    /// Fields after the content of the request.
    pub request_trailers: Cell<T>,
    /// Interim responses.
    pub interim: Cell<T>,
    /// RST_STREAM from the server.
    pub server_resets: Cell<T>,
    /// RST_STREAM from the client.
    pub client_resets: Cell<T>,
    /// GOAWAY from the server.
    pub goaway: Cell<T>,
    /// CONTINUATION from the client.
    pub large_request: Cell<T>,
    /// CONTINUATION from the server.
    pub large_response: Cell<T>,
    /// Many requests on one connection.
    pub many: Cell<T>,
}

/// The name of a check, and what it holds.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// As the page and the tests' output name it.
    pub name: &'static str,
    /// What must be so.
    pub holds: &'static str,
}

/// Every check, in the order of [`Cells`].
pub const CHECKS: [Check; 11] = [
    check("download", "a small, an empty and a 10 MiB content arrive byte by byte as they were sent"),
    check("upload", "5 MiB without a pattern are sent, sent back and arrive as they were"),
    check("response trailers", "fields after the content of the response arrive (RFC 9110 §6.5)"),
    check("request trailers", "fields after the content of the request arrive"),
    check(
        "interim responses",
        "two responses of 103 before the final one (RFC 9110 §15.2) leave that one whole",
    ),
    check(
        "server resets",
        "RST_STREAM in the middle of the content is an error for the reader, after which the connection goes on",
    ),
    check(
        "client resets",
        "a client that gives up a long content at its beginning keeps its connection, and the server serves on",
    ),
    check(
        "GOAWAY",
        "a request in flight when the server takes its leave is answered whole, the next one goes on a new connection",
    ),
    check("large request", "40 KB of fields, which take CONTINUATION frames (RFC 9113 §6.10), arrive"),
    check(
        "large response",
        "the same from the server; our client takes them where `Limits` allow it and refuses them where not",
    ),
    check("many requests", "2000 requests, many at once, are answered on one connection"),
];

const fn check(name: &'static str, holds: &'static str) -> Check {
    Check { name, holds }
}

impl<T> Cells<T> {
    /// The cells beside their checks.
    pub fn iter(&self) -> impl Iterator<Item = (Check, &Cell<T>)> {
        let Self { download, upload, response_trailers, request_trailers, interim, .. } = self;
        let Self { server_resets, client_resets, goaway, large_request, large_response, many, .. } = self;
        let messages = [download, upload, response_trailers, request_trailers, interim];
        let connections = [server_resets, client_resets, goaway, large_request, large_response, many];
        CHECKS.into_iter().zip(messages.into_iter().chain(connections))
    }
}

/// A peer and its cells.
#[derive(Debug)]
pub struct Row<T> {
    /// The peer's name.
    pub peer: &'static str,
    /// What is checked with it.
    pub cells: Cells<T>,
}

impl<T> Row<T> {
    /// Runs every cell both ways, says so line by line, and holds what was checked against the page.
    ///
    /// # Panics
    /// When a cell does not hold, or the page says something else about this peer.
    pub fn run(&self, at: &T) {
        let found: Vec<Found> =
            self.cells.iter().map(|(check, cell)| self.run_cell(check, cell, at)).collect();
        let failed: Vec<&Found> = found.iter().filter(|found| !found.failures.is_empty()).collect();
        assert!(failed.is_empty(), "{}: {} cells do not hold: {failed:#?}", self.peer, failed.len());
        let ways = |found: &Found| found.times.iter().map(|(way, _)| *way).collect();
        let checked: Vec<Vec<Way>> = found.iter().map(ways).collect();
        page_row::assert_shows(self.peer, &checked);
    }

    fn run_cell(&self, check: Check, cell: &Cell<T>, at: &T) -> Found {
        let mut found = Found { check: check.name, times: Vec::new(), failures: Vec::new() };
        for way in cell.ways() {
            let start = Instant::now();
            match panic::catch_unwind(AssertUnwindSafe(|| cell.check(at, *way))) {
                Ok(()) => found.times.push((*way, start.elapsed())),
                Err(panic) => found.failures.push((*way, words_of(&*panic))),
            }
        }
        // Past the capture of the test runner, so that the matrix is seen whenever the tests run.
        let _ = writeln!(io::stdout(), "interop: {:<8} {found}", self.peer);
        found
    }
}

impl<T> Cell<T> {
    /// The ways in which there is something to check.
    #[must_use]
    pub const fn ways(&self) -> &'static [Way] {
        match self {
            Self::Checked(..) => &Way::ALL,
            Self::OverTls(..) => &[Way::Tls],
            Self::NotOffered(_) => &[],
        }
    }

    fn check(&self, at: &T, way: Way) {
        if let Self::Checked(check, _) | Self::OverTls(check, _) = self {
            check(at, way);
        }
    }
}

/// What became of a cell.
#[derive(Debug)]
struct Found {
    check: &'static str,
    times: Vec<(Way, Duration)>,
    failures: Vec<(Way, String)>,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<18}", self.check)?;
        if self.times.is_empty() && self.failures.is_empty() {
            return write!(f, "not offered");
        }
        for (way, time) in &self.times {
            write!(f, "{way:?} {:.2} s  ", time.as_secs_f64())?;
        }
        self.failures.iter().try_for_each(|(way, _)| write!(f, "{way:?} FAILED  "))
    }
}

fn words_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().map(str::to_owned);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic without words".into())
}
