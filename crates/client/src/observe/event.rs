//! The steps of a client's exchanges, told to an observer: the connection, and each head as it is sent and
//! received.
//!
//! Rule: a call that nobody watches pays a branch where its head is sent and one where the head of the
//! response is taken. One that is watched goes the longer way of those that have to wait for a connection,
//! and allocates.

use std::{fmt, io, net::SocketAddr, sync::Arc, time::Duration};

use alula_fields::{EscapedDebug, FieldSection, Head, Status};
use alula_net::{Error, Stream, Version};

use crate::{builder::ClientBuilder, follow::outcome::Setback};

/// Is told of each step.
pub(crate) type Watcher = Arc<dyn Fn(&ExchangeEvent<'_>) + Send + Sync>;

/// A step of an exchange, of which [`ClientBuilder::on_event`] tells. A redirect that is followed and a
/// request that is sent again are exchanges of their own.
#[non_exhaustive]
pub enum ExchangeEvent<'a> {
    /// The host of a server or a proxy has these addresses, in the order in which the resolver named them.
    Resolved(&'a str, &'a [SocketAddr]),
    /// A TCP connection to this address is tried: of the server, or of a proxy.
    Connecting(SocketAddr),
    /// The try to connect to this address has failed, or did not succeed [in
    /// time](ClientBuilder::connect_timeout). Where the host has several addresses, also that this one broke
    /// off in the handshake of TLS, or before a proxy had led anywhere.
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
    /// The call has failed before the head of its response came, and its caller is told this. It comes last,
    /// once, with
    /// [`Retries`](crate::Retries) and without; a call that is dropped has not failed.
    Failed(&'a Error),
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
            Self::Failed(error) => event("Failed", &[error]),
        }
    }
}

impl ClientBuilder {
    /// Tells `observer` of each step of each exchange: where the client connects to, the head of the request
    /// as it is sent (over HTTP/2 read back from the bytes on the wire), and each head that comes. Calls
    /// allocate then, and wait for the observer.
    ///
    /// Heads hold credentials: [`Debug`](std::fmt::Debug) shows the names of their fields only.
    ///
    /// ```
    /// use alula::{Client, ExchangeEvent};
    ///
    /// # fn main() -> Result<(), alula::Error> {
    /// let client = Client::builder()
    ///     .on_event(|event| match event {
    ///         ExchangeEvent::Connected(to) => println!("* {:?}", to.remote_address()),
    ///         ExchangeEvent::Request(head) => println!("> {} lines", head.lines().count()),
    ///         ExchangeEvent::Response(head) => println!("< {} {}", head.version(), head.status()),
    ///         _ => {}
    ///     })
    ///     .build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn on_event(mut self, observer: impl Fn(&ExchangeEvent<'_>) + Send + Sync + 'static) -> Self {
        self.settings.policy.watcher = Some(Arc::new(observer));
        self.settings.protocol.config.keep_sent_head = true;
        self
    }
}

/// The connection that has taken a request.
pub struct ConnectionFacts<'a> {
    stream: &'a Stream,
    is_reused: bool,
}

impl ConnectionFacts<'_> {
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

impl ReceivedHead<'_> {
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

pub(crate) fn resolved(watcher: Option<&Watcher>, host: &str, addresses: &[SocketAddr]) {
    if let Some(watcher) = watcher {
        watcher(&ExchangeEvent::Resolved(host, addresses));
    }
}

pub(crate) fn tunnelled(watcher: &Watcher, proxy: &str, status: Option<Status>) {
    watcher(&ExchangeEvent::Tunnelled(proxy, status));
}

pub(crate) fn not_connected(watcher: Option<&Watcher>, address: SocketAddr, error: &io::Error) {
    if let Some(watcher) = watcher {
        watcher(&ExchangeEvent::NotConnected(address, error));
    }
}

pub(crate) fn retrying(watcher: &Watcher, setback: Setback<'_>, wait: Duration) {
    watcher(&ExchangeEvent::Retrying(setback, wait));
}

pub(crate) fn not_retried(watcher: &Watcher, setback: Setback<'_>, reason: &'static str) {
    watcher(&ExchangeEvent::NotRetried(setback, reason));
}

#[cold]
pub(crate) fn failed(watcher: Option<&Watcher>, error: &Error) {
    if let Some(watcher) = watcher {
        watcher(&ExchangeEvent::Failed(error));
    }
}

pub(crate) fn connecting(watcher: Option<&Watcher>, address: SocketAddr) {
    if let Some(watcher) = watcher {
        watcher(&ExchangeEvent::Connecting(address));
    }
}

pub(crate) fn connected(watcher: &Watcher, stream: &Stream, is_reused: bool) {
    watcher(&ExchangeEvent::Connected(&ConnectionFacts { stream, is_reused }));
}

pub(crate) fn sent(watcher: &Watcher, version: Version, bytes: Vec<u8>) {
    watcher(&ExchangeEvent::Request(&SentHead { version, bytes }));
}

pub(crate) fn hinted(watcher: &Watcher, version: Version, head: &Head) {
    watcher(&ExchangeEvent::Interim(&ReceivedHead { version, head }));
}

pub(crate) fn ended(watcher: &Watcher, version: Version, trailers: &FieldSection) {
    watcher(&ExchangeEvent::Trailers(version, trailers));
}

#[cold]
pub(crate) fn answered(watcher: &Watcher, version: Version, head: &Head) {
    watcher(&ExchangeEvent::Response(&ReceivedHead { version, head }));
}
