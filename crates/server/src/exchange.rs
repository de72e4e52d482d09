//! One request and the right to answer it.

use std::net::SocketAddr;

use alula_fields::{FieldSection, Head, KnownName, Reservation, Status};
#[cfg(feature = "tls")]
use alula_net::TlsFacts;
use alula_net::{Body, Error, Incoming, Stream, Version};

use crate::{
    observing::RequestSpan,
    reply::{Reply, Responder},
    scheme::SchemeSource,
};

/// A request with the right to answer it, owned and `Send`.
///
/// Dropping it unanswered answers 500.
pub struct Exchange {
    request: Request,
    body: Body,
    responder: Responder,
}

impl Exchange {
    #[inline(always)]
    pub(crate) fn new(incoming: Incoming, scheme: SchemeSource, span: RequestSpan) -> Self {
        let Incoming { stream, head, ended, .. } = incoming;
        let (receive, send) = stream.split();
        let request = Request { head, version: send.version(), scheme };
        let responder = Responder::new(send, &request, span);
        Self { request, body: receive.into_body(ended), responder }
    }

    /// The request.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// The peer's address.
    #[doc(alias = "remote_addr")]
    pub fn peer(&self) -> SocketAddr {
        self.responder.peer()
    }

    /// What TLS has agreed on with the peer; none in clear text. Allocates.
    #[cfg(feature = "tls")]
    pub fn tls(&self) -> Option<TlsFacts> {
        self.responder.tls()
    }

    /// Lets the peer of this exchange be as slow as it likes, both ways, from when an answer of 2xx has begun: for uploads and
    /// downloads that wait for people, where `Limits::body_rate_min` and `Limits::stall_timeout` would end them. Until then,
    /// and after any other answer, both limits hold. To read slow content, [split](Self::split) the exchange, begin the answer
    /// with [`Reply::stream`] and read afterwards.
    pub fn allow_slow_peer(&self) {
        self.responder.allow_slow_peer();
    }

    /// Charges octets that the handler holds for this exchange to the memory of all connections, as
    /// [`Ledger::reserve`](crate::Ledger::reserve) does; `None` if there is no room for them.
    pub fn reserve(&self, bytes: u64) -> Option<Reservation> {
        self.responder.reserve(bytes)
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
        responder.respond_to(request, body, status)
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
    scheme: SchemeSource,
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

    /// Returns the scheme of the connection: `https` over TLS, `http` in clear text; `None` for CONNECT without a
    /// [protocol](Self::protocol), which has none.
    ///
    /// What the peer writes does not change it. For a request from a
    /// [trusted proxy](crate::ServerBuilder::trusted_proxies) it is what `x-forwarded-proto` says, if that is exactly one
    /// `https` or `http`.
    pub fn scheme(&self) -> Option<&str> {
        self.head.has_pseudo(KnownName::PSEUDO_SCHEME).then(|| self.scheme.scheme(&self.head.fields))
    }

    /// Returns the scheme that the peer wrote: `:scheme`, or the scheme of a target that is a whole URI; without either
    /// that of the connection. Nothing has checked it: a peer may claim `https` in clear text, or any other scheme.
    pub fn claimed_scheme(&self) -> Option<&str> {
        self.head.scheme()
    }

    /// Returns the authority the request is for: `:authority` or the authority of the target, else `host`.
    pub fn authority(&self) -> Option<&str> {
        self.head.authority().or_else(|| std::str::from_utf8(self.head.fields.get(KnownName::HOST)?).ok())
    }

    /// The protocol of an extended CONNECT (RFC 8441 §4).
    pub fn protocol(&self) -> Option<&str> {
        self.head.protocol()
    }

    /// The fields, in the order of arrival.
    #[doc(alias = "headers")]
    pub fn fields(&self) -> &FieldSection {
        &self.head.fields
    }

    /// How it was written, if it came over HTTP/1.
    #[cfg(feature = "tower")]
    pub(crate) fn form(&self) -> alula_fields::RequestForm {
        self.head.form()
    }

    /// The authority of the control data: over HTTP/1.1 that of the target, or `host`.
    #[cfg(feature = "tower")]
    pub(crate) fn own_authority(&self) -> Option<&str> {
        self.head.authority()
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
