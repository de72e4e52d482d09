//! `-u NAME`: the password is typed on a terminal, which does not show it.
#![cfg(unix)]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};

use crate::support::{Echo, alula, run, wait};
use nix::pty::{OpenptyResult, openpty};
use nix::sys::termios::{LocalFlags, tcgetattr};

#[test]
fn a_password_is_asked_for_and_not_shown() {
    let echo = Echo::start(&[]);
    let OpenptyResult { master, slave } = openpty(None, None).expect("a terminal");
    let shows = || tcgetattr(&slave).expect("a mode").local_flags.contains(LocalFlags::ECHO);
    assert!(shows(), "as terminals do");
    let mut command = alula(&["get", "-u", "n", &echo.http]);
    let mut child = command.stdin(slave.try_clone().expect("another")).spawn().expect("the program starts");
    let mut said = Vec::new();
    let mut stderr = child.stderr.take().expect("stderr is piped");
    while !said.ends_with(b": ") {
        let mut byte = [0];
        stderr.read_exact(&mut byte).expect("it asks");
        said.extend(byte);
    }
    assert_eq!(String::from_utf8(said).unwrap(), "Enter password for user 'n': ");
    assert!(!shows());
    let mut terminal = File::from(master);
    terminal.write_all(b"s3:cret\n").unwrap();
    let ended = wait(child).expect(0);
    assert!(ended.text().contains("Basic bjpzMzpjcmV0"), "{}", ended.text());
    assert!(shows(), "as before");
}

#[test]
fn a_key_that_ends_the_program_leaves_the_terminal_as_it_was() {
    for (key, signal) in [(&b"\x03"[..], 2), (b"\x1c", 3)] {
        let OpenptyResult { master, slave } = openpty(None, None).expect("a terminal");
        let mode = || tcgetattr(&slave).expect("a mode").local_flags;
        let before = mode();
        let mut command = alula(&["get", "-u", "n", "http://127.0.0.1:1/"]);
        // The signal is for all processes of its group.
        command.process_group(0).stdin(slave.try_clone().expect("another"));
        let mut child = command.spawn().expect("the program starts");
        let mut asked = [0; "Enter password for user 'n': ".len()];
        child.stderr.as_mut().expect("stderr is piped").read_exact(&mut asked).expect("it asks");
        assert!(!mode().contains(LocalFlags::ECHO));
        let mut terminal = File::from(master);
        terminal.write_all(b"half").unwrap();
        terminal.write_all(key).unwrap();
        assert_eq!(child.wait().expect("it ends").signal(), Some(signal));
        assert_eq!(mode(), before);
    }
}

#[test]
fn nobody_is_asked_who_does_not_type() {
    let ended = run(&["get", "-u", "s3cret", "http://127.0.0.1:1/"]).expect(2);
    assert!(ended.stderr.contains("NAME:PASSWORD") && !ended.stderr.contains("s3cret"), "{}", ended.stderr);
}
