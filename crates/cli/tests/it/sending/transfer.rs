//! Conditions and limits of transfers, with curl beside them where it is installed.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;
use std::{fs, thread};

use crate::support::beside::{both, recording, strings};
use crate::support::{Folder, PATIENCE, answering, answering_each, run};

const FINE: &str = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\nfine";
const TAGGED: &str = "HTTP/1.1 200 OK\r\netag: \"a\"\r\nlast-modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n\
                      content-length: 4\r\nconnection: close\r\n\r\nfine";
const CUT: &str = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\nconnection: close\r\n\r\nhalf";
const SAME: &str = "HTTP/1.1 304 Not Modified\r\nconnection: close\r\n\r\n";
const BUSY: &str = "HTTP/1.1 503 Busy\r\ncontent-length: 4\r\nconnection: close\r\n\r\nbusy";

/// The values of the conditional fields that these words send.
fn conditions(flags: &[&str]) -> Vec<Vec<String>> {
    let heads = std::cell::RefCell::new(Vec::new());
    for ended in both(|| {
        let (url, seen) = recording(vec![FINE]);
        heads.borrow_mut().push(seen);
        [strings(flags), vec![url]].concat()
    }) {
        ended.expect(0);
    }
    let fields =
        |head: String| head.lines().filter(|line| line.starts_with("if-")).map(str::to_owned).collect();
    heads.into_inner().iter().map(|seen| fields(seen.recv_timeout(PATIENCE).unwrap())).collect()
}

#[test]
fn requests_are_conditional_as_with_curl() {
    let folder = Folder::new("conditions");
    let file = folder.write("file", "");
    let times = fs::File::options().write(true).open(&file).unwrap();
    times.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(784_111_777)).unwrap();
    let (tag, none, absent) =
        (folder.write("tag", "\"a\"\n"), folder.write("none", ""), folder.path("absent"));
    let since = "if-modified-since: sun, 06 nov 1994 08:49:37 gmt";
    for (flags, expected) in [
        (&["-z", "Sun, 06 Nov 1994 08:49:37 GMT"][..], Some(since)),
        (&["-z", "6 Nov 1994 09:49:37 +0100"], Some(since)),
        (&["-z", &file], Some(since)),
        (&["-z", "-19941106"], Some("if-unmodified-since: sun, 06 nov 1994 00:00:00 gmt")),
        (&["-z", &absent], None),
        (&["-z", "19941106", "-H", "If-Modified-Since: x"], Some("if-modified-since: x")),
        (&["--etag-compare", &tag], Some("if-none-match: \"a\"")),
        (&["--etag-compare", &none], Some("if-none-match: \"\"")),
        (&["--etag-compare", &absent, "--etag-save", &absent], Some("if-none-match: \"\"")),
    ] {
        let _ = fs::remove_file(&absent);
        for fields in conditions(flags) {
            assert_eq!(fields.first().map(String::as_str), expected, "{flags:?}");
        }
    }
    let warned = run(&["get", "-z", "nobody.txt", &answering(FINE)]).expect(0);
    assert!(warned.stderr.contains("neither a date nor a file"), "{}", warned.stderr);
}

#[test]
fn nothing_new_leaves_the_file_as_it_is() {
    let folder = Folder::new("nothing-new");
    let out = folder.path("out");
    for (answer, flags, status) in
        [(SAME, &[][..], "304"), (TAGGED, &["-z", "19941107"], "304"), (TAGGED, &["-z", "-19941105"], "304")]
    {
        for ended in both(|| {
            folder.write("out", "old");
            [strings(flags), strings(&["-o", &out, "-w", "%{http_code}", &answering(answer)])].concat()
        }) {
            assert_eq!((ended.code, ended.text()), (Some(0), status), "{flags:?}");
            assert_eq!(folder.read("out"), b"old", "{flags:?}");
        }
    }
    for ended in both(|| strings(&["-z", "19941105", "-o", &out, &answering(TAGGED)])) {
        ended.expect(0);
        assert_eq!(folder.read("out"), b"fine");
    }
}

#[test]
fn the_etag_and_the_time_are_kept() {
    let folder = Folder::new("kept");
    let (tag, out) = (folder.path("tag"), folder.path("out"));
    for (answer, kept) in [(TAGGED, "\"a\"\n"), (FINE, "")] {
        for ended in both(|| {
            folder.write("tag", "\"before\"\n");
            strings(&["--etag-save", &tag, "-R", "-o", &out, &answering(answer)])
        }) {
            ended.expect(0);
            assert_eq!(folder.read("tag"), kept.as_bytes());
            let modified = fs::metadata(&out).unwrap().modified().unwrap();
            let seconds = modified.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
            assert_eq!(seconds == 784_111_777, answer == TAGGED);
            fs::remove_file(&out).unwrap();
        }
    }
    for flags in [&["--etag-save", "/no such/tag"][..], &["--etag-compare", "/no such/tag"]] {
        for ended in both(|| [strings(flags), vec![answering(FINE)]].concat()) {
            ended.expect(26);
        }
    }
}

#[test]
fn what_is_too_large_is_not_written() {
    let folder = Folder::new("too-large");
    let out = folder.path("out");
    for (max, code) in [("3", 63), ("4", 0), ("1k", 0), ("0", 0)] {
        for ended in both(|| strings(&["--max-filesize", max, "-o", &out, &answering(FINE)])) {
            ended.expect(code);
            assert_eq!(Path::new(&out).exists(), code == 0, "{max}");
            let _ = fs::remove_file(&out);
        }
    }
    let unstated = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nfine";
    run(&["get", "--max-filesize", "3", &answering(unstated)]).expect(11);
}

/// A server that sends a head and a little, and then waits for the client to go.
fn slow() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let _ = socket.read(&mut [0; 4096]);
        let _ = socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nsome");
        while socket.read(&mut [0; 4096]).is_ok_and(|bytes| bytes > 0) {}
    });
    url
}

#[test]
fn what_is_too_slow_for_too_long_is_given_up() {
    for ended in both(|| strings(&["-Y", "1000", "-y", "2", &slow()])) {
        ended.expect(28);
    }
    run(&["get", "-Y", "0", "-y", "1", "-m", "3", &slow()]).expect(6);
    let ended = run(&["get", "-Y", "1k", "-y", "1", &slow()]).expect(6);
    assert!(ended.stderr.contains("fewer than 1024 bytes a second"), "{}", ended.stderr);
}

#[test]
fn files_are_removed_or_spared() {
    let folder = Folder::new("spared");
    let out = folder.path("out");
    for (url, code, is_there) in [
        (answering as fn(&'static str) -> String, 18, false),
        (|_| "http://127.0.0.1:1/".to_owned(), 7, true),
    ] {
        for ended in both(|| {
            folder.write("out", "old");
            strings(&["--remove-on-error", "-o", &out, &url(CUT)])
        }) {
            ended.expect(code);
            assert_eq!(Path::new(&out).exists(), is_there, "{code}");
        }
    }
    folder.write("out", "old");
    for (ended, name) in
        both(|| strings(&["--no-clobber", "-o", &out, &answering(FINE), "-w", "%{filename_effective}"]))
            .zip(["out.1", "out.2"])
    {
        assert_eq!((ended.code, ended.text()), (Some(0), &*folder.path(name)));
        assert_eq!((folder.read("out"), folder.read(name)), (b"old".to_vec(), b"fine".to_vec()));
    }
    for number in 3..=100 {
        folder.write(&format!("out.{number}"), "old");
    }
    for ended in both(|| strings(&["--no-clobber", "-o", &out, &answering(FINE)])) {
        ended.expect(23);
    }
}

#[test]
fn all_errors_are_tried_again_where_that_is_asked_for() {
    let folder = Folder::new("all-errors");
    let out = folder.path("out");
    let missing = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    for (answers, flags, code) in [
        ([CUT, BUSY, FINE], &["--retry", "2", "--retry-all-errors"][..], 0),
        ([CUT, CUT, FINE], &["--retry", "1", "--retry-all-errors"], 18),
        ([missing, missing, FINE], &["-f", "--retry", "2", "--retry-all-errors"], 0),
        ([CUT, FINE, FINE], &["-d", "x", "--retry", "1", "--retry-all-errors"], 0),
        ([BUSY, FINE, FINE], &["--retry", "1", "--retry-max-time", "60"], 0),
    ] {
        for ended in both(|| {
            [strings(flags), strings(&["--retry-delay", "1", "-o", &out, &answering_each(answers)])].concat()
        }) {
            assert_eq!(ended.code, Some(code), "{flags:?} {}", ended.stderr);
            assert_eq!(folder.read("out"), if code == 0 { b"fine" } else { b"half" }, "{flags:?}");
        }
    }
    let url = answering_each([BUSY, FINE]);
    let args =
        ["get", &url, "--retry", "1", "--retry-max-time", "1", "--retry-delay", "2", "-w", "%{num_retries}"];
    assert_eq!(run(&args).expect(0).text(), "busy0");
    let url = answering_each([CUT, FINE]);
    let args =
        ["get", &url, "--retry", "1", "--retry-all-errors", "--retry-delay", "0.01", "-w", "%{num_retries}"];
    let ended = run(&args).expect(0);
    assert_eq!(ended.text(), "halffine1");
    assert!(ended.stderr.contains("; trying again in 0.01 s\n"), "{}", ended.stderr);
}

/// The heads of requests that a server has seen, and its answers to them in turn.
fn cut_downloads(flags: &[&str], answers: Vec<&'static str>) -> (crate::support::Ended, Vec<String>) {
    let count = answers.len();
    let (url, seen) = recording(answers);
    let ended = run(&[&["get", "-s", "--retry-delay", "0.01", &url], flags].concat());
    let heads = (0..count).map_while(|_| seen.recv_timeout(Duration::from_millis(100)).ok()).collect();
    (ended, heads)
}

#[test]
fn a_download_that_breaks_off_is_gone_on_with_where_that_is_safe() {
    const TAG: &str = "HTTP/1.1 200 OK\r\netag: \"a\"\r\ncontent-length: 9\r\nconnection: close\r\n\r\nhalf";
    const WEAK: &str =
        "HTTP/1.1 200 OK\r\netag: W/\"a\"\r\ncontent-length: 9\r\nconnection: close\r\n\r\nhalf";
    const DATE: &str = "HTTP/1.1 200 OK\r\ndate: Sun, 06 Nov 1994 08:49:39 GMT\r\nlast-modified: Sun, 06 Nov 1994 08:49:37 GMT\r\ncontent-length: 9\r\nconnection: close\r\n\r\nhalf";
    const REST: &str = "HTTP/1.1 206 Partial Content\r\netag: \"a\"\r\ncontent-range: bytes 4-8/9\r\ncontent-length: 5\r\nconnection: close\r\n\r\n whol";
    const CUT_REST: &str = "HTTP/1.1 206 Partial Content\r\netag: \"a\"\r\ncontent-range: bytes 4-8/9\r\ncontent-length: 5\r\nconnection: close\r\n\r\n wh";
    const LAST: &str = "HTTP/1.1 206 Partial Content\r\netag: \"a\"\r\ncontent-range: bytes 7-8/9\r\ncontent-length: 2\r\nconnection: close\r\n\r\nle";
    const OTHER: &str = "HTTP/1.1 206 Partial Content\r\netag: \"b\"\r\ncontent-range: bytes 4-8/9\r\ncontent-length: 5\r\nconnection: close\r\n\r\n other";
    // A server may send less than it was asked for (RFC 9110 §15.3.7).
    const SHORT: &str = "HTTP/1.1 206 Partial Content\r\netag: \"a\"\r\ncontent-range: bytes 4-6/9\r\ncontent-length: 3\r\nconnection: close\r\n\r\n wh";
    const SHORTER: &str = "HTTP/1.1 206 Partial Content\r\netag: \"a\"\r\ncontent-range: bytes 7-7/*\r\ncontent-length: 1\r\nconnection: close\r\n\r\nl";
    const LONGER: &str = "HTTP/1.1 206 Partial Content\r\netag: \"a\"\r\ncontent-range: bytes 4-8/9\r\ncontent-length: 6\r\nconnection: close\r\n\r\n whole";
    const LONGER_CHUNK: &str = "HTTP/1.1 206 Partial Content\r\netag: \"a\"\r\ncontent-range: bytes 4-8/9\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n6\r\n whole\r\n0\r\n\r\n";
    const OF_LONGER: &str = "HTTP/1.1 206 Partial Content\r\netag: \"a\"\r\ncontent-range: bytes 4-9/10\r\ncontent-length: 6\r\nconnection: close\r\n\r\n whole";
    let folder = Folder::new("cut");
    let out = folder.path("out");
    for (answers, code, content, asked) in [
        (vec![TAG, REST], 0, "half whol", &["", "bytes=4-,\"a\""][..]),
        (vec![TAG, CUT_REST, LAST], 0, "half whle", &["", "bytes=4-,\"a\"", "bytes=7-,\"a\""]),
        (vec![TAG, SHORT, LAST], 0, "half whle", &["", "bytes=4-,\"a\"", "bytes=7-,\"a\""]),
        (vec![TAG, SHORT, SHORTER], 7, "half whl", &["", "bytes=4-,\"a\"", "bytes=7-,\"a\""]),
        (vec![TAG, LONGER], 10, "half", &["", "bytes=4-,\"a\""]),
        (vec![TAG, LONGER_CHUNK], 10, "half", &["", "bytes=4-,\"a\""]),
        (vec![TAG, OF_LONGER], 10, "half", &["", "bytes=4-,\"a\""]),
        (vec![TAG, BUSY, REST], 0, "half whol", &["", "bytes=4-,\"a\"", "bytes=4-,\"a\""]),
        (vec![TAG, FINE], 0, "fine", &["", "bytes=4-,\"a\""]),
        (vec![TAG, OTHER], 10, "half", &["", "bytes=4-,\"a\""]),
        (vec![DATE, REST], 0, "half whol", &["", "bytes=4-,sun, 06 nov 1994 08:49:37 gmt"]),
        (vec![WEAK, FINE], 0, "fine", &["", ""]),
        (vec![CUT, FINE], 0, "fine", &["", ""]),
        (vec![CUT, CUT, CUT, FINE], 7, "half", &["", "", ""]),
    ] {
        folder.write("out", "old content");
        let (ended, heads) = cut_downloads(&["--retry", "2", "-o", &out], answers.clone());
        assert_eq!(ended.code, Some(code), "{answers:?}: {}", ended.stderr);
        assert_eq!(String::from_utf8(folder.read("out")).unwrap(), content, "{answers:?}");
        let field = |head: &str, name: &str| {
            let line = head.lines().find_map(|line| line.strip_prefix(name).map(str::to_owned));
            line.unwrap_or_default()
        };
        let asked_for = |head: &String| match field(head, "range: ") {
            range if range.is_empty() => range,
            range => format!("{range},{}", field(head, "if-range: ")),
        };
        assert_eq!(heads.iter().map(asked_for).collect::<Vec<_>>(), asked, "{answers:?}");
    }

    // What -C found stays where the rest is not what it was, and so does a head that was asked for.
    folder.write("out", "half");
    let (ended, _) = cut_downloads(&["--retry", "1", "-C", "-", "-o", &out], vec![CUT_REST, FINE]);
    assert_eq!((ended.code, folder.read("out")), (Some(10), b"half".to_vec()), "{}", ended.stderr);
    let (ended, _) = cut_downloads(&["--retry", "1", "-C", "-", "-o", &out], vec![CUT_REST, LAST]);
    assert_eq!((ended.code, folder.read("out")), (Some(0), b"half whle".to_vec()), "{}", ended.stderr);
    folder.write("out", "half");
    for (answer, code, content) in [(SHORT, 7, "half wh"), (LAST, 0, "half whle")] {
        let ended = run(&["get", "-s", "-C", "-", "-o", &out, &answering(answer)]);
        assert_eq!((ended.code, folder.read("out")), (Some(code), content.into()), "{}", ended.stderr);
    }
    let (ended, _) = cut_downloads(&["--retry", "1", "-i", "-o", &out], vec![TAG, REST]);
    let text = String::from_utf8(folder.read("out")).unwrap();
    assert!(ended.code == Some(0) && text.starts_with("HTTP/1.1 200 OK\n"), "{text}");
    assert!(text.ends_with("\n\nhalf whol"), "{text}");

    // Nobody takes back what a pipe was given.
    let (ended, heads) = cut_downloads(&["--retry", "2"], vec![TAG, REST]);
    assert_eq!((ended.code, ended.text(), heads.len()), (Some(7), "half", 1));
}

#[test]
fn the_first_failure_may_be_the_end() {
    let nobody = "http://127.0.0.1:1/";
    for (args, code, text) in [
        (&["--fail-early", nobody][..], 7, ""),
        (&[nobody], 7, "fine"),
        (&["--fail-early", nobody, "--next"], 7, ""),
        (&["--fail-early", nobody, "-:"], 7, ""),
        (&[nobody, "-:"], 7, "fine"),
    ] {
        for ended in both(|| [strings(args), vec![answering(FINE)]].concat()) {
            // curl's own code is that of the last one.
            assert!(ended.code == Some(code) || ended.text() == "fine", "{args:?}");
            assert_eq!(ended.text(), text, "{args:?}");
        }
    }
}

#[test]
fn there_may_be_no_limits() {
    let redirect = "HTTP/1.1 302 Found\r\nlocation: /x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    for ended in both(|| {
        let url = answering_each([redirect, FINE]);
        strings(&["-m", "0", "--connect-timeout", "0", "--max-redirs", "-1", "-L", &url])
    }) {
        assert_eq!(ended.expect(0).text(), "fine");
    }
}

#[cfg(unix)]
#[test]
fn what_is_said_may_go_elsewhere() {
    let folder = Folder::new("stderr");
    let said = folder.path("said");
    for ended in both(|| strings(&["--stderr", &said, "http://127.0.0.1:1/"])) {
        assert_eq!((ended.code, &*ended.stderr), (Some(7), ""));
        assert!(!folder.read("said").is_empty());
        fs::write(&said, "").unwrap();
    }
    for ended in both(|| strings(&["--stderr", "-", "http://127.0.0.1:1/"])) {
        assert!(!ended.expect(7).stdout.is_empty());
    }
    run(&["get", "--stderr", "/no such/file", &answering(FINE)]).expect(1);
}
