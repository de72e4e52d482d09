//! The expectation `100-continue` (RFC 9110 §10.1.1): content that waits until the server asks for it.

use std::time::Duration;

use alula_net::{Error, Stream};

/// The time that content waits for the server to ask for it. There are servers that never ask, and wait for
/// it.
const CONTINUE_WAIT: Duration = Duration::from_secs(1);

/// Waits until the server asks for the content or accepts the request, or the time is over; returns false if
/// it has answered with 300 or more.
pub(crate) async fn goes_ahead(stream: &Stream) -> Result<bool, Error> {
    // Silence is consent: a client must not wait without end for 100 (RFC 9110 §10.1.1).
    tokio::time::timeout(CONTINUE_WAIT, stream.go_ahead()).await.unwrap_or(Ok(true))
}
