//! The content of a message being received.

#[cfg(feature = "http")]
mod frames;
mod gathering;
#[cfg(feature = "json")]
mod json;
mod piece;
#[cfg(feature = "stream")]
mod stream;

pub use gathering::gather;
#[cfg(feature = "stream")]
pub use stream::BodyStream;

use std::{
    future::poll_fn,
    io,
    net::SocketAddr,
    pin::Pin,
    task::{Context, Poll, ready},
};

use alula_fields::{FieldSection, Head, KnownName};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, ReadBuf};

use crate::{
    connection::stream::slot::Sides,
    drive::shared::Conn,
    error::Error,
    handle::stream::Stream,
    message::{
        content::Content,
        decoder::Decoder,
        timing::{Marks, Opened},
    },
};

/// The content of a message, as it arrives.
///
/// Content that is not asked for stays with the peer: its window is given back as chunks are. Dropping a body
/// that is not whole resets the stream. It is read with [`chunk`](Self::chunk), [`read`](Self::read) or
/// [`copy_to`](Self::copy_to), or as an [`AsyncRead`]; its end is reported only if it is complete.
/// [`bytes`](Self::bytes), [`text`](Self::text) and `json` (feature `json`) gather the rest of it, up to a
/// limit. These three and `copy_to` take the content once: a second of these calls fails, and so does reading
/// pieces of a body whose content was taken.
///
/// With the feature `http` it is an `http_body::Body` whose data are `Bytes`; with the feature `stream`,
/// `into_stream` makes a `futures_core::Stream` of it. The pieces that these two and `bytes` return:
///
/// - Bytes that are 4 KiB or more, and at least half of the buffer that the connection read them into, are
///   not copied: they move with that buffer, which costs one allocation, and what the connection allocates to
///   replace the buffer: one allocation over HTTP/1.1, up to three over HTTP/2. Content that came in several
///   frames or chunks is joined within the buffer.
/// - Other bytes are copied into an allocation of their length; 4 KiB or more cost a second one, for what
///   follows.
/// - A piece of 4 KiB or more is charged to the memory of all connections
///   ([`Ledger::memory_held`](crate::Ledger::memory_held)) until the last handle of it is dropped. It holds
///   at most twice its length.
/// - Content that is decoded on its way is copied out of its decoder.
///
/// Each piece is given back to the peer's window when the next one is asked for, as a chunk is, whether or
/// not it is kept.
pub struct Body {
    stream: Option<Stream>,
    /// The received bytes; with a decoder, the decoder has them.
    chunk: Content,
    ended: bool,
    /// Some content was taken by a caller who wanted all of it, and may have been lost.
    is_taken: bool,
    /// The bytes that are gathered unless another limit is given; small, since a body is moved with every
    /// message.
    content_max: u32,
    /// The last frame was returned.
    #[cfg(feature = "http")]
    is_told: bool,
    /// The peer has stated the length.
    #[cfg(feature = "http")]
    is_stated: bool,
    trailers: Option<Box<Head>>,
    /// The decoder of the content, if it is coded.
    decoder: Option<Box<dyn Decoder>>,
}

impl Body {
    pub(crate) fn new(stream: Stream, ended: bool) -> Self {
        let mut body = Self::detached(stream.conn(), ended);
        body.stream = Some(stream);
        body
    }

    /// Content that is not read before it is [attached](Stream::attach).
    #[inline]
    pub(crate) fn detached(conn: &Conn, ended: bool) -> Self {
        Self {
            content_max: conn.content_max(),
            stream: None,
            ended,
            is_taken: false,
            #[cfg(feature = "http")]
            is_told: ended,
            #[cfg(feature = "http")]
            is_stated: false,
            chunk: Content::default(),
            trailers: None,
            decoder: None,
        }
    }

    /// Returns the next bytes, or nothing once the content is whole. The previous chunk is given back.
    ///
    /// Dropping the future loses nothing. Allocates nothing once warm.
    ///
    /// # Errors
    /// The stream was reset, the connection broke or a deadline passed before the content was whole.
    pub async fn chunk(&mut self) -> Result<Option<&[u8]>, Error> {
        if self.unread().is_empty() && !self.fill().await? {
            return Ok(None);
        }
        Ok(Some(self.take(self.unread().len())))
    }

    /// Polls for the next chunk: [`chunk`](Self::chunk) for hand-written futures and streams.
    ///
    /// # Errors
    /// As [`Self::chunk`].
    pub fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<&[u8]>, Error>> {
        if self.unread().is_empty() && !ready!(self.poll_fill(cx))? {
            return Poll::Ready(Ok(None));
        }
        Poll::Ready(Ok(Some(self.take(self.unread().len()))))
    }

    /// Reads into `out`; 0 once the content is whole or when `out` is empty.
    ///
    /// Dropping the future loses nothing. Allocates nothing once warm.
    ///
    /// # Errors
    /// As [`Self::chunk`].
    pub async fn read(&mut self, out: &mut [u8]) -> Result<usize, Error> {
        if out.is_empty() || (self.unread().is_empty() && !self.fill().await?) {
            return Ok(0);
        }
        let taken = self.unread().len().min(out.len());
        out[..taken].copy_from_slice(self.take(taken));
        Ok(taken)
    }

    /// Returns the bytes that have come and were not taken, or nothing once the content is whole. Waits if
    /// there are none. [`take_peeked`](Self::take_peeked) takes them, or the first of them.
    ///
    /// Dropping the future loses nothing. Allocates nothing once warm.
    ///
    /// # Errors
    /// As [`Self::chunk`].
    #[doc(alias("fill_buf", "AsyncBufRead"))]
    pub async fn peek(&mut self) -> Result<Option<&[u8]>, Error> {
        if self.unread().is_empty() && !self.fill().await? {
            return Ok(None);
        }
        Ok(Some(self.unread()))
    }

    /// Takes so many of the bytes that [`peek`](Self::peek) returned, or all if there are fewer.
    #[doc(alias = "consume")]
    pub fn take_peeked(&mut self, bytes: usize) -> &[u8] {
        self.take(bytes.min(self.unread().len()))
    }

    /// Writes the rest of the content to `sink`, however long it is, without copying it; returns the number
    /// of bytes. For content of others there is [`copy_to_max`](Self::copy_to_max).
    ///
    /// Dropping the future may lose what was handed to the sink in part.
    ///
    /// # Errors
    /// As [`Self::chunk`], what the sink answers, or [`Cause::Usage`](crate::Cause::Usage) if the content was
    /// taken already, as by [`bytes`](Self::bytes).
    pub async fn copy_to(&mut self, sink: &mut (impl AsyncWrite + Unpin + ?Sized)) -> Result<u64, Error> {
        self.copy_to_max(sink, u64::MAX).await
    }

    /// Writes the rest of the content to `sink`, up to `bytes_max` bytes; otherwise like
    /// [`copy_to`](Self::copy_to).
    ///
    /// ```no_run
    /// # async fn example(mut exchange: alula::Exchange) -> Result<(), alula::Answer> {
    /// let mut file = tokio::fs::File::create("upload").await?;
    /// let bytes = exchange.body().copy_to_max(&mut file, 1 << 30).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Cause::TooLong`](crate::Cause::TooLong) if the content is longer, which is told before any of it is
    /// read where its length is stated and it is not decoded, and else after what came before was written; or
    /// as [`copy_to`](Self::copy_to).
    pub async fn copy_to_max(
        &mut self,
        sink: &mut (impl AsyncWrite + Unpin + ?Sized),
        bytes_max: u64,
    ) -> Result<u64, Error> {
        self.rest_within(bytes_max)?;
        let mut bytes = 0;
        while self.fill_for_rest().await? {
            let chunk = self.take(self.unread().len());
            bytes += chunk.len() as u64;
            if bytes > bytes_max {
                return Err(self.too_long(bytes_max));
            }
            sink.write_all(chunk).await.map_err(Error::sink).map_err(|error| self.named(error))?;
        }
        sink.flush().await.map_err(Error::sink).map_err(|error| self.named(error))?;
        Ok(bytes)
    }

    /// Returns the trailers (RFC 9110 §6.5), after reading and dropping the rest of the content.
    ///
    /// # Errors
    /// As [`Self::chunk`].
    pub async fn trailers(&mut self) -> Result<Option<&FieldSection>, Error> {
        while self.chunk().await?.is_some() {}
        if self.trailers.is_none() {
            self.trailers = self.stream.as_ref().and_then(Stream::take_trailers);
        }
        Ok(self.trailers.as_ref().map(|head| &head.fields))
    }

    /// Tells the server another priority for the rest of the response (RFC 9218 §6).
    ///
    /// # Errors
    /// This is no response, the urgency is above 7, or the stream is gone.
    pub fn reprioritise(&self, priority: alula_h2::Priority) -> Result<(), Error> {
        self.stream.as_ref().map_or(Ok(()), |stream| stream.reprioritise(priority))
    }

    /// Returns true if nothing more will come.
    pub fn is_ended(&self) -> bool {
        self.ended && self.unread().is_empty()
    }

    /// Returns the peer's address; none after the body was given back.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.stream.as_ref().map(Stream::peer)
    }

    /// Returns the address of this end; none after the body was given back.
    pub fn local(&self) -> Option<SocketAddr> {
        self.stream.as_ref().and_then(Stream::local)
    }

    /// Returns the TLS version, cipher and names of the connection; none in clear text.
    #[cfg(feature = "tls")]
    pub fn tls(&self) -> Option<crate::tls::facts::TlsFacts> {
        self.stream.as_ref().and_then(Stream::tls)
    }

    /// Returns true if a [`Decoder`] decodes the content.
    pub fn is_decoded(&self) -> bool {
        self.decoder.is_some()
    }

    /// Returns the fields of the message as they came, with `content-encoding` and `content-length` of the
    /// coded content; none if it is not [decoded](Self::is_decoded). Allocates nothing.
    pub fn coded_headers(&self) -> Option<&FieldSection> {
        self.decoder.as_ref().map(|decoder| decoder.fields())
    }

    /// Returns the failure with the request and its origin, like failures of this body; unchanged on a
    /// server.
    #[must_use]
    pub fn named(&self, error: Error) -> Error {
        match &self.stream {
            Some(stream) => stream.named(error),
            None => error,
        }
    }

    /// Returns the content that can be read at once.
    #[inline]
    fn unread(&self) -> &[u8] {
        match &self.decoder {
            None => self.chunk.unread(),
            Some(decoder) => decoder.unread(),
        }
    }

    /// Takes so many bytes of the unread content.
    #[inline]
    fn take(&mut self, bytes: usize) -> &[u8] {
        match &mut self.decoder {
            None => self.chunk.take(bytes),
            Some(decoder) => decoder.take(bytes),
        }
    }

    /// Swaps the next chunk in. False when there is none.
    async fn fill(&mut self) -> Result<bool, Error> {
        poll_fn(|cx| self.poll_fill(cx)).await
    }

    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<Result<bool, Error>> {
        let Some(stream) = self.stream.as_ref().filter(|_| !self.ended) else {
            return Poll::Ready(Ok(false));
        };
        let more = match &mut self.decoder {
            None => ready!(stream.poll_content(&mut self.chunk, cx))?,
            Some(decoder) => {
                let decoded = ready!(poll_decoded(stream, decoder.as_mut(), &mut self.chunk, cx));
                decoded.map_err(|error| stream.named(error))?
            }
        };
        self.ended = !more;
        Poll::Ready(Ok(more))
    }

    /// Takes over what `other`, a handle of the same stream, holds.
    pub(crate) fn join(&mut self, other: Stream) {
        if let Some(stream) = &mut self.stream {
            stream.join(other);
        }
    }

    pub(crate) fn give_all(&mut self, head: Option<Box<Head>>) {
        if let Some(mut stream) = self.stream.take() {
            if let Some(trailers) = self.trailers.take() {
                stream.give_head(trailers);
            }
            let content = self.take_content();
            stream.drop_with(head, content);
        }
    }

    /// Takes everything it holds, for a connection that takes all of it back under one lock: sides of the
    /// stream, content and trailers.
    #[inline]
    pub(crate) fn take_held(&mut self) -> (Sides, Content, Option<Box<Head>>) {
        let sides = self.stream.take().map_or(Sides::NONE, |mut stream| {
            let sides = stream.sides();
            stream.let_go();
            sides
        });
        (sides, self.take_content(), self.trailers.take())
    }

    #[inline]
    fn take_content(&mut self) -> Content {
        let mut content = std::mem::take(&mut self.chunk);
        if let Some(decoder) = self.decoder.take() {
            content.put_memory(decoder.give_back());
        }
        content
    }
}

/// Functions for clients and servers.
impl Stream {
    /// Gives content that was [created](Self::detached_body) for this stream its receiving direction, unless
    /// it has that already, or has given it back. Allocates nothing.
    #[inline]
    pub fn attach(&mut self, body: &mut Body) {
        if body.stream.is_none() {
            body.stream = self.split_off_read();
        }
    }

    /// Returns the times of the phases of this body's exchange, if it is timed, and those of opening its
    /// connection. Allocates nothing.
    pub fn marks_of(body: &Body) -> Option<(Marks, Option<Opened>)> {
        let stream = body.stream.as_ref()?;
        Some((stream.marks()?, stream.opened()))
    }

    /// Stops sending the request of this response; see [`end_sending`](Self::end_sending).
    pub fn end_sending_for(body: &Body) {
        if let Some(stream) = &body.stream {
            stream.end_sending();
        }
    }

    /// Sends no further request on the connection of this body; see [`Conn::close`](crate::Conn::close).
    pub fn leave_connection_of(body: &Body) {
        if let Some(stream) = &body.stream {
            stream.conn().close();
        }
    }

    /// Gives back a head that was received on the stream of this body.
    pub fn give_head_of(body: &Body, head: Box<Head>) {
        if let Some(stream) = &body.stream {
            stream.give_head(head);
        }
    }

    /// Decodes the content with `decoder` from here on. To be called before anything is read. The fields that
    /// told of the coded content are removed from those of its message: whoever went by them would decode it
    /// once more, or wait for more of it.
    pub fn decode(body: &mut Body, mut decoder: Box<dyn Decoder>, fields: &mut FieldSection) {
        decoder.keep_fields(fields);
        fields.retain(|field| {
            !matches!(field.known(), Some(KnownName::CONTENT_ENCODING | KnownName::CONTENT_LENGTH))
        });
        body.decoder = Some(decoder);
    }
}

/// Decodes the received bytes, and waits for more until there is some content. False when the content is
/// whole.
fn poll_decoded(
    stream: &Stream,
    decoder: &mut dyn Decoder,
    coded: &mut Content,
    cx: &mut Context<'_>,
) -> Poll<Result<bool, Error>> {
    loop {
        if decoder.decode(false)? {
            return Poll::Ready(Ok(true));
        }
        coded.put_memory(std::mem::take(decoder.refill()));
        let polled = stream.poll_content(coded, cx);
        *decoder.refill() = coded.take_whole();
        if !ready!(polled)? {
            return Poll::Ready(decoder.decode(true));
        }
    }
}

/// Reads the content; returns the end only if the content is complete. Errors are [`Error`]s within.
impl AsyncRead for Body {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if out.remaining() == 0 || (this.unread().is_empty() && !ready!(this.poll_fill(cx))?) {
            return Poll::Ready(Ok(()));
        }
        let taken = this.unread().len().min(out.remaining());
        out.put_slice(this.take(taken));
        Poll::Ready(Ok(()))
    }
}

/// Content that is empty.
impl Default for Body {
    fn default() -> Self {
        Self {
            stream: None,
            chunk: Content::default(),
            ended: true,
            is_taken: false,
            content_max: 0,
            #[cfg(feature = "http")]
            is_told: true,
            #[cfg(feature = "http")]
            is_stated: false,
            trailers: None,
            decoder: None,
        }
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        self.give_all(None);
    }
}
