//! The answer to a request: its head, then all of its content at once or piece by piece. The forms that
//! content comes in have files of their own.

mod conditional;
mod event;
mod events;
#[cfg(feature = "files")]
mod file;
mod filtered;
#[cfg(feature = "json")]
mod json;
mod parts;
mod reader;
mod redirect;
mod text;

pub use event::Event;
pub use events::EventStream;

use alula_fields::{Decimal, FieldFlags, FieldSection, IntoName, KnownName, Status};
use alula_net::{Body, BodyWriter, Error, Sent, Stream, WholeAnswer};

use self::filtered::Filtered;
use crate::{
    conditional::is_condition,
    exchange::{Exchange, responder::Responder},
    router::App,
};

/// The head of an answer being built. The first mistake made on the way is kept and reported when it is sent.
#[must_use = "a reply does nothing until it is sent"]
pub struct Reply {
    responder: Responder,
    pub(crate) answer: WholeAnswer,
    mistake: Option<Box<Error>>,
}

impl<S> Exchange<S> {
    /// Begins the answer. Content of the request that was not read is given up when the answer has been sent.
    pub fn respond(self, status: Status) -> Reply {
        let (body, responder) = self.into_parts();
        responder.respond_to(body, status)
    }
}

impl Responder {
    /// Begins the answer.
    pub fn respond(self, status: Status) -> Reply {
        let head = self.open_stream().map(Stream::lend_head);
        Reply::new(self, WholeAnswer { status, head, received: None })
    }

    /// Begins the answer to a request that is not needed any more, in the memory of its head.
    #[inline]
    pub(crate) fn respond_to(mut self, body: Body, status: Status) -> Reply {
        if self.request().is_filtered() || self.request().headers().contains_any(is_condition) {
            // The request stays, for filters look at it, or the reply at its conditions.
            let head = self.open_stream().map(Stream::lend_head);
            return Reply::new(self, WholeAnswer { status, head, received: Some(body) });
        }
        let mut head = self.request_mut().take_head();
        if let Some(head) = &mut head {
            head.clear();
        }
        Reply::new(self, WholeAnswer { status, head, received: Some(body) })
    }
}

/// Returns the program of a connection, if it has hooks.
#[inline]
pub(crate) fn hooked(stream: &Stream) -> Option<&App> {
    stream.conn().app()?.downcast_ref().filter(|app: &&App| app.has_hooks())
}

/// Returns true for 204 and 304, which end with their heads (RFC 9110 §6.4.1), and for 205, whose content is
/// empty (RFC 9110 §15.3.6) and whose length of zero HTTP/1.1 states itself.
#[inline]
pub(crate) fn has_no_content(status: Status) -> bool {
    matches!(status.as_u16(), 204 | 205 | 304)
}

impl Reply {
    #[inline]
    const fn new(responder: Responder, answer: WholeAnswer) -> Self {
        Self { responder, answer, mistake: None }
    }

    /// Adds a field, its value bytes or text.
    #[doc(alias = "field")]
    #[inline]
    pub fn header<'n>(mut self, name: impl IntoName<'n>, value: impl AsRef<[u8]>) -> Self {
        self.add(name, value);
        self
    }

    /// Adds these fields, replacing those of the same names.
    pub fn headers(mut self, headers: &FieldSection) -> Self {
        self.headers_mut().merge(headers);
        self
    }

    /// Gives the content of the request its direction of the stream.
    fn attach(&mut self) {
        if let Some(body) = &mut self.answer.received {
            self.responder.attach(body);
        }
    }

    fn add<'n>(&mut self, name: impl IntoName<'n>, value: impl AsRef<[u8]>) {
        if let Err(error) = self.headers_mut().append(name, value) {
            self.mistake.get_or_insert_with(|| Box::new(error.into()));
        }
    }

    /// Adds a field with this exact spelling of its name in HTTP/1.1; HTTP/2 has no capitals in names (RFC
    /// 9113 §8.2.1).
    pub fn header_spelled(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        if let Err(error) = self.headers_mut().append_spelled(name, value) {
            self.mistake.get_or_insert_with(|| Box::new(error.into()));
        }
        self
    }

    /// Returns the fields for changes beyond [`Self::header`].
    pub fn headers_mut(&mut self) -> &mut FieldSection {
        self.answer.fields_mut()
    }

    /// Returns the content of the request, for answers that depend on it or return it.
    pub fn body(&mut self) -> Option<&mut Body> {
        self.attach();
        self.answer.received.as_mut()
    }

    /// Sends the answer with this content, bytes or text, stating its length. An answer to HEAD states it
    /// and sends none; 204, 205 and 304 have none.
    ///
    /// Dropping the future part-way resets the stream. Allocates nothing once warm.
    ///
    /// # Errors
    /// A field was not valid, the stream was reset or the connection broke.
    #[doc(alias = "body")]
    pub async fn send(mut self, content: impl AsRef<[u8]>) -> Result<Sent, Error> {
        let content = content.as_ref();
        if self.is_filtered() && self.is_description(content.len()) {
            return self.send_head();
        }
        let filtered = if self.is_filtered() { self.filter_whole(&[content])? } else { None };
        let content = filtered.as_deref().map_or(content, |made| &made[..]);
        let content = if self.state_length(content.len() as u64) { content } else { &[] };
        let mut sent = 0;
        if let Some(sent) = self.send_now(content, &mut sent)? {
            return Ok(sent);
        }
        self.attach();
        let stream = self.responder.take_stream()?;
        stream.write(content, true, &mut sent).await?;
        Ok(self.finish(stream))
    }

    /// States the length of the content, unless there is none or it is stated already. False when no content
    /// is sent: 204, 205 and 304 have none, and the answer to HEAD leaves it out (RFC 9110 §6.4.1).
    #[inline]
    fn state_length(&mut self, bytes: u64) -> bool {
        let has_none = has_no_content(self.answer.status);
        let fields = self.headers_mut();
        if !has_none && !fields.contains_known(KnownName::CONTENT_LENGTH) {
            // Digits need no check, and a section has always room for so few.
            fields.push_known(KnownName::CONTENT_LENGTH, Decimal::of(bytes).as_bytes(), FieldFlags::NONE);
        }
        !has_none && !self.responder.request().is_head()
    }

    /// Sends the answer without content, and without a length unless it is among the fields or HTTP/1.1
    /// states it.
    pub(crate) fn send_head(mut self) -> Result<Sent, Error> {
        if self.is_filtered() {
            self.filter_pieces();
        }
        match self.send_now(&[], &mut 0)? {
            Some(sent) => Ok(sent),
            // Without content there is nothing that would have to wait.
            None => {
                self.attach();
                self.responder.take_stream().map(|stream| self.finish(stream))
            }
        }
    }

    /// Sends the answer with as much of its content as possible; nothing is left in the reply if that was
    /// all.
    #[inline]
    fn send_now(&mut self, content: &[u8], sent: &mut usize) -> Result<Option<Sent>, Error> {
        self.complete()?;
        let whole = self.responder.stream_mut()?.answer_whole(&mut self.answer, content, sent)?;
        self.responder.note_answered(self.answer.status);
        if whole.is_some() {
            self.responder.take_stream()?;
        }
        Ok(whole)
    }

    /// Sends the head; the content follows through the writer, which drops it if the answer has none: to
    /// HEAD, and with 204, 205 and 304 ([`BodyWriter::is_muted`]).
    ///
    /// # Errors
    /// As [`Self::send`].
    pub async fn stream(mut self) -> Result<BodyWriter, Error> {
        let filtered = if self.is_filtered() { self.filter_pieces() } else { Filtered::default() };
        self.complete_and_date()?;
        let reads_on = self.answer.reads_on();
        let is_head = self.responder.request().is_head();
        let has_none = is_head || has_no_content(self.answer.status) || filtered.is_withheld;
        let stream = self.responder.stream()?;
        match has_none {
            // The message ends with its head (RFC 9110 §6.4.1); the writer drops what the handler still
            // writes.
            true => stream.answer(&self.answer.head(), &[], reads_on, &mut 0).map(drop)?,
            false => stream.begin_answer(&self.answer.head(), reads_on)?,
        }
        self.responder.note_answered(self.answer.status);
        self.attach();
        let stream = self.responder.take_stream()?;
        self.give_back(&stream);
        Ok(match filtered.encoding {
            _ if has_none => stream.into_muted_writer(),
            Some(encoding) => stream.into_encoding_writer(encoding),
            None => stream.into_writer(),
        })
    }

    /// Completes the head without its date.
    fn complete(&mut self) -> Result<(), Error> {
        if let Some(mistake) = self.mistake.take() {
            return Err(*mistake);
        }
        if let Some(stream) = self.responder.open_stream()
            && let Some(app) = hooked(stream)
        {
            let (entry, status) = (self.responder.request().entry(), self.answer.status);
            app.see_head(stream, entry, status, self.answer.fields_mut());
        }
        Ok(())
    }

    /// Completes the head with its date, unless it has one.
    fn complete_and_date(&mut self) -> Result<(), Error> {
        self.complete()?;
        if let Some(stream) = self.responder.open_stream() {
            stream.date(self.answer.fields_mut());
        }
        Ok(())
    }

    /// Gives back the parts of the reply after its message is complete.
    #[inline]
    fn finish(mut self, stream: Stream) -> Sent {
        stream.finish(self.answer.received.take().as_mut(), self.answer.head.take())
    }

    fn give_back(&mut self, stream: &Stream) {
        if let Some(head) = self.answer.head.take() {
            stream.give_head(head);
        }
        if let Some(mut body) = self.answer.received.take() {
            Stream::give_body(&mut body, None);
        }
    }
}
