//! The content of a message being sent.

use alula_fields::FieldSection;

use crate::{error::Error, stream::Stream};

/// Sends the content of a message piece by piece.
///
/// Dropping it before [`finish`](Self::finish) resets the stream, so that the peer never takes half a message for
/// a whole one.
pub struct BodyWriter {
    stream: Stream,
    /// Octets handed on so far.
    octets: u64,
}

/// Proof that a message was sent to its end.
#[derive(Debug)]
pub struct Sent(());

impl BodyWriter {
    pub(crate) fn new(stream: Stream) -> Self {
        Self { stream, octets: 0 }
    }

    /// Sends `data`, octets or text, waiting while the peer's windows or the output have no room.
    ///
    /// Dropping the future sends part of `data`, so drop the writer then as well. Allocates nothing once warm.
    ///
    /// # Errors
    /// The stream was reset, the connection broke or a deadline passed.
    pub async fn write(&mut self, data: impl AsRef<[u8]>) -> Result<(), Error> {
        self.hand_on(data.as_ref(), false).await
    }

    /// Waits until there is room for content in the peer's windows and in the output, and returns the octets that
    /// [`try_write`](Self::try_write) would take; at least one.
    ///
    /// A handler that waits here before it reads or makes the next piece holds nothing for a peer that takes nothing. The peer is
    /// held to `Limits::body_rate_min` and `Limits::stall_timeout` meanwhile, as in [`write`](Self::write). Others may use the room
    /// first. Safe to drop and call again. Allocates nothing once warm.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub async fn writable(&self) -> Result<usize, Error> {
        self.stream.writable().await.map_err(|error| error.with_sent(self.octets))
    }

    /// Sends as much of `data` as there is room for now, without waiting, and returns how many octets that was. Allocates nothing
    /// once warm.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn try_write(&mut self, data: &[u8]) -> Result<usize, Error> {
        let sent = self.stream.try_write(data).map_err(|error| error.with_sent(self.octets))?;
        self.octets += sent as u64;
        Ok(sent)
    }

    async fn hand_on(&mut self, data: &[u8], end: bool) -> Result<(), Error> {
        let mut sent = 0;
        let outcome = self.stream.write(data, end, &mut sent).await;
        self.octets += sent as u64;
        outcome.map_err(|error| error.with_sent(self.octets))
    }

    /// Whether the peer's message is whole already, or its stream gone: then nobody waits for the rest of this one, and a client
    /// may drop it.
    pub fn is_answered(&self) -> bool {
        self.stream.is_answered()
    }

    /// Ends the message.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub async fn finish(self) -> Result<Sent, Error> {
        self.finish_content([]).await
    }

    /// Sends `data` and ends the message with it.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub async fn finish_content(mut self, data: impl AsRef<[u8]>) -> Result<Sent, Error> {
        self.hand_on(data.as_ref(), true).await?;
        Ok(Sent::whole())
    }

    /// Ends the message with trailers (RFC 9110 §6.5).
    ///
    /// # Errors
    /// As [`Self::write`], and when a field may not stand in trailers.
    pub async fn finish_with(self, trailers: &FieldSection) -> Result<Sent, Error> {
        let sent = self.stream.write_trailers(trailers);
        sent.map_err(|error| error.with_sent(self.octets))?;
        Ok(Sent::whole())
    }
}

impl Sent {
    pub(crate) const fn whole() -> Self {
        Self(())
    }
}
