//! One request and the right to answer it.

use std::net::SocketAddr;

use alula_fields::{FieldSection, Head, Status};
use alula_net::{Body, Error, Incoming, Stream, Version};

use crate::reply::{Reply, Responder};

/// A request with the right to answer it, owned and `Send`.
///
/// Dropping it unanswered answers 500.
pub struct Exchange {
    request: Request,
    body: Body,
    responder: Responder,
}

impl Exchange {
    pub(crate) fn new(incoming: Incoming) -> Self {
        let Incoming { stream, head, ended, .. } = incoming;
        let (receive, send) = stream.split();
        let request = Request { head, version: send.version() };
        let responder = Responder::new(send, &request);
        Self { request, body: receive.into_body(ended), responder }
    }

    /// The request.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// The peer's address.
    pub fn peer(&self) -> SocketAddr {
        self.responder.peer()
    }

    /// Lets the peer of this exchange be as slow as it likes: for uploads and downloads that wait for people, where
    /// `Limits::body_rate_min` and `Limits::stall_timeout` would end them.
    pub fn allow_slow_peer(&self) {
        self.responder.allow_slow_peer();
    }

    /// The content of the request.
    pub fn body(&mut self) -> &mut Body {
        &mut self.body
    }

    /// Sends an interim response (1xx, RFC 9110 §15.2) without fields; the answer is still to come.
    ///
    /// # Errors
    /// As [`Responder::interim`].
    pub fn interim(&self, status: Status) -> Result<(), Error> {
        self.responder.interim(status)
    }

    /// Begins the answer. What was not read of the request's content is given up when the answer has been sent.
    pub fn respond(self, status: Status) -> Reply {
        let Self { request, body, responder } = self;
        responder.respond(status).keep(request, body)
    }

    /// Request, content and the right to answer apart, to receive and send at once.
    pub fn split(self) -> (Request, Body, Responder) {
        (self.request, self.body, self.responder)
    }
}

/// The head of a request.
pub struct Request {
    head: Box<Head>,
    version: Version,
}

impl Request {
    /// The method, as it was spelled (RFC 9110 §9).
    pub fn method(&self) -> &str {
        self.head.method().unwrap_or_default()
    }

    /// The version of HTTP it came by.
    pub fn version(&self) -> Version {
        self.version
    }

    /// The path and query asked for; `*` for the server as a whole; empty for CONNECT (RFC 9113 §8.3.1).
    pub fn path(&self) -> &str {
        self.head.path().unwrap_or_default()
    }

    /// The scheme, unless the method is CONNECT.
    pub fn scheme(&self) -> Option<&str> {
        self.head.scheme()
    }

    /// The authority the request is for, from `:authority` or `host`.
    pub fn authority(&self) -> Option<&str> {
        self.head.authority()
    }

    /// The protocol of an extended CONNECT (RFC 8441 §4).
    pub fn protocol(&self) -> Option<&str> {
        self.head.protocol()
    }

    /// The fields, in the order of arrival.
    pub fn fields(&self) -> &FieldSection {
        &self.head.fields
    }

    pub(crate) fn into_head(self) -> Box<Head> {
        self.head
    }
}

const _: () = {
    const fn is_send<T: Send>() {}
    is_send::<Exchange>();
    is_send::<Stream>();
};
