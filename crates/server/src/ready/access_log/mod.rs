//! A log with a line for each request.
//!
//! Rule: a peer adds neither a line nor a control character of its own; `line.rs` escapes all that comes from
//! it.
//! Rule: a slow disk never delays a connection; `spool.rs` drops lines and counts them.

mod line;
mod output;
mod refused;
mod spool;

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use self::spool::Spool;
use crate::{
    observe::failure::{FailureCause, RequestFailure},
    router::{Ended, Hook},
};
use alula_net::Error;

/// The time that the last lines may take at the end of a log.
const LAST_LINES: Duration = Duration::from_secs(1);

/// Writes a line for each request that ends: a [hook](crate::Hook).
///
/// A thread of its own writes the lines, 100 ms after the first of them at the latest as long as the disk
/// keeps up. Until then they wait in memory, up to 1 MiB for each thread that serves; lines that find no
/// room, or that the disk refuses, are dropped, [counted](Self::dropped) and told of in the log once it takes
/// lines again. All times are in UTC.
///
/// Lines are in the order in which their requests ended, over all threads and connections: a request that was
/// sent when the answer to another had come stands after it. Each has the time at which its request arrived,
/// so those are not in order. Around a step of the system's clock, lines of different threads may change
/// places.
///
/// Text of peers is escaped: quotes, backslashes and all that is not visible ASCII, but for the `…` that
/// stands for what is not shown. Only the first 256 bytes of a text are written. Values of the query are
/// masked as everywhere, and no credentials are written.
///
/// A request allocates nothing once warm, and takes a lock that only threads of the same part and the writing
/// thread take. The standard output is [`to_writer`](Self::to_writer) with `std::io::stdout()`. When the last
/// clone is dropped, the lines that wait are written for at most a second.
///
/// ```no_run
/// use alula::{AccessLog, Router};
///
/// # fn main() -> std::io::Result<()> {
/// let log = AccessLog::to_file("access.log")?.json();
/// let router = Router::new().hook(log.clone());
/// // After the file was moved away:
/// log.reopen()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct AccessLog {
    format: LogFormat,
    open: Arc<Open>,
}

/// The form of a line of an [`AccessLog`].
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum LogFormat {
    /// The common log format: address, user, time, request, status, bytes of content. The status is a hyphen
    /// where no head of an answer was sent, and 499, as nginx has it, where that is since the client has
    /// left.
    Common,
    /// The common log format with `referer` and `user-agent`.
    #[default]
    Combined,
    /// A JSON object (RFC 8259) with the names `time`, `peer`, `client`, `user`, `method`, `target`,
    /// `version`, `authority`, `route`, `request_id` (see
    /// [`Begun::note_request_id`](crate::Begun::note_request_id)), `status`, `received`, `sent`, `seconds`,
    /// `until_head`, `client_left`, `referer`, `user_agent` and `failure`. A value that is not there is null.
    /// `client_left` is true if there is no whole answer [because the client has
    /// left](crate::Ended::client_left), before its head or after it. Lines that were dropped are told of as
    /// `{"dropped":12}`, in the other formats as a line that begins with `#`.
    Json,
}

/// The parts that the clones of a log share.
#[derive(Debug)]
struct Open {
    spool: Spool,
    /// The file, if it is one.
    path: Option<PathBuf>,
}

impl AccessLog {
    /// Makes a log that is appended to a file, in the combined format. Starts a thread.
    ///
    /// # Errors
    /// The file cannot be opened, or the thread not be started.
    pub fn to_file(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        let file = append_to(&path)?;
        Self::open(Box::new(file), Some(path))
    }

    /// Makes a log that is given to a writer, in the combined format. Starts a thread, on which the writer
    /// may block.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn to_writer(writer: impl Write + Send + 'static) -> io::Result<Self> {
        Self::open(Box::new(writer), None)
    }

    fn open(writer: Box<dyn Write + Send>, path: Option<PathBuf>) -> io::Result<Self> {
        let spool = Spool::start(writer)?;
        Ok(Self { format: LogFormat::default(), open: Arc::new(Open { spool, path }) })
    }

    /// Sets the format of further lines of this clone.
    #[must_use]
    pub fn format(mut self, format: LogFormat) -> Self {
        self.format = format;
        self
    }

    /// Sets the format [`LogFormat::Common`].
    #[must_use]
    pub fn common(self) -> Self {
        self.format(LogFormat::Common)
    }

    /// Sets the format [`LogFormat::Combined`].
    #[must_use]
    pub fn combined(self) -> Self {
        self.format(LogFormat::Combined)
    }

    /// Sets the format [`LogFormat::Json`].
    #[must_use]
    pub fn json(self) -> Self {
        self.format(LogFormat::Json)
    }

    /// Reopens the file of this name and writes to it from now on, for programs that rotate logs. Does
    /// nothing for a writer. Blocks while the file is opened.
    ///
    /// # Errors
    /// The file cannot be opened; lines go on where they went.
    pub fn reopen(&self) -> io::Result<()> {
        if let Some(path) = &self.open.path {
            self.open.spool.write_to(Box::new(append_to(path)?));
        }
        Ok(())
    }

    /// Waits, at most for this time, until the present lines are written. Returns false if they were not.
    /// Blocks the thread.
    pub fn flush(&self, at_most: Duration) -> bool {
        self.open.spool.flush(at_most)
    }

    /// Returns the number of lines that were dropped because the disk was slow or failed.
    pub fn dropped(&self) -> u64 {
        self.open.spool.dropped()
    }
}

impl AccessLog {
    /// Writes a line for a request that reached no handler, or a connection that failed before its first one:
    /// for [`ServerBuilder::on_error`](crate::ServerBuilder::on_error). Does nothing for other failures,
    /// whose requests have a line anyway.
    ///
    /// Method and target are a hyphen where they did not come, and null in JSON; the status is that of the
    /// refusal. Refusals that `on_error` was not told of, since there were too many at once, are counted in a
    /// line before it: `{"refused_left_out":12}`, in the other formats one that begins with `#`.
    ///
    /// ```no_run
    /// use alula::{AccessLog, Router, Server};
    ///
    /// # fn main() -> std::io::Result<()> {
    /// let log = AccessLog::to_file("access.log")?;
    /// let refused = log.clone();
    /// let server = Server::builder().on_error(move |failure| refused.refused(failure));
    /// let router = Router::<()>::new().hook(log);
    /// # drop((server, router));
    /// # Ok(())
    /// # }
    /// ```
    pub fn refused(&self, failure: &RequestFailure<'_>) {
        let FailureCause::Refused(error) = failure.cause() else { return };
        // An error of the program may be in it: no lock is held while it makes its sentence.
        let (format, reason) = (self.format, failure.reason());
        self.push(|line, now| refused::write(line, format, failure, (error.phase(), &reason), now));
    }

    fn push(&self, write: impl FnOnce(&mut Vec<u8>, SystemTime)) {
        self.open.spool.push(self.format == LogFormat::Json, write);
    }
}

impl Hook for AccessLog {
    fn end(&self, ended: &Ended<'_>) {
        let reason = ended.failure().map(Error::to_string);
        self.push(|line, now| line::write(line, self.format, ended, reason.as_deref(), now));
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.spool.end(LAST_LINES);
    }
}

fn append_to(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).open(path)
}
