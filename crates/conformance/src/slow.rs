//! slowhttptest against the servers of the `alula` program, and whether others are served meanwhile: `cargo
//! xtask slow`.
//!
//! Rules: each attack has a thousand connections at a time for a minute, against a server of its own with
//! default limits; the bystanders come from the same address as the attacker; a bystander is served when the
//! whole answer came within ten seconds.

mod attacker;
mod bystander;
mod watch;

use std::fs;
use std::path::Path;
use std::time::Duration;

use self::attacker::{Attack, Fate};
use self::bystander::{Bystander, Manner, Served};
use self::watch::{Held, Watch};
use crate::alula::{command, listening_port};
use crate::crowd::raise_descriptors;
use crate::folder::Folder;
use crate::program::Program;

/// Bytes that a peer who reads slowly is sent.
const LARGE: usize = 4 << 20;

/// Plays each attack for so long; false when a bystander was not served.
///
/// # Panics
/// When the server or slowhttptest cannot be started, or says nothing of its connections.
#[must_use]
pub fn play(seconds: u64) -> bool {
    // slowhttptest has as many as this process.
    let _ = raise_descriptors();
    let folder = Folder::new();
    fs::create_dir(folder.join("site")).expect("a folder can be made");
    folder.write("site/index.html", "hello\n");
    folder.write("site/large", vec![b'a'; LARGE]);
    // All of them are played, whatever becomes of the first.
    let were_served = Attack::ALL.map(|attack| play_one(attack, seconds, &folder));
    were_served.iter().all(|was_served| *was_served)
}

fn play_one(attack: Attack, seconds: u64, folder: &Folder) -> bool {
    let (mut server, port) = start(attack, &folder.join("site"));
    let watch = Watch::start(server.id());
    let bystanders = Manner::ALL.map(|manner| Bystander::start(manner, port));
    let fate = attack.play(port, seconds, folder);
    let (served, held) = (bystanders.map(Bystander::stop), watch.stop());
    assert!(server.is_running(), "the server ended:\n{}", server.output());
    print(attack, seconds, &fate, &held, &served);
    served.iter().all(Served::is_whole)
}

/// The program with default limits, and its port.
fn start(attack: Attack, site: &Path) -> (Program, u16) {
    let mut server = command([if attack.has_content() { "echo" } else { "serve" }]);
    if !attack.has_content() {
        server.arg(site);
    }
    let mut program = Program::start(server.args(["--listen", "127.0.0.1:0"]));
    let port = program.wait_for_line("says where it listens", listening_port);
    (program, port)
}

fn print(attack: Attack, seconds: u64, fate: &Fate, held: &Held, served: &[Served]) {
    println!("{attack}, {seconds} s");
    println!("  slow connections: {fate}");
    println!("  server: {held}");
    for served in served {
        println!("  bystander {served}");
    }
}

fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}
