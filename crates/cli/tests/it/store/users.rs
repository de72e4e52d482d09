//! `alula store --users`: hashes of passwords, users over TLS, and users that change while it serves.
#![cfg(unix)]

use std::fs::{self, Permissions};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;

use crate::support::{Echo, Folder, alula, run, run_with, wait};

const MEMORY: &str = "--engine=memory";
const KEY: &str = "/buckets/b/keys/k";

/// Writes a users file that its owner alone may read.
fn write(folder: &Folder, text: &str) -> String {
    let file = folder.write("users.toml", text);
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    file
}

/// A user with a hash, and permissions in all of the store.
fn user(name: &str, hash: &str, allow: &str) -> String {
    format!("[users.{name}]\npassword = '{hash}'\n[[users.{name}.grants]]\nallow = [{allow}]\n")
}

/// The hash that the command prints for a password.
fn hash_of(password: &str) -> String {
    let ended = run_with(&["store", "--hash-password"], format!("{password}\n").as_bytes()).expect(0);
    assert_eq!(ended.stderr, "");
    ended.text().trim_end().to_owned()
}

#[test]
fn a_password_becomes_a_hash_that_lets_in() {
    let hash = hash_of("open sesame");
    assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
    let folder = Folder::new("store-users");
    let file =
        write(&folder, &(user("ann", &hash, "'get', 'put'") + &user("bob", &hash_of("other"), "'get'")));
    let log = folder.path("access.log");
    let logging = format!("--access-log={log}");
    let server = Echo::storing(&[MEMORY, "--users", &file, "--self-signed", &logging]);
    let https = server.https.clone().unwrap() + KEY;
    let ask = |method: &str, user: &str, more: &[&str]| {
        let all = [&[method, "-k", "-i", "-u", user, &https][..], more].concat();
        run(&all).expect(0).text().to_owned()
    };
    let put = ["-H", "content-type: text/plain", "-d", "content"];
    assert!(ask("put", "ann:open sesame", &put).contains(" 204"));
    assert!(ask("get", "bob:other", &[]).ends_with("content"));
    assert!(ask("get", "ann:other", &[]).contains(" 401"));
    let denied = ask("put", "bob:other", &put);
    assert!(denied.contains("Permission denied: user 'bob' does not have 'put' on default/b"), "{denied}");
    let (head, _) = server.expect("GET", KEY, &[], 426);
    assert!(head.contains("\r\nupgrade: tls/1.2, http/1.1\r\n"), "{head}");
    server.expect("GET", "/stats", &[], 200);
    // A page whose name leads to this address has no credentials.
    let (head, _) = server.ask_raw_as("rebound.example", "GET", "/stats", &[]);
    assert!(head.starts_with("http/1.1 200 "), "{head}");
    let (_, hint) = server.stop();
    assert_eq!(hint, "", "commands to try are for a store that lets everybody in");
    let log = fs::read_to_string(log).unwrap();
    // Lines of different threads have no order.
    let mut users: Vec<_> = log.lines().map(|line| line.split(' ').nth(2).unwrap()).collect();
    users.sort_unstable();
    assert_eq!(users, ["-", "-", "-", "-", "ann", "bob", "bob"], "{log}");
}

#[test]
fn passwords_are_refused_that_are_none() {
    for (input, expected) in [("\n", "1 to 1024 bytes"), (&*"a".repeat(1025), "1 to 1024 bytes")] {
        let ended = run_with(&["store", "--hash-password"], input.as_bytes()).expect(2);
        assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    }
    let with_more = run(&["store", "--hash-password", MEMORY]).expect(2);
    assert!(with_more.stderr.contains("--hash-password"), "{}", with_more.stderr);
}

#[test]
fn a_typed_password_is_asked_for_twice() {
    for (second, code, expected) in
        [("secret\n", 0, ""), ("secre\n", 2, "the two passwords are not the same")]
    {
        let nix::pty::OpenptyResult { master, slave } = nix::pty::openpty(None, None).expect("a terminal");
        let mut child = alula(&["store", "--hash-password"]).stdin(slave).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut terminal = fs::File::from(master);
        for (prompt, line) in [("New password: ", "secret\n"), ("The same again: ", second)] {
            let mut asked = vec![0; prompt.len()];
            stderr.read_exact(&mut asked).unwrap();
            assert_eq!(String::from_utf8_lossy(&asked), prompt);
            terminal.write_all(line.as_bytes()).unwrap();
            // The end of the line, which was not shown.
            stderr.read_exact(&mut [0]).unwrap();
        }
        let mut rest = String::new();
        stderr.read_to_string(&mut rest).unwrap();
        assert!(rest.contains(expected), "{rest}");
        let ended = wait(child).expect(code);
        assert!(!ended.text().contains("secre") && ended.text().starts_with('$') == (code == 0));
    }
}

#[test]
fn users_are_read_again_after_a_signal() {
    let (folder, hash) = (Folder::new("store-reload"), hash_of("secret"));
    let file = write(&folder, &user("ann", &hash, "'get'"));
    let mut server = Echo::storing(&[MEMORY, "--users", &file, "--users-without-tls"]);
    let mut stderr = BufReader::new(server.child.stderr.take().unwrap());
    let mut names = ["HUP", "USR1"].into_iter().cycle();
    let mut signal = |server: &Echo| {
        server.signal(names.next().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        line
    };
    // `ann:secret`
    let field = ["authorization: Basic YW5uOnNlY3JldA=="];
    server.expect("GET", KEY, &field, 404);
    server.expect("GET", KEY, &[], 401);
    write(&folder, &user("ann", &hash, "'put'"));
    server.expect("GET", KEY, &field, 404);
    assert_eq!(signal(&server), format!("alula: {file}: read again, users: 1\n"));
    server.expect("GET", KEY, &field, 403);
    write(&folder, "[users.ann]\npassword = 'secret'\n");
    let told = signal(&server);
    let expected = format!("alula: the users stay as they were: {file}: line 2: the password is no hash");
    assert!(told.starts_with(&expected) && !told.contains("secret"), "{told}");
    server.expect("GET", KEY, &field, 403);
    write(&folder, &user("bob", &hash, "'get'"));
    signal(&server);
    server.expect("GET", KEY, &field, 401);
    server.stop();
}

#[test]
fn mistakes_are_told_at_the_start() {
    let folder = Folder::new("store-users-wrong");
    let right = user(
        "ann",
        "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
        "'get'",
    );
    let file = write(&folder, &right);
    let none = folder.write("none.pem", "no PEM");
    for (flags, expected) in [
        (&["--users", &file][..], "users send their passwords over TLS alone: add --cert and --key"),
        (&["--users", &file, "--users-without-tls", "--client-ca", &none], "over TLS alone: add --cert"),
        (&["--users", &file, "--self-signed", "--client-ca", &none], "no certificate of an authority"),
        (&["--users", "none.toml", "--self-signed"], "none.toml: cannot be read: "),
        (&["--users-without-tls"], "--users <FILE>"),
        (&["--client-ca", &none], "--users <FILE>"),
    ] {
        let ended = run(&[&["store", MEMORY, "-l0"], flags].concat());
        assert!(
            ended.code == Some(2) && ended.stderr.contains(expected),
            "{flags:?}: {:?} {}",
            ended.code,
            ended.stderr
        );
    }
    fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    let ended = run(&["store", MEMORY, "-l0", "--self-signed", "--users", &file]).expect(2);
    assert!(
        ended.stderr.contains("may be read or changed by others (mode 644): run chmod 600 on it"),
        "{}",
        ended.stderr
    );
}

/// A client with a certificate of an authority needs no password.
#[test]
fn a_certificate_lets_in() {
    let folder = Folder::new("store-certificate");
    let mut params = rcgen::CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let authority = rcgen::CertifiedIssuer::self_signed(params, rcgen::KeyPair::generate().unwrap()).unwrap();
    let key = rcgen::KeyPair::generate().unwrap();
    let names = vec!["backup.example".to_owned()];
    let made = rcgen::CertificateParams::new(names).unwrap().signed_by(&key, &authority).unwrap();
    let ca = folder.write("ca.pem", authority.pem());
    let (cert, key) =
        (folder.write("client.pem", made.pem()), folder.write("client.key", key.serialize_pem()));
    let text =
        "[users.backup]\ncertificates = ['dns:backup.example']\n[[users.backup.grants]]\nallow = ['list']\n";
    let file = write(&folder, text);
    let server = Echo::storing(&[MEMORY, "--self-signed", "--users", &file, "--client-ca", &ca]);
    let url = server.https.clone().unwrap() + "/buckets?buckets=true";
    let listed = run(&["get", "-k", "--cert", &cert, "--key", &key, &url]).expect(0);
    assert_eq!(listed.text(), "{\"buckets\":[]}");
    assert!(run(&["get", "-k", "-i", &url]).expect(0).text().contains(" 401"));
    server.stop();
}
