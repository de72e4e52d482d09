//! Items and flags as requests: what a server sees of them.

use crate::support::{Echo, Folder, run_with};
use serde_json::{Value, json};

fn described(echo: &Echo, command: &str, path: &str, args: &[&str]) -> Value {
    let ended = echo.ask(command, path, args).expect(0);
    serde_json::from_slice(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {}", ended.text()))
}

#[test]
fn queries_fields_and_credentials_arrive() {
    let echo = Echo::start(&[]);
    let about = described(
        &echo,
        "get",
        "/a?b=1",
        &["c d==e&f", "X-One:two", "Accept:", "-A", "me", "-e", "http://r/", "-u", "n:p"],
    );
    assert_eq!(about["target"], "/a?b=1&c+d=e%26f");
    let fields = json!([
        ["user-agent", "me"],
        ["referer", "http://r/"],
        ["authorization", "Basic bjpw"],
        ["x-one", "two"]
    ]);
    assert_eq!(about["fields"], fields);
    let about = described(&echo, "get", "/", &["-G", "-d", "a=b", "--data-urlencode", "c= d"]);
    assert_eq!((&about["method"], &about["target"]), (&json!("GET"), &json!("/?a=b&c=+d")));
}

#[test]
fn items_are_json_and_forms_and_files() {
    let (echo, folder) = (Echo::start(&[]), Folder::new("items"));
    let text = folder.write("a.txt", "text\n");
    let json = folder.write("a.json", " [1, 2.0] ");
    let nested = [r"a[b]=1", "a[c][]:=2.0", "a[c][]=3", "d:={\"e\": [0]}", "d[e][2]:=true", r"f\[g\]=h"];
    for (args, media_type, content) in [
        (&["a=b", "c:=1.0"][..], "application/json", r#"{"a":"b","c":1.0}"#),
        (
            &[&format!("a=@{text}"), &format!("c:=@{json}")],
            "application/json",
            r#"{"a":"text\n","c":[1, 2.0]}"#,
        ),
        (&nested, "application/json", r#"{"a":{"b":"1","c":[2.0,"3"]},"d":{"e":[0,null,true]},"f[g]":"h"}"#),
        (&["[]=a", "[]:=1"], "application/json", r#"["a",1]"#),
        (&[r"a=\@b"], "application/json", r#"{"a":"@b"}"#),
        (&["--form", "a=b c", "d=é"], "application/x-www-form-urlencoded", "a=b+c&d=%C3%A9"),
        (&[&format!("@{text}")], "text/plain", "text\n"),
        (&["-d", "a=b", "-d", "c"], "application/x-www-form-urlencoded", "a=b&c"),
        (&["-d", "a", "-H", "content-type: text/x"], "text/x", "a"),
        (&["--data-raw", "@a"], "application/x-www-form-urlencoded", "@a"),
        (&["--data-binary", &format!("@{text}")], "application/x-www-form-urlencoded", "text\n"),
        (&["--json", "{}"], "application/json", "{}"),
    ] {
        for command in ["post", "patch", "delete", "options", "request"] {
            let ended = echo.ask(command, "/", &[args, &["-i"]].concat()).expect(0);
            let (head, answer) = ended.text().split_once("\n\n").unwrap();
            assert!(head.contains(&format!("content-type: {media_type}\n")), "{args:?}: {head}");
            assert_eq!(answer, content, "{args:?}");
        }
    }
}

#[test]
fn fields_and_queries_may_come_from_files() {
    let (echo, folder) = (Echo::start(&[]), Folder::new("embedded"));
    let text = folder.write("a.txt", "a b\n");
    let about =
        described(&echo, "get", "/", &[&format!("q==@{text}"), &format!("X-One:@{text}"), r"X-Two:\@b"]);
    assert_eq!(about["target"], "/?q=a+b");
    for field in [["x-one", "a b"], ["x-two", "@b"]] {
        assert!(about["fields"].as_array().unwrap().contains(&json!(field)), "{about}");
    }
    let missing = crate::support::run(&["get", &echo.http, "X:@/no such file"]).expect(1);
    assert!(missing.stderr.contains("/no such file"), "{}", missing.stderr);
    folder.write("two.txt", "a\nb");
    let wrong =
        crate::support::run(&["get", &echo.http, &format!("X:@{}", folder.path("two.txt"))]).expect(2);
    assert!(wrong.stderr.starts_with("alula: \"X\": "), "{}", wrong.stderr);
    let mut at_home = crate::support::alula(&["post", &echo.http, "a=@~/a.txt"]);
    at_home.env("HOME", folder.path(""));
    assert_eq!(crate::support::wait(at_home.spawn().unwrap()).expect(0).text(), r#"{"a":"a b\n"}"#);
}

#[test]
fn a_name_that_leads_nowhere_is_shown_with_carets() {
    for (items, shown) in [
        (&["a=1", "a[b]=2"][..], "\"a\" is a string already, and [b] needs an object\n  a[b]\n   ^^^"),
        (&["a[b=1"], "`]` is expected here\n  a[b\n     ^"),
    ] {
        let ended = crate::support::run(&[&["post", "http://127.0.0.1:1/"], items].concat()).expect(2);
        assert_eq!(ended.stderr, format!("alula: {shown}\n"));
    }
}

#[test]
fn any_method_is_sent_as_it_is_spelled() {
    let echo = Echo::start(&[]);
    let url = format!("{}/a", echo.http);
    for (args, method) in [
        (&["request", &*url][..], "GET"),
        (&["request", "PURGE", &url], "PURGE"),
        (&["request", "-X", "purge", &url], "purge"),
        (&["get", "-X", "M-SEARCH", &url], "M-SEARCH"),
        (&["options", &url], "OPTIONS"),
        (&["patch", &url], "PATCH"),
    ] {
        let ended = crate::support::run(args).expect(0);
        assert!(ended.text().contains(&format!("\"method\":\"{method}\"")), "{}", ended.text());
    }
    let head = crate::support::run(&["get", "-I", &url]).expect(0);
    assert!(head.text().starts_with("HTTP/1.1 200 OK\n") && head.text().ends_with("\n\n"), "{}", head.text());
}

#[test]
fn a_url_needs_no_scheme() {
    let echo = Echo::start(&[]);
    let bare = echo.http.strip_prefix("http://").unwrap();
    let ended = crate::support::run(&["get", &format!("name:secret@{bare}/x#y")]).expect(0);
    assert!(ended.text().contains("\"target\":\"/x\""), "{}", ended.text());
    assert!(ended.text().contains("[\"authorization\",\"Basic bmFtZTpzZWNyZXQ=\"]"), "{}", ended.text());
    assert!(!ended.text().contains("name:secret"), "{}", ended.text());
}

#[test]
fn a_file_is_put_under_its_name() {
    let (echo, folder) = (Echo::start(&[]), Folder::new("put"));
    let empty = folder.write("a b.txt", "");
    let about = described(&echo, "put", "/folder/", &["-T", &empty]);
    assert_eq!((&about["method"], &about["target"]), (&json!("PUT"), &json!("/folder/a%20b.txt")));
    assert_eq!(echo.ask("put", "/", &["-T", &folder.write("c", "bytes")]).expect(0).text(), "bytes");
    let url = format!("{}/", echo.http);
    assert_eq!(run_with(&["request", &url, "-T", "-"], b"piped").expect(0).text(), "piped");
}

#[test]
fn parts_have_names_files_and_types() {
    let (echo, folder) = (Echo::start(&[]), Folder::new("parts"));
    let bytes = crate::support::noise(200_000);
    let file = folder.write("a.bin", &bytes);
    let text = folder.write("b.txt", "text");
    let expected = [
        &b"--B\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\ny z\r\n\
           --B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.bin\"\r\n\
           Content-Type: application/octet-stream\r\n\r\n"[..],
        &bytes,
        b"\r\n--B\r\nContent-Disposition: form-data; name=\"g\"; filename=\"b.txt\"\r\n\
          Content-Type: text/x\r\n\r\ntext\r\n--B--\r\n",
    ];
    let expected = expected.concat();
    let url = format!("{}/", echo.http);
    for args in [
        &["-F", "x=y z", "-F", &format!("f=@{file}"), "-F", &format!("g=@{text};type=text/x")][..],
        &["--form", "x=y z", &format!("f@{file}"), &format!("g@{text};type=text/x")],
    ] {
        let ended = crate::support::run(&[&["post", &url, "-i"], args].concat()).expect(0);
        let end = ended.stdout.windows(2).position(|bytes| bytes == b"\n\n").unwrap() + 2;
        let (head, content) = ended.stdout.split_at(end);
        let head = String::from_utf8_lossy(head);
        let boundary = head.split_once("Content-Type: multipart/form-data; boundary=").unwrap().1;
        let boundary = boundary.lines().next().unwrap();
        let wanted = replaced(&expected, boundary);
        assert!(content == wanted, "{args:?}: {} bytes, not {}", content.len(), wanted.len());
        assert!(head.contains(&format!("Content-Length: {}\n", wanted.len())), "{head}");
    }
    let piped = run_with(&["post", &url, "-F", "p=@-;filename=q"], b"piped").expect(0);
    assert!(
        piped.text().contains("name=\"p\"; filename=\"q\"\r\n")
            && piped.text().contains("\r\n\r\npiped\r\n--")
    );
}

/// With this boundary where `--B` begins a line.
fn replaced(bytes: &[u8], boundary: &str) -> Vec<u8> {
    let mut rest = bytes;
    let mut all = Vec::new();
    while let Some(at) = rest.windows(3).position(|bytes| bytes == b"--B") {
        all.extend_from_slice(&rest[..at]);
        all.extend_from_slice(format!("--{boundary}").as_bytes());
        rest = &rest[at + 3..];
    }
    all.extend_from_slice(rest);
    all
}
