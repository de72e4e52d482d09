//! The exchange for a handler: a request and the right to answer it.

pub(crate) mod accept;
pub(crate) mod debug;
pub(crate) mod forwarded;
#[cfg(feature = "json")]
pub(crate) mod json_content;
pub(crate) mod multipart;
#[cfg(feature = "query")]
pub(crate) mod query;
pub(crate) mod reply;
pub(crate) mod request;
pub(crate) mod responder;
pub(crate) mod scheme;

use std::{
    any::Any,
    marker::PhantomData,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use alula_fields::{Captures, FieldSection, Head, Status};
use alula_machine::Reservation;
#[cfg(feature = "tls")]
use alula_net::TlsFacts;
use alula_net::{Body, Error, Incoming, Stream};

use crate::{
    exchange::{request::Request, responder::Responder, scheme::SchemeSource},
    observe::observing::RequestSpan,
};

/// A request with the right to answer it, owned and `Send`.
///
/// A handler that drops it unanswered says by its result what the answer is: its error
/// [becomes](crate::IntoAnswer) the answer. Dropped elsewhere, after its handler has ended, it is answered
/// with 500.
///
/// `S` is the [state](Self::state) of the router that handed it out.
pub struct Exchange<S = ()> {
    /// The content, whose direction of the stream the responder has until it is needed: most requests have
    /// none.
    body: Body,
    responder: Responder,
    state: PhantomData<fn() -> S>,
}

impl Exchange {
    #[inline(always)]
    pub(crate) fn new(incoming: Incoming, scheme: SchemeSource, span: RequestSpan) -> Self {
        let Incoming { stream, head, ended, .. } = incoming;
        let request = Request::new(head, stream.version(), scheme);
        let body = stream.detached_body(ended);
        Self { body, responder: Responder::new(stream, request, span), state: PhantomData }
    }

    /// Records the route of the request, and the captures of its path.
    #[inline]
    pub(crate) fn route_to(&mut self, entry: u32, captures: Captures) {
        self.responder.request_mut().route_to(entry, captures);
    }
}

impl<S> Exchange<S> {
    /// Records the layer that handles the request now.
    #[inline]
    pub(crate) fn stand_in(&mut self, layer: usize) {
        self.responder.request_mut().stand_in(layer);
    }

    pub(crate) fn layer(&self) -> usize {
        self.request().layer().into()
    }

    pub(crate) fn entry(&self) -> u32 {
        self.request().entry().into()
    }

    /// Records that its route has filters.
    pub(crate) fn filter(&mut self) {
        self.responder.request_mut().filter();
    }

    /// Keeps fields for the answer, whoever sends it.
    pub(crate) fn keep_answer_headers(&self, headers: Box<Head>) {
        self.responder.keep_answer_headers(headers);
    }

    /// Returns the program of the connection.
    pub(crate) fn any_app(&self) -> Option<&Arc<dyn Any + Send + Sync>> {
        self.responder.app()
    }

    /// Returns the content of the request, [detached](Responder::attach) unless it was used, and the right to
    /// answer with the request in it.
    #[inline]
    pub(crate) fn into_parts(self) -> (Body, Responder) {
        (self.body, self.responder)
    }

    /// Returns the content of the request, detached unless it was used: to inspect it, not to read it.
    #[inline]
    pub(crate) fn unread_body(&mut self) -> &mut Body {
        &mut self.body
    }

    /// Returns the same exchange for a handler with a state of this type.
    #[inline]
    pub(crate) fn for_state<T>(self) -> Exchange<T> {
        Exchange { body: self.body, responder: self.responder, state: PhantomData }
    }
}

impl<S> Exchange<S> {
    /// Returns the request.
    pub fn request(&self) -> &Request {
        self.responder.request()
    }

    /// Returns the request for changes by layers.
    pub fn request_mut(&mut self) -> &mut Request {
        self.responder.request_mut()
    }

    /// Returns the peer's address.
    #[doc(alias("remote_addr", "peer_addr", "ConnectInfo"))]
    pub fn peer(&self) -> SocketAddr {
        self.responder.peer()
    }

    /// Returns the address of the client: the peer's, or the one that trusted proxies report, if the server
    /// [reads it](crate::ServerBuilder::client_address_from). IPv4 addresses come as such, never mapped into
    /// IPv6.
    pub fn client_address(&self) -> IpAddr {
        self.request().client().unwrap_or_else(|| self.peer().ip().to_canonical())
    }

    /// Returns the TLS version, cipher and names of the connection; none in clear text. Allocates.
    #[cfg(feature = "tls")]
    pub fn tls(&self) -> Option<TlsFacts> {
        self.responder.tls()
    }

    /// Writes the certificate of the client, in DER, over `der`, and returns true if there is one: the server
    /// [asks for it](crate::Identity::client_authorities_pem) and has verified it. Allocates nothing but what
    /// `der` grows by.
    ///
    /// ```
    /// # fn example(exchange: alula::Exchange) {
    /// let mut der = alula::Scratch::lend();
    /// if exchange.read_peer_certificate(&mut der) {
    ///     println!("a certificate of {} bytes", der.len());
    /// }
    /// # }
    /// ```
    #[cfg(feature = "tls")]
    pub fn read_peer_certificate(&self, der: &mut Vec<u8>) -> bool {
        self.responder.read_peer_certificate(der)
    }

    /// Sets the user of the request for hooks, which find it in [`Ended::user`](crate::Ended::user); an
    /// [`AccessLog`](crate::AccessLog) writes it. Allocates nothing.
    pub fn note_user(&self, user: &Arc<str>) {
        self.responder.note_user(user);
    }

    /// Returns the user that a layer has [set](Self::note_user), if there is one. Allocates nothing.
    ///
    /// ```
    /// # fn example(exchange: alula::Exchange) {
    /// let place = exchange.user().map_or("everybody".into(), |user| user.to_string());
    /// # }
    /// ```
    pub fn user(&self) -> Option<Arc<str>> {
        self.responder.user()
    }

    /// Exempts the peer of this exchange from `Limits::body_rate_min` and `Limits::stall_timeout`, in both
    /// directions, once an answer of 2xx has begun: for uploads and downloads that wait for people. Until
    /// then, and after any other answer, both limits hold. To read slow content, [split](Self::split) the
    /// exchange, begin the answer with [`Reply::stream`](crate::Reply::stream) and read afterwards.
    pub fn allow_slow_peer(&self) {
        self.responder.allow_slow_peer();
    }

    /// Charges bytes that the handler holds for this exchange to the memory of all connections, as
    /// [`Ledger::reserve`](crate::Ledger::reserve) does; `None` if there is no room for them.
    pub fn reserve(&self, bytes: u64) -> Option<Reservation> {
        self.responder.reserve(bytes)
    }

    /// Returns the content of the request.
    pub fn body(&mut self) -> &mut Body {
        self.responder.attach(&mut self.body);
        &mut self.body
    }

    /// Adds `decoder` to the content. From here on the fields of the request tell of that content.
    #[cfg(feature = "decoding")]
    pub(crate) fn put_decoder(&mut self, decoder: Box<dyn alula_net::Decoder>) {
        self.responder.attach(&mut self.body);
        if let Some(fields) = self.responder.request_mut().headers_mut() {
            Stream::decode(&mut self.body, decoder, fields);
        }
    }

    /// Sends an interim response (1xx, RFC 9110 §15.2) without fields; the answer is still to come.
    ///
    /// # Errors
    /// As [`Responder::interim`].
    pub fn interim(&self, status: Status) -> Result<(), Error> {
        self.responder.interim(status)
    }

    /// Sends an interim response (1xx, RFC 9110 §15.2) with these fields, such as `link` in 103 (RFC 8297),
    /// which names what the client will need before the answer is ready. Allocates nothing once warm.
    ///
    /// # Errors
    /// As [`Responder::interim_with`].
    ///
    /// ```
    /// # fn example(exchange: alula::Exchange) -> Result<(), alula::Error> {
    /// use alula::{FieldSection, Status};
    ///
    /// let hints = FieldSection::from_pairs([("link", "</style.css>; rel=preload; as=style")])?;
    /// exchange.interim_with(Status::EARLY_HINTS, &hints)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn interim_with(&self, status: Status, headers: &FieldSection) -> Result<(), Error> {
        self.responder.interim_with(status, headers)
    }

    /// Splits the exchange into the request, its content and the right to answer, to receive and send at
    /// once.
    pub fn split(mut self) -> (Request, Body, Responder) {
        self.responder.attach(&mut self.body);
        (self.responder.take_request(), self.body, self.responder)
    }
}

const _: () = {
    const fn is_send<T: Send>() {}
    is_send::<Exchange>();
    is_send::<Stream>();
};
