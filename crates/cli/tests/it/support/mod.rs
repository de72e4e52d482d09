//! The built program, run with bounded waits.

pub(crate) mod beside;
pub(crate) mod trailing;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;
use std::{fs, thread};

/// Longer than anything here takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// What would lead requests elsewhere.
const PROXIES: [&str; 8] = [
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
];

/// A command of the program, without input.
pub(crate) fn alula(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_alula"));
    for name in PROXIES {
        command.env_remove(name);
    }
    // The background of the terminal that the tests run on decides nothing.
    command.env_remove("COLORFGBG");
    // No file of somebody's own says what is tried.
    command.env("HOME", std::env::temp_dir());
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// How it ended: exit code, stdout, stderr.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Ended {
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stderr: {}", self.stderr);
        self
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).expect("stdout is text")
    }
}

/// Runs it to its end.
pub(crate) fn run(args: &[&str]) -> Ended {
    wait(alula(args).spawn().expect("the program starts"))
}

/// Runs it to its end with this input.
pub(crate) fn run_with(args: &[&str], input: &[u8]) -> Ended {
    let mut child = alula(args).stdin(Stdio::piped()).spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("stdin is piped");
    let input = input.to_vec();
    // A program that ends before it has read everything is judged by how it ends.
    thread::spawn(move || drop(stdin.write_all(&input)));
    wait(child)
}

/// Waits for its end, but not for ever.
pub(crate) fn wait(child: Child) -> Ended {
    let id = child.id();
    let (ended, output) = mpsc::channel();
    thread::spawn(move || drop(ended.send(child.wait_with_output())));
    let Ok(output) = output.recv_timeout(PATIENCE) else {
        let _ = Command::new("kill").arg(id.to_string()).status();
        panic!("the program does not end");
    };
    let Output { status, stdout, stderr } = output.expect("the program can be waited for");
    Ended { code: status.code(), stdout, stderr: String::from_utf8_lossy(&stderr).into_owned() }
}

/// A running `alula echo`, `alula serve` or `alula store`, ended when dropped.
pub(crate) struct Echo {
    pub(crate) child: Child,
    /// `http://127.0.0.1:PORT`.
    pub(crate) http: String,
    /// `https://127.0.0.1:PORT`, when there is TLS.
    pub(crate) https: Option<String>,
    /// Its stdout behind the lines of its addresses.
    rest: mpsc::Receiver<BufReader<ChildStdout>>,
}

impl Echo {
    pub(crate) fn start(args: &[&str]) -> Self {
        Self::start_as(alula(&["echo"]), args)
    }

    /// `alula serve` for this folder, with these flags.
    pub(crate) fn serving(folder: &Folder, flags: &[&str]) -> Self {
        Self::start_as(alula(&["serve", &folder.path("")]), flags)
    }

    /// `alula serve` with these flags, begun in this folder.
    pub(crate) fn serving_here(folder: &Folder, flags: &[&str]) -> Self {
        let mut serve = alula(&["serve"]);
        serve.current_dir(folder.path(""));
        Self::start_as(serve, flags)
    }

    /// `alula store` with these flags.
    pub(crate) fn storing(flags: &[&str]) -> Self {
        Self::start_as(alula(&["store"]), flags)
    }

    /// The next lines on its stdout behind those of its addresses.
    pub(crate) fn lines(&self, count: usize) -> Vec<String> {
        let rest = self.rest.recv_timeout(PATIENCE).expect("its stdout");
        rest.lines().take(count).map(|line| line.expect("a line")).collect()
    }

    /// Ends it as a user does, and gives what it has written on stderr, and on stdout after the lines of its
    /// addresses.
    #[cfg(unix)]
    pub(crate) fn stop(mut self) -> (String, String) {
        self.signal("TERM");
        let (mut out, mut err) = (String::new(), String::new());
        let _ = self.child.stderr.take().map(|mut stderr| stderr.read_to_string(&mut err));
        let code = self.child.wait().expect("it can be waited for").code();
        assert_eq!(code, Some(0), "{err}");
        let _ = self.rest.recv_timeout(PATIENCE).map(|mut rest| rest.read_to_string(&mut out));
        (err, out)
    }

    /// Sends it a signal.
    #[cfg(unix)]
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&*format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(sent.expect("`kill` is there").success());
    }

    /// `alula echo` with this stdin.
    #[cfg(unix)]
    pub(crate) fn start_on(stdin: impl Into<Stdio>, args: &[&str]) -> Self {
        let mut echo = alula(&["echo"]);
        echo.stdin(stdin);
        Self::start_as(echo, args)
    }

    fn start_as(mut listening: Command, args: &[&str]) -> Self {
        listening.args(["--listen", "127.0.0.1:0"]).args(args);
        let mut child = listening.spawn().expect("the program starts");
        let has_tls = args.iter().any(|arg| ["--self-signed", "--cert"].contains(arg));
        let mut stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let (send, receive) = mpsc::channel();
        let (give_rest, rest) = mpsc::channel();
        thread::spawn(move || {
            stdout.by_ref().lines().take(1 + usize::from(has_tls)).for_each(|line| drop(send.send(line)));
            drop(give_rest.send(stdout));
        });
        let origin = || -> String {
            let line = receive.recv_timeout(PATIENCE).expect("a line in time").expect("a line");
            line.strip_prefix("listening on ").unwrap_or_else(|| panic!("{line}")).to_owned()
        };
        let http = origin();
        assert!(http.starts_with("http://127.0.0.1:"), "{http}");
        Self { http, https: has_tls.then(origin), child, rest }
    }

    /// Sends a request over HTTP/1.1, the target as it is, and reads the answer: its head in lower case, and
    /// its content.
    #[track_caller]
    pub(crate) fn ask_raw(&self, method: &str, target: &str, fields: &[&str]) -> (String, String) {
        self.ask_raw_as("localhost", method, target, fields)
    }

    /// The same for another host.
    #[track_caller]
    pub(crate) fn ask_raw_as(
        &self,
        host: &str,
        method: &str,
        target: &str,
        fields: &[&str],
    ) -> (String, String) {
        let mut socket = TcpStream::connect(self.http.trim_start_matches("http://")).expect("it accepts");
        socket.set_read_timeout(Some(PATIENCE)).expect("a socket takes the option");
        let fields: String = fields.iter().map(|field| format!("{field}\r\n")).collect();
        let head = format!("{method} {target} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n{fields}\r\n");
        socket.write_all(head.as_bytes()).expect("it reads");
        let mut answer = Vec::new();
        socket.read_to_end(&mut answer).expect("it answers and closes");
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, content) =
            answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{method} {target}: {answer}"));
        (format!("{}\r\n", head.to_ascii_lowercase()), content.to_owned())
    }

    /// The same, for which this status is expected.
    #[track_caller]
    pub(crate) fn expect(
        &self,
        method: &str,
        target: &str,
        fields: &[&str],
        status: u16,
    ) -> (String, String) {
        let (head, content) = self.ask_raw(method, target, fields);
        assert!(head.starts_with(&format!("http/1.1 {status} ")), "{method} {target} {fields:?}: {head}");
        (head, content)
    }

    /// Asks it in clear text.
    pub(crate) fn ask(&self, method: &str, path: &str, args: &[&str]) -> Ended {
        let url = format!("{}{path}", self.http);
        let mut all = vec![method, "--http2-prior-knowledge", "--max-time", "50", &url];
        all.extend_from_slice(args);
        run(&all)
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until a program listens that has not said where yet, and returns its address of IPv4.
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "another program starts")]
pub(crate) fn listening_address(child: &mut Child) -> String {
    let begun = std::time::Instant::now();
    loop {
        if let Some(address) = find_listening(child.id()) {
            return address;
        }
        assert!(child.try_wait().expect("it can be waited for").is_none(), "it has ended");
        assert!(begun.elapsed() < PATIENCE, "it does not listen");
        thread::sleep(Duration::from_millis(5));
    }
}

/// The address on which a process listens, as the system lists it.
#[cfg(target_os = "linux")]
fn find_listening(process: u32) -> Option<String> {
    const LISTENS: &str = "0A";
    let links = fs::read_dir(format!("/proc/{process}/fd")).ok()?.flatten();
    let open: Vec<_> = links.filter_map(|link| fs::read_link(link.path()).ok()).collect();
    let table = fs::read_to_string(format!("/proc/{process}/net/tcp")).ok()?;
    table.lines().skip(1).find_map(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let is_its = open.contains(&PathBuf::from(format!("socket:[{}]", columns[9])));
        let (_, port) = columns[1].split_once(':').filter(|_| is_its && columns[3] == LISTENS)?;
        Some(format!("127.0.0.1:{}", u16::from_str_radix(port, 16).ok()?))
    })
}

/// A folder of one test, removed when dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("alula-cli-{test}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder for the test");
        Self(path)
    }

    /// The path of a file in it.
    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("a path that is text").to_owned()
    }

    /// Writes a file and gives its path.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        fs::write(self.0.join(name), bytes).expect("a file of the test");
        self.path(name)
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.0.join(name)).expect("a file of the test")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Bytes without a pattern a codec or a window could hide behind.
pub(crate) fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let words = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    });
    words.flatten().take(bytes).collect()
}

/// Reads what is there until `bytes` have come.
pub(crate) fn read_some(child: &mut Child, bytes: usize) -> Vec<u8> {
    let mut some = vec![0; bytes];
    child.stdout.as_mut().expect("stdout is piped").read_exact(&mut some).expect("that much output");
    some
}

/// The URL, with a path of `/`, of a server that answers its first request with this and closes.
pub(crate) fn answering(answer: impl AsRef<[u8]> + Send + 'static) -> String {
    answering_each([answer])
}

/// The same with an answer for each connection in turn.
pub(crate) fn answering_each<A: AsRef<[u8]> + Send + 'static, const N: usize>(answers: [A; N]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/", listener.local_addr().expect("it has an address"));
    thread::spawn(move || {
        answers.iter().try_for_each(|answer| {
            let (mut socket, _) = listener.accept()?;
            socket.set_read_timeout(Some(PATIENCE))?;
            let mut head = [0; 4096];
            let _ = socket.read(&mut head)?;
            socket.write_all(answer.as_ref())
        })
    });
    url
}
