//! Event streams: answers that last while there are events and a peer.

use std::{pin::pin, time::Duration};

use alula_fields::{FieldFlags, KnownName};
use alula_net::{BodyWriter, Error, Sent};

use super::event::{Event, write_comment};
use crate::{connection::scratch::Scratch, exchange::reply::Reply};

/// The time without an event after which a comment is sent: less than the minute that proxies usually wait.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Sends events to a client that keeps listening, such as `EventSource` of a browser.
///
/// When the peer goes away the handler's future is dropped, as for any answer; dropping the stream before
/// [`finish`](Self::finish) resets it.
pub struct EventStream {
    writer: BodyWriter,
    keep_alive: Duration,
}

impl Reply {
    /// Begins an event stream: `content-type: text/event-stream`, and `cache-control: no-cache` unless the
    /// reply says otherwise.
    ///
    /// To HEAD the answer is complete with its head, and the first call on the stream fails.
    ///
    /// # Errors
    /// As [`stream`](Self::stream).
    ///
    /// ```
    /// # async fn example(exchange: alula::Exchange, mut ticks: tokio::sync::mpsc::Receiver<String>) -> Result<alula::Sent, alula::Error> {
    /// use alula::{Event, Status};
    ///
    /// let mut events = exchange.respond(Status::OK).events().await?;
    /// // A comment goes out every 15 s while there is no tick.
    /// while let Some(tick) = events.wait(ticks.recv()).await? {
    ///     events.event(Event::data(&tick).name("tick")).await?;
    /// }
    /// events.finish().await
    /// # }
    /// ```
    #[doc(alias = "Sse")]
    pub async fn events(self) -> Result<EventStream, Error> {
        let mut reply = self.of_type("text/event-stream");
        let headers = reply.headers_mut();
        if !headers.contains_known(KnownName::CACHE_CONTROL) {
            // A stored stream would replay events that are past.
            headers.push_known(KnownName::CACHE_CONTROL, b"no-cache", FieldFlags::NONE);
        }
        Ok(EventStream { writer: reply.stream().await?, keep_alive: KEEP_ALIVE })
    }
}

impl EventStream {
    /// Sets the time after which [`wait`](Self::wait) sends a comment; 15 seconds unless set. Proxies tend to
    /// close what is silent for a minute.
    #[must_use]
    pub fn keep_alive(self, after: Duration) -> Self {
        Self { keep_alive: after, ..self }
    }

    /// Sends an event, in one write. Dropping the future may send part of it, so drop the stream then as
    /// well. Allocates nothing once warm.
    ///
    /// # Errors
    /// The name or the id has a line end, and nothing was sent; or the stream was reset or the connection
    /// broke.
    #[doc(alias = "send")]
    pub async fn event(&mut self, event: Event<'_>) -> Result<(), Error> {
        let mut text = Scratch::lend();
        event.write_to(&mut text)?;
        self.write(&text).await
    }

    /// Sends an event that has nothing but data.
    ///
    /// # Errors
    /// As [`event`](Self::event).
    pub async fn data(&mut self, data: &str) -> Result<(), Error> {
        self.event(Event::data(data)).await
    }

    /// Sends a comment, which clients pass over, in one write.
    ///
    /// # Errors
    /// As [`event`](Self::event).
    pub async fn comment(&mut self, text: &str) -> Result<(), Error> {
        let mut out = Scratch::lend();
        write_comment(text, &mut out);
        self.write(&out).await
    }

    /// Waits for `source`, the next event, and sends a comment whenever [`keep_alive`](Self::keep_alive) has
    /// passed. Dropping the future drops `source`, and may send part of a comment. Allocates nothing once
    /// warm.
    ///
    /// # Errors
    /// As [`event`](Self::event).
    pub async fn wait<T>(&mut self, source: impl Future<Output = T>) -> Result<T, Error> {
        self.check()?;
        let mut source = pin!(source);
        loop {
            match tokio::time::timeout(self.keep_alive, source.as_mut()).await {
                Ok(found) => return Ok(found),
                Err(_) => self.comment("").await?,
            }
        }
    }

    /// Ends the stream. A client connects again, unless it is answered 204 then.
    ///
    /// # Errors
    /// As [`event`](Self::event).
    pub async fn finish(self) -> Result<Sent, Error> {
        self.writer.finish().await
    }

    async fn write(&mut self, text: &[u8]) -> Result<(), Error> {
        self.check()?;
        self.writer.write(text).await
    }

    /// Fails if the answer is to HEAD, whose content nobody reads, so that an endless handler ends here.
    fn check(&self) -> Result<(), Error> {
        if self.writer.is_muted() { Err(Error::cancelled()) } else { Ok(()) }
    }
}
