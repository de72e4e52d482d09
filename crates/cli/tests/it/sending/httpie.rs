//! The words that people type from memory of HTTPie, with HTTPie beside them where the environment names one
//! by `ALULA_HTTPIE`.

use std::{fs, process::Command};

use crate::support::{Echo, Folder, alula, answering, answering_each, run, wait};
use serde_json::{Value, json};

/// A request as it is on the wire: its line, its fields by lower-case names, and its content.
#[derive(Debug)]
struct Request {
    line: String,
    fields: Vec<(String, String)>,
    content: String,
}

impl Request {
    fn of(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let (head, content) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{text}"));
        let mut lines = head.lines();
        let line = lines.next().unwrap().to_owned();
        let field = |line: &str| {
            line.split_once(": ").map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        };
        Self { line, fields: lines.filter_map(field).collect(), content: content.trim_end().to_owned() }
    }

    fn value(&self, name: &str) -> Vec<&str> {
        self.fields.iter().filter(|(known, _)| known == name).map(|(_, value)| value.as_str()).collect()
    }

    #[track_caller]
    fn check(&self, whose: &str, words: &[&str], line: &str, fields: &[(&str, &str)], content: &str) {
        assert_eq!(self.line, format!("{line} HTTP/1.1"), "{whose} {words:?}");
        for (name, value) in fields {
            assert_eq!(self.value(name), [*value], "{whose} {words:?}: {name}");
        }
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or(json!(text));
        assert_eq!(read(&self.content), read(content), "{whose} {words:?}");
    }
}

/// The outcome of HTTPie for these words, if it is there.
fn by_httpie(words: &[&str], folder: &Folder) -> Option<std::process::Output> {
    let program = std::env::var_os("ALULA_HTTPIE")?;
    let mut httpie = Command::new(program);
    httpie.args(["--ignore-stdin"]).args(words).env("HTTPIE_CONFIG_DIR", folder.path("httpie"));
    Some(httpie.output().expect("ALULA_HTTPIE is a program"))
}

/// Words, the request's first line, fields of it, and its content.
type Row<'a> = (&'a [&'a str], &'a str, &'a [(&'a str, &'a str)], &'a str);

/// Tries each row on both programs, without sending anything.
#[track_caller]
fn check_offline(rows: &[Row<'_>], folder: &Folder) {
    for (words, line, fields, content) in rows {
        let all = [&["--offline"], *words].concat();
        Request::of(&run(&all).expect(0).stdout).check("alula", words, line, fields, content);
        if let Some(theirs) = by_httpie(&all, folder) {
            assert!(theirs.status.success(), "{words:?}: {}", String::from_utf8_lossy(&theirs.stderr));
            Request::of(&theirs.stdout).check("httpie", words, line, fields, content);
        }
    }
}

const JSON: (&str, &str) = ("content-type", "application/json");
const FORM: &str = "application/x-www-form-urlencoded";

#[test]
fn the_same_words_make_the_same_requests() {
    let folder = Folder::new("httpie-words");
    let text = folder.write("a.txt", "one\n");
    let numbers = folder.write("a.json", "[1, 2]");
    let (in_text, in_query, in_field) = (format!("a=@{text}"), format!("q==@{text}"), format!("X-A:@{text}"));
    let (in_json, whole, part) = (format!("a:=@{numbers}"), format!("@{text}"), format!("f@{text}"));
    let typed = format!("f@{text};type=text/x");
    let json_first = [JSON, ("accept", "application/json, */*;q=0.5")];
    check_offline(
        &[
            (&["example.org"], "GET /", &[("host", "example.org"), ("accept", "*/*")], ""),
            (&["example.org/x?y=1"], "GET /x?y=1", &[], ""),
            (&[":"], "GET /", &[("host", "localhost")], ""),
            (&[":/x"], "GET /x", &[("host", "localhost")], ""),
            (&[":8080/x"], "GET /x", &[("host", "localhost:8080")], ""),
            (&["GET", ":8080/x"], "GET /x", &[("host", "localhost:8080")], ""),
            (&["PURGE", "example.org"], "PURGE /", &[], ""),
            (&["DELETE", "example.org/x"], "DELETE /x", &[], ""),
            (&["HEAD", "example.org/x"], "HEAD /x", &[], ""),
            (&["PUT", "example.org", "a=b"], "PUT /", &[JSON], r#"{"a":"b"}"#),
            (&["GET", "example.org", "a=b"], "GET /", &[JSON], r#"{"a":"b"}"#),
            (&["https://example.org:8443/"], "GET /", &[("host", "example.org:8443")], ""),
            (&["example.org", "--default-scheme=https"], "GET /", &[("host", "example.org")], ""),
            (&["example.org", "a==b", "c==d e"], "GET /?a=b&c=d+e", &[], ""),
            (&["example.org", "a==b", "a==c"], "GET /?a=b&a=c", &[], ""),
            (&["example.org", &in_query], "GET /?q=one", &[], ""),
            (&["example.org", "X-A:b"], "GET /", &[("x-a", "b")], ""),
            (&["example.org", &in_field], "GET /", &[("x-a", "one")], ""),
            (&["example.org", "Accept:text/x"], "GET /", &[("accept", "text/x")], ""),
            (&["example.org", "a=b"], "POST /", &json_first, r#"{"a":"b"}"#),
            (&["example.org", "a:=1", "b:=true", "c:=null"], "POST /", &[], r#"{"a":1,"b":true,"c":null}"#),
            (&["example.org", "a:=[1,2]", "b:={\"c\":\"d\"}"], "POST /", &[], r#"{"a":[1,2],"b":{"c":"d"}}"#),
            (&["example.org", &in_text], "POST /", &[JSON], r#"{"a":"one\n"}"#),
            (&["example.org", &in_json], "POST /", &[JSON], r#"{"a":[1,2]}"#),
            (&["example.org", &whole], "POST /", &[("content-type", "text/plain")], "one"),
            (&["example.org", "a=b", "a=c"], "POST /", &[], r#"{"a":"c"}"#),
            (&["example.org", "a=b", "c==d", "--check-status"], "POST /?c=d", &[], r#"{"a":"b"}"#),
            (&["--form", "example.org", "a=b c", "d=e&f"], "POST /", &[], "a=b+c&d=e%26f"),
            (&["--form", "example.org", "a:=1"], "POST /", &[], "a=1"),
            (&["--form", "example.org", "a[b]=c"], "POST /", &[], "a%5Bb%5D=c"),
            (
                &["--form", "--boundary=BB", "example.org", "a=b", &part],
                "POST /",
                &[("content-type", "multipart/form-data; boundary=BB")],
                "--BB\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--BB\r\n\
                 Content-Disposition: form-data; name=\"f\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\n\
                 one\n\r\n--BB--",
            ),
            (
                &["--form", "--boundary=BB", "example.org", &typed],
                "POST /",
                &[],
                "--BB\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.txt\"\r\nContent-Type: text/x\r\n\r\n\
                 one\n\r\n--BB--",
            ),
            (
                &["--multipart", "--boundary=BB", "example.org", "a=b"],
                "POST /",
                &[("content-type", "multipart/form-data; boundary=BB")],
                "--BB\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--BB--",
            ),
            (&["example.org", "--raw", "x y"], "POST /", &json_first, "x y"),
            (
                &["-a", "Aladdin:open sesame", "example.org"],
                "GET /",
                &[("authorization", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")],
                "",
            ),
            (
                &["--auth", "a:b:c", "--auth-type", "basic", "example.org"],
                "GET /",
                &[("authorization", "Basic YTpiOmM=")],
                "",
            ),
            (
                &["--auth-type=bearer", "--auth=tok:en", "example.org"],
                "GET /",
                &[("authorization", "Bearer tok:en")],
                "",
            ),
            (&["u:p@example.org"], "GET /", &[("authorization", "Basic dTpw")], ""),
            (&["example.org", "Cookie:a=1; b=2"], "GET /", &[("cookie", "a=1; b=2")], ""),
        ],
        &folder,
    );
    let form = run(&["--offline", "--form", "example.org", "a=b"]).expect(0);
    assert!(Request::of(&form.stdout).value("content-type")[0].starts_with(FORM));
}

#[test]
fn names_lead_into_json_as_they_do_there() {
    let folder = Folder::new("httpie-names");
    let rows: [(&[&str], &str); 19] = [
        (&["a[b]=1"], r#"{"a":{"b":"1"}}"#),
        (&["a[b]=1", "a[c]=2"], r#"{"a":{"b":"1","c":"2"}}"#),
        (&["a[]=1", "a[]=2"], r#"{"a":["1","2"]}"#),
        (&["a[b][]:=2"], r#"{"a":{"b":[2]}}"#),
        (&["a[0]=1", "a[2]=3"], r#"{"a":["1",null,"3"]}"#),
        (&["a[][b]=1", "a[][b]=2"], r#"{"a":[{"b":"1"},{"b":"2"}]}"#),
        (&["a[1][b]=1", "a[0]=2"], r#"{"a":["2",{"b":"1"}]}"#),
        (&["[]=1", "[]:=2"], r#"["1",2]"#),
        (&["[0][a]=1", "[1]=2"], r#"[{"a":"1"},"2"]"#),
        (&[r"a\[b\]=1"], r#"{"a[b]":"1"}"#),
        (&[r"a[b\]c]=1"], r#"{"a":{"b]c":"1"}}"#),
        (&[r"a\\[b]=1"], r#"{"a\\":{"b":"1"}}"#),
        (&[r"a\\=1"], r#"{"a\\":"1"}"#),
        (&[r"a[\0]=1"], r#"{"a":{"0":"1"}}"#),
        (&[r"a\=b=1"], r#"{"a=b":"1"}"#),
        (&[r"a\:b=1", r"c\@d=2", r"e\;f=3"], r#"{"a:b":"1","c@d":"2","e;f":"3"}"#),
        (&[r"a=\@b"], r#"{"a":"@b"}"#),
        (&["a:=[1]", "a[]=2"], r#"{"a":[1,"2"]}"#),
        (&["a[b c]=1", "é[ü]=2"], r#"{"a":{"b c":"1"},"é":{"ü":"2"}}"#),
    ];
    for (items, content) in rows {
        let words = [&["example.org"][..], items].concat();
        check_offline(&[(&words, "POST /", &[JSON], content)], &folder);
    }
    // Below the same characters there are carets.
    for (items, name, carets) in [
        (&["a=1", "a[b]=2"][..], "a[b]", " ^^^"),
        (&["a[b]=1", "a[0]=2"], "a[0]", " ^^^"),
        (&["a[b]=1", "a[]=2"], "a[]", " ^^"),
        (&["[]=1", "a=2"], "a", "^"),
        (&["a[b=1"], "a[b", "   ^"),
        (&["a[=1"], "a[", "  ^"),
        (&["a]=1"], "a]", " ^"),
        (&["a[]b=1"], "a[]b", "   ^"),
        (&["a[-1]=1"], "a[-1]", "  ^^"),
        (&["[a]=1"], "[a]", " ^"),
    ] {
        let words = [&["--offline", "example.org"][..], items].concat();
        let ours = run(&words).expect(2);
        let lines: Vec<&str> = ours.stderr.lines().collect();
        assert_eq!(lines[1..], [format!("  {name}"), format!("  {carets}")], "{items:?}");
        if let Some(theirs) = by_httpie(&words, &folder) {
            let stderr = String::from_utf8_lossy(&theirs.stderr).into_owned();
            assert!(stderr.contains(&format!("{name}\n{carets}\n")), "{items:?}: {stderr}");
        }
    }
}

#[test]
fn requests_are_printed_and_not_sent() {
    let folder = Folder::new("offline");
    let bytes = crate::support::noise(300_000);
    let file = folder.write("a.bin", &bytes);
    // Nobody listens there.
    let url = "https://127.0.0.1:1/x";
    let sent = run(&["--offline", "--http2-prior-knowledge", "PUT", url, "-T", &file]).expect(0);
    assert!(
        sent.stdout.starts_with(b"PUT /x HTTP/1.1\r\nHost: 127.0.0.1:1\r\n") && sent.stdout.ends_with(&bytes)
    );
    let head = run(&["--offline", url, "a=b", "-p", "H"]).expect(0);
    assert!(head.text().ends_with("\r\n\r\n") && !head.text().contains('{'), "{}", head.text());
    assert_eq!(run(&["--offline", url, "a=b", "-p", "B"]).expect(0).text(), r#"{"a":"b"}"#);
    let laid_out = run(&["--offline", url, "a=b", "--pretty=format"]).expect(0);
    assert!(
        laid_out.text().ends_with("\n\n{\n    \"a\": \"b\"\n}\n") && !laid_out.text().contains('\r'),
        "{}",
        laid_out.text()
    );
    let jar = folder.write("jar", "127.0.0.1\tFALSE\t/\tTRUE\t0\ta\tb\n");
    let cookies = run(&["--offline", url, "-b", &jar, "-b", "c=d"]).expect(0);
    assert_eq!(Request::of(&cookies.stdout).value("cookie"), ["c=d; a=b"]);
    run(&["--offline", url, "-o", &folder.path("out")]).expect(0);
    assert!(folder.read("out").starts_with(b"GET /x HTTP/1.1\r\n"));
    let chunked = crate::support::run_with(&["--offline", url, "-T", "-"], b"piped").expect(0);
    assert!(chunked.text().ends_with("\r\n\r\n5\r\npiped\r\n0\r\n\r\n"), "{}", chunked.text());
}

#[test]
fn parts_of_the_exchange_are_chosen() {
    let (echo, folder) = (Echo::start(&[]), Folder::new("httpie-parts"));
    let ask = |flags: &[&str]| run(&[&["--http1.1", &*echo.http, "--raw", "four"], flags].concat()).expect(0);
    assert_eq!(ask(&["--body"]).text(), "four");
    assert!(ask(&["--headers"]).text().starts_with("HTTP/1.1 200 OK\n"));
    assert_eq!(ask(&["--quiet"]).text(), "");
    let meta = ask(&["--meta"]);
    let seconds = meta.text().strip_prefix("Elapsed time: ").unwrap().strip_suffix("s\n").unwrap();
    assert!(seconds.parse::<f64>().unwrap() > 0.0);
    assert!(ask(&["-p", "bm"]).text().starts_with("four\n\nElapsed time: "));
    let out = folder.path("out");
    assert_eq!(ask(&["--quiet", "-o", &out]).text(), "");
    assert_eq!(folder.read("out"), b"four");
    let refused = run(&["--quiet", "--quiet", "http://127.0.0.1:1/"]).expect(3);
    assert_eq!((refused.text(), &*refused.stderr), ("", ""));
    assert!(!run(&["--quiet", "http://127.0.0.1:1/"]).expect(3).stderr.is_empty());
}

#[test]
fn statuses_fail_where_they_are_checked() {
    let answer = |status: &str| {
        answering(format!("HTTP/1.1 {status}\r\ncontent-length: 4\r\nlocation: /\r\n\r\nfine"))
    };
    for (status, code) in
        [("200 OK", 0), ("302 Found", 9), ("404 Not Found", 9), ("500 Internal Server Error", 9)]
    {
        let ended = run(&["get", "--check-status", &answer(status)]).expect(code);
        assert_eq!((ended.text(), ended.stderr.is_empty()), ("fine", code == 0), "{status}");
        run(&["get", &answer(status)]).expect(0);
    }
    let folder = Folder::new("httpie-codes");
    for (flags, status, code) in [
        (&["--check-status"][..], "200 OK", 0),
        (&["--check-status"], "302 Found", 3),
        (&["--check-status"], "404 Not Found", 4),
        (&["--check-status"], "503 Service Unavailable", 5),
        (&[], "404 Not Found", 0),
    ] {
        run(&[&["GET", "--exit-codes=httpie", &answer(status)], flags].concat()).expect(code);
        if let Some(theirs) = by_httpie(&[&["GET", &*answer(status)], flags].concat(), &folder) {
            assert!(theirs.status.code() == Some(code), "{status}: {theirs:?}");
        }
    }
    let round = "HTTP/1.1 302 Found\r\nlocation: /a\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
    let further = round.replace("/a", "/b");
    let looping = answering_each([round.to_owned(), further]);
    run(&["--exit-codes=httpie", "--follow", "--max-redirects=1", &looping]).expect(6);
    run(&["--exit-codes=httpie", "http://127.0.0.1:1/"]).expect(1);
    let there = "HTTP/1.1 302 Found\r\nlocation: /there\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
    let fine = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfine";
    let ended =
        run(&["get", "--check-status", "--follow", "--all", "-p", "h", &answering_each([there, fine])])
            .expect(0);
    assert_eq!(ended.text().matches("HTTP/1.1 ").count(), 2, "{}", ended.text());
    let one = run(&["get", "--follow", "--max-redirects=1", &answering_each([there, fine])]).expect(0);
    assert_eq!(one.text(), "fine");
}

#[test]
fn waits_are_bounded_and_trust_is_chosen() {
    let folder = Folder::new("httpie-trust");
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let cert = folder.write("cert.pem", made.cert.pem());
    let key = folder.write("key.pem", made.signing_key.serialize_pem());
    let echo = Echo::start(&["--cert", &cert, "--key", &key]);
    let https = echo.https.as_deref().unwrap();
    run(&["--verify=no", https]).expect(0);
    run(&["--verify", &cert, "--ssl=tls1.3", https, "--timeout", "50"]).expect(0);
    run(&["--verify=yes", https, "--timeout=0"]).expect(4);
    run(&["--verify", &cert, "--cert", &cert, "--cert-key", &key, https]).expect(0);
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let late = run(&["--timeout=0.2", &url]).expect(6);
    assert!(
        late.stderr.contains("timed out after 0.2 s waiting for the response headers"),
        "{}",
        late.stderr
    );
}

#[test]
fn downloads_find_their_names() {
    let folder = Folder::new("downloads");
    let answer = |fields: &str| format!("HTTP/1.1 200 OK\r\n{fields}content-length: 4\r\n\r\nfine");
    for (path, fields, name) in [
        ("a.bin", "", "a.bin"),
        ("a.bin", "", "a.bin-1"),
        ("a.bin", "", "a.bin-2"),
        ("", "content-type: text/html; charset=utf-8\r\n", "index.html"),
        ("page", "content-type: application/json\r\n", "page.json"),
        ("x", "content-disposition: attachment; filename=\"b c.txt\"\r\n", "b c.txt"),
        ("y.z", "content-disposition: attachment; filename=\"../up\"\r\n", "y.z"),
    ] {
        let mut program = alula(&["--download", &format!("{}{path}", answering(answer(fields)))]);
        let ended = wait(program.current_dir(folder.path("")).spawn().unwrap()).expect(0);
        assert_eq!((ended.text(), &*ended.stderr), ("", &*format!("Downloading to {name}\n")));
        assert_eq!(folder.read(name), b"fine");
    }
    let there =
        "HTTP/1.1 302 Found\r\nlocation: /there\r\nconnection: close\r\ncontent-length: 0\r\n\r\n".to_owned();
    let out = folder.path("named");
    run(&["--download", "--quiet", "-o", &out, &answering_each([there, answer("")])]).expect(0);
    assert_eq!(folder.read("named"), b"fine");
    let rest = "HTTP/1.1 206 Partial Content\r\ncontent-range: bytes 4-5/6\r\ncontent-length: 2\r\n\r\nly";
    run(&["--download", "--continue", "-o", &out, &answering(rest)]).expect(0);
    assert_eq!(folder.read("named"), b"finely");
}

/// The file of a session.
fn kept(path: &str) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn sessions_keep_fields_credentials_and_cookies() {
    let (echo, folder) = (Echo::start(&[]), Folder::new("sessions"));
    let session = folder.path("sub/s.json");
    let url = format!("{}/x", echo.http);
    let described = |words: &[&str]| run(&[&["get", &*url], words].concat()).expect(0).text().to_owned();
    let first =
        described(&["--session", &session, "-u", "n:p", "X-A:1", "If-Match:2", "Cookie:a=b; c=d", "X-B:3"]);
    assert!(first.contains("[\"cookie\",\"a=b; c=d\"]") && first.contains("[\"if-match\",\"2\"]"), "{first}");
    let file = kept(&session);
    assert_eq!(file["headers"], json!([{"name": "X-A", "value": "1"}, {"name": "X-B", "value": "3"}]));
    assert_eq!(file["auth"], json!({"type": "basic", "raw_auth": "n:p"}));
    assert_eq!(file["cookies"].as_array().unwrap().len(), 2);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &str| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&session), mode(&folder.path("sub"))), (0o600, 0o700));
    }
    let again = described(&["--session-read-only", &session, "X-A:9"]);
    for field in
        [r#"["x-a","9"]"#, r#"["x-b","3"]"#, r#"["authorization","Basic bjpw"]"#, r#"["cookie","a=b; c=d"]"#]
    {
        assert!(again.contains(field), "{field}: {again}");
    }
    assert!(!again.contains("if-match"), "{again}");
    assert_eq!(kept(&session), file);
    let other = described(&["--session", &session, "--bearer", "t", "X-A:9"]);
    assert!(other.contains(r#"["authorization","Bearer t"]"#), "{other}");
    assert_eq!(kept(&session)["headers"][0], json!({"name": "X-A", "value": "9"}));
    // Cookies that a server sets are kept, too.
    let setting =
        answering("HTTP/1.1 200 OK\r\nset-cookie: e=f; path=/; max-age=1000\r\ncontent-length: 0\r\n\r\n");
    run(&["--session", &session, &setting]).expect(0);
    let cookies = kept(&session)["cookies"].clone();
    assert!(
        cookies
            .as_array()
            .unwrap()
            .iter()
            .any(|cookie| cookie["name"] == "e" && cookie["expires"].is_number()),
        "{cookies}"
    );
    let gone = answering("HTTP/1.1 200 OK\r\nset-cookie: e=; path=/; max-age=0\r\ncontent-length: 0\r\n\r\n");
    run(&["--session", &session, &gone]).expect(0);
    assert!(!kept(&session).to_string().contains("\"e\""));
    // A file of passwords stays the only one that has them, and what is for one request is for that one.
    let netrc = folder.write("netrc", "machine 127.0.0.1 login l password s3cret");
    let other = folder.path("other.json");
    let words = ["--netrc-file", &netrc, "--session", &other, "User-Agent:kept", "Host:a.example"];
    assert!(described(&words).contains("[\"authorization\",\"Basic bDpzM2NyZXQ=\"]"));
    let text = fs::read_to_string(&other).unwrap();
    assert!(!text.contains("s3cret") && !text.contains("a.example") && text.contains("kept"), "{text}");
    let named = described(&["--session", &other, "-A", "named"]);
    assert!(named.contains("[\"user-agent\",\"named\"]") && !named.contains("a.example"), "{named}");
    assert!(described(&["--session", &other]).contains("[\"user-agent\",\"kept\"]"));
    folder.write("two.json", r#"{"headers":[{"name":"X-A","value":"b\r\nX-C: d"}]}"#);
    let split = run(&["--session", &folder.path("two.json"), &url]).expect(2);
    assert!(split.stderr.contains("two.json: the field \"X-A\": "), "{}", split.stderr);
    folder.write("digest.json", r#"{"auth":{"type":"ntlm","raw_auth":"n:p"}}"#);
    let digest = run(&["--session", &folder.path("digest.json"), &url]).expect(2);
    assert!(digest.stderr.contains("asks for the scheme \"ntlm\""), "{}", digest.stderr);
    folder.write("wrong.json", "[1]");
    let wrong = run(&["--session", &folder.path("wrong.json"), &url]).expect(1);
    assert!(wrong.stderr.contains("is no session"), "{}", wrong.stderr);
    let two = run(&["--session", &session, &url, "http://b.example/"]).expect(2);
    assert!(two.stderr.contains("a session is for one host"), "{}", two.stderr);
}

#[test]
fn sessions_are_named_for_each_host_and_shared_with_httpie() {
    let folder = Folder::new("named-sessions");
    let mut named = alula(&["--offline", "--session=n", "https://a.example:8443/", "X-A:1"]);
    let ended = wait(named.env("XDG_CONFIG_HOME", folder.path("")).spawn().unwrap()).expect(0);
    assert_eq!(Request::of(&ended.stdout).value("x-a"), ["1"]);
    let path = folder.path("alula/sessions/a.example_8443/n.json");
    assert_eq!(kept(&path)["headers"][0]["value"], "1");
    let session = folder.path("shared.json");
    let theirs = json!({
        "__meta__": {"about": "HTTPie session file", "httpie": "3.2.4"},
        "auth": {"raw_auth": "u:p", "type": "basic"},
        "cookies": [{"domain": "", "expires": null, "name": "a", "path": "/", "secure": false, "value": "1"}],
        "headers": [{"name": "X-A", "value": "b"}],
    });
    folder.write("shared.json", theirs.to_string());
    let fields = [("authorization", "Basic dTpw"), ("cookie", "a=1"), ("x-a", "b")];
    let words = ["--offline", "--session-read-only", &session, "a.example"];
    Request::of(&run(&words).expect(0).stdout).check("alula", &words, "GET /", &fields, "");
    // A file that was written here is read there.
    run(&["--offline", "--session", &session, "a.example", "X-A:c"]).expect(0);
    if let Some(theirs) = by_httpie(&words, &folder) {
        let fields = [fields[0], fields[1], ("x-a", "c")];
        Request::of(&theirs.stdout).check("httpie", &words, "GET /", &fields, "");
    }
}

/// A response of this media type.
fn typed(media_type: &str, content: &[u8]) -> String {
    let head = format!(
        "HTTP/1.1 200 OK\r\nX-B: 1\r\ncontent-type: {media_type}\r\ncontent-length: {}\r\n\r\n",
        content.len()
    );
    answering([head.as_bytes(), content].concat())
}

#[test]
fn content_is_laid_out_as_it_is_asked_for() {
    let folder = Folder::new("httpie-layout");
    let json = br#"{"b":[1,{"d":2,"c":3}],"a":"x"}"#;
    let sorted = "{\n    \"a\": \"x\",\n    \"b\": [\n        1,\n        {\n            \"c\": 3,\n            \"d\": 2\n        }\n    ]\n}";
    let narrow =
        "{\n  \"b\": [\n    1,\n    {\n      \"d\": 2,\n      \"c\": 3\n    }\n  ],\n  \"a\": \"x\"\n}";
    let as_is = std::str::from_utf8(json).unwrap();
    for (flags, media_type, content, expected) in [
        (&["--sorted"][..], "application/json", &json[..], sorted),
        (&["--unsorted", "--format-options=json.indent:2"], "application/json", json, narrow),
        (&["--unsorted", "--format-options", "json.format:false"], "application/json", json, as_is),
        (&["--sorted", "--response-mime=application/json"], "text/plain", json, sorted),
        (&["--response-mime=application/yaml"], "application/json", json, as_is),
        (&["--response-charset=latin1"], "text/plain", b"caf\xe9", "café"),
        (&[], "text/plain; charset=shift_jis", b"\x83e\x83X\x83g", "テスト"),
        (&["--response-charset=latin1"], "application/json", b"\"\xe9\"", "\"é\""),
    ] {
        let words = [&["--body", "--pretty=format"], flags].concat();
        let ours = run(&[&words[..], &[&typed(media_type, content)]].concat()).expect(0);
        assert_eq!(ours.text().trim_end(), expected, "{flags:?}");
        // Into a pipe HTTPie writes the coding that came, unless a flag names one.
        let is_alike = !media_type.contains("shift_jis");
        if let Some(theirs) = by_httpie(&[&words[..], &[&typed(media_type, content)]].concat(), &folder)
            && is_alike
        {
            let theirs = String::from_utf8_lossy(&theirs.stdout).into_owned();
            // Without a layout HTTPie puts spaces between tokens.
            let plain = |text: &str| {
                text.replace(if expected == as_is { " " } else { "\0" }, "").trim_end().to_owned()
            };
            assert_eq!(plain(&theirs), plain(expected), "httpie {flags:?}");
        }
    }
    let heads = run(&["-p", "h", "--pretty=format", "--sorted", &typed("text/plain", b"")]).expect(0);
    assert!(
        heads.text().ends_with("content-length: 0\ncontent-type: text/plain\nX-B: 1\n\n"),
        "{}",
        heads.text()
    );
    let lines =
        run(&["--stream", "--pretty=format", &typed("application/json", b"[1]\n{\"a\":2}\n")]).expect(0);
    assert_eq!(lines.text(), "[\n    1\n]\n{\n    \"a\": 2\n}\n");
}

#[test]
fn lines_are_shown_as_soon_as_they_are_there() {
    use std::io::{Read as _, Write as _};

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let mut child = alula(&["--stream", "--pretty=format", &url]).spawn().unwrap();
    let (mut socket, _) = listener.accept().unwrap();
    socket.set_read_timeout(Some(crate::support::PATIENCE)).unwrap();
    assert!(socket.read(&mut [0; 1024]).unwrap() > 0);
    socket
        .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 8\r\n\r\n[1]\n")
        .unwrap();
    let first = "[\n    1\n]\n";
    assert_eq!(crate::support::read_some(&mut child, first.len()), first.as_bytes());
    socket.write_all(b"[2]\n").unwrap();
    assert_eq!(wait(child).expect(0).text(), "[\n    2\n]\n");
}

#[test]
fn colours_are_those_of_the_background() {
    for (style, background, number) in [
        (&[][..], None, "38;5;98"),
        (&["--style=auto"], Some("15;0"), "38;5;80"),
        (&[], Some("0;15"), "38;5;24"),
        (&["--style=light"], Some("15;0"), "38;5;24"),
        (&["--style=pie-dark"], None, "38;5;80"),
        (&["--style=ansi"], Some("15;0"), "36"),
    ] {
        let ask = |variables: &[(&str, &str)]| {
            let url = typed("application/json", b"[1]");
            let mut program = alula(&[&["get", "--pretty=colors", &*url], style].concat());
            program.envs(background.map(|colors| ("COLORFGBG", colors))).envs(variables.iter().copied());
            wait(program.spawn().unwrap()).expect(0).text().to_owned()
        };
        assert_eq!(ask(&[]), format!("[\x1b[{number}m1\x1b[0m]"), "{style:?} {background:?}");
        assert_eq!(ask(&[("NO_COLOR", "1")]), "[1]");
    }
}

#[test]
fn a_proxy_may_be_for_one_scheme() {
    let echo = Echo::start(&[]);
    let (for_http, for_https) = (format!("http:{}", echo.http), format!("https:{}", echo.http));
    let through = run(&["--proxy", &for_http, "http://a.example/x"]).expect(0);
    assert!(through.text().contains("\"authority\":\"a.example\""), "{}", through.text());
    run(&["--proxy", &for_https, "http://127.0.0.1:1/x"]).expect(3);
    assert!(run(&["--proxy", &for_https, "https://a.example/"]).expect(3).stderr.contains("proxy"));
}
