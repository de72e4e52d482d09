//! Where responses go: files, several of them, and files that are there in part.

use std::io::{Read as _, Write as _};
use std::path::Path;

use crate::support::{Echo, Folder, alula, noise, run, wait};

#[test]
fn several_urls_go_to_their_files_over_one_connection() {
    let (site, folder) = (Folder::new("several-site"), Folder::new("several"));
    site.write("one.txt", "one");
    site.write("two.txt", "two");
    let server = Echo::serving(&site, &[]);
    let url = |name| format!("{}/{name}?q", server.http);
    let into = folder.path("new/deep");
    let args =
        ["get", &url("one.txt"), &url("two.txt"), &url("one.txt"), "-o", "first", "-OO", "--create-dirs"];
    let ended =
        run(&[&args[..], &["--output-dir", &into, "-vv", "--http2-prior-knowledge"]].concat()).expect(0);
    assert_eq!(ended.text(), "");
    for (name, content) in [("first", "one"), ("two.txt", "two"), ("one.txt", "one")] {
        assert_eq!(folder.read(&format!("new/deep/{name}")), content.as_bytes());
    }
    // The third request on the one connection.
    assert!(ended.stderr.contains("stream=5"), "{}", ended.stderr);
}

#[test]
fn the_first_failure_counts_and_stops_nothing() {
    let (site, folder) = (Folder::new("failure-site"), Folder::new("failure"));
    site.write("there", "there");
    let server = Echo::serving(&site, &[]);
    let out = folder.path("out");
    let (absent, there) = (format!("{}/absent", server.http), format!("{}/there", server.http));
    let ended = run(&["get", "-f", &absent, "http://127.0.0.1:1/", &there, "-w", "%{http_code} "]).expect(9);
    assert_eq!(ended.text(), "404 000 there200 ");
    let said = format!(
        "alula: GET {absent}: the server answered 404 Not Found\n\
         alula: GET http://127.0.0.1:1/: could not connect: connection refused (nothing listens on that port)\n"
    );
    assert_eq!(ended.stderr, said);
    assert_eq!(run(&["get", "-fs", &absent]).expect(9).stderr, "");
    assert!(!run(&["get", "-fsS", &absent, "-o", &out]).expect(9).stderr.is_empty());
    assert!(!Path::new(&out).exists());
}

#[test]
fn what_is_missing_is_appended_and_nothing_else() {
    let (site, folder) = (Folder::new("resume-site"), Folder::new("resume"));
    let bytes = noise(300_000);
    site.write("large", &bytes);
    let server = Echo::serving(&site, &[]);
    let url = format!("{}/large", server.http);
    let out = folder.write("large", &bytes[..100_000]);
    let ended = run(&["get", "-C", "-", "-o", &out, &url, "-w", "%{http_code} %{size_download}"]).expect(0);
    assert_eq!(ended.text(), "206 200000");
    assert!(folder.read("large") == bytes, "the file is whole");
    let again = run(&["get", "-C", "-", "-o", &out, &url, "-f", "-w", "%{http_code}"]).expect(0);
    assert_eq!(again.text(), "416", "nothing is missing");
    assert!(folder.read("large") == bytes);

    let new = folder.path("new");
    run(&["get", "-C", "-", "-o", &new, &url]).expect(0);
    assert!(folder.read("new") == bytes, "begun");
    run(&["get", "-C", "5", "-o", &new, &url]).expect(2);

    folder.write("longer", noise(300_001));
    for (file, path) in [("longer", "large"), ("large", "absent")] {
        let out = folder.path(file);
        let before = folder.read(file);
        let ended = run(&["get", "-C", "-", "-o", &out, &format!("{}/{path}", server.http)]).expect(10);
        assert!(folder.read(file) == before, "{}", ended.stderr);
    }
    assert_eq!(run(&["get", "-C", "299990", &url]).expect(0).stdout, bytes[299_990..]);
}

#[test]
fn a_server_that_cannot_go_on_is_said_and_the_file_left_alone() {
    let (echo, folder) = (Echo::start(&[]), Folder::new("cannot"));
    let out = folder.write("out", "half");
    let ended = echo.ask("get", "/", &["-C", "-", "-o", &out]).expect(10);
    assert!(ended.stderr.contains("start over"), "{}", ended.stderr);
    assert_eq!(folder.read("out"), b"half");
}

#[test]
fn the_server_names_the_file_only_within_the_folder() {
    let folder = Folder::new("named");
    for (disposition, status, name) in [
        ("attachment; filename=\"given.txt\"", 0, "given.txt"),
        ("attachment; filename=\"../outside\"", 0, "typed"),
        ("attachment; filename=\"/etc/outside\"", 0, "typed"),
        ("attachment; filename=\".hidden\"", 0, "typed"),
        ("attachment; filename=\"-rf\"", 0, "typed"),
        ("attachment; filename=\"CON\"", 0, "typed"),
        ("attachment; filename=\"lpt1.txt\"", 0, "typed"),
        ("attachment; filename*=UTF-8''a%0Ab", 0, "typed"),
        ("attachment; filename*=UTF-8''a%C2%9B31m", 0, "typed"),
        ("attachment; filename*=UTF-8''a%E2%80%AEtxt.exe", 0, "typed"),
        (&format!("attachment; filename={}", "x".repeat(300)), 0, "typed"),
        ("inline", 0, "typed"),
        ("attachment; filename=\"given.txt\"", 1, "given.txt"),
    ] {
        let url = crate::support::answering(format!(
            "HTTP/1.1 200 OK\r\ncontent-disposition: {disposition}\r\ncontent-length: 3\r\n\r\nabc"
        ));
        let _ = std::fs::remove_file(folder.path("typed"));
        let child =
            alula(&["get", "-OJ", &format!("{url}typed")]).current_dir(folder.path("")).spawn().unwrap();
        let ended = wait(child).expect(status);
        assert_eq!(folder.read(name), b"abc", "{disposition}: {}", ended.stderr);
        assert!(!Path::new(&folder.path("../outside")).exists());
    }
}

/// `-O -J -C -` appended to any file that the server named, through links too: a server could add to
/// `.ssh/authorized_keys`.
#[test]
fn a_name_from_the_server_opens_nothing_that_is_there() {
    let folder = Folder::new("new-only");
    let rest = "HTTP/1.1 206 Partial Content\r\ncontent-disposition: attachment; filename=given\r\n\
                content-range: bytes 5-7/8\r\ncontent-length: 3\r\n\r\nabc";
    let whole =
        "HTTP/1.1 200 OK\r\ncontent-disposition: attachment; filename=given\r\ncontent-length: 3\r\n\r\nabc";
    folder.write("typed", "12345");
    folder.write("victim", "12345");
    let in_folder = |args: &[&str]| wait(alula(args).current_dir(folder.path("")).spawn().unwrap());
    let ways = if cfg!(unix) {
        &["a file", "a folder", "a link", "a link to nothing", "a fifo"][..]
    } else {
        &["a file"]
    };
    for what in ways {
        let path = folder.path("given");
        put(what, &path);
        for (answer, args, code) in
            [(rest, &["-OJC", "-"][..], 2), (rest, &["-OJ", "-C5"], 2), (whole, &["-OJ"], 1)]
        {
            let url = crate::support::answering(answer) + "typed";
            let ended = in_folder(&[&["get", &url, "-m", "20"], args].concat()).expect(code);
            assert!(code == 2 || ended.stderr.contains("given"), "{what}: {}", ended.stderr);
            assert_eq!(folder.read("victim"), b"12345", "{what} {args:?}");
            assert_eq!(folder.read("typed"), b"12345", "{what} {args:?}");
            assert!(!Path::new(&folder.path("absent")).exists(), "{what} {args:?}");
        }
        std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir(&path)).unwrap();
    }
    // A name that the user has chosen is no matter for the server.
    let mine = folder.path("mine");
    let url = crate::support::answering(whole) + "typed";
    in_folder(&["get", &url, "-o", &mine, "-OJ"]).expect(0);
    assert_eq!(folder.read("mine"), b"abc");
    assert!(!Path::new(&folder.path("given")).exists());
}

fn put(what: &str, path: &str) {
    match what {
        "a file" => std::fs::write(path, "12345").unwrap(),
        "a folder" => std::fs::create_dir(path).unwrap(),
        #[cfg(unix)]
        "a link" => std::os::unix::fs::symlink("victim", path).unwrap(),
        #[cfg(unix)]
        "a link to nothing" => std::os::unix::fs::symlink("absent", path).unwrap(),
        _ => assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success()),
    }
}

#[test]
fn a_file_that_has_changed_meanwhile_is_not_appended_to() {
    let folder = Folder::new("meanwhile");
    let out = folder.write("out", "12345");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let grown = out.clone();
    let server = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let _ = socket.read(&mut [0; 4096]).unwrap();
        std::fs::write(grown, "123456").unwrap();
        let head =
            "HTTP/1.1 206 Partial Content\r\ncontent-range: bytes 5-7/8\r\ncontent-length: 3\r\n\r\nabc";
        socket.write_all(head.as_bytes()).unwrap();
    });
    let ended = run(&["get", "-C", "-", "-o", &out, &url]).expect(10);
    server.join().unwrap();
    assert!(ended.stderr.contains("had 5 bytes and has 6 now"), "{}", ended.stderr);
    assert_eq!(folder.read("out"), b"123456");
}

#[test]
fn the_name_of_a_url_is_decoded_unless_that_hides_something() {
    let folder = Folder::new("decoded");
    for (segment, name) in [
        ("%C3%B6.txt", "ö.txt"),
        ("a%20b", "a b"),
        ("a%2Fb", "a%2Fb"),
        ("%2Ehidden", "%2Ehidden"),
        ("a%C2%9B31m", "a%C2%9B31m"),
        ("%FF", "%FF"),
    ] {
        let url = crate::support::answering("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc") + segment;
        run(&["get", "-O", "--output-dir", &folder.path(""), &url]).expect(0);
        assert_eq!(folder.read(name), b"abc", "{segment}");
    }
    assert_eq!(std::fs::read_dir(folder.path("")).unwrap().count(), 6);
}

#[test]
fn a_part_can_be_asked_for() {
    let site = Folder::new("part");
    site.write("ten", "0123456789");
    let server = Echo::serving(&site, &[]);
    let url = format!("{}/ten", server.http);
    assert_eq!(run(&["get", "-r", "2-4", &url]).expect(0).text(), "234");
    assert_eq!(run(&["get", "-r", "-3", &url]).expect(0).text(), "789");
}

#[test]
fn a_failure_may_have_its_content_and_the_head_a_file_of_its_own() {
    let folder = Folder::new("dumped");
    let absent = "HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\n\r\nnone";
    let url = crate::support::answering(absent);
    let ended = run(&["get", "--fail-with-body", &url]).expect(9);
    assert_eq!(ended.text(), "none");
    assert_eq!(ended.stderr, format!("alula: GET {url}: the server answered 404 Not Found\n"));
    assert_eq!(run(&["get", "-f", &crate::support::answering(absent)]).expect(9).text(), "");
    let head = folder.path("head");
    assert_eq!(run(&["get", "-D", &head, &crate::support::answering(absent)]).expect(0).text(), "none");
    assert_eq!(folder.read("head"), b"HTTP/1.1 404 Not Found\ncontent-length: 4\n\n");
    let shown =
        run(&["get", "-D", "-", "-o", &folder.path("content"), &crate::support::answering(absent)]).expect(0);
    assert!(shown.text().starts_with("HTTP/1.1 404 Not Found\n"), "{}", shown.text());
}
