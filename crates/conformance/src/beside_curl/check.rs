//! What is checked with each server: one function for each column of the table.

use std::fs;

use super::packed;
use super::server::{Pair, Server, Way};
use crate::folder::Folder;
use crate::site::{BIG_BYTES, Site, assert_same, bytes};

/// What is sent.
const UPLOAD_BYTES: usize = 2 * 1024 * 1024;
/// What a server that knows its connections answers to the second request on one.
pub const REUSED: &str = "reused\n";

impl Pair {
    /// Both got this, byte by byte.
    ///
    /// # Panics
    /// When one did not.
    #[track_caller]
    pub fn assert_is(&self, expected: &[u8], what: &str) {
        assert_same(&self.curl, expected, &format!("{what} by curl"));
        assert_same(&self.alula, expected, &format!("{what} by alula"));
    }
}

/// The site's files, and the version that was asked for.
pub fn download(at: &Server, way: Way) {
    for file in [Site::SMALL, Site::EMPTY, Site::BIG] {
        at.both(way, "get", file, &[]).assert_is(&Site::content(file), file);
    }
    let heads = at.both(way, "get", Site::SMALL, &["-i"]);
    for (head, by) in [(heads.alula, "alula"), (heads.curl, "curl")] {
        let head = String::from_utf8_lossy(&head).into_owned();
        assert!(head.starts_with(way.version()), "{by}: {head}");
    }
}

/// A text in one coding.
pub fn coded(at: &Server, way: Way, coding: &str) {
    let path = format!("{coding}/{}", packed::FILE);
    at.both(way, "get", &path, &["--compressed"]).assert_is(&packed::text(), coding);
    // Who does not ask gets it as it lies there.
    let raw = fs::read(at.site.folder().join(coding).join(packed::FILE)).expect("it was written");
    at.both(way, "get", &path, &[]).assert_is(&raw, coding);
}

/// gzip.
pub fn gzip(at: &Server, way: Way) {
    coded(at, way, "gzip");
}

/// Brotli.
pub fn brotli(at: &Server, way: Way) {
    coded(at, way, "br");
}

/// Zstandard.
pub fn zstd(at: &Server, way: Way) {
    coded(at, way, "zstd");
}

/// A redirect is followed when asked, and shown as it is when not.
pub fn redirect(at: &Server, way: Way) {
    let small = Site::content(Site::SMALL);
    following(at, way, "redirect").assert_is(&small, "redirect");
    for outcome in [at.alula(way, "get", "redirect", &["-i"]), at.curl(way, "redirect", &["-i"])] {
        let head = outcome.expect_success().text();
        assert!(head.lines().next().is_some_and(|line| line.contains(" 302")), "{head}");
    }
}

/// Follows a redirect. curl 7.88 cannot when it is to speak HTTP/2 in clear text (its error 16); it speaks
/// HTTP/1.1 then.
fn following(at: &Server, way: Way, path: &str) -> Pair {
    let by_curl = if way == Way::Http2 { Way::Http1 } else { way };
    Pair {
        alula: at.alula(way, "get", path, &["-L"]).expect_success().stdout,
        curl: at.curl(by_curl, path, &["-L"]).expect_success().stdout,
    }
}

/// A part of a file, and the rest of one that is there in part.
pub fn range(at: &Server, way: Way) {
    let big = Site::content(Site::BIG);
    let part = at.both(way, "get", Site::BIG, &["-H", "range: bytes=1000-1999"]);
    part.assert_is(&big[1000..2000], "a range");
    let folder = Folder::new();
    for (name, is_ours) in [("by-alula", true), ("by-curl", false)] {
        let file = folder.write(name, &big[..BIG_BYTES / 3]);
        let options = ["-C", "-", "-o", file.to_str().expect("a path that is text")];
        let outcome = match is_ours {
            true => at.alula(way, "get", Site::BIG, &options),
            false => at.curl(way, Site::BIG, &options),
        };
        let _ = outcome.expect_success();
        assert_same(&fs::read(&file).expect("it is there"), &big, name);
    }
}

/// A content of unknown length with fields after it.
pub fn trailers(at: &Server, way: Way) {
    at.both(way, "get", "trailers", &[]).assert_is(b"trailers follow\n", "content with trailers");
}

/// As [`trailers`], where a server adds them to files.
pub fn trailed_file(at: &Server, way: Way, path: &str) {
    at.both(way, "get", path, &[]).assert_is(&Site::content(Site::SMALL), "content with trailers");
}

/// Two interim responses before the final one.
pub fn interim(at: &Server, way: Way) {
    at.both(way, "get", "interim", &[]).assert_is(b"after two hints\n", "content after 103");
}

/// Content that waits for 100 and is sent back.
pub fn upload(at: &Server, way: Way, path: &str) {
    let sent = bytes(9, UPLOAD_BYTES);
    let folder = Folder::new();
    let file = folder.write("upload", &sent);
    let options = ["-T", file.to_str().expect("a path that is text"), "-H", "Expect: 100-continue"];
    at.both(way, "put", path, &options).assert_is(&sent, "what was sent");
}

/// The second request, to which a redirect leads, goes on the connection of the first.
pub fn reuse(at: &Server, way: Way) {
    following(at, way, "hop").assert_is(REUSED.as_bytes(), "a second request");
}
