//! `alula store` while it opens its folder: what is asked meanwhile, and how that is ended.
//!
//! The file `format` of the folder is a pipe here, from which opening reads until a test has written into it.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, ChildStderr, Command};

use crate::support::{Echo, Ended, Folder, PATIENCE, alula, run, run_with, wait};

const PATH: &str = "/buckets/b/keys/k";

/// A folder with an object, whose opening waits.
struct Slow {
    folder: Folder,
    format: String,
}

impl Slow {
    fn new(test: &str) -> Self {
        let folder = Folder::new(test);
        let store = Echo::storing(&["--data", &folder.path("data")]);
        store.ask("put", PATH, &["-H", "content-type: text/plain", "-d", "kept"]).expect(0);
        store.stop();
        let slow = Self { format: String::from_utf8(folder.read("data/format")).unwrap(), folder };
        fs::rename(slow.folder.path("data/format"), slow.folder.path("format")).unwrap();
        assert!(Command::new("mkfifo").arg(slow.pipe()).status().unwrap().success());
        slow
    }

    fn pipe(&self) -> String {
        self.folder.path("data/format")
    }

    /// Starts the program, and waits until it answers.
    fn start(&self, flags: &[&str]) -> Opening {
        let data = self.folder.path("data");
        let mut store = alula(&["store", "--listen", "127.0.0.1:0", "--data", &data]);
        let mut child = store.args(flags).spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let address = crate::support::listening_address(&mut child);
        Opening { child, address, stderr }
    }

    /// Lets the opening read this.
    fn let_go(&self, format: &str) {
        fs::write(self.pipe(), format).unwrap();
    }

    /// Opens the folder as it was, and reads the object.
    fn check(&self) {
        fs::rename(self.folder.path("format"), self.pipe()).unwrap();
        let store = Echo::storing(&["--data", &self.folder.path("data")]);
        assert_eq!(store.expect("GET", PATH, &[], 200).1, "kept");
        store.stop();
    }
}

/// A running program whose folder is not open yet.
struct Opening {
    child: Child,
    address: String,
    stderr: BufReader<ChildStderr>,
}

impl Opening {
    fn url(&self, scheme: &str, path: &str) -> String {
        format!("{scheme}://{}{path}", self.address)
    }

    /// Asks on this connection, which stays; returns the status and all else.
    fn ask(socket: &mut TcpStream, method: &str, path: &str) -> (u16, String) {
        write!(socket, "{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        let mut byte = [0; 1];
        while !answer.ends_with(b"\r\n\r\n") {
            socket.read_exact(&mut byte).unwrap();
            answer.extend(byte);
        }
        let mut answer = String::from_utf8(answer).unwrap().to_ascii_lowercase();
        let length = answer.split_once("content-length: ").unwrap().1.split_once('\r').unwrap().0;
        let mut content = vec![0; length.parse().unwrap()];
        socket.read_exact(&mut content).unwrap();
        answer.push_str(&String::from_utf8(content).unwrap());
        (answer["http/1.1 ".len()..][..3].parse().unwrap(), answer)
    }

    fn connect(&self) -> TcpStream {
        let socket = TcpStream::connect(&self.address).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&*format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }

    /// Waits until it says where it listens.
    fn listens(&mut self) {
        let mut line = String::new();
        BufReader::new(self.child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, format!("listening on http://{}\n", self.address));
    }

    /// Waits for its end, with what it still says on stderr.
    fn end(mut self) -> Ended {
        let mut told = String::new();
        self.stderr.read_to_string(&mut told).unwrap();
        let ended = wait(self.child);
        Ended { stderr: told, ..ended }
    }
}

#[test]
fn probes_hear_that_it_starts_and_then_that_it_is_ready() {
    let slow = Slow::new("starting-probes");
    let mut opening = slow.start(&["--health", "--ready", "--self-signed"]);
    let mut socket = opening.connect();
    // It is told once it takes long.
    let mut told = String::new();
    opening.stderr.read_line(&mut told).unwrap();
    let (data, url) = (slow.folder.path("data"), opening.url("http", ""));
    let sentence = "is being opened: until it is, requests are answered with 503 at";
    assert_eq!(told, format!("alula: the store in {data} {sentence} {url}\n"));
    let mut ask = |method, path| Opening::ask(&mut socket, method, path);
    assert_eq!(ask("GET", "/healthz").0, 200);
    let (status, ready) = ask("GET", "/readyz");
    assert!(status == 503 && ready.ends_with("\r\n\r\nstarting\n"), "{ready}");
    assert_eq!(ask("GET", "/ping").0, 200);
    for (method, path) in [("GET", PATH), ("PUT", PATH), ("GET", "/stats"), ("OPTIONS", "/none")] {
        let (status, answer) = ask(method, path);
        assert!(status == 503 && answer.contains("\r\nretry-after: 1\r\n"), "{method} {path}: {answer}");
        assert!(answer.ends_with("\r\n\r\nthe store is starting: it reads what is kept\n"), "{answer}");
    }
    let (plain, tls) = (opening.url("http", PATH), opening.url("https", PATH));
    for args in [&["--http2-prior-knowledge", &*plain][..], &["-k", &tls], &["-k", "--http1.1", &tls]] {
        let answer = run(&[&["get", "-f"][..], args].concat()).expect(9);
        assert!(answer.stderr.contains("503"), "{args:?}: {}", answer.stderr);
    }

    slow.let_go(&slow.format);
    opening.listens();
    // The connection of before has ended, and others are of the store.
    assert_eq!(socket.read(&mut [0; 1]).unwrap(), 0);
    let mut socket = opening.connect();
    let mut ask = |method, path| Opening::ask(&mut socket, method, path);
    let (status, object) = ask("GET", PATH);
    assert!(status == 200 && object.ends_with("\r\n\r\nkept"), "{object}");
    assert_eq!((ask("GET", "/healthz").0, ask("GET", "/readyz").0), (200, 200));
    for args in [&["--http2-prior-knowledge", &*plain][..], &["-k", &tls], &["-k", "--http1.1", &tls]] {
        assert_eq!(run(&[&["get", "-f"][..], args].concat()).expect(0).text(), "kept", "{args:?}");
    }
    opening.signal("TERM");
    let ended = opening.end().expect(0);
    assert_eq!(ended.stderr, "");
}

#[test]
fn a_signal_ends_it_before_the_folder_is_open() {
    for signal in ["TERM", "INT"] {
        let slow = Slow::new(&format!("starting-{signal}"));
        let opening = slow.start(&[]);
        let mut socket = opening.connect();
        let mut ping = || Opening::ask(&mut socket, "GET", "/ping").0;
        assert_eq!(ping(), 200);
        // Rotations of logs and upgrades end nothing.
        for other in ["HUP", "USR1", "USR2"] {
            opening.signal(other);
        }
        assert_eq!(ping(), 200);
        opening.signal(signal);
        let ended = opening.end().expect(0);
        assert_eq!((ended.text(), &*ended.stderr), ("", ""));
        slow.check();
    }
}

#[test]
fn a_folder_that_does_not_open_ends_it_with_its_sentence() {
    let slow = Slow::new("starting-fails");
    let opening = slow.start(&[]);
    let (address, mut socket) = (opening.address.clone(), opening.connect());
    assert_eq!(Opening::ask(&mut socket, "GET", PATH).0, 503);
    slow.let_go("something else\n");
    let ended = opening.end().expect(1);
    let data = slow.folder.path("data");
    let sentence = format!("alula: cannot open the store in {data}: ");
    assert!(ended.stderr.starts_with(&sentence), "{}", ended.stderr);
    assert_eq!(ended.text(), "");
    assert!(TcpStream::connect(address).is_err(), "nobody listens");
    slow.check();
}

#[test]
fn a_port_that_is_taken_is_told_before_the_folder_is_looked_at() {
    let folder = Folder::new("starting-port");
    let taken = Echo::storing(&["--engine=memory"]);
    let (listen, data) = (taken.http.trim_start_matches("http://"), folder.path("data"));
    let ended = run(&["store", "--listen", listen, "--data", &data]).expect(1);
    assert!(ended.stderr.starts_with(&format!("alula: cannot listen on {listen}: ")), "{}", ended.stderr);
    assert!(fs::metadata(data).is_err(), "a folder was made");
}

#[test]
fn users_log_in_and_are_read_again_before_it_is_open() {
    let slow = Slow::new("starting-users");
    let hash = run_with(&["store", "--hash-password"], b"secret\n").expect(0).text().trim_end().to_owned();
    let write = |names: &[&str]| {
        let text: String =
            names.iter().map(|name| format!("[users.{name}]\npassword = '{hash}'\n")).collect();
        let file = slow.folder.write("users.toml", text);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        file
    };
    let file = write(&["ann"]);
    let mut opening = slow.start(&["--users", &file, "--users-without-tls", "--health", "--ready"]);
    let mut socket = opening.connect();
    for (path, status) in [("/healthz", 200), ("/readyz", 503), ("/ping", 401), (PATH, 503)] {
        assert_eq!(Opening::ask(&mut socket, "GET", path).0, status, "{path}");
    }
    let ping = opening.url("http", "/ping");
    assert_eq!(run(&["get", "-f", "-u", "ann:secret", &ping]).expect(0).text(), "OK");
    run(&["get", "-f", "-u", "bob:secret", &ping]).expect(9);
    write(&["ann", "bob"]);
    opening.signal("HUP");
    let mut told = String::new();
    opening.stderr.read_line(&mut told).unwrap();
    assert_eq!(told, format!("alula: {file}: read again, users: 2\n"));
    assert_eq!(run(&["get", "-f", "-u", "bob:secret", &ping]).expect(0).text(), "OK");
    slow.let_go(&slow.format);
    opening.listens();
    let answer = run(&["get", "-f", "-u", "bob:secret", &opening.url("http", PATH)]).expect(9);
    assert!(answer.stderr.contains("403"), "{}", answer.stderr);
    opening.signal("TERM");
    opening.end().expect(0);
}
