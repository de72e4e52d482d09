//! A row run on both programs, and what differs.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use super::server::{Request, Server};
use super::table::Row;
use crate::support::{Folder, alula, wait};

/// The parts that are compared, by name.
pub(crate) const PARTS: [&str; 4] = ["code", "stdout", "files", "requests"];

/// The outcome of the words.
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) stderr: String,
    stdout: String,
    files: BTreeMap<String, String>,
    requests: Vec<Request>,
}

pub(crate) struct Runs {
    pub(crate) ours: Outcome,
    /// None without curl.
    theirs: Option<Outcome>,
}

impl Runs {
    pub(crate) fn of(row: &Row) -> Self {
        let server = Server::start();
        let closed = closed_port();
        let words = row.arguments(server.port(), closed);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let theirs = has_curl().then(|| {
            let mut curl = Command::new("curl");
            curl.args(["-sS", "-A", "test"]).args(&words);
            curl.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            run(curl, &server, row.line, "curl")
        });
        let ours = alula(&[&["-sS", "-A", "test", "--exit-codes=curl", "--http1.1"], &words[..]].concat());
        Self { ours: run(ours, &server, row.line, "alula"), theirs }
    }

    /// The parts in which they differ, each with both values; none without curl.
    pub(crate) fn differences(&self) -> Option<Vec<(&'static str, String)>> {
        let (ours, theirs) = (&self.ours, self.theirs.as_ref()?);
        let parts = [
            (
                "code",
                format!("{:?}", ours.code),
                format!("{:?} {}", theirs.code, theirs.stderr),
                ours.code == theirs.code,
            ),
            ("stdout", ours.stdout.clone(), theirs.stdout.clone(), ours.stdout == theirs.stdout),
            ("files", format!("{:?}", ours.files), format!("{:?}", theirs.files), ours.files == theirs.files),
            (
                "requests",
                format!("{:#?}", ours.requests),
                format!("{:#?}", theirs.requests),
                ours.requests == theirs.requests,
            ),
        ];
        let differ = parts.into_iter().filter(|(.., is_same)| !is_same);
        Some(differ.map(|(part, ours, theirs, _)| (part, format!("{ours}\n    curl: {theirs}"))).collect())
    }
}

/// Runs the program in a folder of its own that has what the words name.
fn run(mut command: Command, server: &Server, line: usize, name: &str) -> Outcome {
    let folder = Folder::new(&format!("beside-{line}-{name}"));
    for (file, content) in FILES {
        let path = folder.write(file, content.replace("{port}", &server.port().to_string()));
        // -z sends the time; both programs find the same.
        let written = fs::File::options().append(true).open(path).and_then(|file| file.set_modified(WRITTEN));
        written.expect("a file of the test takes a time");
    }
    let home = folder.path("");
    command.current_dir(&home).env("HOME", &home).env_remove("XDG_CONFIG_HOME");
    for proxy in
        ["http_proxy", "https_proxy", "all_proxy", "no_proxy", "ALL_PROXY", "HTTPS_PROXY", "NO_PROXY"]
    {
        command.env_remove(proxy);
    }
    server.begin();
    let ended = wait(command.spawn().unwrap_or_else(|error| panic!("{name}: {error}")));
    let stdout = String::from_utf8_lossy(&ended.stdout).replace('\r', "");
    Outcome {
        code: ended.code,
        stderr: ended.stderr,
        stdout,
        files: made(Path::new(&home)),
        requests: server.seen(),
    }
}

/// The time at which they were written.
const WRITTEN: SystemTime = UNIX_EPOCH;

/// The files that are there before.
const FILES: [(&str, &str); 9] = [
    ("text", "first=1&second=2"),
    ("lines", "one\ntwo\n"),
    ("json", "{\"a\": 1}"),
    ("fields", "X-One: 1\nX-Two: 2\n"),
    ("part", "0123"),
    ("config", "url = \"http://127.0.0.1:{port}/by-config\"\nheader = \"X: a b\"\n"),
    ("netrc", "machine 127.0.0.1 login name password secret\n"),
    ("jar", "127.0.0.1\tFALSE\t/\tFALSE\t0\tkept\tyes\n"),
    ("etag", "\"tag\"\n"),
];

/// The files that were made or changed, by name, with their content.
fn made(folder: &Path) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    collect(folder, folder, &mut all);
    all
}

fn collect(root: &Path, folder: &Path, all: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, all);
            continue;
        }
        let name = path.strip_prefix(root).unwrap().display().to_string();
        let content = String::from_utf8_lossy(&fs::read(&path).unwrap()).replace('\r', "");
        let is_there =
            |(known, before): &(&str, &str)| *known == name && (*before == content || name == "config");
        if FILES.iter().any(is_there) {
            continue;
        }
        // The remarks at the top of a jar name the program.
        let lines: Vec<&str> = content.split('\n').filter(|line| !line.starts_with("# ")).collect();
        all.insert(name, lines.join("\n").trim_start().to_owned());
    }
}

fn has_curl() -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    *HAS.get_or_init(|| Command::new("curl").arg("-V").stdout(Stdio::null()).status().is_ok())
}

/// A port on which nobody listens.
fn closed_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
