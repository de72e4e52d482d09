//! A row's cells: what is done with a server, or why nothing can be.

use super::server::{Server, Way};

/// One cell.
#[derive(Debug)]
pub enum Cell {
    /// Run in all ways in which the server is reached; the words say what is peculiar to it, if anything is.
    Checked(fn(&Server, Way), &'static str),
    /// The server has nothing to check here, for this reason.
    NotOffered(&'static str),
}

/// All cells of a server, in the order of [`CHECKS`].
#[derive(Debug)]
pub struct Cells {
    /// Files.
    pub download: Cell,
    /// gzip.
    pub gzip: Cell,
    /// Brotli.
    pub brotli: Cell,
    /// Zstandard.
    pub zstd: Cell,
    /// Redirects.
    pub redirect: Cell,
    /// Ranges, and going on with a download.
    pub range: Cell,
    /// Content of unknown length with trailers.
    pub trailers: Cell,
    /// 103.
    pub interim: Cell,
    /// Content that waits for 100.
    pub upload: Cell,
    /// Two requests on one connection.
    pub reuse: Cell,
}

/// The name of each check, and what it holds.
pub const CHECKS: [(&str, &str); 10] = [
    ("download", "a small, an empty and a 10 MiB file arrive, in the version that was asked for"),
    ("gzip", "a text packed by gzip is unpacked with `--compressed`, and arrives as it lies there without"),
    ("br", "the same, packed by brotli"),
    ("zstd", "the same, packed by zstd"),
    ("redirect", "302 is followed with `-L`, and shown without"),
    ("range", "1000 bytes from the middle of a file, and the rest of a file that is there in part (`-C -`)"),
    ("trailers", "content of unknown length (chunked in HTTP/1.1) that has fields after it is whole"),
    ("interim", "content after two responses of 103 is that of the final one"),
    ("upload", "2 MiB sent with `-T` and `expect: 100-continue` are sent back"),
    ("reuse", "the request that a redirect leads to goes on the same connection"),
];

/// A server and its cells.
#[derive(Debug)]
pub struct Row {
    /// As the table names it.
    pub server: &'static str,
    /// How it is reached, each time.
    pub ways: &'static [Way],
    /// Starts it.
    pub start: fn() -> Server,
    /// What is checked.
    pub cells: Cells,
}

impl Cells {
    /// The cells beside the names of their checks.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Cell)> {
        let Self { download, gzip, brotli, zstd, redirect, range, trailers, interim, upload, reuse } = self;
        let cells = [download, gzip, brotli, zstd, redirect, range, trailers, interim, upload, reuse];
        CHECKS.iter().map(|(name, _)| *name).zip(cells)
    }
}
