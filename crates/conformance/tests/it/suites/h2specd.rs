//! h2specd, the suite's other side: a server that misbehaves in a stated way in each case, and `alula get` as its client.
//!
//! It runs section by section, since one case without an end would end the whole run. Each case has a port of its own.

use std::os::unix::fs::symlink;
use std::process::Command;
use std::thread;
use std::time::Duration;

use alula_conformance::folder::Folder;
use alula_conformance::suite::{self, Summary};
use alula_conformance::{environment, outcome, ports};

/// The sections of h2specd 2.2.1 and how many cases each has, those of its subsections included.
const SECTIONS: [(&str, u32); 16] = [
    ("1", 1),
    ("4.1", 3),
    ("4.2", 3),
    ("4.3", 1),
    ("5.1", 11),
    ("5.4", 2),
    ("5.5", 1),
    ("6.1", 3),
    ("6.2", 3),
    ("6.3", 2),
    ("6.4", 3),
    ("6.5", 8),
    ("6.7", 4),
    ("6.8", 1),
    ("6.9", 5),
    ("6.10", 6),
];

/// Some cases want no answer from the client and never give one: it ends by itself then, before h2specd's three seconds.
const CLIENT: &str = "alula get --http2-prior-knowledge --max-time 2";

#[test]
fn every_case_passes() {
    if environment::no_peers() {
        return;
    }
    assert_eq!(SECTIONS.iter().map(|(_, cases)| cases).sum::<u32>(), 57);
    // h2specd splits the command at spaces, which the program's own path may have.
    let folder = Folder::new();
    symlink(environment::program(), folder.join("alula")).expect("a link can be made");
    let folder = &folder;
    let failed: Vec<String> = thread::scope(|scope| {
        let runs = SECTIONS.map(|section| scope.spawn(move || run(folder, section)));
        runs.into_iter().filter_map(|run| run.join().expect("a section does not panic")).collect()
    });
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Runs one section; what went wrong in it, if anything did.
fn run(folder: &Folder, (section, cases): (&str, u32)) -> Option<String> {
    let ports = ports::free_row(u16::try_from(cases).expect("a section has few cases"));
    let mut h2specd = Command::new(environment::tool("h2specd"));
    h2specd.args(["--from-port", &ports.to_string(), "--exec"]);
    h2specd.arg(folder.join(CLIENT));
    h2specd.arg(format!("client/{section}"));
    let output = outcome::run(&mut h2specd, Duration::from_secs(60)).text();
    let summary = Summary::read(&output);
    let passed = summary == Some(Summary::all_passed(cases));
    (!passed).then(|| format!("section {section}: {summary:?}\n{}", suite::failures(&output)))
}
