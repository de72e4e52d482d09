//! An HTTP/1.1 connection without sockets or clocks.
//!
//! There is one exchange at a time: a request and its responses. Requests that a client sends ahead
//! (pipelining, RFC 9112 §9.3.2) wait unread in the driver's buffer until the answer before it is whole, so
//! answers are in order, and a peer cannot make us hold more than that buffer.
//!
//! Rule 1: an exchange is over when both its messages are; only `settle` ends it.
//! Rule 2: where a message ends is decided once, when its head is complete (`framing.rs`).
//! Rule 3: a message that was cut is never whole: the connection ends with an error instead.

mod content_out;
mod contract;
mod heads_out;
mod lifecycle;
mod receive;

pub(crate) use self::heads_out::Plan;

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use alula_fields::{FieldSection, Head};
use alula_machine::{Limits, OutBuf, StreamKey, Time, UnknownStream};

use crate::config::Config;
use crate::content::chunked::Chunked;
use crate::content::framing::Asked;
use crate::error::ConnectionError;
use crate::head::head_in::{HeadIn, Kind};
use crate::head::keep_alive::KeepAlive;
use crate::head::repeated::Repeated;

/// An HTTP/1.1 connection without sockets or clocks, for either role.
///
/// A driver gives [`receive`](Self::receive) what it has read, and again what was not consumed, until nothing
/// comes of it; when the peer has closed its side it calls [`receive_end`](Self::receive_end). After every
/// call that changes the connection it
///
/// 1. takes the notices with [`poll_notice`](Self::poll_notice),
/// 2. writes what [`poll_transmit`](Self::poll_transmit) and the commands have appended,
/// 3. sleeps until [`poll_timeout`](Self::poll_timeout), then calls [`handle_timeout`](Self::handle_timeout).
///
/// It reads from the socket while [`wants_read`](Self::wants_read).
///
/// ```
/// use alula::{FieldSection, Status, fields::Head, machine::{OutBuf, Time}};
/// use alula::h1::{Config, Connection, Event, RequestHead, ResponseHead};
///
/// let (mut client, mut server) = (Connection::client(Config::default()), Connection::server(Config::default()));
/// let (mut up, mut down, fields) = (OutBuf::new(), OutBuf::new(), FieldSection::new());
/// let head = RequestHead {
///     method: "GET",
///     scheme: "http",
///     authority: "a.example",
///     path: "/",
///     protocol: None,
///     fields: &fields,
/// };
/// client.send_request(&head, true, &mut up)?;
/// assert_eq!(up.unsent(), b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n");
///
/// let received = server.receive(up.unsent(), Time::ZERO)?;
/// let Some(Event::Head { stream, end: true }) = received.event else { panic!("a whole request") };
/// let mut request = Head::new();
/// server.take_head(stream, &mut request)?;
/// assert_eq!((request.path(), request.authority()), (Some("/"), Some("a.example")));
///
/// server.send_response(stream, &ResponseHead { status: Status::OK, fields: &fields }, true, &mut down)?;
/// assert_eq!(down.unsent(), b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
/// assert!(matches!(client.receive(down.unsent(), Time::ZERO)?.event, Some(Event::Head { end: true, .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Connection {
    is_client: bool,
    config: Arc<Config>,
    head_in: HeadIn,
    /// The head that is being received, or was received and not taken; after the final head of a message, its
    /// trailers. None before anything came, and after it was taken away.
    head: Option<Box<Head>>,
    chunked: Chunked,
    receiving: Receiving,
    sending: Sending,
    /// The number of the present exchange, or of the last one.
    generation: u32,
    /// True if there was an exchange, which is over.
    is_over: bool,
    asked: Asked,
    /// The request asked for another protocol (RFC 9110 §7.8).
    asked_upgrade: bool,
    /// True once both sides have switched to another protocol.
    is_tunnel: bool,
    /// The peer's message is of HTTP/1.0.
    is_peer_old: bool,
    /// Another exchange may follow.
    persists: bool,
    /// The conditions on which the server keeps the connection.
    keep_alive: KeepAlive,
    /// True if no further exchange may begin.
    is_going: bool,
    /// The bytes of the present message that are still read and dropped; `None` if its content is wanted.
    discards: Option<u64>,
    /// The bytes of content that were dropped so far, over all exchanges, without framing.
    discarded: u64,
    /// The bytes of content that were received and not given back.
    held: u32,
    /// The number of interim responses to the present request.
    interim: u32,
    /// The bytes of their heads together.
    interim_bytes: usize,
    /// True if the connection has been answered on before.
    is_reused: bool,
    /// The client waits for 100 before it sends its content (RFC 9110 §10.1.1).
    awaits_continue: bool,
    /// The peer has closed its side.
    is_peer_done: bool,
    /// The peer closed without announcing the end (TLS without `close_notify`).
    is_truncated: bool,
    /// The machine's own output.
    pending: OutBuf,
    /// The last time that it was told.
    now: Time,
    /// A head has begun and is incomplete.
    awaits_head: bool,
    /// The deadline for the peer's current or next message; `Time::FAR` if there is none.
    due: Time,
    error: Option<ConnectionError>,
    notices: Notices,
    authority: Vec<u8>,
    repeated: Repeated,
}

/// The state of the message that is being received.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Receiving {
    /// The peer may send nothing: no request of this client is open.
    Idle,
    /// A head, or the rest of it.
    Head,
    /// The bytes of content that are still to come.
    Length(u64),
    Chunks,
    Trailers,
    /// Content, or another protocol, until the peer closes.
    UntilClose,
    /// The next bytes belong to another protocol if our answer to CONNECT allows it.
    Undecided,
    /// The message is complete.
    Ended,
}

/// The state of the message that is being sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Sending {
    /// A client may send a request; a server waits for one.
    Idle,
    /// A server's answer is due.
    Head,
    /// The bytes of content that are still to be sent.
    Length(u64),
    Chunks,
    /// Content, or another protocol, until we close.
    UntilClose,
    /// Content waits until the peer has agreed to another protocol.
    Undecided,
    /// The message has no more bytes, but its end was not declared.
    Nothing,
    /// The message is completely sent.
    Ended,
}

#[derive(Default)]
struct Notices {
    idle: bool,
    last: bool,
    writable: bool,
    closed: bool,
}

/// Creation of connections.
impl Connection {
    /// Creates the client's side. Connections may share their configuration.
    pub fn client(config: impl Into<Arc<Config>>) -> Self {
        Self::new(true, config.into())
    }

    /// Creates the server's side. Connections may share their configuration. The first request has to be here
    /// within [`Limits::handshake_timeout`].
    pub fn server(config: impl Into<Arc<Config>>) -> Self {
        Self::new(false, config.into())
    }

    fn new(is_client: bool, config: Arc<Config>) -> Self {
        let (kind, receiving) = match is_client {
            true => (Kind::Response, Receiving::Idle),
            false => (Kind::Request, Receiving::Head),
        };
        let due =
            if is_client { Time::FAR } else { Time::ZERO.saturating_add(config.limits.handshake_timeout) };
        Self {
            is_client,
            head_in: HeadIn::new(kind, &config),
            head: None,
            chunked: Chunked::new(0, false),
            receiving,
            sending: Sending::Idle,
            generation: 0,
            is_over: true,
            asked: Asked::Other,
            asked_upgrade: false,
            is_tunnel: false,
            is_peer_old: false,
            persists: true,
            keep_alive: KeepAlive::default(),
            is_going: false,
            discards: None,
            discarded: 0,
            held: 0,
            interim: 0,
            interim_bytes: 0,
            is_reused: false,
            awaits_continue: false,
            is_peer_done: false,
            is_truncated: false,
            pending: OutBuf::new(),
            now: Time::ZERO,
            awaits_head: false,
            due,
            error: None,
            notices: Notices::default(),
            authority: Vec::new(),
            repeated: Repeated::default(),
            config,
        }
    }
}

/// Facts that are agreed on below HTTP.
impl Connection {
    /// Sets the scheme of requests that do not name one, such as `https` over TLS, in place of
    /// [`Config::scheme`]. Servers only.
    pub fn assume_scheme(&mut self, scheme: &'static str) {
        self.head_in.assume_scheme(scheme);
    }
}

/// Received heads, trailers and content.
impl Connection {
    /// Swaps the head of the last event into `into`, which has to be empty.
    ///
    /// # Errors
    /// When the stream is not the one under way.
    pub fn take_head(&mut self, stream: StreamKey, into: &mut Head) -> Result<(), UnknownStream> {
        self.check_current(stream)?;
        core::mem::swap(&mut **self.head.get_or_insert_default(), into);
        Ok(())
    }

    /// Takes the head like [`take_head`](Self::take_head), but exchanges boxes: the next head is read into
    /// the box that `into` held, which is emptied, or into a new one if `into` was `None`.
    ///
    /// # Errors
    /// As `take_head`.
    #[inline]
    pub fn exchange_head(
        &mut self,
        stream: StreamKey,
        into: &mut Option<Box<Head>>,
    ) -> Result<(), UnknownStream> {
        self.check_current(stream)?;
        core::mem::swap(&mut self.head, into);
        Ok(())
    }

    /// Swaps the trailers of the last event into `into`, which has to be empty.
    ///
    /// # Errors
    /// As [`take_head`](Self::take_head).
    pub fn take_trailers(&mut self, stream: StreamKey, into: &mut FieldSection) -> Result<(), UnknownStream> {
        self.check_current(stream)?;
        core::mem::swap(&mut self.head.get_or_insert_default().fields, into);
        Ok(())
    }

    /// Gives back bytes of consumed content; at most those that are held count.
    pub fn release_capacity(&mut self, bytes: u32) {
        self.held -= bytes.min(self.held);
    }
}

/// The state of the connection and of its exchange.
impl Connection {
    /// Returns true if this side is the client.
    #[inline]
    pub const fn is_client(&self) -> bool {
        self.is_client
    }

    /// Returns true if bytes of the peer are wanted: not while [`Limits::stream_window`] bytes of content are
    /// held, or after the peer has closed its side. A server reads on while it answers, so that it sees when
    /// the client goes; it keeps no more than it likes of what comes.
    #[inline]
    pub fn wants_read(&self) -> bool {
        self.held < self.config.limits.stream_window && !self.is_peer_done && self.error.is_none()
    }

    /// Returns true if left bytes may be received although no more have come, because the exchange before
    /// them is over.
    #[inline]
    pub fn can_go_on(&self) -> bool {
        !matches!(self.receiving, Receiving::Ended | Receiving::Undecided) && self.error.is_none()
    }

    /// Returns true if `receive` would make no progress on `input` now: the peer's message is over, or there
    /// is no byte of another. False does not promise progress.
    #[inline]
    pub fn rests(&self, input: &[u8]) -> bool {
        match self.receiving {
            Receiving::Ended | Receiving::Undecided => self.error.is_none(),
            Receiving::Idle => input.is_empty() && self.error.is_none(),
            _ => false,
        }
    }

    /// Returns whether the peer has ended its message; `None` when the stream is gone.
    pub fn has_received_all(&self, stream: StreamKey) -> Option<bool> {
        self.is_current(stream).then_some(self.is_over || self.receiving == Receiving::Ended)
    }

    /// Returns whether this side has ended its message; `None` when the stream is gone.
    pub fn has_sent_all(&self, stream: StreamKey) -> Option<bool> {
        self.is_current(stream).then_some(self.is_over || self.sending == Sending::Ended)
    }

    /// Returns the bytes of content that the peer still has to send; `None` where it has not stated a length,
    /// and when the stream is gone.
    pub fn content_left(&self, stream: StreamKey) -> Option<u64> {
        match self.receiving {
            _ if !self.is_current(stream) => None,
            Receiving::Length(bytes) => Some(bytes),
            Receiving::Ended => Some(0),
            _ => None,
        }
    }

    /// Returns true while the peer owes content, or the end of it, that is wanted. The bytes of a tunnel are
    /// not owed.
    pub fn is_content_awaited(&self, stream: StreamKey) -> bool {
        let is_owed =
            matches!(self.receiving, Receiving::Length(_) | Receiving::Chunks | Receiving::Trailers);
        is_owed && !self.awaits_continue && self.wants_read() && self.is_current(stream)
    }

    /// Returns the exchange whose content is being dropped because the other message is complete; `None`
    /// while there is none.
    #[inline]
    pub fn discarding(&self) -> Option<StreamKey> {
        (self.discards.is_some() && self.error.is_none()).then(|| self.key())
    }

    /// Returns the bytes of content that were dropped so far, over all exchanges, without framing.
    #[inline]
    pub const fn discarded(&self) -> u64 {
        self.discarded
    }

    /// Returns true if a request can be sent now.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.is_over && !self.is_closed()
    }

    /// Returns true if there has been an exchange.
    pub const fn is_introduced(&self) -> bool {
        self.generation > 0
    }

    /// Returns the number of exchanges in progress: one or none.
    #[inline]
    pub fn in_flight(&self) -> usize {
        usize::from(!self.is_over)
    }

    /// Returns true if nothing more will happen: the driver writes the rest of
    /// [`poll_transmit`](Self::poll_transmit) and closes the connection.
    #[inline]
    pub const fn is_closed(&self) -> bool {
        self.error.is_some() || (self.is_over && !self.persists)
    }

    /// Returns true if a message was cut in a way that the peer cannot notice: it takes the end of the
    /// connection for the end of the content, and has to be told by a reset.
    #[inline]
    pub fn is_cut_unseen(&self) -> bool {
        self.error.is_some() && self.sending == Sending::UntilClose
    }

    /// Returns true while a server answers a request that is over when its client closes its side: the answer
    /// is incomplete, no tunnel is open (whose directions end by themselves), and half-closed clients are not
    /// served ([`Config::half_close`](crate::Config::half_close)). The machine goes on none the less: a
    /// driver that sees the end gives the handler the turn in which its request came, and then
    /// [closes](Self::close) the connection.
    #[inline]
    pub fn ends_with_peer(&self) -> bool {
        let is_answering = !matches!(self.sending, Sending::Idle | Sending::Ended);
        is_answering && !self.is_client && !self.is_tunnel && !self.config.half_close && self.error.is_none()
    }

    /// Returns true if our side of a tunnel has ended, so that this direction of the connection should be
    /// closed.
    #[inline]
    pub fn wants_shutdown(&self) -> bool {
        self.is_tunnel && self.sending == Sending::Ended
    }

    /// Returns true on a client whose connection has been answered on before, while nothing has come after
    /// the present request.
    pub fn is_unanswered(&self) -> bool {
        let is_awaited = self.is_client && self.receiving == Receiving::Head;
        is_awaited && self.is_reused && self.interim == 0 && !self.head_in.has_begun()
    }

    /// Returns the error with which the connection ended, if it did.
    pub const fn error(&self) -> Option<ConnectionError> {
        self.error
    }

    /// Returns the limits on what the peer may make this side hold or do.
    pub fn limits(&self) -> &Limits {
        &self.config.limits
    }

    /// Returns the bytes of memory outside the struct itself.
    pub fn memory_bytes(&self) -> usize {
        let remembered = self.head_in.known.memory_bytes() + self.repeated.memory_bytes();
        let head = self.head.as_ref().map_or(0, |head| size_of::<Head>() + head.capacity_bytes());
        head + self.pending.capacity() + self.authority.capacity() + remembered
    }

    /// Returns the head that was being read when the connection ended; of a refused request, its known part.
    /// Its control data is valid; of a request line that is refused it may be the beginning of the target.
    #[cold]
    pub fn refused_head(&self) -> Option<&Head> {
        self.head.as_deref().filter(|_| self.error.is_some() && !self.is_client)
    }

    /// Bounds heads to so many bytes from now on, including the one that is being read, if
    /// `Limits::head_bytes` is larger; `u32::MAX` leaves it to that limit alone.
    pub fn bound_heads(&mut self, bytes: u32) {
        self.head_in.bound(bytes, &self.config.limits);
    }

    /// Returns true if the next head would be read into newly allocated memory.
    #[inline]
    pub const fn needs_head(&self) -> bool {
        self.head.is_none()
    }

    /// Makes the next head be read into this one, unless there is one already. It must be empty.
    #[inline]
    pub fn read_into(&mut self, head: Box<Head>) {
        self.head.get_or_insert(head);
    }

    /// Takes away the spare head, for its memory; `None` if one is being received or waits to be taken. The
    /// next one allocates its own unless [`read_into`](Self::read_into) brings one.
    #[inline]
    pub fn take_empty_head(&mut self) -> Option<Box<Head>> {
        let is_idle = self.is_over && !self.head_in.has_begun();
        self.head.take_if(|_| is_idle)
    }

    /// Frees the memory that an idle connection does not need: what is remembered of the last heads.
    pub fn trim(&mut self) {
        self.head_in.known.trim();
        self.repeated.trim();
    }

    /// Checks the bookkeeping, for tests.
    ///
    /// # Panics
    /// If something is inconsistent, with what it is.
    pub fn check_invariants(&self) {
        let (receiving, sending) = (self.receiving, self.sending);
        assert!(
            receiving != Receiving::Length(0) && sending != Sending::Length(0),
            "{receiving:?} {sending:?}"
        );
        let are_both_ended = receiving == Receiving::Ended && sending == Sending::Ended;
        assert!(self.is_over || self.error.is_some() || !are_both_ended, "an exchange that is over goes on");
        assert!(self.is_client || sending != Sending::Undecided, "servers decide");
        assert!(!self.is_client || sending != Sending::Head, "clients answer nothing");
    }

    #[inline]
    fn key(&self) -> StreamKey {
        StreamKey::new(0, self.generation)
    }

    #[inline]
    fn is_current(&self, stream: StreamKey) -> bool {
        stream.generation() == self.generation && stream.slot() == 0 && self.generation > 0
    }

    #[inline]
    fn check_current(&self, stream: StreamKey) -> Result<(), UnknownStream> {
        if self.is_current(stream) { Ok(()) } else { Err(UnknownStream) }
    }
}
