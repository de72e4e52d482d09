//! `--access-log`: the output of the log, which is reopened after a signal.

use std::{
    io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use alula::AccessLog;
use anstyle::Style;
use tokio::time::MissedTickBehavior;

use crate::{args::LineFormat, failure::exit::Failure, listening::signals::ReopenSignals, terminal};

/// The least time between two messages about lost lines.
const LOST_LINES_EVERY: Duration = Duration::from_secs(10);
/// The time limit for writing the last lines.
const LAST_LINES_MAX: Duration = Duration::from_secs(2);

/// The access log of the program; dropping it waits for the last lines.
pub(crate) struct OpenLog(Arc<Shared>);

struct Shared {
    log: AccessLog,
    /// The path, for messages about the log.
    name: String,
    is_file: bool,
    /// The number of lost lines that were reported.
    told: AtomicU64,
}

impl OpenLog {
    /// Opens a log on stderr, on stdout for `-`, or in a file.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub(super) fn open(file: Option<&Path>, format: LineFormat) -> Result<Self, Failure> {
        let is_stdout = file.is_some_and(|file| file == Path::new("-"));
        let (name, log) = match file {
            None => ("stderr".to_owned(), AccessLog::to_writer(io::stderr())),
            Some(_) if is_stdout => ("stdout".to_owned(), AccessLog::to_writer(io::stdout())),
            Some(file) => (file.display().to_string(), AccessLog::to_file(file)),
        };
        let log = log.map_err(|error| Failure::local(&name, &error))?.format(format.into());
        let is_file = file.is_some() && !is_stdout;
        Ok(Self(Arc::new(Shared { log, name, is_file, told: AtomicU64::new(0) })))
    }

    /// Returns the hook that writes the lines.
    pub(super) fn hook(&self) -> AccessLog {
        self.0.log.clone()
    }

    /// Starts a task that reopens the file after a signal, and reports lost lines.
    ///
    /// # Errors
    /// The signals cannot be awaited.
    pub(crate) fn watch(&self) -> io::Result<()> {
        let shared = Arc::clone(&self.0);
        tokio::spawn(shared.watch(ReopenSignals::new()?));
        Ok(())
    }
}

impl Drop for OpenLog {
    fn drop(&mut self) {
        self.0.log.flush(LAST_LINES_MAX);
        self.0.tell_lost();
    }
}

impl Shared {
    async fn watch(self: Arc<Self>, mut signals: ReopenSignals) {
        let mut times = tokio::time::interval(LOST_LINES_EVERY);
        times.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = signals.next(), if self.is_file => self.reopen().await,
                _ = times.tick() => self.tell_lost(),
            }
        }
    }

    async fn reopen(&self) {
        let log = self.log.clone();
        let opened = tokio::task::spawn_blocking(move || log.reopen()).await;
        if let Ok(Err(error)) = opened {
            let failure = Failure::local(&self.name, &error);
            tell(&format!("lines of the access log go on where they went: {}", failure.sentence()));
        }
    }

    fn tell_lost(&self) {
        let lost = self.log.dropped();
        let told = self.told.swap(lost, Ordering::Relaxed);
        if lost > told {
            tell(&format!("{}: {} lines of the access log could not be written", self.name, lost - told));
        }
    }
}

fn tell(sentence: &str) {
    terminal::tell(Style::new(), format!("alula: {sentence}").as_bytes());
}
