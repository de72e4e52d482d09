//! Tries beyond those that the library makes by itself, counted here: those of `--retry-all-errors` and
//! `--retry-max-time`, and those of downloads to a file, of which the content may break off.
//!
//! Rule: without --retry-all-errors the same failures are tried again as with --retry alone.

use std::time::{Duration, Instant, SystemTime};

use alula::{KnownName, Response, Retry, Status};
use anstyle::Style;

use crate::fetch::content::stdin::Deadline;
use crate::{
    args::Options,
    failure::exit::{Exit, Failure},
    terminal,
};

/// The statuses that curl calls transient.
pub(in crate::fetch) const TRANSIENT: [Status; 6] = [
    Status::REQUEST_TIMEOUT,
    Status::TOO_MANY_REQUESTS,
    Status::INTERNAL_SERVER_ERROR,
    Status::BAD_GATEWAY,
    Status::SERVICE_UNAVAILABLE,
    Status::GATEWAY_TIMEOUT,
];

/// The wait before the second try; each is twice the one before.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(600);

/// The tries of one exchange that are left.
pub(in crate::fetch) struct Tries {
    left: u32,
    wait: Duration,
    is_growing: bool,
    since: Instant,
    /// The time after which no try begins; `deadline` ends those that run.
    begin_within: Option<Duration>,
    deadline: Deadline,
    has_failed: bool,
    takes_all: bool,
    is_idempotent: bool,
}

impl Tries {
    /// Returns false if the library's own tries are meant, or none.
    pub(in crate::fetch) fn are_meant(options: &Options, method: &str) -> bool {
        let (connection, transfer) = (&options.connection, &options.transfer);
        let is_bounded = transfer.retry_max_time.is_some_and(|time| !time.is_zero());
        connection.retry > 0 && (transfer.retry_all_errors || is_bounded || is_download(options, method))
    }

    /// The tries until a deadline; nothing if the library's own are meant.
    pub(in crate::fetch) fn of(options: &Options, method: &str, deadline: Deadline) -> Option<Self> {
        let (connection, transfer) = (&options.connection, &options.transfer);
        let delay = connection.retry_delay.filter(|time| !time.is_zero());
        Self::are_meant(options, method).then(|| Self {
            left: connection.retry,
            wait: delay.unwrap_or(FIRST_WAIT),
            is_growing: delay.is_none(),
            since: Instant::now(),
            begin_within: transfer.retry_max_time.filter(|time| !time.is_zero()),
            deadline,
            has_failed: false,
            takes_all: transfer.retry_all_errors,
            is_idempotent: !matches!(method, "POST" | "PATCH" | "CONNECT"),
        })
    }

    /// The wait after a response that asks to come later; nothing if it is to be handed on.
    pub(in crate::fetch) fn after_response(&self, response: &Response) -> Option<Duration> {
        let is_transient = TRANSIENT.contains(&response.status());
        let may_repeat = is_transient && (self.takes_all || self.is_idempotent);
        self.in_time(asked_wait(response).unwrap_or(self.wait)).filter(|_| may_repeat)
    }

    /// The wait after a failure; nothing if it is to be told.
    pub(in crate::fetch) fn after_failure(&self, failure: &Failure) -> Option<Duration> {
        let may_pass = match failure.retry() {
            Retry::Safe => true,
            Retry::IfIdempotent => self.is_idempotent,
            Retry::Pointless => false,
        };
        // A mistake in the arguments or a full disk stays, whatever the server does.
        let is_ours = matches!(failure.exit(), Exit::Usage | Exit::Local);
        self.in_time(self.wait).filter(|_| may_pass || self.takes_all && !is_ours)
    }

    /// The wait after content has broken off that is asked for again.
    pub(in crate::fetch) fn after_cut(&self) -> Option<Duration> {
        self.in_time(self.wait)
    }

    fn in_time(&self, wait: Duration) -> Option<Duration> {
        let begins = self.since.elapsed().saturating_add(wait);
        let is_in_time = self.begin_within.is_none_or(|within| begins < within)
            && self.deadline.left().is_none_or(|left| wait < left);
        (self.left > 0 && is_in_time).then_some(wait)
    }

    /// Returns true for the first try.
    pub(in crate::fetch) fn is_first(&self) -> bool {
        !self.has_failed
    }

    /// Counts another try.
    pub(in crate::fetch) fn count(&mut self) {
        self.left -= 1;
        self.has_failed = true;
        if self.is_growing {
            self.wait = (self.wait * 2).min(LONGEST_WAIT);
        }
    }
}

/// Says that a request is tried again after so long, because of what this sentence says.
pub(in crate::fetch) fn tell(sentence: &str, wait: Duration) {
    let line = format!("alula: {sentence}; trying again in {}", shown(wait));
    terminal::tell(Style::new(), line.as_bytes());
}

/// Returns a wait in seconds, without a fraction if it has none.
pub(in crate::fetch) fn shown(wait: Duration) -> String {
    match wait.subsec_millis() {
        0 => format!("{} s", wait.as_secs()),
        _ => format!("{:.2} s", wait.as_secs_f64()),
    }
}

/// Returns true if content goes to a file, of which the rest can be asked for.
fn is_download(options: &Options, method: &str) -> bool {
    method == "GET" && options.output.has_files()
}

/// The wait that `retry-after` asks for, in seconds or until a date (RFC 9110 §10.2.3).
fn asked_wait(response: &Response) -> Option<Duration> {
    let text = std::str::from_utf8(response.headers().get(KnownName::RETRY_AFTER)?).ok()?;
    match text.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => httpdate::parse_http_date(text).ok()?.duration_since(SystemTime::now()).ok(),
    }
}
