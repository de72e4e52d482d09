//! The words that people type from memory of curl, with curl beside them where it is installed.

use std::process::Command;

use crate::support::{Echo, Folder, answering, answering_each, run, run_with};
use serde_json::Value;

/// The requests that an echo describes in these answers, without what differs by design.
fn described(text: &str) -> Vec<Value> {
    let mut all = Vec::new();
    for about in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
        let mut about = about.unwrap_or_else(|error| panic!("{error}: {text}"));
        about.as_object_mut().unwrap().remove("peer");
        all.push(about);
    }
    all
}

/// The output of curl for the same words, if it is installed.
fn by_curl(args: &[&str]) -> Option<String> {
    let output = Command::new("curl").args(["-sS", "--noproxy", "*"]).args(args).output().ok()?;
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn the_same_words_send_the_same_requests() {
    let (echo, folder) = (Echo::start(&[]), Folder::new("habits"));
    let file = folder.write("file", "a=1&b=2");
    let fields = folder.write("fields", "X-One: 1\r\n\nX-Two: 2\nx-three;\n");
    let config = folder.write(
        "config",
        format!("url = \"{}/config?x=1\"\n-H \"X: a b\"\nreferer: http://r/\n# no\nhttp1.1\n", echo.http),
    );
    let at = |path: &str| format!("{}{path}", echo.http);
    let port = echo.http.rsplit(':').next().unwrap();
    let (elsewhere, anywhere) = (format!("a.example:80:127.0.0.1:{port}"), format!("::127.0.0.1:{port}"));
    let (at_file, at_fields) = (format!("@{file}"), format!("@{fields}"));
    let put_to = at("/put/");
    for args in [
        &[&*at("/{a,b}/[1-2]")][..],
        &[&at("/[08-10]"), &at("/[a-c:2]")],
        &["-g", &at("/x?f=a[1-2]")],
        &[&at("/x?b[]=1")],
        &["-H", &at_fields, &at("/fields")],
        &["-K", &config],
        &["--connect-to", &elsewhere, "http://a.example/there"],
        &["--connect-to", &anywhere, "https://b.example:1/".strip_prefix("https://").unwrap()],
        &["--url", &at("/one"), "--url", &at("/two")],
        &["-G", "-d", "a=1", "--data-urlencode", "b=1+2", &at("/search")],
        &["-u", "name:password", "-e", "http://r/", "-b", "c=d", "-r", "0-5", &at("/x")],
        &["-X", "PURGE", &at("/x")],
        &["-H", "Accept:", "-H", "X-Empty;", &at("/x")],
        &["-4", "--http2-prior-knowledge", &at("/x")],
        &["-A", "", &at("/x")],
        &["-d", "", &at("/x"), "-H", "Content-Type:"],
        // The last of flags that are given twice counts.
        &[
            "-s",
            "-s",
            "-L",
            "-L",
            "-X",
            "PUT",
            "-X",
            "DELETE",
            "--http2",
            "--http1.1",
            "-4",
            "-6",
            "-4",
            "-m",
            "1",
            "-m",
            "20",
            &at("/x"),
        ],
    ] {
        // Only the names of the two programs differ.
        let named = [&["-A", "test"], args].concat();
        let ours = run(&[&["request", "--http1.1"][..], &named].concat());
        let ours = if args.contains(&"--http2-prior-knowledge") {
            run(&[&["request"][..], &named].concat())
        } else {
            ours
        };
        let ours = ours.expect(0);
        let Some(theirs) = by_curl(&named) else { return };
        let (ours, theirs) = (described(ours.text()), described(&theirs));
        assert_eq!(ours.len(), theirs.len(), "{args:?}");
        for (ours, theirs) in ours.iter().zip(&theirs) {
            let fields = |about: &Value| {
                let mut fields: Vec<String> =
                    about["fields"].as_array().unwrap().iter().map(Value::to_string).collect();
                fields.sort_unstable();
                fields
            };
            for part in ["method", "target", "authority", "version"] {
                // Escapes may be in either case.
                let lower = |about: &Value| about[part].to_string().to_ascii_lowercase();
                assert_eq!(lower(ours), lower(theirs), "{args:?}");
            }
            assert_eq!(fields(ours), fields(theirs), "{args:?}");
        }
    }
    // Content comes back as it is.
    for args in [
        &["--data-binary", &*at_file, &*at("/x")][..],
        &["-d", "a=1", "-d", "b=2", &at("/x")],
        &["--data-raw", "@x", "--data-raw", "y", &at("/x")],
        &["--data-urlencode", "n=a b&c", "--data-urlencode", "=é", &at("/x")],
        &[
            "--data-raw",
            "@1",
            "-d",
            "2",
            "--data-urlencode",
            "3=4 5",
            "-d",
            "6",
            "--data-raw",
            "7",
            &at("/x"),
        ],
        &["--json", "{\"a\":1}", &at("/x")],
        &["-T", &file, &put_to],
    ] {
        let ours = run(&[&["request"], args].concat()).expect(0);
        let Some(theirs) = by_curl(args) else { return };
        assert_eq!(ours.text(), theirs, "{args:?}");
    }
}

#[test]
fn a_request_needs_no_command() {
    let echo = Echo::start(&[]);
    let url = format!("{}/x", echo.http);
    for args in [&[&*url][..], &["-sS", "-q", "--basic", &url]] {
        assert!(run(args).expect(0).text().contains("\"target\":\"/x\""), "{args:?}");
    }
    assert_eq!(run(&["-d", "four", &url]).expect(0).text(), "four");
    let bare = url.strip_prefix("http://").unwrap();
    let localhost = url.replace("http://127.0.0.1", "");
    for (args, method, target) in [
        (&[bare][..], "GET", "/x"),
        (&["GET", &localhost, "-4"], "GET", "/x"),
        (&["PURGE", bare, "q==1"], "PURGE", "/x?q=1"),
        (&["q==1", &url, "r==2"], "GET", "/x?q=1&r=2"),
        (&["GET", "q==1", "-v", bare], "GET", "/x?q=1"),
        (&["get", "q==1", &url], "GET", "/x?q=1"),
        (&["-sS", "put", &url], "PUT", "/x"),
    ] {
        let ended = run(args).expect(0);
        for (part, value) in [("method", method), ("target", target)] {
            assert!(ended.text().contains(&format!("\"{part}\":\"{value}\"")), "{args:?}: {}", ended.text());
        }
    }
    assert_eq!(run(&[bare, "a=b"]).expect(0).text(), "{\"a\":\"b\"}");
    assert_eq!(run(&["POST", &localhost, "-4", "a=b", "c:=1"]).expect(0).text(), "{\"a\":\"b\",\"c\":1}");
    for words in [&["GET"][..], &["GET", "-v"]] {
        assert!(run(words).expect(2).stderr.contains("GET is a method, and the URL is missing"));
    }
    assert!(run(&["servo", "-l"]).expect(2).stderr.contains("'serve'"));
    let unknown = run(&["--nothing", &url]).expect(2);
    assert!(unknown.stderr.contains("'--nothing'"), "{}", unknown.stderr);
    assert!(run(&["fetch", &url]).expect(2).stderr.contains("'fetch'"));
}

#[test]
fn heads_of_redirects_are_shown_where_heads_are_asked_for() {
    let fine = "HTTP/1.1 200 OK\r\nX-Odd: 2\r\ncontent-length: 4\r\n\r\nfine";
    let way = || {
        let redirect =
            format!("HTTP/1.1 302 Found\r\nLocation: {}\r\ncontent-length: 0\r\n\r\n", answering(fine));
        answering(redirect)
    };
    let folder = Folder::new("hops");
    let dumped = folder.path("heads");
    run(&["get", "-L", "-D", &dumped, &way()]).expect(0);
    let dumped = String::from_utf8(folder.read("heads")).unwrap();
    let shown = run(&["get", "-iL", &way()]).expect(0);
    for heads in [&dumped, shown.text()] {
        let heads: Vec<&str> = heads.split("\n\n").collect();
        assert!(heads[0].starts_with("HTTP/1.1 302 Found\nLocation: http://"), "{heads:?}");
        assert!(heads[1].starts_with("HTTP/1.1 200 OK\nX-Odd: 2\n"), "{heads:?}");
    }
    assert!(shown.text().ends_with("\n\nfine"), "{}", shown.text());
    assert_eq!(run(&["get", "-L", &way()]).expect(0).text(), "fine");
    let only = run(&["get", "-L", "-p", "h", &way()]).expect(0);
    assert_eq!(only.text().matches("HTTP/1.1").count(), 1, "{}", only.text());
    let heads = run(&["get", "-IL", &way()]).expect(0);
    assert_eq!(heads.text().matches("HTTP/1.1").count(), 2, "{}", heads.text());
    let refused = run(&["get", "-L", "--max-redirs", "0", "--exit-codes=curl", &way()]).expect(47);
    assert_eq!(refused.text(), "");
}

#[test]
fn requests_with_flags_of_their_own_follow_each_other() {
    let echo = Echo::start(&[]);
    let [one, two, three] = ["one", "two", "three"].map(|path| format!("{}/{path}", echo.http));
    let args = ["-H", "X: 1", &one, "--next", "-d", "content", &two, "--next", "-X", "PURGE", &three];
    let ended = run(&args).expect(0);
    let Some(theirs) = by_curl(&args) else { return };
    let names = |text: &str| text.replace("PURGE", "purge").matches("\"target\":\"/t").count();
    assert_eq!(names(ended.text()), names(&theirs));
    assert!(ended.text().contains("}\ncontent{"), "{}", ended.text());
    assert_eq!(ended.text().matches("[\"x\",\"1\"]").count(), 1, "{}", ended.text());
    run(&["get", &one, "--next", "http://127.0.0.1:1/", "--next", &two, "-f"]).expect(3);
    // Mistakes are found before anything is sent.
    assert_eq!(run(&["get", &one, "--next"]).expect(2).text(), "");
}

#[test]
fn exit_codes_are_those_of_curl_where_they_are_asked_for() {
    let folder = Folder::new("exit-codes");
    let text = folder.write("text", "no certificate");
    let looping = || {
        let to = |path: &str| {
            format!(
                "HTTP/1.1 302 Found\r\nlocation: {path}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
            )
        };
        answering_each([to("/a"), to("/b")])
    };
    for (args, code) in [
        (&["ftp://127.0.0.1:1/"][..], 1),
        (&["http://a:99999/"], 3),
        (&["http://127.0.0.1:1/", "-x", "http://127.0.0.1:1"], 7),
        (&["https://127.0.0.1:1/", "--cacert", "/no such"], 77),
        (&["https://127.0.0.1:1/", "--cacert", &text], 77),
        (&["https://127.0.0.1:1/", "--cert", "/no such"], 58),
        (&["https://127.0.0.1:1/", "--cert", &text], 58),
        (&["-L", "--max-redirs", "1", &looping(), "-w", "%{num_redirects}"], 47),
    ] {
        let ended = run(&[&["get", "--exit-codes=curl"], args].concat()).expect(code);
        assert!(code != 47 || ended.text() == "1", "{}", ended.text());
    }
}

#[test]
fn patterns_name_their_files() {
    let (echo, folder) = (Echo::start(&[]), Folder::new("patterns"));
    let url = format!("{}/{{a,b}}/[1-2]", echo.http);
    run(&["get", &url, "-o", "#1-#2.json", "--output-dir", &folder.path("")]).expect(0);
    for (name, target) in [("a-1", "/a/1"), ("a-2", "/a/2"), ("b-1", "/b/1"), ("b-2", "/b/2")] {
        let about = folder.read(&format!("{name}.json"));
        assert!(String::from_utf8(about).unwrap().contains(&format!("\"target\":\"{target}\"")), "{name}");
    }
    let extra = ["get", &*echo.http, "-o", "/dev/null", "-o", "/dev/null"];
    assert_eq!(
        run(&extra).expect(0).stderr,
        "alula: more -o and -O than URLs: the last ones are not written\n"
    );
    assert_eq!(run(&[&extra[..], &["-s"]].concat()).expect(0).stderr, "");
    let wrong = run(&["get", &format!("{}/[3-1]", echo.http)]).expect(2);
    assert!(wrong.stderr.contains("[3-1] is no range"), "{}", wrong.stderr);
}

#[test]
fn all_urls_at_once_are_each_told_of_for_themselves() {
    let echo = Echo::start(&[]);
    let url = format!("{}/[1-30]", echo.http);
    let line = "%{stderr}%{urlnum} %{url} %{http_code}\\n";
    for flags in [&["-Z"][..], &["-Z", "--parallel-max", "3"], &["-Z", "--http2-prior-knowledge"]] {
        let ended = run(&[&["get", &url, "-w", line, "-o", "/dev/null"], flags].concat()).expect(0);
        let mut seen: Vec<&str> = ended.stderr.lines().collect();
        seen.sort_unstable_by_key(|line| line.split(' ').next().unwrap().parse::<u32>().unwrap());
        assert_eq!(seen.len(), 30, "{}", ended.stderr);
        for (place, line) in seen.iter().enumerate() {
            assert_eq!(*line, format!("{place} {}/{} 200", echo.http, place + 1));
        }
    }
    let failed = run(&["get", "-Z", &echo.http, "http://127.0.0.1:1/", "-o", "/dev/null", "-o", "/dev/null"])
        .expect(3);
    assert_eq!(failed.stderr.lines().count(), 1, "{}", failed.stderr);
}

#[test]
fn a_file_of_arguments_that_is_missing_is_named() {
    let missing = run(&["get", "-K", "/no such file"]).expect(1);
    assert!(missing.stderr.contains("/no such file"), "{}", missing.stderr);
    let missing = run(&["get", "-H", "@/no such file", "http://a/"]).expect(2);
    assert!(missing.stderr.contains("/no such file"), "{}", missing.stderr);
    let echo = Echo::start(&[]);
    let line = format!("url={}/x", echo.http);
    assert!(run_with(&["get", "-K", "-"], line.as_bytes()).expect(0).text().contains("\"target\":\"/x\""));
    run(&["get"]).expect(2);
    run(&["request"]).expect(2);
    run(&["get", "-K"]).expect(2);
    let url = "http://127.0.0.1:1/";
    for args in [&["-d", "@/no such"][..], &["-F", "f=@/no such"], &["-T", "/no such"]] {
        run(&[&["request", "--exit-codes=curl", "-s", url], args].concat()).expect(26);
        run(&[&["request", "-s", url], args].concat()).expect(1);
    }
}

#[test]
fn content_is_received_no_faster_than_it_may() {
    let (site, folder) = (Folder::new("rate-site"), Folder::new("rate"));
    site.write("file", vec![b'x'; 3000]);
    let server = Echo::serving(&site, &[]);
    let url = format!("{}/file", server.http);
    let out = folder.path("out");
    let ended = run(&["get", &url, "--limit-rate", "10k", "-o", &out, "-w", "%{time_total}"]).expect(0);
    assert_eq!(folder.read("out").len(), 3000);
    // A lower bound is none of the machine's speed.
    assert!(ended.text().parse::<f64>().unwrap() >= 0.29, "{}", ended.text());
}
