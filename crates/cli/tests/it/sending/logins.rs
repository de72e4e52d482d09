//! Credentials that are sent when a server asks for them, with curl beside them where it is installed.

use std::{cell::RefCell, sync::mpsc::Receiver};

use crate::support::beside::{both, recording};
use crate::support::{Folder, PATIENCE, run};

const FINE: &str = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\nfine";

/// A response that asks for credentials by these challenges.
fn asking(challenges: &[&str]) -> String {
    let fields: String = challenges.iter().map(|one| format!("WWW-Authenticate: {one}\r\n")).collect();
    format!("HTTP/1.1 401 Who\r\n{fields}content-length: 3\r\nconnection: close\r\n\r\nwho")
}

/// The output and the requests of these words, by Alula and by curl.
fn exchanges(words: &[&str], answers: &[String]) -> Vec<(String, Vec<String>)> {
    let seen: RefCell<Vec<Receiver<String>>> = RefCell::default();
    let mut all = Vec::new();
    for ended in both(|| {
        let (address, requests) = recording(answers.to_vec());
        seen.borrow_mut().push(requests);
        words.iter().map(|word| word.replace("URL", &address)).collect()
    }) {
        let ended = ended.expect(0);
        let requests = seen.borrow_mut().pop().unwrap();
        let requests = answers.iter().map(|_| requests.recv_timeout(PATIENCE).unwrap()).collect();
        all.push((ended.text().to_owned(), requests));
    }
    all
}

/// The value of `authorization`, without the digits that are random or follow from them.
fn authorization(request: &str) -> String {
    let field = request.lines().find_map(|line| line.strip_prefix("authorization: "));
    let all = field.unwrap_or_default().split([',', ' ']).map(str::trim).filter(|part| !part.is_empty());
    let mut all: Vec<&str> =
        all.filter(|part| !part.starts_with("cnonce=") && !part.starts_with("response=")).collect();
    all.sort_unstable();
    all.join(" ")
}

#[test]
fn a_digest_is_sent_when_it_is_asked_for() {
    let digest = "Digest realm=\"a b\", nonce=\"n\", qop=\"auth\", opaque=\"o\", algorithm=MD5";
    let basic = "basic bjpw";
    let of_digest = "algorithm=md5 b\" digest nc=00000001 nonce=\"n\" opaque=\"o\" qop=auth realm=\"a uri=\"/x?y\" username=\"n\"";
    for (flag, challenges, expected) in [
        ("--digest", &[digest][..], of_digest),
        ("--anyauth", &[digest], of_digest),
        ("--anyauth", &["Basic realm=\"r\"", digest], of_digest),
        ("--anyauth", &["Basic realm=\"r\""], basic),
    ] {
        let answers = [asking(challenges), FINE.to_owned()];
        for (text, requests) in exchanges(&[flag, "-u", "n:p", "http://URL/x?y"], &answers) {
            assert_eq!((&*text, authorization(&requests[0])), ("fine", String::new()), "{flag}");
            assert_eq!(authorization(&requests[1]), expected, "{flag} {challenges:?}");
        }
    }
}

/// Without `qop` there is nothing random in it: the answers are the same (RFC 2069).
#[test]
fn the_digest_is_that_of_curl() {
    for challenge in
        ["Digest realm=\"r\", nonce=\"n\"", "Digest realm=\"r\\\"\", nonce=\"n\", algorithm=\"SHA-256\""]
    {
        let answers = [asking(&[challenge]), FINE.to_owned()];
        let responses: Vec<String> = exchanges(&["--digest", "-u", "n:p", "http://URL/"], &answers)
            .iter()
            .map(|(_, requests)| requests[1].split("response=").nth(1).unwrap()[..34].to_owned())
            .collect();
        assert!(responses.iter().all(|response| *response == responses[0]), "{responses:?}");
    }
}

#[test]
fn content_is_kept_for_the_request_that_is_taken() {
    let digest = asking(&["Digest realm=\"r\", nonce=\"n\", qop=\"auth\""]);
    for (flag, first, answers) in [
        ("--digest", "", [digest.clone(), FINE.to_owned()]),
        ("--digest", "", [FINE.to_owned(), FINE.to_owned()]),
        ("--anyauth", "content", [digest, FINE.to_owned()]),
    ] {
        for (text, requests) in exchanges(&[flag, "-u", "n:p", "-d", "content", "http://URL/"], &answers) {
            let contents =
                requests.iter().map(|request| request.split("\r\n\r\n").nth(1).unwrap_or_default());
            assert_eq!((&*text, contents.collect::<Vec<_>>()), ("fine", vec![first, "content"]), "{flag}");
        }
    }
}

#[test]
fn credentials_that_are_refused_are_sent_once() {
    let digest = asking(&["Digest realm=\"r\", nonce=\"n\", qop=\"auth\""]);
    let stale = asking(&["Digest realm=\"r\", nonce=\"m\", qop=\"auth\", stale=true"]);
    let wrong = [digest.clone(), digest.clone()];
    for (text, _) in exchanges(&["--digest", "-u", "n:p", "http://URL/"], &wrong) {
        assert_eq!(text, "who");
    }
    let renewed = [digest.clone(), stale, FINE.to_owned()];
    for (text, requests) in exchanges(&["--digest", "-u", "n:p", "http://URL/"], &renewed) {
        assert!(text == "fine" && requests[2].contains("nonce=\"m\""), "{requests:?}");
    }
    for (text, requests) in exchanges(&["--digest", "http://URL/"], std::slice::from_ref(&digest)) {
        assert_eq!((&*text, authorization(&requests[0])), ("who", String::new()));
    }
    // The next request to the same server has the next count, unasked.
    let (address, seen) = recording(vec![digest, FINE.to_owned(), FINE.to_owned()]);
    let url = format!("http://{address}/");
    let ended = run(&["get", "--digest", "-u", "n:p", &url, &url, "-w", "%{num_retries}"]).expect(0);
    assert_eq!(ended.text(), "fine0fine0");
    let last = seen.iter().nth(2).unwrap();
    assert!(last.contains("nc=00000002"), "{last}");
}

#[test]
fn arguments_at_home_are_read_first() {
    let folder = Folder::new("home");
    folder.write(".alularc", "# mine\nuser-agent = \"from home\"\n-H \"X: 1\"\n");
    let at_home = |words: &[&str]| {
        let (address, seen) = recording(vec![FINE]);
        let words: Vec<String> = words.iter().map(|word| word.replace("URL", &address)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let child = crate::support::alula(&words).env("HOME", folder.path("")).spawn().unwrap();
        crate::support::wait(child).expect(0);
        seen.recv_timeout(PATIENCE).unwrap()
    };
    for words in [
        &["get", "http://URL/"][..],
        &["http://URL/"],
        &["-s", "http://URL/"],
        &["get", "-s", "-q", "http://URL/"],
    ] {
        let request = at_home(words);
        assert!(request.contains("user-agent: from home\r\n") && request.contains("x: 1\r\n"), "{words:?}");
    }
    assert!(at_home(&["get", "-A", "mine", "http://URL/"]).contains("user-agent: mine\r\n"));
    for words in
        [&["get", "-q", "http://URL/"][..], &["-qs", "http://URL/"], &["get", "--disable", "http://URL/"]]
    {
        assert!(!at_home(words).contains("from home"), "{words:?}");
    }
    folder.write(".alularc", "--nothing\n");
    let child =
        crate::support::alula(&["get", "http://127.0.0.1:1/"]).env("HOME", folder.path("")).spawn().unwrap();
    assert!(crate::support::wait(child).expect(2).stderr.contains("--nothing"));
}

#[test]
fn a_session_keeps_a_digest() {
    let (echo, folder) = (crate::support::Echo::start(&[]), Folder::new("digest-session"));
    let url = format!("{}/digest-auth/auth/n/s3cret", echo.http);
    let session = folder.path("session.json");
    let asked = |words: &[&str], status: &str| {
        let ended =
            run(&[&["get", "-s", "-w", "%{http_code}", "-o", "-", &url, "--session", &session], words]
                .concat());
        assert!(ended.expect(0).text().ends_with(status), "{words:?}");
    };
    asked(&["--auth-type", "digest", "-a", "n:s3cret"], "200");
    let kept = String::from_utf8(folder.read("session.json")).unwrap();
    assert!(kept.contains("\"type\": \"digest\"") && kept.contains("n:s3cret"), "{kept}");
    asked(&[], "200");
    // Another way in takes its place.
    asked(&["-u", "n:s3cret"], "401");
    folder.write("session.json", r#"{"auth": {"type": "digest", "username": "n", "password": "s3cret"}}"#);
    asked(&[], "200");
}

#[test]
fn mistakes_in_files_name_the_file_and_the_line() {
    let folder = Folder::new("places");
    folder.write(".alularc", "silent\n\n--nothing\n");
    folder.write("config", "# mine\nurl = http://127.0.0.1:1/\nmax-time = soon\n");
    folder.write("store.toml", "data = 'a'\n\nengine = 'none'\n");
    folder.write("unknown.toml", "data = 'a'\nnothing = 1\n");
    let said = |words: &[&str]| {
        let mut command = crate::support::alula(words);
        command.current_dir(folder.path("")).env("HOME", folder.path(""));
        crate::support::wait(command.spawn().unwrap()).expect(2).stderr
    };
    let at_home = said(&["get", "http://127.0.0.1:1/"]);
    assert!(
        at_home.starts_with(&format!("error: {}:3: unexpected argument", folder.path(".alularc"))),
        "{at_home}"
    );
    for (words, place) in [
        (&["get", "-q", "-K", "config"][..], "error: config:3: invalid value 'soon'"),
        (&["store", "--config", "store.toml"], "error: store.toml:3: invalid value 'none'"),
        (&["store", "-c", "unknown.toml"], "alula: unknown.toml: line 2: `nothing` is no setting"),
    ] {
        let text = said(words);
        assert!(text.starts_with(place), "{text}");
    }
    // A mistake on the line itself has no such place.
    assert!(said(&["get", "-q", "--nothing", "-K", "config"]).starts_with("error: unexpected argument"));
}
