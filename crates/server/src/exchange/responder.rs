//! The right to answer a request.

use std::{any::Any, net::SocketAddr, sync::Arc};

use alula_fields::{FieldSection, Head, ResponseHead, Status};
use alula_machine::Reservation;
use alula_net::{Body, Error, LeftNote, Stream};

use crate::{exchange::request::Request, observe::observing::RequestSpan};

/// The right to answer a request, separate from the request.
///
/// Dropped unanswered within its handler, the result of that becomes the answer; dropped elsewhere, 500 does.
pub struct Responder {
    stream: Option<Stream>,
    /// The request, until somebody takes it.
    request: Request,
    span: RequestSpan,
}

impl Responder {
    #[inline]
    pub(crate) fn new(stream: Stream, request: Request, span: RequestSpan) -> Self {
        Self { stream: Some(stream), request, span }
    }

    #[inline]
    pub(crate) fn request(&self) -> &Request {
        &self.request
    }

    #[inline]
    pub(crate) fn request_mut(&mut self) -> &mut Request {
        &mut self.request
    }

    /// Gives content its direction of the stream, unless it has that, or the answer was sent.
    #[inline]
    pub(crate) fn attach(&mut self, body: &mut Body) {
        if let Some(stream) = &mut self.stream {
            stream.attach(body);
        }
    }

    /// Returns the program of the connection.
    pub(crate) fn app(&self) -> Option<&Arc<dyn Any + Send + Sync>> {
        self.stream.as_ref()?.conn().app()
    }

    pub(crate) fn keep_answer_headers(&self, headers: Box<Head>) {
        if let Some(stream) = &self.stream {
            stream.keep_answer_headers(headers);
        }
    }

    pub(crate) fn note_user(&self, user: &Arc<str>) {
        if let Some(stream) = &self.stream {
            stream.note_user(user);
        }
    }

    pub(crate) fn user(&self) -> Option<Arc<str>> {
        self.stream.as_ref()?.user()
    }

    pub(crate) fn take_request(&mut self) -> Request {
        let request = self.request.take();
        if request.is_filtered() {
            // The filters see the request that is answered.
            self.request.copy_head(&request);
        }
        request
    }

    pub(crate) fn peer(&self) -> SocketAddr {
        self.stream.as_ref().map_or(SocketAddr::from(([0, 0, 0, 0], 0)), Stream::peer)
    }

    #[cfg(feature = "tls")]
    pub(crate) fn tls(&self) -> Option<alula_net::TlsFacts> {
        self.stream.as_ref()?.tls()
    }

    #[cfg(feature = "tls")]
    pub(crate) fn read_peer_certificate(&self, der: &mut Vec<u8>) -> bool {
        self.stream.as_ref().is_some_and(|stream| stream.read_peer_certificate(der))
    }

    /// Exempts the request from the limits on slow peers, as
    /// [`Exchange::allow_slow_peer`](crate::Exchange::allow_slow_peer) does.
    pub fn allow_slow_peer(&self) {
        if let Some(stream) = &self.stream {
            stream.allow_slow_peer();
        }
    }

    pub(crate) fn reserve(&self, bytes: u64) -> Option<Reservation> {
        self.stream.as_ref()?.reserve(bytes)
    }

    /// Gives the memory of a finished request to the next one.
    #[cfg(feature = "tower")]
    pub(crate) fn take_back(&self, mut request: Request) {
        if let (Some(stream), Some(head)) = (&self.stream, request.take_head()) {
            stream.give_head(head);
        }
    }

    /// Sends an interim response (1xx, RFC 9110 §15.2) without fields; the answer is still to come.
    ///
    /// # Errors
    /// The status is not 1xx, or 101, which HTTP/2 has no use for (RFC 9113 §8.6); or the stream is gone.
    pub fn interim(&self, status: Status) -> Result<(), Error> {
        self.interim_with(status, &FieldSection::new())
    }

    /// Sends an interim response (1xx, RFC 9110 §15.2) with these fields, such as `link` in 103 (RFC 8297);
    /// the answer is still to come. Allocates nothing once warm.
    ///
    /// # Errors
    /// As [`interim`](Self::interim); or a field cannot be sent.
    pub fn interim_with(&self, status: Status, headers: &FieldSection) -> Result<(), Error> {
        if !(100..200).contains(&status.as_u16()) || status.as_u16() == 101 {
            return Err(Error::usage(
                "the status of an interim response must be 1xx and not 101 (RFC 9113 §8.6)",
            ));
        }
        let head = ResponseHead { status, fields: headers };
        self.stream()?.command(|machine, key, out| machine.send_interim(key, &head, out))
    }

    /// Returns the stream; `None` once the answer was sent.
    #[inline]
    pub(crate) fn open_stream(&self) -> Option<&Stream> {
        self.stream.as_ref()
    }

    /// Records the status of the begun answer.
    #[inline]
    pub(crate) fn note_answered(&self, status: Status) {
        self.span.answered(status);
    }

    /// Leaves the answer to the result of the handler.
    #[cold]
    fn leave(&self, stream: Stream) {
        let note = LeftNote {
            is_head: self.request.is_head(),
            takes_json: self.request.takes_json(),
            route: self.request.entry(),
        };
        stream.leave(note);
    }

    /// Returns the stream.
    ///
    /// # Errors
    /// The answer was sent.
    pub(crate) fn stream(&self) -> Result<&Stream, Error> {
        self.stream.as_ref().ok_or_else(was_sent)
    }

    /// Returns the stream for changes.
    ///
    /// # Errors
    /// The answer was sent.
    pub(crate) fn stream_mut(&mut self) -> Result<&mut Stream, Error> {
        self.stream.as_mut().ok_or_else(was_sent)
    }

    /// Takes the stream to send the answer.
    ///
    /// # Errors
    /// The answer was sent.
    pub(crate) fn take_stream(&mut self) -> Result<Stream, Error> {
        self.stream.take().ok_or_else(was_sent)
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        if let Some(stream) = self.stream.take() {
            self.leave(stream);
        }
    }
}

#[cold]
fn was_sent() -> Error {
    Error::usage("the answer was sent")
}
