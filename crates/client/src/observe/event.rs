//! The steps of a client's exchanges, of which an observer is told: the connection, and each head as it is
//! sent and received.

use std::{fmt, io, net::SocketAddr, time::Duration};

use alula_fields::{EscapedDebug, FieldSection, Head, Status};
use alula_net::{Error, Stream, Version};

use crate::{
    follow::{
        outcome::Setback,
        redirects::{Follow, Redirect},
    },
    response::Response,
};

/// A step of an exchange, of which an [`Observer`](crate::Observer) is told. A redirect that is followed and
/// a request that is sent again are exchanges of their own.
#[non_exhaustive]
pub enum ExchangeEvent<'a> {
    /// The host of a server or a proxy has these addresses, in the order in which the resolver named them.
    Resolved(&'a str, &'a [SocketAddr]),
    /// A TCP connection to this address is tried: of the server, or of a proxy.
    Connecting(SocketAddr),
    /// The try to connect to this address has failed, or did not succeed [in
    /// time](crate::ClientBuilder::connect_timeout). Where the host has several addresses, also that this one
    /// broke off in the handshake of TLS, or before a proxy had led anywhere.
    NotConnected(SocketAddr, &'a io::Error),
    /// The proxy at this host and port leads to the server now, or has refused to: by the status with which
    /// it answered CONNECT, or by SOCKS, which has none. A SOCKS proxy that refuses, or any that breaks
    /// off, is not reported.
    Tunnelled(&'a str, Option<Status>),
    /// A connection has taken the request: a new one, or one that was open before.
    Connected(&'a ConnectionFacts<'a>),
    /// The head of the request was handed to the connection.
    Request(&'a SentHead),
    /// An interim response has come (1xx, RFC 9110 §15.2).
    Interim(&'a ReceivedHead<'a>),
    /// The head of the final response has come.
    Response(&'a ReceivedHead<'a>),
    /// The trailers (RFC 9110 §6.5) of a response that the client reads to its end by itself have come, since
    /// it follows where it leads or sends the request again. Those of any other response are its caller's:
    /// [`Response::trailers`](crate::Response::trailers).
    Trailers(Version, &'a FieldSection),
    /// The request is sent again after so long, since this came of it: because of
    /// [`Retries`](crate::Retries), or because the server [cannot have acted on it](crate::Call::send).
    Retrying(Setback<'a>, Duration),
    /// The request is not sent again although this came of it and there are [`Retries`](crate::Retries): the
    /// reason is a clause such as `it was tried as often as is allowed`.
    NotRetried(Setback<'a>, &'static str),
    /// The response leads elsewhere, and this was decided of it: by
    /// [`ClientBuilder::on_redirect`](crate::ClientBuilder::on_redirect), or to follow it.
    Redirected(&'a Redirect<'a>, Follow),
    /// The caller is handed this response, whose content is still to be read. It comes last, once; a call
    /// that is dropped has no end.
    Answered(&'a Response),
    /// The call has failed before the head of its response came, and its caller is told this. It comes last,
    /// once, with
    /// [`Retries`](crate::Retries) and without; a call that is dropped has not failed.
    Failed(&'a Error),
}

impl<'a> ExchangeEvent<'a> {
    /// Returns the last event of a call.
    pub(crate) fn end(outcome: Result<&'a Response, &'a Error>) -> Self {
        outcome.map_or_else(Self::Failed, Self::Answered)
    }
}

impl fmt::Debug for ExchangeEvent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut event = |name: &str, facts: &[&dyn fmt::Debug]| {
            let mut event = f.debug_tuple(name);
            facts.iter().for_each(|fact| {
                event.field(fact);
            });
            event.finish()
        };
        match self {
            Self::Resolved(host, addresses) => event("Resolved", &[host, addresses]),
            Self::Connecting(address) => event("Connecting", &[address]),
            // The error may be one of the program, whose `Debug` may give text as it is.
            Self::NotConnected(address, error) => event("NotConnected", &[address, &EscapedDebug(error)]),
            Self::Tunnelled(proxy, status) => event("Tunnelled", &[proxy, status]),
            Self::Connected(facts) => event("Connected", &[facts]),
            Self::Request(head) => event("Request", &[head]),
            Self::Interim(head) => event("Interim", &[head]),
            Self::Response(head) => event("Response", &[head]),
            Self::Trailers(version, fields) => event("Trailers", &[version, fields]),
            Self::Retrying(setback, after) => event("Retrying", &[setback, after]),
            Self::NotRetried(setback, reason) => event("NotRetried", &[setback, reason]),
            Self::Redirected(redirect, follow) => event("Redirected", &[redirect, follow]),
            Self::Answered(response) => event("Answered", &[response]),
            Self::Failed(error) => event("Failed", &[error]),
        }
    }
}

/// The connection that has taken a request.
pub struct ConnectionFacts<'a> {
    stream: &'a Stream,
    is_reused: bool,
    is_proxied: bool,
}

impl<'a> ConnectionFacts<'a> {
    pub(crate) const fn new(stream: &'a Stream, is_reused: bool, is_proxied: bool) -> Self {
        Self { stream, is_reused, is_proxied }
    }

    /// The origin that is asked on it, such as `https://a.example`.
    pub fn origin(&self) -> &str {
        self.stream.conn().origin().unwrap_or_default()
    }

    /// The address it leads to, which may be that of a proxy; none over what has none, such as a Unix socket.
    pub fn remote_address(&self) -> Option<SocketAddr> {
        self.stream.conn().peer()
    }

    /// The address of this end. A system call.
    pub fn local_address(&self) -> Option<SocketAddr> {
        self.stream.local()
    }

    /// The version of HTTP that is spoken on it.
    pub fn version(&self) -> Version {
        self.stream.version()
    }

    /// Returns true if it was open before the request was to be sent.
    pub const fn is_reused(&self) -> bool {
        self.is_reused
    }

    /// Returns true if it leads to a proxy, which is sent the request itself or leads on to the server.
    pub const fn is_proxied(&self) -> bool {
        self.is_proxied
    }

    /// Returns the version, cipher and names that TLS has agreed on with the server, and its certificates;
    /// none in clear text. Allocates.
    #[cfg(feature = "tls")]
    pub fn tls(&self) -> Option<alula_net::TlsFacts> {
        self.stream.tls()
    }
}

impl std::fmt::Debug for ConnectionFacts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConnectionFacts")
            .field("remote_address", &self.remote_address())
            .field("version", &self.version())
            .field("is_reused", &self.is_reused)
            .finish_non_exhaustive()
    }
}

/// The head of a request as it was sent.
pub struct SentHead {
    version: Version,
    bytes: Vec<u8>,
}

impl SentHead {
    pub(crate) const fn new(version: Version, bytes: Vec<u8>) -> Self {
        Self { version, bytes }
    }

    /// The version of HTTP it was sent by.
    pub const fn version(&self) -> Version {
        self.version
    }

    /// The lines in the order in which they were sent, without their ends. Over HTTP/1.1 the first is the
    /// request line and the others are fields in the spelling on the wire (RFC 9112 §2.1); over HTTP/2 all
    /// are fields, pseudo-fields such as `:method: GET` first (RFC 9113 §8.3.1).
    pub fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let lines = self.bytes.split(|byte| *byte == b'\n');
        lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line)).filter(|line| !line.is_empty())
    }
}

impl std::fmt::Debug for SentHead {
    /// The names of the fields; values may hold secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.lines().skip(usize::from(self.version == Version::Http1)).map(name_of);
        f.debug_struct("SentHead")
            .field("version", &self.version)
            .field("names", &names.map(String::from_utf8_lossy).collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

/// The head of a response as it came.
pub struct ReceivedHead<'a> {
    version: Version,
    head: &'a Head,
}

impl<'a> ReceivedHead<'a> {
    pub(crate) const fn new(version: Version, head: &'a Head) -> Self {
        Self { version, head }
    }

    /// The version of HTTP that it came by.
    pub const fn version(&self) -> Version {
        self.version
    }

    /// The status of the response.
    pub fn status(&self) -> Status {
        self.head.status().unwrap_or(Status::OK)
    }

    /// The fields.
    pub const fn fields(&self) -> &FieldSection {
        &self.head.fields
    }

    /// Returns the bytes that it had on the wire, from the status line to the empty line behind the fields
    /// (RFC 9112 §2.1); none over HTTP/2, where it is compressed together with others.
    pub const fn bytes(&self) -> Option<u32> {
        match self.version {
            Version::Http1 => Some(self.head.received_bytes()),
            _ => None,
        }
    }
}

impl std::fmt::Debug for ReceivedHead<'_> {
    /// The fields are shown as those of a section are, without what is secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReceivedHead")
            .field("version", &self.version)
            .field("status", &self.status())
            .field("fields", self.fields())
            .finish_non_exhaustive()
    }
}

/// The name in a line of a field; that of a pseudo-field begins with a colon.
fn name_of(line: &[u8]) -> &[u8] {
    let end = line.iter().skip(1).position(|byte| *byte == b':');
    &line[..end.map_or(line.len(), |end| end + 1)]
}
