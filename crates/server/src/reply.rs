//! The answer to a request: its head, then all of its content at once or piece by piece.

use std::net::SocketAddr;

use alula_fields::{
    Decimal, FieldFlags, FieldSection, Head, IntoName, KnownName, Method, ResponseHead, Status,
};
use alula_net::{Body, BodyWriter, Error, Sent, Stream};

use crate::{date, exchange::Request};

/// The right to answer a request, apart from the request.
///
/// Dropping it unanswered answers 500.
pub struct Responder {
    stream: Option<Stream>,
    /// The answer to HEAD has no content (RFC 9110 §9.3.2).
    to_head: bool,
}

/// The head of an answer being built. The first mistake made on the way is kept and reported when it is sent.
#[must_use = "a reply does nothing until it is sent"]
pub struct Reply {
    responder: Responder,
    status: Status,
    /// There until it is given back.
    head: Option<Box<Head>>,
    mistake: Option<Box<Error>>,
    /// Held until the answer is sent: letting go of an unread request would reset the stream.
    request: Option<(Request, Body)>,
}

impl Responder {
    pub(crate) fn new(stream: Stream, request: &Request) -> Self {
        Self { stream: Some(stream), to_head: Method::eq_ignore_case(request.method(), "HEAD") }
    }

    pub(crate) fn peer(&self) -> SocketAddr {
        self.stream.as_ref().map_or(SocketAddr::from(([0, 0, 0, 0], 0)), Stream::peer)
    }

    pub(crate) fn allow_slow_peer(&self) {
        if let Some(stream) = &self.stream {
            stream.allow_slow_peer();
        }
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
        Reply { responder: self, status, head, mistake: None, request: None }
    }

    /// Sends an interim response (1xx, RFC 9110 §15.2) without fields; the answer is still to come.
    ///
    /// # Errors
    /// The status is not 1xx, or 101, which HTTP/2 has no use for (RFC 9113 §8.6); or the stream is gone.
    pub fn interim(&self, status: Status) -> Result<(), Error> {
        if !(100..200).contains(&status.code()) || status.code() == 101 {
            return Err(Error::usage("an interim response has a status of 1xx, but not 101 (RFC 9113 §8.6)"));
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
            let _ = stream.answer(&head, &[], &mut 0);
        }
    }
}

#[cold]
fn was_sent() -> Error {
    Error::usage("the answer was sent")
}

impl Reply {
    pub(crate) fn keep(mut self, request: Request, body: Body) -> Self {
        self.request = Some((request, body));
        self
    }

    /// Adds a field.
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

    /// The fields so far, for what [`Self::field`] cannot do.
    pub fn fields_mut(&mut self) -> &mut FieldSection {
        &mut self.head.get_or_insert_default().fields
    }

    /// The content of the request, for answers that depend on it or send it back.
    pub fn body(&mut self) -> Option<&mut Body> {
        self.request.as_mut().map(|(_, body)| body)
    }

    /// Sends the answer with this content, stating its length. An answer to HEAD states it and sends none; 204 and 304
    /// have none.
    ///
    /// Dropping the future part-way resets the stream. Allocates nothing once warm.
    ///
    /// # Errors
    /// A field was not valid, the stream was reset or the connection broke.
    pub async fn send(mut self, content: &[u8]) -> Result<Sent, Error> {
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
        let is_whole = self.responder.stream()?.answer(&self.head(), content, &mut sent)?;
        let stream = self.responder.take_stream()?;
        if !is_whole {
            stream.write(content, true, &mut sent).await?;
        }
        Ok(match self.request.take() {
            Some((request, mut body)) => {
                stream.finish(Some(&mut body), [Some(request.into_head()), self.head.take()])
            }
            None => stream.finish(None, [self.head.take(), None]),
        })
    }

    /// Sends the head; the content follows through the writer.
    ///
    /// # Errors
    /// As [`Self::send`].
    pub async fn stream(mut self) -> Result<BodyWriter, Error> {
        self.complete()?;
        let head = self.head();
        let stream = self.responder.stream()?;
        stream.command(|machine, key, out| machine.send_response(key, &head, false, out))?;
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
        if let Some((request, mut body)) = self.request.take() {
            Stream::give_body(&mut body, Some(request.into_head()));
        }
    }
}
