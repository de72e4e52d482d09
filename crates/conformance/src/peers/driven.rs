//! Clients that are told what to ask for, one request after the other, and tell what came of it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::alula::Reach;
use crate::folder::Folder;
use crate::outcome::describe;

/// Longer than anything that is asked of a client over loopback takes, however loaded the machine is.
const ANSWER_MAX: Duration = Duration::from_secs(60);

/// What a client is told to do.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    /// The method; GET when it is empty.
    pub method: &'static str,
    /// What follows the server's URL.
    pub path: String,
    /// Fields beside its own.
    pub fields: Vec<(String, String)>,
    /// Content.
    pub content: Option<Vec<u8>>,
    /// Trailers, which need content before them.
    pub trailers: Vec<(String, String)>,
    /// How much of the answer it takes.
    pub takes: Takes,
}

/// How much of an answer a client takes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Takes {
    /// All of it.
    #[default]
    Whole,
    /// The first bytes of its content; then it gives up.
    Beginning,
    /// Its head; the content is taken later.
    Head,
    /// The content of which only the head was taken.
    Rest,
    /// All of it as many times, 20 at once.
    Times(usize),
}

/// What came of it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Told {
    /// The status, or 0.
    pub status: u16,
    /// The fields, names in lower case.
    pub fields: Vec<(String, String)>,
    /// The statuses of interim responses.
    pub interim: Vec<u16>,
    /// What came of the content.
    pub content: Vec<u8>,
    /// The trailers.
    pub trailers: Vec<(String, String)>,
    /// What went wrong, in the client's words; empty when nothing did.
    pub error: String,
}

/// A client with connections that outlive a request.
pub trait Driven {
    /// A client that trusts this server as it has to.
    fn start(base: &str, reach: &Reach<'_>) -> Self;

    /// Does as it is told.
    fn ask(&mut self, ask: &Ask) -> Told;
}

/// A program that reads a request a line and writes an answer a line, both JSON: see `peers/go/client.go`.
pub struct LineClient {
    command: String,
    child: Child,
    input: ChildStdin,
    answers: Receiver<String>,
    folder: Folder,
}

impl LineClient {
    /// Starts the command with the server's URL and what is to be trusted.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn start(mut command: Command, base: &str, reach: &Reach<'_>) -> Self {
        command.arg(base);
        if let Reach::Tls(certificates) = reach {
            command.arg(certificates.authority());
        }
        let description = describe(&command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("`{description}`: {error}"));
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (told, answers) = mpsc::channel();
        let lines = BufReader::new(output.expect("it is piped")).lines().map_while(Result::ok);
        thread::spawn(move || lines.for_each(|line| drop(told.send(line))));
        let input = input.expect("it is piped");
        Self { command: description, child, input, answers, folder: Folder::new() }
    }

    /// Does as it is told.
    ///
    /// # Panics
    /// When the program ends or does not answer within a minute.
    pub fn ask(&mut self, ask: &Ask) -> Told {
        let Ask { method, path, fields, content, trailers, takes } = ask;
        // A content that was left for later may have come meanwhile.
        let file = if matches!(takes, Takes::Head | Takes::Rest) { "held" } else { "content" };
        let into = self.folder.join(file);
        if *takes != Takes::Rest {
            self.folder.write(file, []);
        }
        let line = json!({
            "method": if method.is_empty() { "GET" } else { method },
            "path": path,
            "fields": fields,
            "body": content.as_ref().map_or_else(String::new, |content| {
                self.folder.write("body", content).display().to_string()
            }),
            "trailers": trailers,
            "into": into,
            "giveup": *takes == Takes::Beginning,
            "hold": *takes == Takes::Head,
            "resume": *takes == Takes::Rest,
            "times": if let Takes::Times(times) = takes { *times } else { 0 },
        });
        writeln!(self.input, "{line}").unwrap_or_else(|error| panic!("`{}`: {error}", self.command));
        let answer = self.answers.recv_timeout(ANSWER_MAX);
        let answer = answer.unwrap_or_else(|error| panic!("`{}` says nothing: {error}", self.command));
        let answer: Value = serde_json::from_str(&answer).expect("an answer in JSON");
        let content = std::fs::read(&into).expect("our own file");
        told(&answer, content)
    }
}

impl Drop for LineClient {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn told(answer: &Value, content: Vec<u8>) -> Told {
    let list = |name: &str| answer[name].as_array().map_or(&[][..], Vec::as_slice);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let pairs = |name| list(name).iter().map(|pair| (text(&pair[0]), text(&pair[1]))).collect();
    let code = |value: &Value| value.as_u64().and_then(|code| u16::try_from(code).ok()).unwrap_or(0);
    Told {
        status: code(&answer["status"]),
        fields: pairs("fields"),
        interim: list("interim").iter().map(code).collect(),
        content,
        trailers: pairs("trailers"),
        error: text(&answer["error"]),
    }
}
