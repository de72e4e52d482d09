//! The log and the metrics of a serving command, which also count requests that reached no handler.

use std::io;

use alula::{AccessLog, Metrics, RequestFailure};

use super::{OpenLog, lines::Lines, log_line};
use crate::{args::WatchArgs, failure::exit::Failure};

/// The log and the metrics of a command. Dropped at the end, when the last lines have been written.
pub(crate) struct Watching {
    log: Option<OpenLog>,
    metrics: Option<Metrics>,
    lines: Option<Lines>,
}

impl Watching {
    /// Opens the access log and creates the metrics, as the flags ask.
    ///
    /// # Errors
    /// The log cannot be opened.
    pub(crate) fn open(args: &WatchArgs) -> Result<Self, Failure> {
        let open = |file: &Option<_>| OpenLog::open(file.as_deref(), args.access_log_format);
        let log = args.access_log.as_ref().map(open).transpose()?;
        Ok(Self { log, metrics: args.metrics.as_ref().map(|_| Metrics::new()), lines: None })
    }

    /// Also writes refused requests to these lines.
    pub(crate) fn tell_in(&mut self, lines: &Lines) {
        self.lines = Some(lines.clone());
    }

    /// Starts the task that reopens the access log.
    ///
    /// # Errors
    /// The signals cannot be awaited.
    pub(crate) fn watch(&self) -> io::Result<()> {
        self.log.as_ref().map_or(Ok(()), OpenLog::watch)
    }

    /// Returns the hook that writes the access log.
    pub(super) fn log(&self) -> Option<AccessLog> {
        self.log.as_ref().map(OpenLog::hook)
    }

    pub(super) fn metrics(&self) -> Option<Metrics> {
        self.metrics.clone()
    }

    /// Returns a function that records requests that reached no handler.
    pub(crate) fn on_refused(&self) -> impl Fn(&RequestFailure<'_>) + Send + Sync + use<> {
        let (log, metrics, lines) = (self.log(), self.metrics(), self.lines.clone());
        move |failure| {
            if let Some(log) = &log {
                log.refused(failure);
            }
            if let Some(metrics) = &metrics {
                metrics.refused(failure);
            }
            if let Some(lines) = &lines {
                log_line::refused(lines, failure);
            }
        }
    }
}
