//! The content of a message being sent.

use std::{
    fs::File,
    future::poll_fn,
    ops::Range,
    sync::Arc,
    task::{Context, Poll, ready},
};

use alula_fields::FieldSection;

use crate::{
    drive::shared::Conn,
    error::Error,
    handle::{encoding::Encoding, stream::Stream},
};

/// Sends the content of a message piece by piece.
///
/// Dropping it before [`finish`](Self::finish) resets the stream, so that the peer never takes half a message
/// for a whole one.
pub struct BodyWriter {
    stream: Stream,
    /// The bytes that were handed on so far.
    bytes: u64,
    /// The message ended with its head, and content is dropped.
    is_muted: bool,
    /// The encoders of the content, if there are any.
    encoding: Option<Encoding>,
    /// The head of the request while it is held back; until it is sent there is no stream.
    held: Option<Box<dyn HeldHead>>,
}

/// The head of a request that is held back until it is known whether content follows.
pub trait HeldHead: Send + Sync {
    /// Sends the head, and returns the stream for the content; none if `ends` was true, so that the message
    /// has ended. A poll that is not ready loses nothing: the first one decides.
    ///
    /// # Errors
    /// No connection takes the request, or nobody waits for its response.
    fn poll_send(&mut self, ends: bool, cx: &mut Context<'_>) -> Poll<Result<Option<Stream>, Error>>;
}

/// Proof that a message was sent completely.
#[derive(Debug)]
pub struct Sent(());

impl BodyWriter {
    /// Creates the writer of a request whose head is held back.
    pub(crate) fn of_held(conn: Arc<Conn>, head: Box<dyn HeldHead>) -> Self {
        Self { held: Some(head), ..Self::new(Stream::unopened(conn)) }
    }

    pub(crate) fn new(stream: Stream) -> Self {
        Self { stream, bytes: 0, is_muted: false, encoding: None, held: None }
    }

    pub(crate) fn muted(stream: Stream) -> Self {
        Self { is_muted: true, ..Self::new(stream) }
    }

    pub(crate) fn encoding(stream: Stream, encoding: Encoding) -> Self {
        Self { encoding: Some(encoding), ..Self::new(stream) }
    }

    /// Returns true if the message has no content whatever is written, as the answer to HEAD (RFC 9110
    /// §9.3.2) and those of 204, 205 and 304: writing succeeds at once and sends nothing, so that a handler
    /// need not know, and one that writes for long can stop.
    pub fn is_muted(&self) -> bool {
        self.is_muted
    }

    /// Sends `data`, bytes or text, waiting while the peer's windows or the output have no room.
    ///
    /// Once the response to a request is whole, what is left of the request is dropped and its stream reset
    /// when the writer goes (RFC 9113 §8.1): a writer that waits then, or writes on, succeeds at once.
    /// [`is_answered`](Self::is_answered) tells.
    ///
    /// Dropping the future sends part of `data`, so drop the writer then as well. Allocates nothing once
    /// warm.
    ///
    /// # Errors
    /// The stream was reset, the connection broke or a deadline passed.
    pub async fn write(&mut self, data: impl AsRef<[u8]>) -> Result<(), Error> {
        self.hand_on(data.as_ref(), false).await
    }

    /// Waits until there is room for content in the peer's windows and in the output, and returns the bytes
    /// that [`try_write`](Self::try_write) would take; at least one.
    ///
    /// A handler that waits here before it reads or makes the next piece holds nothing for a peer that takes
    /// nothing. The peer is held to `Limits::body_rate_min` and `Limits::stall_timeout` meanwhile, as in
    /// [`write`](Self::write). Others may use the room first. Safe to drop and call again. Allocates nothing
    /// once warm.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub async fn writable(&mut self) -> Result<usize, Error> {
        if self.is_muted {
            return Ok(usize::MAX);
        }
        self.send_head(false).await?;
        if self.encoding.is_some() {
            poll_fn(|cx| self.poll_unsent(false, cx)).await?;
        }
        self.stream.writable().await.map_err(|error| error.with_sent(self.bytes))
    }

    /// Sends as much of `data` as there is room for now, without waiting, and returns the number of bytes.
    /// Allocates nothing once warm.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn try_write(&mut self, data: &[u8]) -> Result<usize, Error> {
        if self.is_muted {
            return Ok(data.len());
        }
        if self.held.is_some() {
            // The head has to be sent first, for which `writable` waits.
            return Ok(0);
        }
        if self.encoding.is_some() {
            return self.try_encode(data);
        }
        self.try_send(data)
    }

    /// Sends the head if it was held back; returns false if the message has ended with it because `ends` is
    /// true.
    async fn send_head(&mut self, ends: bool) -> Result<bool, Error> {
        let Some(head) = &mut self.held else { return Ok(true) };
        let outcome = poll_fn(|cx| head.poll_send(ends, cx)).await;
        self.held = None;
        let Some(stream) = outcome? else { return Ok(false) };
        self.stream = stream;
        Ok(true)
    }

    /// Returns true if [`try_send_file`](Self::try_send_file) can send content from a file to the socket
    /// without a copy in memory: on Linux, on a server, over HTTP/1.1 in clear text and a socket of the
    /// system, if the length of the content was stated and there is no encoder.
    pub fn takes_files(&self) -> bool {
        !self.is_muted && self.encoding.is_none() && self.stream.takes_files()
    }

    /// Sends as much of a part of `file` as the socket has room for now, after all earlier content, and
    /// returns the number of bytes: 0 if there is no room, for which [`drained`](Self::drained) waits. `None`
    /// means that it cannot be done, and nothing was sent: not [here](Self::takes_files), not with this file,
    /// or the part is empty, lies behind the end of the file or is longer than what is left of the stated
    /// length. The caller reads the part then, which tells more.
    ///
    /// The system takes the bytes when it sends them and, where the peer is slow, some time after this has
    /// returned: what is written to the file meanwhile may be sent. Bytes that the system has not in memory
    /// are waited for, and the thread with them: send what was just found to be there, in parts of at most
    /// some 64 KiB. As with every write to a socket the system raises SIGPIPE when the peer has gone, which a
    /// program of Rust ignores unless it says otherwise. Two system calls with a head, one without; allocates
    /// nothing once warm.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn try_send_file(&mut self, file: &File, part: Range<u64>) -> Result<Option<usize>, Error> {
        if !self.takes_files() {
            return Ok(None);
        }
        let sent = self.stream.try_send_file(file, part).map_err(|error| error.with_sent(self.bytes))?;
        self.bytes += sent.unwrap_or(0) as u64;
        Ok(sent)
    }

    /// Waits until the socket has taken all earlier content, and has room. The peer is held to
    /// `Limits::body_rate_min` and `Limits::stall_timeout` meanwhile. Safe to drop and call again. Allocates
    /// nothing once warm.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub async fn drained(&mut self) -> Result<(), Error> {
        if self.is_muted || self.held.is_some() {
            return Ok(());
        }
        self.stream.drained().await.map_err(|error| error.with_sent(self.bytes))
    }

    fn try_send(&mut self, data: &[u8]) -> Result<usize, Error> {
        let sent = self.stream.try_write(data).map_err(|error| error.with_sent(self.bytes))?;
        self.bytes += sent as u64;
        Ok(sent)
    }

    /// Encodes one step of `data`, if all earlier output can be sent, and sends what it can of the result.
    fn try_encode(&mut self, data: &[u8]) -> Result<usize, Error> {
        let mut taken = 0;
        if self.try_send_unsent()? {
            self.step(data, &mut taken, false)?;
            self.try_send_unsent()?;
        }
        Ok(taken)
    }

    /// Sends encoded bytes as far as there is room; returns true if all are sent.
    fn try_send_unsent(&mut self) -> Result<bool, Error> {
        let Some(mut encoding) = self.encoding.take() else { return Ok(true) };
        let tried = if encoding.unsent().is_empty() { Ok(0) } else { self.try_send(encoding.unsent()) };
        encoding.note_sent(*tried.as_ref().unwrap_or(&0));
        let is_all = encoding.unsent().is_empty();
        self.encoding = Some(encoding);
        tried.map(|_| is_all)
    }

    async fn hand_on(&mut self, data: &[u8], end: bool) -> Result<(), Error> {
        if self.is_muted {
            return Ok(());
        }
        if self.held.is_some() {
            let is_nothing = data.is_empty() && !end;
            if is_nothing || !self.send_head(data.is_empty()).await? {
                return Ok(());
            }
        }
        if self.encoding.is_some() {
            let mut taken = 0;
            return poll_fn(|cx| self.poll_encoded(data, &mut taken, end, cx)).await;
        }
        let mut sent = 0;
        let outcome = self.stream.write(data, end, &mut sent).await;
        self.bytes += sent as u64;
        outcome.map_err(|error| error.with_sent(self.bytes))
    }

    fn poll_encoded(
        &mut self,
        data: &[u8],
        taken: &mut usize,
        end: bool,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Error>> {
        loop {
            ready!(self.poll_unsent(end, cx))?;
            if !self.step(data, taken, end)? {
                return Poll::Ready(Ok(()));
            }
        }
    }

    /// Sends encoded bytes; once the encoders have finished, that ends the message if it `ends` with content.
    fn poll_unsent(&mut self, ends: bool, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let Some(encoding) = &mut self.encoding else { return Poll::Ready(Ok(())) };
        let mut sent = 0;
        let is_last = ends && encoding.is_finished();
        if encoding.unsent().is_empty() && !is_last {
            return Poll::Ready(Ok(()));
        }
        let polled = self.stream.poll_write(encoding.unsent(), is_last, &mut sent, cx);
        encoding.note_sent(sent);
        self.bytes += sent as u64;
        polled.map_err(|error| error.with_sent(self.bytes))
    }

    fn step(&mut self, data: &[u8], taken: &mut usize, end: bool) -> Result<bool, Error> {
        self.encoding.as_mut().map_or(Ok(false), |encoding| encoding.step(data, taken, end))
    }

    /// Returns true if the peer's message is complete, or its stream has ended: nobody waits for the rest of
    /// this message, and a client may drop it.
    pub fn is_answered(&self) -> bool {
        self.held.is_none() && self.stream.is_answered()
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
    pub async fn finish_with(mut self, trailers: &FieldSection) -> Result<Sent, Error> {
        if self.is_muted {
            return Ok(Sent::whole());
        }
        self.send_head(false).await?;
        if self.encoding.is_some() {
            poll_fn(|cx| self.poll_unsent(false, cx)).await?;
            self.step(&[], &mut 0, true)?;
            poll_fn(|cx| self.poll_unsent(false, cx)).await?;
        }
        let sent = self.stream.write_trailers(trailers);
        sent.map_err(|error| error.with_sent(self.bytes))?;
        Ok(Sent::whole())
    }
}

impl Sent {
    pub(crate) const fn whole() -> Self {
        Self(())
    }
}
