//! The other side of a connection, in a process of its own, so that only one side is counted.

pub(crate) mod answers;
pub(crate) mod driver;
pub(crate) mod frames;
pub(crate) mod http1;
pub(crate) mod records;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

/// A process of this program that ends when it, or this process, does.
pub(crate) struct Peer {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts `alula-bench peer ARGS`.
    pub(crate) fn start(args: &[&str]) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.arg("peer").args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("this program runs again");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        Self { child, output }
    }

    /// The next line it prints, such as the port it listens on.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the peer prints a line");
        line.trim_end().to_owned()
    }

    /// Returns the records and bytes of TLS that came in and went out. Waits until the counts stay the
    /// same.
    #[expect(clippy::disallowed_methods, reason = "another program may still read what came last")]
    pub(crate) fn counts(&mut self) -> [u64; 4] {
        let mut before = self.counts_now();
        loop {
            std::thread::sleep(Duration::from_millis(20));
            let now = self.counts_now();
            if now == before {
                return now;
            }
            before = now;
        }
    }

    fn counts_now(&mut self) -> [u64; 4] {
        let mut input = self.child.stdin.as_ref().expect("it is piped");
        input.write_all(b"\n").expect("the peer reads");
        let line = self.line();
        let mut numbers = line.split(' ').map(|number| number.parse().expect("a number"));
        [(); 4].map(|()| numbers.next().expect("four numbers"))
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It waits for the end of its input.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Answers each line of the standard input with what was counted, and ends this process, a peer, when there
/// are no more: so with the process that started it.
pub(crate) fn end_with_input() {
    std::thread::spawn(|| {
        for _ in std::io::stdin().lines() {
            println!("{}", records::counts());
        }
        std::process::exit(0);
    });
}
