//! `alula serve` beside the test, asked by our own client or by raw frames.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use alula::{Client, FieldSection};

use crate::alula::{Reach, command, listening_port};
use crate::certificates::Certificates;
use crate::folder::Folder;
use crate::frames::{self, Frame, flag, kind};
use crate::poll;
use crate::program::Program;
use crate::wire::{self, Wire};

/// `alula serve` on a port of its own choosing, in clear text and over TLS on the same one.
pub struct Served {
    program: Program,
    port: u16,
    runtime: tokio::runtime::Runtime,
    client: Client,
}

/// An answer, read to its end.
#[derive(Debug)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// Its fields.
    pub fields: FieldSection,
    /// Its content.
    pub content: Vec<u8>,
}

/// How the content of an answer to raw frames ended, and how much there was of it.
#[derive(Debug, Eq, PartialEq)]
pub enum End {
    /// With END_STREAM.
    Whole(usize),
    /// With RST_STREAM.
    Reset(usize),
}

impl Served {
    /// Starts it on this folder, with more options.
    ///
    /// # Panics
    /// When it does not say where it listens.
    #[must_use]
    pub fn start(folder: &Path, certificates: &Certificates, options: &[&str]) -> Self {
        Self::start_with(folder, certificates, options, |_| ())
    }

    /// As [`start`](Self::start), after a last change of the command.
    ///
    /// # Panics
    /// As [`start`](Self::start).
    #[must_use]
    pub fn start_with(
        folder: &Path,
        certificates: &Certificates,
        options: &[&str],
        change: impl FnOnce(&mut Command),
    ) -> Self {
        let mut serve = command(["serve", "--listen", "127.0.0.1:0", "--cert"]);
        serve.arg(certificates.certificate()).arg("--key").arg(certificates.key());
        serve.args(options).arg(folder);
        change(&mut serve);
        let mut program = Program::start(&mut serve);
        let port = program.wait_for_line("says where it listens", listening_port);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let client = Client::builder()
            .redirects(0)
            .http2_prior_knowledge(true)
            .trust_anything()
            .build()
            .expect("a client can be made");
        Self { program, port, runtime: runtime.expect("a runtime can be made"), client }
    }

    /// Its process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.program.id()
    }

    /// Its port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The URL of a path.
    #[must_use]
    pub fn url(&self, reach: &Reach<'_>, path: &str) -> String {
        reach.url(self.port, path)
    }

    /// Asks our own client, in clear text.
    ///
    /// # Panics
    /// When there is no whole answer within 20 seconds.
    #[must_use]
    pub fn ask(&self, method: &str, path: &str, fields: &[(&str, &str)]) -> Answer {
        let url = self.url(&Reach::Clear, path);
        let mut call = self.client.request(method, &url).timeout(Duration::from_secs(20));
        for (name, value) in fields {
            call = call.header(*name, *value);
        }
        let answer = self.runtime.block_on(async {
            let mut response = call.send().await?;
            let mut content = Vec::new();
            while let Some(chunk) = response.body().chunk().await? {
                content.extend_from_slice(chunk);
            }
            let status = response.status().as_u16();
            Ok::<_, alula::Error>(Answer { status, fields: response.headers().clone(), content })
        });
        answer.unwrap_or_else(|error| panic!("{method} {path} {fields:?}: {error}"))
    }

    /// GET without more fields.
    ///
    /// # Panics
    /// As [`ask`](Self::ask).
    #[must_use]
    pub fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[])
    }

    /// Asks for the same again until the answer is as wanted, for ten seconds.
    ///
    /// # Panics
    /// When it never is.
    #[must_use]
    pub fn get_until(&self, path: &str, what: &str, is_wanted: impl Fn(&Answer) -> bool) -> Answer {
        let found = poll::within(Duration::from_secs(10), || Some(self.get(path)).filter(&is_wanted));
        found.unwrap_or_else(|| panic!("/{path} never {what}: {:?}", self.get(path).fields))
    }

    /// Sends a GET request for these very bytes on a connection of its own, and answers the first frame of
    /// its stream.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    pub fn raw(&self, path: &str) -> (Frame, Box<dyn Wire>) {
        let mut wire = wire::connect(self.port, &Reach::Clear).expect("it accepts");
        let get = frames::headers(1, &frames::path_block("GET", path), true);
        let hello = [frames::PREFACE, &frames::settings(&[]), &frames::settings_ack(), &get].concat();
        wire.write_all(&hello).expect("it reads");
        let first = wire::read_until(&mut *wire, |frame| frame.stream == 1).expect("whole frames");
        (first.unwrap_or_else(|| panic!("{path:?}: the connection ended")), wire)
    }

    /// The lines it has written.
    #[must_use]
    pub fn output(&self) -> String {
        self.program.output()
    }

    /// Waits for a line of its output.
    ///
    /// # Panics
    /// When it does not come.
    pub fn wait_for_line(&mut self, line: impl Fn(&str) -> bool) -> String {
        self.program.wait_for_line("logs a request", |found| line(found).then(|| found.to_owned()))
    }
}

/// Gives all the credit there is, and reads content up to its end.
///
/// # Errors
/// When the connection breaks.
pub fn read_to_end(wire: &mut dyn Wire) -> io::Result<End> {
    let credit = (1u32 << 30).to_be_bytes();
    for stream in [0, 1] {
        wire.write_all(&frames::frame(kind::WINDOW_UPDATE, flag::NONE, stream, &credit))?;
    }
    wire.flush()?;
    let mut bytes = 0;
    while let Some(frame) = wire::read_until(wire, |frame| frame.stream == 1)? {
        match frame.kind {
            kind::DATA => bytes += frame.payload.len(),
            kind::RST_STREAM => return Ok(End::Reset(bytes)),
            _ => {}
        }
        if frame.kind == kind::DATA && frame.flags & flag::END_STREAM != 0 {
            return Ok(End::Whole(bytes));
        }
    }
    Err(io::ErrorKind::UnexpectedEof.into())
}

impl Answer {
    /// The value of a field, as text; empty when it is not there.
    #[must_use]
    pub fn header(&self, name: &str) -> String {
        String::from_utf8_lossy(self.fields.get(name).unwrap_or_default()).into_owned()
    }

    /// Its content, as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.content).into_owned()
    }
}

/// A folder to be served and what lies beside it.
pub struct Place {
    outer: Folder,
}

/// What lies beside the folder, and in it by hidden names.
pub const SECRET: &str = "what nobody is to see";

impl Place {
    /// Makes it.
    ///
    /// # Panics
    /// When it cannot be made.
    #[must_use]
    pub fn new() -> Self {
        let outer = Folder::new();
        fs::create_dir_all(outer.join("site/folder/.hidden")).expect("folders can be made");
        fs::create_dir_all(outer.join("site/a & b")).expect("folders can be made");
        for (name, content) in [
            ("secret.txt", SECRET),
            ("site/.secret.txt", SECRET),
            ("site/folder/.hidden/secret.txt", SECRET),
            ("site/small.txt", "a feather of little weight"),
            ("site/empty.css", ""),
            ("site/folder/index.html", "<!doctype html><title>index</title>"),
            ("site/a & b/<i>\"it's\"?#%.txt", "odd"),
            ("site/a & b/zeta", "z"),
            ("site/a & b/alpha.json", "[]"),
        ] {
            outer.write(name, content);
        }
        Self { outer }
    }

    /// Where the folder is that is to be served.
    #[must_use]
    pub fn site(&self) -> PathBuf {
        self.outer.join("site")
    }

    /// Writes a file, named from outside the folder.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        self.outer.write(name, content);
    }

    /// Serves it, with these options.
    ///
    /// # Panics
    /// As [`Served::start`].
    #[must_use]
    pub fn serve(&self, options: &[&str]) -> Served {
        Served::start(&self.site(), &Certificates::new(), options)
    }
}

impl Default for Place {
    fn default() -> Self {
        Self::new()
    }
}
