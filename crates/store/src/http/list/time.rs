//! The time that a list or a query may take.

use std::time::Duration;

use alula::Request;
use tokio::time::Instant;

use crate::config::Config;
use crate::http::answer::fail::Fail;
use crate::http::checks::options;
use crate::http::checks::query;

/// Reads the parameter `timeout`, in milliseconds.
///
/// # Errors
/// 400 if it is no number.
pub(crate) fn timeout(request: &Request) -> Result<Option<Duration>, Fail> {
    query::value(request, "timeout").map(|value| read(&value)).transpose()
}

/// Reads milliseconds.
///
/// # Errors
/// 400 if they are no number.
pub(crate) fn read(value: &[u8]) -> Result<Duration, Fail> {
    let mut wrong = String::new();
    options::timeout(value, &mut wrong).ok_or_else(|| Fail::bad_request(wrong))
}

/// Returns the end of the time that begins now.
pub(crate) fn deadline(timeout: Duration, config: &Config) -> Instant {
    Instant::now() + config.time(timeout)
}
