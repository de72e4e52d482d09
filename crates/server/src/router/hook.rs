//! Hooks, which see the beginning of each request, the head of its answer, and its end.

use std::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use alula_fields::{FieldError, FieldSection, Head, IntoName, Status};
use alula_net::{Error, Version};

use crate::{
    answer::{Answer, ended::EndedRequest},
    exchange::request::Request,
    observe::failure::RequestFacts,
};

/// Sees each request of a router, without a future or a box for it: at its beginning, before the head of its
/// answer is sent, and at its end. All three do nothing unless written.
///
/// Hooks run in the task of the connection, so they must not block. They are called in the order in which
/// they were added.
///
/// ```
/// use alula::{Hook, Ended, Router};
///
/// struct Log;
///
/// impl Hook for Log {
///     fn end(&self, ended: &Ended<'_>) {
///         println!("{} {} {:?} {:?}", ended.method(), ended.target(), ended.status(), ended.duration());
///     }
/// }
///
/// let router = Router::new().hook(Log);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no hook",
    note = "layers, which are functions of an exchange and a `Next`, are added by `wrap`, filters such as `EntityTags` by `filter`"
)]
#[doc(alias = "TraceLayer")]
pub trait Hook: Send + Sync + 'static {
    /// Called when a request has arrived and its route is known. An answer given here is sent, and no handler
    /// is called. Later hooks see the request begin all the same, but [an answer of
    /// theirs](Begun::is_answered) is not sent.
    fn begin(&self, begun: &mut Begun<'_>) -> Option<Answer> {
        let _ = begun;
        None
    }

    /// Called before the head of an answer is sent; its fields may be changed. Not called for interim
    /// answers.
    fn head(&self, status: Status, headers: &mut FieldSection) {
        let _ = (status, headers);
    }

    /// Called when the handler of a request has ended and the connection has all of its answer, or the
    /// request has failed.
    fn end(&self, ended: &Ended<'_>) {
        let _ = ended;
    }
}

/// A request that begins.
pub struct Begun<'a> {
    pub(super) request: &'a mut Request,
    pub(super) headers: Option<Box<Head>>,
    pub(super) peer: SocketAddr,
    pub(super) route: Option<&'a str>,
    pub(super) facts: Option<&'a mut RequestFacts>,
    pub(super) is_answered: bool,
}

impl<'a> Begun<'a> {
    /// Returns the request.
    pub fn request(&self) -> &Request {
        self.request
    }

    /// Returns the request for changes before its handler.
    pub fn request_mut(&mut self) -> &mut Request {
        self.request
    }

    /// Returns the address of the peer.
    pub const fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// Returns the address of the client, as [`Exchange::client_address`](crate::Exchange::client_address).
    pub fn client_address(&self) -> IpAddr {
        self.request.client().unwrap_or_else(|| self.peer.ip().to_canonical())
    }

    /// Returns the pattern of the route, such as `/lists/{list}`; none for a path without a route.
    pub const fn route(&self) -> Option<&'a str> {
        self.route
    }

    /// Returns true if an earlier hook has answered the request.
    pub const fn is_answered(&self) -> bool {
        self.is_answered
    }

    /// Adds a field to the answer, whoever sends it. Allocates nothing once warm.
    ///
    /// # Errors
    /// The name or the value is not valid.
    pub fn add_header<'n>(
        &mut self,
        name: impl IntoName<'n>,
        value: impl AsRef<[u8]>,
    ) -> Result<(), FieldError> {
        let head = self.headers.get_or_insert_with(alula_net::lend_head);
        head.fields.append(name, value)
    }

    /// Sets the name of the request, by which logs of several programs are combined. Hooks find it as
    /// [`Ended::request_id`] and `on_error` as
    /// [`RequestFailure::request_id`](crate::RequestFailure::request_id); [`AccessLog`](crate::AccessLog)
    /// writes it into lines of JSON. [`RequestId`](crate::RequestId) notes the names that it gives; no field
    /// is sent by this call.
    ///
    /// The last call counts. Of a name of more than 256 bytes the beginning is kept. Allocates nothing once
    /// warm.
    pub fn note_request_id(&mut self, name: &str) {
        if let Some(facts) = &mut self.facts {
            facts.note_request_id(name);
        }
    }
}

/// A request that has ended.
pub struct Ended<'a> {
    pub(super) request: &'a EndedRequest<'a>,
    pub(super) route: Option<&'a str>,
}

impl<'a> Ended<'a> {
    /// Returns the method.
    pub fn method(&self) -> &'a str {
        self.request.facts.method()
    }

    /// Returns the path with the names of its query but not the values, which may be secret.
    pub fn target(&self) -> &'a str {
        self.request.facts.target()
    }

    /// Returns the pattern of the route; none for a path without a route.
    pub const fn route(&self) -> Option<&'a str> {
        self.route
    }

    /// Returns the host that the request named; empty if it named none.
    pub fn authority(&self) -> &'a str {
        self.request.facts.authority()
    }

    /// Returns the value of `referer` without secrets of its URL; empty if it is missing.
    pub fn referer(&self) -> &'a str {
        self.request.facts.referer()
    }

    /// Returns the value of `user-agent`; empty if it is missing.
    pub fn user_agent(&self) -> &'a str {
        self.request.facts.user_agent()
    }

    /// Returns the address of the peer.
    pub const fn peer(&self) -> SocketAddr {
        self.request.peer
    }

    /// Returns the address of the client, as [`Exchange::client_address`](crate::Exchange::client_address).
    pub fn client_address(&self) -> IpAddr {
        self.request.facts.client().unwrap_or_else(|| self.peer().ip().to_canonical())
    }

    /// Returns the user, if the handler or a layer has [set one](crate::Exchange::note_user).
    pub fn user(&self) -> Option<&str> {
        self.request.tally.user.as_deref()
    }

    /// Returns the name of the request, if a hook has [set one](Begun::note_request_id), as
    /// [`RequestId`](crate::RequestId) does.
    pub fn request_id(&self) -> Option<&'a str> {
        self.request.facts.request_id()
    }

    /// Returns the version of HTTP that the request came by.
    pub const fn version(&self) -> Version {
        self.request.version
    }

    /// Returns the status of the answer; none if it was not begun.
    pub fn status(&self) -> Option<Status> {
        self.request.tally.answered.map(|(status, _)| status)
    }

    /// Returns the received bytes of the request's content.
    pub const fn received(&self) -> u64 {
        self.request.tally.received
    }

    /// Returns the sent bytes of the answer's content.
    pub const fn sent(&self) -> u64 {
        self.request.tally.sent
    }

    /// Returns the time from the request's arrival to the head of the answer, if there was one.
    pub fn until_head(&self) -> Option<Duration> {
        self.request.tally.answered.map(|(_, at)| at.saturating_sub(self.request.began))
    }

    /// Returns the time from the request's arrival until the handler had ended.
    pub const fn duration(&self) -> Duration {
        self.request.ended.saturating_sub(self.request.began)
    }

    /// Returns true if there is no complete answer because the client has left: it has closed or reset the
    /// connection, or has reset the stream (RFC 9113 §6.4), as in [`Error::is_peer_gone`].
    /// [`failure`](Self::failure) says which.
    pub fn client_left(&self) -> bool {
        self.failure().is_some_and(Error::is_peer_gone)
    }

    /// Returns the error that prevented a complete answer: the peer left, broke a rule or was too slow.
    /// `None` if all went well, and where a handler failed before the answer began, which is then a status of
    /// 500.
    pub const fn failure(&self) -> Option<&Error> {
        self.request.tally.failure.as_ref()
    }
}
