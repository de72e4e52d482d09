//! Terms of all answers of `alula echo`: `--delay`, `--status` and `--chunked`.

use std::time::Duration;

use alula::{Error, Exchange, Reply, Sent, Status};

use crate::args::EchoArgs;

/// Seconds until there may be memory again, as servers say it that refuse requests themselves.
pub(super) const RETRY_AFTER: &str = "5";

/// The terms on which requests are answered.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Terms {
    delay: Duration,
    status: Option<Status>,
    is_chunked: bool,
}

impl Terms {
    pub(super) fn of(args: &EchoArgs) -> Self {
        Self { delay: args.delay, status: args.status, is_chunked: args.chunked }
    }

    /// Waits for as long as each answer is delayed. Sets no timer where none is.
    pub(super) async fn wait(&self) {
        if !self.delay.is_zero() {
            tokio::time::sleep(self.delay).await;
        }
    }

    /// Begins an answer; the status that was asked for takes the place of 200.
    pub(super) fn respond(&self, exchange: Exchange, status: Status) -> Reply {
        exchange.respond(self.status.filter(|_| status == Status::OK).unwrap_or(status))
    }

    /// Sends an answer with its content, with a length unless chunks were asked for.
    ///
    /// # Errors
    /// As [`Reply::send`].
    pub(super) async fn send(&self, reply: Reply, content: &[u8]) -> Result<Sent, Error> {
        match self.is_chunked {
            true => Box::pin(send_chunked(reply, content)).await,
            false => reply.send(content).await,
        }
    }
}

async fn send_chunked(reply: Reply, content: &[u8]) -> Result<Sent, Error> {
    reply.stream().await?.finish_content(content).await
}
