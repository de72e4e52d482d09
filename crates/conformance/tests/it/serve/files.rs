//! `alula serve` against curl, our own client and raw frames, byte for byte.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, SystemTime};

use alula_conformance::alula::{self, Reach};
use alula_conformance::certificates::Certificates;
use alula_conformance::folder::Folder;
use alula_conformance::frames::kind;
use alula_conformance::load::{self, Counts, Load};
use alula_conformance::peers::curl;
use alula_conformance::served::{Answer, End, Place, Served, read_to_end};
use alula_conformance::site::{BIG_BYTES, Site, assert_same, bytes};
use alula_conformance::{environment, poll, process};

#[test]
fn curl_gets_every_byte() {
    if environment::no_peers() {
        return;
    }
    let (site, certificates) = (Site::new(), Certificates::new());
    let served = Served::start(site.folder().path(), &certificates, &[]);
    for reach in [Reach::Clear, Reach::Tls(&certificates)] {
        // Twice: as it is read, and as it is held.
        for file in [Site::SMALL, Site::EMPTY, Site::BIG, Site::SMALL, Site::EMPTY, Site::BIG] {
            let outcome = curl::fetch(&served.url(&reach, file), &reach, &[]).expect_success();
            assert_same(&outcome.stdout, &Site::content(file), file);
        }
        let big = Site::content(Site::BIG);
        for (range, part) in
            [("0-0", 0..1), ("130000-400000", 130_000..400_001), ("-7", BIG_BYTES - 7..BIG_BYTES)]
        {
            let url = served.url(&reach, Site::BIG);
            let outcome = curl::fetch(&url, &reach, &["--range", range]).expect_success();
            assert_same(&outcome.stdout, &big[part], range);
        }
        let head = curl::fetch(&served.url(&reach, Site::BIG), &reach, &["--head"]).expect_success().text();
        assert!(head.starts_with("HTTP/2 200") && head.contains("content-length: 10485760\r\n"), "{head}");
        let absent = ["-w", "%{http_code}", "-o", "/dev/null", "--path-as-is"];
        for path in [Site::ABSENT, "../small.txt", "%2e%2e/small.txt"] {
            let outcome = curl::fetch(&served.url(&reach, path), &reach, &absent).expect_success();
            assert_eq!(outcome.text(), "404", "{path}");
        }
    }
}

#[test]
fn curl_resumes_and_revalidates() {
    if environment::no_peers() {
        return;
    }
    let (site, certificates, here) = (Site::new(), Certificates::new(), Folder::new());
    let served = Served::start(site.folder().path(), &certificates, &[]);
    let (big, reach) = (Site::content(Site::BIG), Reach::Tls(&certificates));
    let url = served.url(&reach, Site::BIG);
    let out = here.write("out", &big[..5_000_000]);
    let out = out.to_str().expect("a readable path");
    let _ = curl::fetch(&url, &reach, &["--continue-at", "-", "-o", out]).expect_success();
    assert_same(&fs::read(out).expect("it was written"), &big, "what was resumed");
    let etag = here.join("etag");
    let etag = etag.to_str().expect("a readable path");
    let asked =
        ["--etag-save", etag, "--etag-compare", etag, "-w", "%{http_code} %{size_download}", "-o", out];
    let small = served.url(&reach, Site::SMALL);
    assert_eq!(curl::fetch(&small, &reach, &asked).expect_success().text(), "200 26");
    assert_eq!(curl::fetch(&small, &reach, &asked).expect_success().text(), "304 0");
}

#[test]
fn h2load_gets_a_held_file_a_thousandfold() {
    if environment::no_peers() {
        return;
    }
    let (site, certificates) = (Site::new(), Certificates::new());
    let served = Served::start(site.folder().path(), &certificates, &[]);
    for reach in [Reach::Clear, Reach::Tls(&certificates)] {
        let load = Load { requests: 20_000, connections: 4, streams: 50, body: None };
        assert_eq!(load::run(load, &served.url(&reach, Site::SMALL)), Counts::all_succeeded(load));
        let load = Load { requests: 100, connections: 4, streams: 10, body: None };
        assert_eq!(load::run(load, &served.url(&reach, Site::BIG)), Counts::all_succeeded(load));
    }
}

#[test]
fn a_file_is_described() {
    let place = Place::new();
    let served = place.serve(&[]);
    let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
    set_modified(&place.site().join("small.txt"), modified);
    for method in ["GET", "HEAD", "GET", "HEAD"] {
        let answer = served.ask(method, "small.txt?query", &[]);
        let expected = if method == "GET" { "a feather of little weight" } else { "" };
        assert_eq!((answer.status, &*answer.text()), (200, expected));
        for (name, value) in [
            ("content-type", "text/plain; charset=utf-8"),
            ("content-length", "26"),
            ("last-modified", "Sun, 06 Nov 1994 08:49:37 GMT"),
            ("accept-ranges", "bytes"),
        ] {
            assert_eq!(answer.header(name), value, "{method}: {name}");
        }
        let etag = answer.header("etag");
        assert!(etag.len() == 34 && etag.starts_with('"') && etag.ends_with('"'), "{etag}");
        assert!(answer.header("date").ends_with(" GMT"));
    }
    let empty = served.get("empty.css");
    assert_eq!((empty.status, &*empty.header("content-length"), empty.content.len()), (200, "0", 0));
    assert_eq!(empty.header("content-type"), "text/css; charset=utf-8");
}

#[test]
fn other_methods_are_told_what_there_is() {
    let place = Place::new();
    let served = place.serve(&[]);
    for method in ["POST", "PUT", "DELETE", "PATCH", "TRACE", "PROPFIND", "get"] {
        let answer = served.ask(method, "small.txt", &[]);
        assert_eq!((answer.status, &*answer.header("allow")), (405, "GET, HEAD, OPTIONS"), "{method}");
    }
    let answer = served.ask("OPTIONS", "small.txt", &[("if-none-match", "*")]);
    assert_eq!((answer.status, &*answer.header("allow")), (204, "GET, HEAD, OPTIONS"));
}

#[test]
fn conditions_are_obeyed() {
    let place = Place::new();
    place.write("site/big.bin", bytes(1, 100_000));
    let served = place.serve(&[]);
    for path in ["small.txt", "big.bin"] {
        let answer = served.get(path);
        let (etag, date) = (answer.header("etag"), answer.header("last-modified"));
        let is_weak = etag.starts_with("W/");
        for (fields, status) in [
            (&[("if-none-match", &*etag)][..], 304),
            (&[("if-none-match", "*")], 304),
            (&[("if-none-match", "\"other\"")], 200),
            (&[("if-modified-since", &date)], 304),
            (&[("if-modified-since", "Sun, 06 Nov 1994 08:49:37 GMT")], 200),
            (&[("if-none-match", "\"other\""), ("if-modified-since", &date)], 200),
            (&[("if-match", &etag)], if is_weak { 412 } else { 200 }),
            (&[("if-match", "\"other\"")], 412),
            (&[("if-unmodified-since", &date)], 200),
            (&[("if-unmodified-since", "Sun, 06 Nov 1994 08:49:37 GMT")], 412),
            (&[("if-match", "\"other\""), ("if-none-match", &etag)], 412),
            (&[("range", "bytes=0-0"), ("if-none-match", &etag)], 304),
        ] {
            for method in ["GET", "HEAD"] {
                let answer = served.ask(method, path, fields);
                assert_eq!(answer.status, status, "{method} {path} {fields:?}");
                if status == 304 {
                    assert_eq!((answer.header("etag"), answer.content.len()), (etag.clone(), 0));
                    assert!(!answer.fields.contains("content-type"), "{:?}", answer.fields);
                }
            }
        }
    }
    // What is not there has no state to be compared.
    assert_eq!(served.ask("GET", "absent", &[("if-match", "\"a\"")]).status, 404);
    assert_eq!(served.ask("GET", "a%20&%20b/", &[("if-none-match", "*")]).status, 304);
}

#[test]
fn ranges_are_cut_out_of_small_and_large_files() {
    let place = Place::new();
    let served = place.serve(&[]);
    for (name, length) in [("held.bin", 10_000), ("open.bin", 1_000_000)] {
        let content = bytes(5, length);
        place.write(&format!("site/{name}"), &content);
        for (range, part) in [
            ("bytes=0-0", 0..1),
            ("bytes=5-4999", 5..5_000),
            ("bytes=9000-", 9_000..length),
            ("bytes=-1", length - 1..length),
            ("bytes=-99999999", 0..length),
            ("bytes=1-99999999", 1..length),
        ] {
            let answer = served.ask("GET", name, &[("range", range)]);
            assert_eq!(answer.status, 206, "{range}");
            assert_same(&answer.content, &content[part.clone()], range);
            let place = format!("bytes {}-{}/{length}", part.start, part.end - 1);
            assert_eq!(answer.header("content-range"), place);
            assert_eq!(answer.header("content-length"), part.len().to_string());
        }
        for range in ["bytes=1-0", "lines=0-1", "bytes=a", "bytes=0-,0-", "bytes=0-1,1-0"] {
            let answer = served.ask("GET", name, &[("range", range)]);
            assert_eq!(answer.status, 200, "{range}");
            assert_same(&answer.content, &content, range);
        }
        let answer = served.ask("GET", name, &[("range", "bytes=99999999-")]);
        assert_eq!((answer.status, answer.header("content-range")), (416, format!("bytes */{length}")));
        assert_eq!(served.ask("HEAD", name, &[("range", "bytes=0-0")]).status, 200);
    }
}

#[test]
fn several_ranges_are_parts_of_one_answer() {
    let place = Place::new();
    let served = place.serve(&[]);
    for (name, length) in [("held.bin", 60_000), ("open.bin", 1_000_000)] {
        let content = bytes(6, length);
        place.write(&format!("site/{name}"), &content);
        let wanted = [length - 10..length, 0..1, 20_000..50_001];
        let field = format!("bytes=-10, 0-0,{length}-, 20000-50000");
        let answer = served.ask("GET", name, &[("range", &field)]);
        assert_eq!(answer.status, 206);
        let parts = parts(&answer);
        assert_eq!(parts.len(), wanted.len());
        for ((head, bytes), range) in parts.iter().zip(wanted) {
            let place = format!("content-range: bytes {}-{}/{length}", range.start, range.end - 1);
            assert!(
                head.contains(&place) && head.contains("content-type: application/octet-stream"),
                "{head}"
            );
            assert_same(bytes, &content[range], &place);
        }
        assert_eq!(answer.header("content-length"), answer.content.len().to_string());
        assert!(!answer.fields.contains("content-range"), "{:?}", answer.fields);
    }
}

/// The parts of a multipart answer, each with its head.
fn parts(answer: &Answer) -> Vec<(String, Vec<u8>)> {
    let media_type = answer.header("content-type");
    let boundary = media_type.strip_prefix("multipart/byteranges; boundary=").expect("a boundary");
    let mut rest = &answer.content[..];
    let mut parts = Vec::new();
    let delimiter = format!("\r\n--{boundary}\r\n");
    while let Some(part) = rest.strip_prefix(delimiter.as_bytes()) {
        let end = position(part, b"\r\n\r\n").expect("a head");
        let head = String::from_utf8_lossy(&part[..end]).into_owned();
        let Range { start, end } = range_of(&head);
        let content = &part[head.len() + 4..][..end - start];
        parts.push((head.clone(), content.to_vec()));
        rest = &part[head.len() + 4 + content.len()..];
    }
    assert_eq!(String::from_utf8_lossy(rest), format!("\r\n--{boundary}--\r\n"));
    parts
}

fn range_of(head: &str) -> Range<usize> {
    let (_, range) = head.split_once("content-range: bytes ").expect("a place");
    let (first, last) =
        range.split_once('/').and_then(|(range, _)| range.split_once('-')).expect("two positions");
    first.parse().expect("a position")..last.parse::<usize>().expect("a position") + 1
}

fn position(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|found| found == wanted)
}

#[test]
fn a_range_of_another_state_is_not_sent() {
    let place = Place::new();
    let content = bytes(7, 200_000);
    place.write("site/open.bin", &content);
    let served = place.serve(&[]);
    let fresh = served.get("open.bin").header("etag");
    assert!(fresh.starts_with("W/\""), "what was just written may be written again unnoticed: {fresh}");
    let is_whole = |validator: &str, path: &str| {
        served.ask("GET", path, &[("range", "bytes=0-9"), ("if-range", validator)]).status == 200
    };
    assert!(is_whole(&fresh, "open.bin"), "RFC 9110 §13.1.5: a weak one never matches");
    // Some seconds later no change could go unnoticed.
    let settled = served.get_until("open.bin", "settles", |answer| answer.header("etag").starts_with('"'));
    let (etag, date) = (settled.header("etag"), settled.header("last-modified"));
    assert!(!is_whole(&etag, "open.bin") && !is_whole(&date, "open.bin"));
    assert!(is_whole("\"other\"", "open.bin") && is_whole("Sun, 06 Nov 1994 08:49:37 GMT", "open.bin"));
    let small = served.get("small.txt").header("etag");
    assert!(!is_whole(&small, "small.txt") && is_whole(&etag, "small.txt"));
    assert_same(&served.get("open.bin").content, &content, "open.bin");
}

#[test]
fn a_stated_length_is_kept_or_the_stream_is_reset() {
    const LENGTH: usize = 8 * 1024 * 1024;
    let place = Place::new();
    let path = place.site().join("moving.bin");
    let open = || OpenOptions::new().write(true).open(&path).expect("it is there");
    type Change<'a> = (&'a str, &'a dyn Fn(), bool);
    let changes: [Change<'_>; 6] = [
        ("nothing happens", &|| (), true),
        ("it grows", &|| append(&path, b"more"), true),
        ("it vanishes", &|| fs::remove_file(&path).expect("it was there"), true),
        ("it shrinks", &|| open().set_len(1024 * 1024).expect("it can"), false),
        ("it is emptied", &|| open().set_len(0).expect("it can"), false),
        ("it is written over", &|| open().write_all(b"other").expect("it can"), false),
    ];
    let served = place.serve(&[]);
    for (what, change, is_whole) in changes {
        File::create(&path).and_then(|file| file.set_len(LENGTH as u64)).expect("it can be made");
        set_modified(&path, SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777));
        // No credit was given beyond what a connection begins with: the rest is still to be read.
        let (head, mut wire) = served.raw("/moving.bin");
        assert_eq!((head.kind, head.payload[0]), (kind::HEADERS, 0x88), "{what}");
        change();
        let end = read_to_end(&mut *wire).expect("whole frames");
        match end {
            End::Whole(bytes) => assert_eq!((bytes, is_whole), (LENGTH, true), "{what}"),
            End::Reset(bytes) => {
                assert!(bytes < LENGTH && !is_whole, "{what}: {end:?}");
                // Who asks again gets what is there now.
                let content = fs::read(&path).expect("it is there");
                assert_same(&served.get("moving.bin").content, &content, what);
            }
        }
        let _ = fs::remove_file(&path);
        let _ = served.get_until("moving.bin", "goes away", |answer| answer.status == 404);
    }
}

#[test]
fn a_file_that_is_held_and_changes_is_read_again() {
    let place = Place::new();
    let served = place.serve(&[]);
    let first = served.get("small.txt");
    for content in ["a feather of another kind.", "shorter"] {
        place.write("site/small.txt", content);
        let answer = served.get_until("small.txt", "changes", |answer| answer.text() == content);
        assert_ne!(answer.header("etag"), first.header("etag"));
        assert_eq!(answer.header("content-length"), content.len().to_string());
    }
    // The same content is the same, whenever it was written.
    place.write("site/small.txt", first.content.clone());
    let again = served.get_until("small.txt", "is as it was", |answer| answer.content == first.content);
    assert_eq!(again.header("etag"), first.header("etag"));
    fs::remove_file(place.site().join("small.txt")).expect("it was there");
    let _ = served.get_until("small.txt", "goes away", |answer| answer.status == 404);
}

#[test]
fn what_is_given_up_leaves_nothing_open() {
    let place = Place::new();
    let names: Vec<_> = (0..20).map(|number| format!("big-{number}.bin")).collect();
    names.iter().for_each(|name| place.write(&format!("site/{name}"), bytes(9, 1_000_000)));
    let served = place.serve(&[]);
    names.iter().for_each(|name| assert_eq!(served.get(name).status, 200));
    let before = process::held(served.id()).descriptors;
    // Each is held already, so what is more from now on is connections, or has leaked.
    for name in names.iter().cycle().take(200) {
        let (head, wire) = served.raw(&format!("/{name}"));
        assert_eq!(head.kind, kind::HEADERS);
        drop(wire);
    }
    let is_back = || Some(process::held(served.id()).descriptors).filter(|now| *now <= before);
    let after = poll::within(Duration::from_secs(10), is_back);
    assert!(after.is_some(), "{before} descriptors before, {:?} after", process::held(served.id()));
    for name in names {
        fs::remove_file(place.site().join(&name)).expect("it was there");
        let _ = served.get_until(&name, "goes away", |answer| answer.status == 404);
    }
    let without = process::held(served.id()).descriptors;
    assert_eq!(without, before - 20, "files that are gone are let go");
}

#[test]
fn every_request_is_a_line_of_the_log() {
    let place = Place::new();
    let mut served = place.serve(&["--log"]);
    let (first, _) = served.raw("/small.txt?a=secret");
    assert_eq!((first.kind, first.payload[0]), (kind::HEADERS, 0x88));
    let (absent, _) = served.raw("/\"b\\");
    assert_eq!((absent.kind, absent.payload[0]), (kind::HEADERS, 0x8d));
    assert_eq!(served.ask("HEAD", "small.txt", &[]).status, 200);
    assert_eq!(served.ask("GET", "small.txt", &[("range", "bytes=1-4")]).status, 206);
    assert_eq!(served.ask("DELETE", "absent", &[]).status, 405);
    let (_, wire) = served.raw("/a%20&%20b/");
    drop(wire);
    for (request, answer) in [
        // What a query says may be a secret.
        ("\"GET /small.txt?a=… HTTP/2\"", " 200 26 0."),
        ("\"GET /\\\"b\\\\ HTTP/2\"", " 404 "),
        ("\"HEAD /small.txt HTTP/2\"", " 200 0 0."),
        ("\"GET /small.txt HTTP/2\"", " 206 4 0."),
        ("\"DELETE /absent HTTP/2\"", " 405 23 0."),
    ] {
        let line = served.wait_for_line(|line| line.contains(request));
        assert!(line.starts_with("127.0.0.1 - - [") && line.contains(" +0000] "), "{line}");
        let (_, rest) = line.split_once(request).expect("it is there");
        let is_whole = !rest.ends_with("cut off") && !rest.ends_with("client left");
        assert!(rest.starts_with(answer) && is_whole, "{line}");
    }
    // A request whose client has gone is logged as such.
    File::create(place.site().join("big.bin"))
        .and_then(|file| file.set_len(1 << 30))
        .expect("it can be made");
    let (_, wire) = served.raw("/big.bin");
    drop(wire);
    let line = served.wait_for_line(|line| line.contains("\"GET /big.bin HTTP/2\" 200 "));
    assert!(line.ends_with(" client left"), "{line}");
}

#[test]
fn what_cannot_be_served_is_said() {
    let folder = Folder::new();
    let file = folder.write("file", "x");
    for path in [file, folder.join("absent")] {
        let path = path.to_str().expect("a readable path");
        let outcome = alula::run(["serve", "--listen", "127.0.0.1:0", path]);
        assert_eq!(outcome.code, Some(1), "{outcome}");
        assert!(outcome.stderr.starts_with("alula: ") && outcome.stderr.contains(path), "{outcome}");
    }
}

fn set_modified(path: &Path, time: SystemTime) {
    let file = OpenOptions::new().write(true).open(path);
    file.and_then(|file| file.set_modified(time))
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

fn append(path: &Path, bytes: &[u8]) {
    let file = OpenOptions::new().append(true).open(path);
    file.and_then(|mut file| file.write_all(bytes))
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
