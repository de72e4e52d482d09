//! What is printed of an exchange, and how.

use crate::support::trailing::trailing;
use crate::support::{Echo, Folder, alula, answering, answering_each, run, run_with, wait};
use serde_json::{Value, json};

fn json_answer(content: &str) -> String {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json; charset=utf-8";
    format!("{head}\r\ncontent-length: {}\r\n\r\n{content}", content.len())
}

#[test]
fn a_pipe_gets_what_came_and_the_eye_gets_it_laid_out() {
    let odd = r#"{"b":1.50,"a":[1e400,"\u00e9"]}"#;
    let laid_out = "{\n    \"b\": 1.50,\n    \"a\": [\n        1e400,\n        \"\\u00e9\"\n    ]\n}\n";
    for (content, args, expected) in [
        (odd, &[][..], odd),
        (odd, &["--pretty=format"], laid_out),
        (odd, &["--pretty=all", "--color=never"], laid_out),
        ("{\"b\":", &["--pretty=format"], "{\"b\":"),
        (odd, &["--pretty=none", "--color=always"], odd),
        ("[1]", &["--pretty=colors"], "[\x1b[38;5;98m1\x1b[0m]"),
        ("[1]", &["--color=always"], "[\x1b[38;5;98m1\x1b[0m]"),
    ] {
        let ended = run(&[&["get", &answering(json_answer(content))], args].concat()).expect(0);
        assert_eq!(ended.text(), expected, "{args:?}");
    }
    let url = answering(json_answer("[1]"));
    let plain = alula(&["get", "--pretty=colors", &url]).env("NO_COLOR", "1").spawn().unwrap();
    assert_eq!(wait(plain).expect(0).text(), "[1]");
}

#[test]
fn json_that_is_cut_is_written_as_far_as_it_came() {
    let url = answering("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n[1,2");
    assert_eq!(run(&["get", "--pretty=format", &url]).expect(7).text(), "[1,2");
}

#[test]
fn heads_are_printed_as_they_are_asked_for() {
    let echo = Echo::start(&[]);
    let url = format!("{}/x", echo.http);
    let ended = run(&["post", &url, "a=b", "-p", "HBhb"]).expect(0);
    let parts: Vec<&str> = ended.text().split("\n\n").collect();
    assert!(parts[0].starts_with(&format!("POST {url}\nuser-agent: alula/")), "{}", parts[0]);
    assert!(parts[0].contains("\ncontent-type: application/json"), "{}", parts[0]);
    assert_eq!(parts[1], r#"{"a":"b"}"#);
    assert!(parts[2].starts_with("HTTP/1.1 200 OK\n"), "{}", parts[2]);
    assert_eq!(parts[3], r#"{"a":"b"}"#);
    assert_eq!(run(&["post", &url, "a=b", "-p", ""]).expect(0).text(), "");
    let coloured = run(&["get", &url, "-p", "h", "--color=always"]).expect(0);
    assert!(coloured.text().contains("\x1b[1m\x1b[38;5;29m200 OK\x1b[0m\n"), "{:?}", coloured.text());
}

#[test]
fn what_is_written_out_is_known() {
    let (echo, folder) = (Echo::start(&[]), Folder::new("written-out"));
    let (url, out) = (format!("{}/x", echo.http), folder.path("out"));
    let line = r"%{http_code} %{http_version} %{method} %{content_type} %{size_upload} %{size_download} %{url_effective} %{filename_effective}\n";
    let ended = run(&["post", &url, "-d", "four", "-o", &out, "-w", line]).expect(0);
    let media_type = "application/x-www-form-urlencoded";
    assert_eq!(ended.text(), format!("200 1.1 POST {media_type} 4 4 {url} {out}\n"));
    let ended = run(&["get", &url, "-o", &out, "-w", "http://%{remote_ip}:%{remote_port}"]).expect(0);
    assert_eq!(ended.text(), echo.http);
    let format = folder.write("format", "%header{content-type}");
    assert_eq!(
        run(&["get", &url, "-o", &out, "-w", &format!("@{format}")]).expect(0).text(),
        "application/json"
    );
    let timed = run(&["get", &url, "-o", &out, "-w", "%{time_starttransfer} %{time_total}"]).expect(0);
    let times: Vec<f64> = timed.text().split(' ').map(|time| time.parse().unwrap()).collect();
    assert!(0.0 < times[0] && times[0] <= times[1], "{times:?}");
}

#[test]
fn a_name_that_means_nothing_is_reported_and_skipped() {
    let (echo, folder) = (Echo::start(&[]), Folder::new("unknown-name"));
    let ended =
        run(&["get", "-s", &echo.http, "-w", "|%{nothing}%{http_code}|%{", "-o", "/dev/null"]).expect(0);
    assert_eq!(ended.text(), "|200|%{");
    assert_eq!(ended.stderr, "alula: unknown --write-out variable: 'nothing'\n");
    let format = folder.write("format", "%{stderr}%{http_code}%{stdout}%{method}%{onerror}%{nothing}");
    let ended = run(&["get", "-s", &echo.http, "-w", &format!("@{format}"), "-o", "/dev/null"]).expect(0);
    assert_eq!((ended.text(), ended.stderr.ends_with("\n200")), ("GET", true), "{}", ended.stderr);
    let ended = run_with(&["get", &echo.http, "-w", "@-", "-o", "/dev/null"], b"%{http_code}").expect(0);
    assert_eq!(ended.text(), "200");
    let out = folder.path("out");
    let line = format!("%output{{{out}}}a%output{{>>{out}}}b%{{stdout}}c");
    assert_eq!(run(&["get", &echo.http, "-w", &line, "-o", "/dev/null"]).expect(0).text(), "c");
    assert_eq!(folder.read("out"), b"ab");
    run(&["get", &echo.http, "-w", "@/no such file"]).expect(1);
}

#[test]
fn variables_are_those_of_curl() {
    let folder = Folder::new("variables");
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let cert = folder.write("cert.pem", made.cert.pem());
    let key = folder.write("key.pem", made.signing_key.serialize_pem());
    let echo = Echo::start(&["--cert", &cert, "--key", &key]);
    let https = echo.https.as_deref().unwrap();
    let names =
        r"%{num_connects} %{ssl_verify_result} %{num_certs} %{local_ip} %{http_version} %{exitcode}\n";
    let ended =
        run(&["get", "--cacert", &cert, https, https, "-o", "/dev/null", "-o", "/dev/null", "-w", names]);
    assert_eq!(ended.expect(0).text(), "1 0 1 127.0.0.1 2 0\n0 0 1 127.0.0.1 2 0\n");
    let certs = run(&["get", "-k", https, "-o", "/dev/null", "-w", "%{certs}"]).expect(0);
    assert_eq!(certs.text().replace('\n', ""), made.cert.pem().replace(['\r', '\n'], ""));
    let untrusted = run(&["get", "-s", https, "-w", "%{ssl_verify_result} %{onerror}%{errormsg}"]).expect(4);
    assert!(untrusted.text().starts_with("20 GET https://"), "{}", untrusted.text());
    let redirect = || answering("HTTP/1.1 302 Found\r\nlocation: ../b\r\ncontent-length: 0\r\n\r\n");
    let url = redirect();
    let line = "%{redirect_url} %{size_request} %{size_header} %{url.port}";
    let ended = run(&["get", "-H", "user-agent:", &url, "-w", line]).expect(0);
    let sent = format!("GET / HTTP/1.1\r\nHost: {}\r\nAccept: */*\r\n\r\n", &url[7..url.len() - 1]).len();
    let port = url.trim_end_matches('/').rsplit(':').next().unwrap();
    assert_eq!(ended.text(), format!("{url}b {sent} 57 {port}"));
}

#[test]
fn all_variables_are_one_object_and_alike_with_curl() {
    let echo = Echo::start(&[]);
    let url = format!("{}/x", echo.http);
    let asked = ["-o", "/dev/null", "-s", "-A", "same-name/1", "-e", "http://r/", "-w", "%{json}"];
    let ours = run(&[&["get", &*url], &asked[..]].concat()).expect(0);
    let ours: Value = serde_json::from_str(ours.text()).unwrap();
    assert_eq!((&ours["http_code"], &ours["errormsg"]), (&json!(200), &Value::Null));
    let curl = std::process::Command::new("curl").args(["--noproxy", "*", &url]).args(asked).output();
    let Ok(theirs) = curl else { return };
    let theirs: Value = serde_json::from_slice(&theirs.stdout).unwrap();
    // These differ by design, or by what was measured.
    let differs = |name: &str| {
        ["time_", "speed_", "local_port"].iter().any(|start| name.starts_with(start))
            || ["scheme", "curl_version", "http_connect"].contains(&name)
    };
    for (name, value) in theirs.as_object().unwrap() {
        assert!(differs(name) || ours[name] == *value, "{name}: {} / {value}", ours[name]);
        assert!(ours.get(name).is_some() || differs(name), "{name}");
    }
}

#[test]
fn content_is_decoded_when_it_was_asked_to_be_coded() {
    // "four" by gzip, without compression.
    let coded = b"\x1f\x8b\x08\0\0\0\0\0\0\xff\x01\x04\0\xfb\xfffour\x7d\x66\xc1\x90\x04\0\0\0";
    let answer = || {
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n", coded.len());
        answering([head.as_bytes(), coded].concat())
    };
    assert_eq!(run(&["get", "--compressed", &answer()]).expect(0).text(), "four");
    assert_eq!(run(&["get", &answer()]).expect(0).stdout, coded);
    // Heads are shown as they came, also of content that is decoded.
    let shown = run(&["get", "--compressed", "-i", &answer()]).expect(0);
    let fields = format!("\nContent-Encoding: gzip\nContent-Length: {}\n\nfour", coded.len());
    assert!(shown.text().to_lowercase().ends_with(&fields.to_lowercase()), "{}", shown.text());
    let asked = ["get", "--compressed", "-so", "/dev/null", "-w", "%header{content-encoding}", &answer()];
    assert_eq!(run(&asked).expect(0).text(), "gzip");
    let verbose = run(&["get", "--compressed", "-v", &answer()]).expect(0);
    assert!(verbose.stderr.to_lowercase().contains("< content-encoding: gzip"));
    let echo = Echo::start(&[]);
    let asked = run(&["get", "--compressed", &echo.http]).expect(0);
    for coding in ["gzip", "br", "zstd"] {
        assert!(asked.text().contains(coding), "{}", asked.text());
    }
}

#[test]
fn the_steps_of_an_exchange_are_timed() {
    let echo = Echo::start(&["--self-signed"]);
    let url = echo.http.replace("127.0.0.1", "localhost");
    let https = echo.https.as_deref().unwrap();
    let steps = ["looked up", "connected", "TLS agreed", "request sent", "head", "end"];
    for (args, steps) in [
        (["-4", &*url], [&steps[..2], &steps[3..]].concat()),
        (["--http2-prior-knowledge", &echo.http], [&steps[..2], &steps[3..]].concat()),
        (["-k", https], steps.to_vec()),
    ] {
        let ended = run(&[&["get", "--timing"][..], &args].concat()).expect(0);
        let lines: Vec<&str> = ended.stderr.lines().skip(1).collect();
        assert_eq!(lines.len(), steps.len(), "{}", ended.stderr);
        let times: Vec<f64> = lines
            .iter()
            .zip(&steps)
            .map(|(line, step)| {
                let rest = line.strip_prefix(*step).unwrap_or_else(|| panic!("{step}: {line}"));
                rest.split_whitespace().next().unwrap().parse().unwrap()
            })
            .collect();
        assert!(times.is_sorted(), "{times:?}");
    }
    let refused = run(&["get", "--timing", "http://127.0.0.1:1/"]).expect(3);
    // Of a connection that is used again nothing is waited for.
    let twice = run(&["get", "--timing", &echo.http, &echo.http]).expect(0);
    assert_eq!(twice.stderr.matches("connected ").count(), 1, "{}", twice.stderr);
    let line = "%{time_connect} %{time_appconnect} %{time_pretransfer} %{time_starttransfer} %{time_total}";
    let timed = run(&["get", "-k", https, "-o", "/dev/null", "-w", line]).expect(0);
    let times: Vec<f64> = timed.text().split(' ').map(|time| time.parse().unwrap()).collect();
    assert!(times[0] > 0.0 && times.is_sorted(), "{times:?}");
    assert!(refused.stderr.contains("\nend "), "{}", refused.stderr);
}

/// The versions, by the flags that ask for them.
const VERSIONS: [&str; 2] = ["--http1.1", "--http2-prior-knowledge"];

#[test]
fn trailers_are_shown_behind_the_content_where_heads_are() {
    let (origin, folder) = (trailing(), Folder::new("trailers"));
    let (redirect, out, dump) = (format!("{origin}/redirect"), folder.path("out"), folder.path("dump"));
    let trailers = "x-sum: 7\nset-cookie: a=s3cret\n";
    for version in VERSIONS {
        let get = |flags: &[&str]| {
            let all = run(&[&["get", version], flags].concat()).expect(0);
            all.text().to_ascii_lowercase()
        };
        assert_eq!(get(&[&origin]), "here", "{version}");
        let shown = get(&["-i", &origin]);
        assert!(shown.starts_with("http/") && shown.ends_with(&format!("\n\nhere{trailers}")), "{shown}");
        let hops = get(&["-i", "-L", &redirect]);
        let end = format!("\n\nhere{trailers}");
        assert!(hops.contains("\n\nx-hop: 1\nhttp/") && hops.ends_with(&end), "{hops}");
        assert_eq!(get(&["-i", "-o", &out, &origin]), "");
        assert_eq!(folder.read("out").to_ascii_lowercase().len(), shown.len());
        assert_eq!(get(&["-L", "-D", &dump, &redirect]), "here");
        let dumped = String::from_utf8(folder.read("dump")).unwrap().to_ascii_lowercase();
        assert!(dumped.contains("\n\nx-hop: 1\nhttp/"), "{dumped}");
        assert!(dumped.ends_with(&format!("\n\n{trailers}")), "{dumped}");
        let two = get(&["-Z", "-D", "-", &origin, "--next", version, "-i", &origin]);
        assert_eq!(two.matches(trailers).count(), 2, "{two}");
        // As with curl they are no fields of the head.
        let line = get(&["-s", "-o", &out, "-w", "%header{x-sum}%header{content-type}", &origin]);
        assert_eq!(line, "text/plain");
    }
}

#[test]
fn trailers_are_told_by_verbose_and_in_a_trace() {
    let (origin, folder) = (trailing(), Folder::new("told-trailers"));
    let trace = folder.path("trace");
    for version in VERSIONS {
        let url = format!("{origin}/redirect");
        let ended = run(&["get", version, "-v", "-L", "--trace-ascii", &trace, &url]).expect(0);
        let told: Vec<String> = ended.stderr.lines().map(str::to_ascii_lowercase).collect();
        for line in ["< x-hop: 1", "< x-sum: 7", "< set-cookie: a=…"] {
            assert_eq!(told.iter().filter(|told| *told == line).count(), 1, "{line}: {}", ended.stderr);
        }
        assert!(!ended.stderr.contains("s3cret"), "{}", ended.stderr);
        let traced = String::from_utf8(folder.read("trace")).unwrap().to_ascii_lowercase();
        assert!(traced.contains("<= recv header, 29 bytes (0x1d)\n0000: x-sum: 7\n"), "{traced}");
    }
}

#[test]
fn heads_are_counted_as_they_came() {
    let hints = "HTTP/1.1 103 Hints For You\r\nlink:a\r\n\r\n";
    let busy = "HTTP/1.1 503 Busy Today\r\ncontent-length:0\r\n\r\n";
    let redirect = "HTTP/1.1 302 Elsewhere Today\r\nlocation:/x\r\ncontent-length:0\r\n\r\n";
    let fine = "HTTP/1.1 200 All Is Fine\r\nX:   1  \r\ncontent-length:4\r\n\r\n";
    let bare = "HTTP/1.1 200\r\ncontent-length: 4\r\n\r\n";
    let whole = |head: &str| format!("{head}four");
    let retry = ["--retry", "1", "--retry-delay", "0.01", "-s"];
    for (answers, flags, bytes) in [
        (vec![whole(fine)], &[][..], fine.len()),
        (vec![whole(bare)], &[], bare.len()),
        (vec![hints.to_owned() + &whole(fine)], &[], hints.len() + fine.len()),
        (vec![redirect.to_owned(), whole(fine)], &["-L"], redirect.len() + fine.len()),
        // As with curl the last try alone is counted, as it is of content.
        (vec![busy.to_owned(), whole(fine)], &retry, fine.len()),
        (vec![busy.to_owned(), whole(fine)], &[&retry[..], &["--retry-all-errors"]].concat(), fine.len()),
    ] {
        let [first, second] = [&answers[0], answers.last().unwrap()];
        let url = answering_each([first.clone(), second.clone()]);
        let args = ["get", "-o", "/dev/null", "-w", "%{size_header} %{size_download}", &url];
        let ended = run(&[&args[..], flags].concat()).expect(0);
        assert_eq!(ended.text(), format!("{bytes} 4"), "{answers:?}");
    }
}
