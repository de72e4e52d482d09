//! `alula serve --upload`: files by PUT and by a form.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Instant;

use socket2::{Domain, Socket, Type};

use crate::support::{Echo, Folder, PATIENCE, noise};

/// Sends content to a path by curl's words, and gives the status.
#[track_caller]
fn send(server: &Echo, method: &str, path: &str, args: &[&str]) -> String {
    let args = [args, &["-o", "/dev/null", "-w", "%{http_code}"]].concat();
    server.ask(method, path, &args).expect(0).text().to_owned()
}

/// The names in a folder, hidden ones too.
fn names(folder: &Folder) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder.path(""))
        .unwrap()
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn nothing_is_stored_unless_it_is_wanted() {
    let folder = Folder::new("upload-off");
    let server = Echo::serving(&folder, &[]);
    for method in ["PUT", "POST"] {
        let (head, _) = server.expect(method, "/a", &["content-length: 0"], 405);
        assert!(head.contains("allow: get, head, options\r\n"), "{head}");
    }
    assert!(!server.expect("GET", "/", &[], 200).1.contains("<form"));
    assert_eq!(names(&folder), Vec::<String>::new());
}

#[test]
fn a_file_is_put_whole_and_seen_at_once() {
    let folder = Folder::new("upload-put");
    fs::create_dir(folder.path("sub")).unwrap();
    let server = Echo::serving(&folder, &["--upload"]);
    assert!(!server.expect("GET", "/", &[], 200).1.contains("new"));
    server.expect("GET", "/new%20one", &[], 404);
    let large = noise(3_000_000);
    let file = folder.write("sub/source", &large);
    assert_eq!(send(&server, "put", "/new%20one", &["-T", &file]), "201");
    assert!(folder.read("new one") == large);
    assert!(server.ask("get", "/new%20one", &[]).expect(0).stdout == large);
    assert!(server.expect("GET", "/", &[], 200).1.contains("new one"), "the page is new");
    let (head, _) = server.expect("PUT", "/empty", &["content-length: 0"], 201);
    assert!(head.contains("location: /empty\r\n"), "{head}");
    assert_eq!(names(&folder), ["empty", "new one", "sub"]);
    // Neither by a second request nor by one that waits for the first.
    assert_eq!(send(&server, "put", "/new%20one", &["-d", "other"]), "409");
    assert_eq!(send(&server, "put", "/sub/deep", &["-d", "deep"]), "201");
    for (path, status) in [("/sub", 409), ("/sub/", 409), ("/none/a", 409), ("/empty/a", 409), ("/", 409)] {
        server.expect("PUT", path, &["content-length: 0"], status);
    }
    for path in
        ["/.hidden", "/..", "/%2e%2e/a", "/a%2fb", "/..%2fa", "/sub/../../a", "/a%00", "/a%0ab", "/%c2%9b31m"]
    {
        server.expect("PUT", path, &["content-length: 0"], 403);
    }
    server.expect("PUT", &format!("/{}", "n".repeat(300)), &["content-length: 0"], 403);
    server.expect("PUT", "/part", &["content-length: 0", "content-range: bytes 0-0/2"], 400);
    assert_eq!(names(&folder), ["empty", "new one", "sub"]);
    let (head, _) = server.expect("OPTIONS", "/", &[], 204);
    assert!(head.contains("allow: get, head, options, post, put\r\n"), "{head}");
}

#[test]
fn a_file_takes_the_place_of_another_on_demand() {
    let folder = Folder::new("upload-over");
    folder.write("a", "old");
    let server = Echo::serving(&folder, &["--upload", "--overwrite"]);
    let (head, _) = server.expect("GET", "/a", &[], 200);
    let etag = head.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap().to_owned();
    assert_eq!(send(&server, "put", "/a", &["-d", "first", "-H", "if-match: \"other\""]), "412");
    assert_eq!(send(&server, "put", "/a", &["-d", "first", "-H", "if-none-match: *"]), "412");
    assert_eq!(send(&server, "put", "/a", &["-d", "first", "-H", &format!("if-match: {etag}")]), "204");
    assert_eq!(server.expect("GET", "/a", &[], 200).1, "first");
    assert_eq!(send(&server, "put", "/b", &["-d", "new", "-H", "if-none-match: *"]), "201");
    fs::create_dir(folder.path("folder")).unwrap();
    assert_eq!(send(&server, "put", "/folder", &["-d", "new"]), "409");
    assert_eq!(names(&folder), ["a", "b", "folder"]);
}

/// Its name has a dot before it, and would be seen and replaced by anybody where such names are served.
#[test]
fn a_file_that_is_being_uploaded_is_nobodys() {
    let folder = Folder::new("upload-hidden");
    let server = Echo::serving(&folder, &["--upload", "--overwrite", "--dot-files"]);
    let mut socket = TcpStream::connect(server.http.trim_start_matches("http://")).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
        .write_all(b"PUT /a HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4\r\nconnection: close\r\n\r\nfo")
        .unwrap();
    let begun = std::time::Instant::now();
    while names(&folder).is_empty() {
        assert!(begun.elapsed() < PATIENCE);
        std::thread::yield_now();
    }
    let hidden = names(&folder).remove(0);
    assert!(hidden.starts_with(".alula-upload-"), "{hidden}");
    assert!(!server.expect("GET", "/", &[], 200).1.contains("alula-upload"));
    server.expect("GET", &format!("/{hidden}"), &[], 404);
    server.expect("PUT", &format!("/{hidden}"), &["content-length: 0"], 403);
    socket.write_all(b"ur").unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 201 "), "{answer}");
    assert_eq!((names(&folder), folder.read("a")), (vec!["a".to_owned()], b"four".to_vec()));
}

#[cfg(unix)]
#[test]
fn links_lead_no_upload_out_of_the_folder() {
    let (outside, folder) = (Folder::new("upload-outside"), Folder::new("upload-links"));
    outside.write("a", "outside");
    std::os::unix::fs::symlink(outside.path(""), folder.path("out")).unwrap();
    std::os::unix::fs::symlink(outside.path("a"), folder.path("link")).unwrap();
    std::os::unix::fs::symlink(outside.path("new"), folder.path("dangling")).unwrap();
    let server = Echo::serving(&folder, &["--upload"]);
    for path in ["/out/b", "/link", "/dangling"] {
        let status = send(&server, "put", path, &["-d", "new"]);
        assert!(["403", "409", "500"].contains(&&*status), "{path}: {status}");
    }
    let server = Echo::serving(&folder, &["--upload", "--overwrite"]);
    for path in ["/link", "/dangling"] {
        send(&server, "put", path, &["-d", "new"]);
    }
    assert_eq!((names(&outside), outside.read("a")), (vec!["a".to_owned()], b"outside".to_vec()));
    assert_eq!(folder.read("link"), b"new");
}

#[test]
fn uploads_are_bounded_and_leave_nothing_when_they_fail() {
    let (folder, sources) = (Folder::new("upload-bounds"), Folder::new("upload-bounds-sources"));
    let server = Echo::serving(&folder, &["--upload", "--max-body", "10"]);
    server.expect("PUT", "/a", &["content-length: 11"], 413);
    assert_eq!(send(&server, "put", "/a", &["-T", &sources.write("eleven", "eleven char")]), "413");
    assert_eq!(send(&server, "put", "/a", &["-d", "ten bytes"]), "201");
    // In chunks nobody knows the length before.
    let mut socket = TcpStream::connect(server.http.trim_start_matches("http://")).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let head =
        "PUT /b HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n";
    socket.write_all(head.as_bytes()).unwrap();
    socket.write_all(b"6\r\nsix he\r\n6\r\nre too\r\n0\r\n\r\n").unwrap();
    let mut answer = String::new();
    let _ = socket.read_to_string(&mut answer);
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    // A client that goes away in the middle.
    let mut socket = TcpStream::connect(server.http.trim_start_matches("http://")).unwrap();
    socket.write_all(b"PUT /c HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\nfive ").unwrap();
    drop(socket);
    server.expect("GET", "/c", &[], 404);
    let begun = std::time::Instant::now();
    while names(&folder) != ["a"] {
        assert!(begun.elapsed() < PATIENCE, "{:?}", names(&folder));
        std::thread::yield_now();
    }
}

#[test]
fn a_form_in_a_listing_sends_files() {
    let (folder, sources) = (Folder::new("upload-form"), Folder::new("upload-form-sources"));
    fs::create_dir(folder.path("sub")).unwrap();
    let server = Echo::serving(&folder, &["--upload"]);
    let page = server.expect("GET", "/sub/", &[], 200).1;
    assert!(page.contains("<form method=\"post\" enctype=\"multipart/form-data\">"), "{page}");
    let large = noise(400_000);
    let (source, big) = (sources.write("small", "small"), sources.write("big", &large));
    let parts = [format!("file=@{source};filename=one.txt"), format!("file=@{};filename=two.bin", big)];
    let args = ["-F", &parts[0], "-F", &parts[1], "-F", "other=text"];
    assert_eq!(send(&server, "post", "/sub/", &args), "303");
    assert_eq!(folder.read("sub/one.txt"), b"small");
    assert!(folder.read("sub/two.bin") == large);
    assert!(server.expect("GET", "/sub/", &[], 200).1.contains("two.bin"));
    assert_eq!(send(&server, "post", "/sub/", &args[..2]), "409");
    assert_eq!(fs::read_dir(folder.path("sub")).unwrap().count(), 2);
    let own = format!("origin: {}", server.http);
    let of_https = own.replace("http://", "https://");
    for (path, args, status) in [
        ("/sub", &args[..2], "409"),
        ("/none/", &args[..2], "409"),
        ("/sub/", &["-F", "other=text"], "400"),
        ("/sub/", &["-d", "a=b"], "415"),
        ("/sub/", &[&args[..2], &["-H", "origin: http://evil.example"]].concat(), "403"),
        ("/sub/", &[&args[..2], &["-H", "origin: null"]].concat(), "403"),
        ("/sub/", &[&args[..2], &["-H", &of_https]].concat(), "403"),
        ("/sub/", &[&args[..2], &["-H", "sec-fetch-site: cross-site"]].concat(), "403"),
        ("/sub/", &[&args[..2], &["-H", "sec-fetch-site: same-site", "-H", &own]].concat(), "403"),
        ("/sub/", &["-F", &format!("file=@{source};filename=.hidden")], "403"),
        ("/sub/", &["-F", &format!("file=@{source};filename=..")], "400"),
    ] {
        assert_eq!(send(&server, "post", path, args), status, "{path} {args:?}");
    }
    let climbing = format!("file=@{source};filename=../../three.txt");
    assert_eq!(send(&server, "post", "/sub/", &["-F", &climbing, "-H", &own]), "303");
    assert_eq!(folder.read("sub/three.txt"), b"small");
    assert_eq!(
        (names(&folder), fs::read_dir(folder.path("sub")).unwrap().count()),
        (vec!["sub".to_owned()], 3)
    );
}

/// A browser sends PUT for no page without a preflight, but `--cors` answers that one with yes.
#[test]
fn a_page_of_another_origin_stores_nothing_unless_it_is_named() {
    let folder = Folder::new("upload-origins");
    let app = ["-H", "origin: http://app.example"];
    let evil = ["-H", "origin: http://evil.example"];
    let cross = ["-H", "sec-fetch-site: cross-site"];
    for (flags, [of_app, of_evil]) in [
        (&["--upload", "--overwrite"][..], [false, false]),
        (&["--upload", "--overwrite", "--cors=http://app.example"], [true, false]),
        (&["--upload", "--overwrite", "--cors"], [false, false]),
    ] {
        let server = Echo::serving(&folder, flags);
        for (page, passes) in [
            (&[][..], true),
            (&app, of_app),
            (&[app, cross].concat(), of_app),
            (&evil, of_evil),
            (&[evil, cross].concat(), of_evil),
            (&cross, of_evil),
        ] {
            let put = send(&server, "put", "/name", &[&["-d", "new"], page].concat());
            let form = send(&server, "post", "/", &[&["-F", "file=new;filename=name"], page].concat());
            match passes {
                true => assert!(
                    ["201", "204"].contains(&&*put) && form == "303",
                    "{flags:?} {page:?}: {put} {form}"
                ),
                false => assert_eq!([put, form], ["403", "403"], "{flags:?} {page:?}"),
            }
        }
    }
}

#[test]
fn a_form_that_is_cut_or_malformed_leaves_the_file_that_is_there() {
    let (folder, sources) = (Folder::new("upload-cut"), Folder::new("upload-cut-sources"));
    let server = Echo::serving(&folder, &["--upload", "--overwrite"]);
    let begun = "--XX\r\ncontent-disposition: form-data; name=f; filename=good\r\n\r\ncut";
    for (row, end, status) in [
        ("a delimiter that goes on", "\r\n--XX?\r\nmore\r\n--XX--\r\n", "400"),
        ("a last delimiter that goes on", "\r\n--XX--more\r\n--XX--\r\n", "400"),
        ("hyphens behind a blank", "\r\n--XX --\r\n", "400"),
        ("no line end", "\r\n--XX", "400"),
        ("half a line end", "\r\n--XX\r", "400"),
        ("one hyphen", "\r\n--XX-", "400"),
        ("blanks and no line end", "\r\n--XX \t", "400"),
        ("no delimiter", "", "400"),
        ("the last delimiter", "\r\n--XX--", "303"),
        ("the last delimiter and blanks", "\r\n--XX-- \t", "303"),
        ("the last delimiter, blanks and a line end", "\r\n--XX-- \t\r\n", "303"),
        ("the last delimiter and an epilogue", "\r\n--XX--\r\nepilogue", "303"),
        ("blanks behind a delimiter", "\r\n--XX \t\r\n\r\n\r\n--XX--\r\n", "303"),
    ] {
        let good = folder.write("good", "good");
        let content = format!("@{}", sources.write("form", [begun, end].concat()));
        let form = ["-H", "content-type: multipart/form-data; boundary=XX", "--data-binary", &content];
        assert_eq!(send(&server, "post", "/", &form), status, "{row}");
        let expected = if status == "303" { "cut" } else { "good" };
        assert_eq!(fs::read_to_string(good).unwrap(), expected, "{row}");
        assert_eq!(names(&folder), ["good"], "{row}");
    }
}

#[test]
fn the_extended_name_of_a_file_is_its_name() {
    let (folder, sources) = (Folder::new("upload-names"), Folder::new("upload-names-sources"));
    let server = Echo::serving(&folder, &["--upload"]);
    for (row, parameters, status, name) in [
        (
            "beside an encoded word",
            "filename=\"=?utf-8?b?w7YudHh0?=\"; filename*=UTF-8''%C3%B6.txt",
            "303",
            "ö.txt",
        ),
        ("before it", "filename*=utf-8'de'%c3%a4.txt; filename=\"=?utf-8?q?=c3=a4.txt?=\"", "303", "ä.txt"),
        ("alone", "filename*=utf-8''alone.txt", "303", "alone.txt"),
        ("not to be decoded", "filename*=utf-8''%ff; filename=plain.txt", "303", "plain.txt"),
        ("a path", "filename=a; filename*=utf-8''..%2f..%2fclimbs.txt", "303", "climbs.txt"),
        ("a hidden file", "filename=a; filename*=utf-8''.hidden", "403", ""),
        ("a control", "filename=a; filename*=utf-8''a%0ab", "303", "ab"),
        ("an input that was left empty", "filename=\"\"", "400", ""),
    ] {
        let form = format!(
            "--XX\r\ncontent-disposition: form-data; name=f; {parameters}\r\n\r\n{row}\r\n--XX--\r\n"
        );
        let content = format!("@{}", sources.write("form", form));
        let form = ["-H", "content-type: multipart/form-data; boundary=XX", "--data-binary", &content];
        assert_eq!(send(&server, "post", "/", &form), status, "{row}");
        if !name.is_empty() {
            assert_eq!(names(&folder), [name], "{row}");
            assert_eq!(folder.read(name), row.as_bytes());
            fs::remove_file(folder.path(name)).unwrap();
        }
        assert_eq!(names(&folder), Vec::<String>::new(), "{row}");
    }
}

/// A page whose name was bound anew to a loopback address asks a server there in its own name, and a browser
/// holds it for its own.
#[test]
fn a_server_of_uploads_on_loopback_answers_to_local_names_alone() {
    let folder = Folder::new("upload-host");
    folder.write("a.txt", "a");
    let local = ["127.0.0.1", "127.0.0.1:1", "[::1]:8080", "localhost", "LocalHost.:99", "a.localhost"];
    let others =
        ["rebound.example", "rebound.example:8080", "localhost.example", "xlocalhost", "127.0.0.1.example"];
    for (flags, taken, refused) in [
        (&["--upload"][..], &local[..], &others[..]),
        (
            &["--upload", "--host", "rebound.example"],
            &["localhost", "Rebound.Example", "rebound.example:8080"],
            &others[2..],
        ),
        (&["--upload", "--host", "*"], &others, &[]),
        (&["--host", "a.example"], &["a.example", "127.0.0.1"], &others),
        // Without uploads there is nothing but what any page can show.
        (&[], &others, &[]),
    ] {
        let server = Echo::serving(&folder, flags);
        for (hosts, status) in [(taken, 200), (refused, 421)] {
            for host in hosts {
                let (head, content) = server.ask_raw_as(host, "GET", "/a.txt", &[]);
                assert!(head.starts_with(&format!("http/1.1 {status} ")), "{flags:?} {host}: {head}");
                assert!(status != 421 || content.contains("--host"), "{content}");
            }
        }
    }
    let (head, _) = Echo::start(&[]).ask_raw_as("rebound.example", "GET", "/a", &[]);
    assert!(head.starts_with("http/1.1 200 "), "{head}");
    let server = Echo::serving(&folder, &["--upload"]);
    let (head, _) = server.ask_raw_as("rebound.example", "PUT", "/b.txt", &["content-length: 0"]);
    assert!(head.starts_with("http/1.1 421 "), "{head}");
    assert_eq!(names(&folder), ["a.txt"]);
}

/// A request that begins to store a file, from this address of the machine.
fn begin_upload(server: &Echo, from: [u8; 4], path: &str, bytes: usize) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from((from, 0)).into()).unwrap();
    socket
        .connect(
            &server
                .http
                .trim_start_matches("http://")
                .trim_end_matches("/")
                .parse::<SocketAddr>()
                .unwrap()
                .into(),
        )
        .unwrap();
    let mut stream = TcpStream::from(socket);
    let fields = format!("connection: close\r\nexpect: 100-continue\r\ncontent-length: {bytes}\r\n");
    let head = format!("PUT {path} HTTP/1.1\r\nhost: localhost\r\n{fields}\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// The same with its first byte, once the server has asked for it: the upload has a place then.
fn take_place(server: &Echo, from: [u8; 4], path: &str, bytes: usize) -> TcpStream {
    let mut stream = begin_upload(server, from, path, bytes);
    let mut interim = [0; 25];
    stream.read_exact(&mut interim).unwrap();
    assert_eq!(interim, *b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(b"x").unwrap();
    stream
}

/// The status line of the answer.
fn status(mut stream: TcpStream) -> String {
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    said.lines().next().unwrap_or_default().to_owned()
}

/// A peer with 64 slow uploads kept all others out for as long as it liked.
#[cfg(target_os = "linux")]
#[test]
fn slow_uploads_of_one_peer_make_room_for_others() {
    let folder = Folder::new("upload-places");
    // Nothing but their places is to end them.
    let server = Echo::serving(&folder, &["--upload", "--stall-timeout=0", "--body-rate-min=0"]);
    let phone = take_place(&server, [127, 0, 0, 3], "/phone", 2);
    let slow: Vec<_> =
        (0..63).map(|at| take_place(&server, [127, 0, 0, 1], &format!("/slow{at}"), 1000)).collect();
    let one_more = status(begin_upload(&server, [127, 0, 0, 1], "/one-more", 0));
    assert_eq!(one_more, "HTTP/1.1 503 Service Unavailable", "there is a place left");
    let began = Instant::now();
    let stored = loop {
        let said = status(begin_upload(&server, [127, 0, 0, 2], "/other", 0));
        if !said.contains("503") || began.elapsed() > PATIENCE {
            break said;
        }
    };
    assert_eq!(stored, "HTTP/1.1 201 Created", "others are kept out");
    // It has one place, and was slower than any.
    let mut rest = phone.try_clone().unwrap();
    rest.write_all(b"y").unwrap();
    assert_eq!(status(phone), "HTTP/1.1 201 Created");
    drop(slow);
}
