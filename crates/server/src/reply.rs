//! The answer to a request: its head, then all of its content at once or piece by piece.

use std::net::SocketAddr;

use alula_fields::{
    Decimal, FieldFlags, FieldSection, Head, IntoName, KnownName, Reservation, ResponseHead, Status,
};
use alula_net::{Body, BodyWriter, Error, Sent, Stream};

use crate::{date, exchange::Request, observing::RequestSpan};

/// The right to answer a request, apart from the request.
///
/// Dropping it unanswered answers 500.
pub struct Responder {
    stream: Option<Stream>,
    /// The answer to HEAD has no content (RFC 9110 §9.3.2); `head` is another method (RFC 9110 §9.1).
    to_head: bool,
    span: RequestSpan,
}

/// The head of an answer being built. The first mistake made on the way is kept and reported when it is sent.
#[must_use = "a reply does nothing until it is sent"]
pub struct Reply {
    responder: Responder,
    pub(crate) status: Status,
    /// There until it is given back.
    pub(crate) head: Option<Box<Head>>,
    mistake: Option<Box<Error>>,
    /// The content of the request, held until the answer is sent: letting go of an unread request would reset the stream.
    body: Option<Body>,
}

impl Responder {
    pub(crate) fn new(stream: Stream, request: &Request, span: RequestSpan) -> Self {
        Self { stream: Some(stream), to_head: request.method() == "HEAD", span }
    }

    pub(crate) fn peer(&self) -> SocketAddr {
        self.stream.as_ref().map_or(SocketAddr::from(([0, 0, 0, 0], 0)), Stream::peer)
    }

    #[cfg(feature = "tls")]
    pub(crate) fn tls(&self) -> Option<alula_net::TlsFacts> {
        self.stream.as_ref()?.tls()
    }

    /// As [`Exchange::allow_slow_peer`](crate::Exchange::allow_slow_peer).
    pub fn allow_slow_peer(&self) {
        if let Some(stream) = &self.stream {
            stream.allow_slow_peer();
        }
    }

    pub(crate) fn reserve(&self, bytes: u64) -> Option<Reservation> {
        self.stream.as_ref()?.reserve(bytes)
    }

    /// The memory of a request that is not needed any more, for the next.
    #[cfg(feature = "tower")]
    pub(crate) fn take_back(&self, request: Request) {
        if let Some(stream) = &self.stream {
            stream.give_head(request.into_head());
        }
    }

    /// Begins the answer.
    pub fn respond(self, status: Status) -> Reply {
        let head = self.stream.as_ref().map(Stream::lend_head);
        Reply { responder: self, status, head, mistake: None, body: None }
    }

    /// Begins the answer to a request that nobody looks at any more, in the memory of its head.
    #[inline]
    pub(crate) fn respond_to(self, request: Request, body: Body, status: Status) -> Reply {
        let mut head = request.into_head();
        head.clear();
        Reply { responder: self, status, head: Some(head), mistake: None, body: Some(body) }
    }

    /// Sends an interim response (1xx, RFC 9110 §15.2) without fields; the answer is still to come.
    ///
    /// # Errors
    /// The status is not 1xx, or 101, which HTTP/2 has no use for (RFC 9113 §8.6); or the stream is gone.
    pub fn interim(&self, status: Status) -> Result<(), Error> {
        if !(100..200).contains(&status.code()) || status.code() == 101 {
            return Err(Error::usage(
                "the status of an interim response must be 1xx and not 101 (RFC 9113 §8.6)",
            ));
        }
        let fields = FieldSection::new();
        let head = ResponseHead { status, fields: &fields };
        self.stream()?.command(|machine, key, out| machine.send_interim(key, &head, out))
    }

    fn stream(&self) -> Result<&Stream, Error> {
        self.stream.as_ref().ok_or_else(was_sent)
    }

    fn take_stream(&mut self) -> Result<Stream, Error> {
        self.stream.take().ok_or_else(was_sent)
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        if let Some(stream) = &self.stream {
            let head = ResponseHead { status: Status::INTERNAL_SERVER_ERROR, fields: &FieldSection::new() };
            // When the stream is gone there is nobody left to tell.
            if stream.answer(&head, &[], false, &mut 0).is_ok() {
                self.span.answered(Status::INTERNAL_SERVER_ERROR);
            }
        }
    }
}

#[cold]
fn was_sent() -> Error {
    Error::usage("the answer was sent")
}

impl Reply {
    /// Adds a field, its value octets or text.
    #[doc(alias = "header")]
    #[inline]
    pub fn field<'n>(mut self, name: impl IntoName<'n>, value: impl AsRef<[u8]>) -> Self {
        self.add(name, value);
        self
    }

    fn add<'n>(&mut self, name: impl IntoName<'n>, value: impl AsRef<[u8]>) {
        if let Err(error) = self.fields_mut().append(name, value) {
            self.mistake.get_or_insert_with(|| Box::new(error.into()));
        }
    }

    /// Adds a field whose name HTTP/1.1 sends just as it is spelled here; HTTP/2 has no capitals in names (RFC 9113 §8.2.1).
    pub fn field_spelled(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        if let Err(error) = self.fields_mut().append_spelled(name, value) {
            self.mistake.get_or_insert_with(|| Box::new(error.into()));
        }
        self
    }

    /// The fields so far, for what [`Self::field`] cannot do.
    pub fn fields_mut(&mut self) -> &mut FieldSection {
        &mut self.head.get_or_insert_default().fields
    }

    /// The content of the request, for answers that depend on it or send it back.
    pub fn body(&mut self) -> Option<&mut Body> {
        self.body.as_mut()
    }

    /// Sends the answer with this content, octets or text, stating its length. An answer to HEAD states it and sends none; 204 and
    /// 304 have none.
    ///
    /// Dropping the future part-way resets the stream. Allocates nothing once warm.
    ///
    /// # Errors
    /// A field was not valid, the stream was reset or the connection broke.
    #[doc(alias = "body")]
    pub async fn send(mut self, content: impl AsRef<[u8]>) -> Result<Sent, Error> {
        let content = content.as_ref();
        let has_none = matches!(self.status.code(), 204 | 304);
        let fields = self.fields_mut();
        if !has_none && !fields.contains(KnownName::CONTENT_LENGTH) {
            let length = Decimal::of(content.len() as u64);
            // Digits need no check, and a section has always room for so few.
            fields.push_known(KnownName::CONTENT_LENGTH, length.as_bytes(), FieldFlags::NONE);
        }
        let content = if has_none || self.responder.to_head { &[][..] } else { content };
        self.complete()?;
        let mut sent = 0;
        let reads_on = self.body.is_none();
        let is_whole = self.responder.stream()?.answer(&self.head(), content, reads_on, &mut sent)?;
        self.responder.span.answered(self.status);
        let stream = self.responder.take_stream()?;
        if !is_whole {
            stream.write(content, true, &mut sent).await?;
        }
        Ok(stream.finish(self.body.take().as_mut(), self.head.take()))
    }

    /// Sends the answer without content, and without a length unless that is among the fields or HTTP/1.1 has it stated.
    #[cfg(feature = "tower")]
    pub(crate) fn send_head(mut self) -> Result<Sent, Error> {
        self.complete()?;
        let reads_on = self.body.is_none();
        self.responder.stream()?.answer(&self.head(), &[], reads_on, &mut 0)?;
        self.responder.span.answered(self.status);
        let stream = self.responder.take_stream()?;
        Ok(stream.finish(self.body.take().as_mut(), self.head.take()))
    }

    /// Sends the head; the content follows through the writer.
    ///
    /// # Errors
    /// As [`Self::send`].
    pub async fn stream(mut self) -> Result<BodyWriter, Error> {
        self.complete()?;
        let reads_on = self.body.is_none();
        self.responder.stream()?.begin_answer(&self.head(), reads_on)?;
        self.responder.span.answered(self.status);
        let stream = self.responder.take_stream()?;
        self.give_back(&stream);
        Ok(stream.into_writer())
    }

    /// Makes the head ready to be sent: dated, unless it has a date.
    fn complete(&mut self) -> Result<(), Error> {
        if let Some(mistake) = self.mistake.take() {
            return Err(*mistake);
        }
        let fields = &mut self.head.get_or_insert_default().fields;
        if !fields.contains(KnownName::DATE)
            && let Some(stream) = &self.responder.stream
        {
            // A date needs no check, and a section has always room for one.
            date::with(stream.now(), |date| fields.push_known(KnownName::DATE, date, FieldFlags::NONE));
        }
        Ok(())
    }

    fn head(&self) -> ResponseHead<'_> {
        const NONE: &FieldSection = &FieldSection::new();
        ResponseHead { status: self.status, fields: self.head.as_ref().map_or(NONE, |head| &head.fields) }
    }

    fn give_back(&mut self, stream: &Stream) {
        if let Some(head) = self.head.take() {
            stream.give_head(head);
        }
        if let Some(mut body) = self.body.take() {
            Stream::give_body(&mut body, None);
        }
    }
}
