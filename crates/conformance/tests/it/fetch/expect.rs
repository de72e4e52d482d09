//! curl and the `alula` program keep content back until a server asks for it, which begins its answer before it reads any.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use alula::Limits;
use alula_conformance::attack::Victim;
use alula_conformance::folder::Folder;
use alula_conformance::site::{assert_same, bytes};
use alula_conformance::{alula as program, environment, outcome};

/// More than curl sends unasked.
const BYTES: usize = 2 * 1024 * 1024;
const PATIENCE: Duration = Duration::from_secs(30);

fn curl(version: &str, content: &Path, url: &str) -> Command {
    let mut command = Command::new("curl");
    // It would send the content unasked after this many seconds.
    command.args(["--silent", "--show-error", "--max-time", "20", "--expect100-timeout", "60", version]);
    command.args(["-H", "content-type: application/x-test", "-H", "expect: 100-continue", "--data-binary"]);
    command.arg(format!("@{}", content.display())).arg(url);
    command
}

fn alula(version: &str, content: &Path, url: &str) -> Command {
    let mut command = program::command(["post", version, "-H", "expect: 100-continue"]);
    command.args(["-T".as_ref(), content.as_os_str()]).arg(url);
    command
}

#[test]
fn content_is_asked_for_by_an_answer_that_has_begun() {
    let folder = Folder::new();
    let sent = bytes(5, BYTES);
    let content = folder.write("content", &sent);
    let victim = Victim::start(Limits::default());
    let url = format!("http://127.0.0.1:{}/echo", victim.port());
    for version in ["--http1.1", "--http2-prior-knowledge"] {
        let by_peer = (!environment::no_peers()).then(|| curl(version, &content, &url));
        for mut command in by_peer.into_iter().chain([alula(version, &content, &url)]) {
            let echoed = outcome::run(&mut command, PATIENCE).expect_success();
            assert_same(&echoed.stdout, &sent, &outcome::describe(&command));
        }
    }
}
