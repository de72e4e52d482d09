//! A program that runs beside the test: a server. It is killed, by its id, when the value goes away.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::outcome::describe;
use crate::poll;

/// The time that a server may take until it listens; a slow machine under load needs some of it.
const READY_MAX: Duration = Duration::from_secs(20);

/// A running child process and the lines it has written so far, to either stream.
pub struct Program {
    command: String,
    child: Child,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Program {
    /// Starts the command without input.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn start(command: &mut Command) -> Self {
        let description = describe(command);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            command.spawn().unwrap_or_else(|error| panic!("`{description}` cannot be started: {error}"));
        let lines = Arc::default();
        keep_lines(child.stdout.take().expect("it is piped"), Arc::clone(&lines));
        keep_lines(child.stderr.take().expect("it is piped"), Arc::clone(&lines));
        Self { command: description, child, lines }
    }

    /// Its process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until something accepts connections on the port.
    ///
    /// # Panics
    /// When the program ends before, or nothing accepts within 20 seconds.
    pub fn wait_for_port(&mut self, port: u16) {
        let accepts = |_: &str| TcpStream::connect(("127.0.0.1", port)).ok().map(drop);
        self.wait(&format!("accepts on port {port}"), accepts);
    }

    /// Waits for a line of its output from which `read` gets something.
    ///
    /// # Panics
    /// When the program ends before, or there is no such line within 20 seconds.
    pub fn wait_for_line<T>(&mut self, what: &str, read: impl Fn(&str) -> Option<T>) -> T {
        self.wait(what, |output| output.lines().find_map(&read))
    }

    /// What it has written so far.
    #[must_use]
    pub fn output(&self) -> String {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).join("\n")
    }

    /// Returns true if it still runs.
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("a child can be waited for").is_none()
    }

    fn wait<T>(&mut self, what: &str, look: impl Fn(&str) -> Option<T>) -> T {
        let found = poll::within(READY_MAX, || match look(&self.output()) {
            None if !self.is_running() => Some(None),
            found => found.map(Some),
        });
        let Some(Some(found)) = found else {
            panic!("`{}` was to be ready ({what}) and is not:\n{}", self.command, self.output());
        };
        found
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            println!("--- `{}` had written:\n{}", self.command, self.output());
        }
    }
}

fn keep_lines(from: impl Read + Send + 'static, lines: Arc<Mutex<Vec<String>>>) {
    thread::spawn(move || {
        for line in BufReader::new(from).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line).into_owned();
            lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        }
    });
}
