//! Failures of requests and connections: the request, the phase, the cause, and whether sending it again is
//! safe.

pub(crate) mod cause;
pub(crate) mod cause_shown;
pub(crate) mod details;
pub(crate) mod io_error;
pub(crate) mod limit;
pub(crate) mod occupied;
pub(crate) mod refused;
pub(crate) mod sentence;
#[cfg(all(test, feature = "tls"))]
pub(crate) mod table;

use std::{
    fmt, io,
    sync::{Arc, LazyLock},
    time::Duration,
};

use alula_fields::{EscapedDebug, FieldError};
use alula_h1 as h1;
use alula_h2::{ConnectionError, ErrorCode, Origin, Reset};
use alula_machine::{Exceeded, Limits, Rule as _};

use crate::{
    drive::asked::Asked,
    error::{
        cause::{Cause, Refusal},
        details::Attempt,
        limit::{Overrun, Value},
        occupied::Occupied,
    },
};

/// A failed request, response or connection.
///
/// `Display` gives one sentence: what was asked of whom, if that is known, then what went wrong, in the words
/// that the phase has for it. Credentials and the values of a query are not shown. Whether the request may be
/// sent again is told by [`retry`](Self::retry), and is no part of the sentence. An error of the operating
/// system, of a connector, a resolver, a reader or a sink is the [source](std::error::Error::source), and its
/// text is part of the sentence as well.
///
/// The sentence is one line, in which whatever a terminal or a log obeys of text from elsewhere is escaped,
/// as by [`OneLine`](alula_fields::OneLine). `Debug` escapes the same.
///
/// As large as a pointer; cloning allocates nothing.
#[derive(Clone)]
pub struct Error(Arc<Facts>);

/// The known facts of a failure.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) phase: Phase,
    pub(crate) cause: Cause,
    retry: Retry,
    is_unanswered: bool,
    is_left_out: bool,
    sent: u64,
    pub(crate) asked: Option<Arc<Asked>>,
    /// The host, socket or file of the failure.
    pub(crate) place: Option<Arc<str>>,
    /// The work that failed, in words, if neither phase nor cause says it.
    pub(crate) work: Option<&'static str>,
    pub(crate) limits: LimitFacts,
    /// The addresses that were tried.
    pub(crate) tried: Option<Arc<[Attempt]>>,
    /// The error of the operating system, the transport or another source.
    pub(crate) source: Option<Arc<io::Error>>,
    /// The requests that hold the connections for which this one waited.
    pub(crate) occupied: Occupied,
    /// The debug data of a GOAWAY frame (RFC 9113 §6.8).
    pub(crate) goaway: Option<Arc<[u8]>>,
}

/// The limits that a failure is about.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LimitFacts {
    /// The limit that the peer exceeded.
    pub(crate) exceeded: Option<Exceeded>,
    /// The value of the limit that the peer ran into.
    pub(crate) value: Option<Value>,
    /// The time limit.
    pub(crate) after: Option<Duration>,
}

/// The step at which a call failed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Phase {
    /// Checking the request; nothing was sent.
    Build,
    /// Waiting until a connection is free or may be opened.
    Queue,
    /// Looking up the addresses of the host.
    Resolve,
    /// Opening the connection.
    Connect,
    /// Asking the proxy for a connection to the origin.
    Proxy,
    /// The TLS handshake.
    Handshake,
    /// Sending the head or the content of a message.
    Send,
    /// Waiting for the head of the message from the peer.
    Head,
    /// Reading the content of the message from the peer.
    Content,
}

/// The advice on sending the same request again.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Retry {
    /// The peer cannot have acted on the request.
    Safe,
    /// The peer may have acted on the request: send again only what is idempotent (RFC 9110 §9.2.2).
    IfIdempotent,
    /// The same request would fail the same way.
    Pointless,
}

impl Error {
    /// Creates an error of this phase and cause.
    pub fn new(phase: Phase, cause: Cause, retry: Retry) -> Self {
        Self(Arc::new(Facts {
            phase,
            cause,
            retry,
            is_unanswered: false,
            is_left_out: false,
            sent: 0,
            asked: None,
            place: None,
            work: None,
            limits: LimitFacts::default(),
            tried: None,
            source: None,
            occupied: Occupied::default(),
            goaway: None,
        }))
    }

    /// Creates the error of a mistake of the caller; nothing was sent.
    pub fn usage(rule: &'static str) -> Self {
        Self::new(Phase::Build, Cause::Usage(rule), Retry::Pointless)
    }

    /// Creates a failure of the program's own, which becomes the [source](std::error::Error::source): for a
    /// handler of a server whose work fails.
    ///
    /// ```
    /// let failed = std::io::Error::other("the disk is full");
    /// assert!(alula::Error::other(failed).to_string().contains("the disk is full"));
    /// ```
    pub fn other(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::new(Phase::Build, Cause::Other(error.into().into()), Retry::Pointless)
    }

    /// Creates the error of a failure in the operating system or the transport. A request that failed before
    /// there was a connection may be sent again; one whose file cannot be opened, in [`Phase::Build`], would
    /// fail the same way.
    pub fn io(phase: Phase, error: io::Error) -> Self {
        let retry = match phase {
            Phase::Build => Retry::Pointless,
            Phase::Resolve | Phase::Connect | Phase::Proxy => Retry::Safe,
            _ => Retry::IfIdempotent,
        };
        Self::new(phase, Cause::Io(error.kind(), error.raw_os_error()), retry).because(error)
    }

    /// Creates the error of work that was given up on this side. Allocates nothing.
    pub fn cancelled() -> Self {
        OFTEN.cancelled.clone()
    }

    /// Creates the error of a writer that was dropped before the message was complete. Allocates nothing.
    pub(crate) fn unfinished() -> Self {
        OFTEN.unfinished.clone()
    }

    /// Creates the error of a connection whose runtime has ended.
    pub fn runtime_ended(phase: Phase, retry: Retry) -> Self {
        Self::new(phase, Cause::RuntimeEnded, retry)
    }

    /// Returns the request and its origin, if they are known.
    pub fn asked(&self) -> Option<&Asked> {
        self.0.asked.as_deref()
    }

    /// Returns the phase in which it failed.
    pub fn phase(&self) -> Phase {
        self.0.phase
    }

    /// Returns the cause.
    pub fn cause(&self) -> &Cause {
        &self.0.cause
    }

    /// Returns the advice on sending the request again.
    pub fn retry(&self) -> Retry {
        self.0.retry
    }

    /// Returns the time limit, if the failure is a deadline that passed.
    pub fn after(&self) -> Option<Duration> {
        self.0.limits.after
    }

    /// Returns the limit that the peer exceeded, with the value that was seen and the value of the limit, if
    /// that is the cause.
    pub fn exceeded(&self) -> Option<Exceeded> {
        self.0.limits.exceeded
    }

    /// Returns the addresses that were tried, in order, when no connection could be opened.
    pub fn tried(&self) -> &[Attempt] {
        self.0.tried.as_deref().unwrap_or_default()
    }

    /// Returns the debug data that the peer sent with GOAWAY (RFC 9113 §6.8), its first 128 bytes at most;
    /// empty when the failure has another cause, or the peer sent none.
    pub fn goaway_debug(&self) -> &[u8] {
        self.0.goaway.as_deref().unwrap_or_default()
    }

    /// Returns the requests that held all connections to the origin while this one waited for one, in
    /// [`Phase::Queue`].
    pub fn occupied(&self) -> Option<Occupied> {
        Some(self.0.occupied).filter(|occupied| !occupied.is_nothing())
    }

    /// Returns true if a connection that had been used before ended before anything came after the request.
    /// The peer may have been closing it when the request was sent; that it did not act on the request is
    /// likely, and not certain.
    pub fn is_unanswered(&self) -> bool {
        let is_said = matches!(
            self.0.cause,
            Cause::Unanswered | Cause::Http1(h1::ConnectionError::Unanswered { is_reused: true })
        );
        self.0.is_unanswered || is_said
    }

    /// Returns true if the peer went away without having acted on the request, on a connection on which it
    /// had taken others: another connection may take it.
    pub fn is_left_out(&self) -> bool {
        self.0.is_left_out
    }

    /// Returns true if the server wants the request over HTTP/1.1 (HTTP_1_1_REQUIRED, RFC 9113 §7).
    pub fn asks_for_http1(&self) -> bool {
        matches!(
            self.0.cause,
            Cause::Reset(ErrorCode::HTTP_1_1_REQUIRED) | Cause::GoAway(ErrorCode::HTTP_1_1_REQUIRED)
        )
    }

    /// Returns the bytes of the request's content that had been handed to the connection.
    pub fn sent(&self) -> u64 {
        self.0.sent
    }

    pub(crate) fn facts(&self) -> &Facts {
        &self.0
    }

    /// Returns the same failure with another known fact. Allocates when others have it as well.
    fn knowing(mut self, learn: impl FnOnce(&mut Facts)) -> Self {
        learn(Arc::make_mut(&mut self.0));
        self
    }
}

/// The same failure with what else is known of it.
impl Error {
    /// Adds the request and its origin, unless they are known.
    #[must_use]
    pub fn asking(self, asked: impl FnOnce() -> Asked) -> Self {
        if self.0.asked.is_some() {
            return self;
        }
        self.knowing(|facts| facts.asked = Some(Arc::new(asked())))
    }

    /// Adds the host, socket or file.
    #[must_use]
    pub fn about(self, place: impl Into<Arc<str>>) -> Self {
        self.knowing(|facts| facts.place = Some(place.into()))
    }

    /// Adds the work that failed, such as `the content could not be read`, if neither phase nor cause says
    /// it.
    #[must_use]
    pub fn with_work(self, work: &'static str) -> Self {
        self.knowing(|facts| facts.work = Some(work))
    }

    /// Adds the time limit, unless it is known.
    #[must_use]
    pub fn in_spite_of(self, given: Option<Duration>) -> Self {
        match given {
            Some(given) if self.0.limits.after.is_none() => {
                self.knowing(|facts| facts.limits.after = Some(given))
            }
            _ => self,
        }
    }

    /// Adds the error that caused this one.
    #[must_use]
    pub fn because(self, error: io::Error) -> Self {
        self.knowing(|facts| facts.source = Some(Arc::new(error)))
    }

    /// Adds the addresses that were tried.
    #[must_use]
    pub fn with_tried(self, tried: impl Into<Arc<[Attempt]>>) -> Self {
        self.knowing(|facts| facts.tried = Some(tried.into()))
    }

    /// Adds the requests that held all connections to the origin.
    #[must_use]
    pub fn with_occupied(self, occupied: Occupied) -> Self {
        self.knowing(|facts| facts.occupied = occupied)
    }

    /// Adds the bytes of content that had been handed to the connection.
    #[must_use]
    pub fn with_sent(self, bytes: u64) -> Self {
        self.knowing(|facts| facts.sent = bytes)
    }

    /// Returns the same failure of a request that was sent before, when the peer may have acted on it:
    /// sending it again is not known to be safe.
    #[must_use]
    pub fn after_doubtful_try(self) -> Self {
        match self.0.retry {
            Retry::Safe => self.knowing(|facts| facts.retry = Retry::IfIdempotent),
            _ => self,
        }
    }

    /// Returns the same failure in another phase.
    #[must_use]
    pub fn during(self, phase: Phase) -> Self {
        if self.0.phase == phase { self } else { self.knowing(|facts| facts.phase = phase) }
    }

    /// Returns the same failure, marked as one of a connection that had been used before and on which nothing
    /// came after the request.
    pub(crate) fn unanswered(self) -> Self {
        self.knowing(|facts| {
            facts.is_unanswered = true;
            if matches!(facts.cause, Cause::Closed) {
                facts.cause = Cause::Unanswered;
            }
        })
    }

    /// Returns the same failure, marked as one of a peer that took other requests, if it was a GOAWAY.
    pub(crate) fn left_out(self) -> Self {
        match (&self.0.cause, self.0.retry) {
            (Cause::GoAway(_), Retry::Safe) => self.knowing(|facts| facts.is_left_out = true),
            _ => self,
        }
    }

    /// Adds the limit that the peer exceeded, if that is the cause.
    pub(crate) fn exceeding(self, exceeded: Option<Exceeded>) -> Self {
        let is_cause = match &self.0.cause {
            Cause::Http1(h1::ConnectionError::Peer(_)) => true,
            Cause::Peer(rule) | Cause::Connection(ConnectionError::Peer(rule)) => rule.is_of_limit(),
            _ => false,
        };
        match exceeded.filter(|_| is_cause && self.0.limits.exceeded.is_none()) {
            Some(exceeded) => self.knowing(|facts| facts.limits.exceeded = Some(exceeded)),
            None => self,
        }
    }

    /// Adds the debug data of GOAWAY, if that is the cause.
    pub(crate) fn with_goaway_debug(self, debug: &[u8]) -> Self {
        if !matches!(self.0.cause, Cause::GoAway(_)) || debug.is_empty() {
            return self;
        }
        self.knowing(|facts| facts.goaway = Some(debug.into()))
    }

    /// Returns the same failure, from before the request was sent.
    pub(crate) fn before_sending(self) -> Self {
        self.knowing(|facts| {
            (facts.phase, facts.retry, facts.is_unanswered) = (Phase::Send, Retry::Safe, false);
        })
    }

    /// Returns true if the other side went away: it closed or reset the connection, within a message or
    /// between two, or reset the stream (RFC 9113 §6.4).
    ///
    /// A handler whose request fails so has no client to answer, if the handler was not dropped before, and
    /// [`on_error`](https://docs.rs/alula/latest/alula/struct.ServerBuilder.html#method.on_error) is not told
    /// of it. In a proxy, the error of reading a request says so of the client, and that of a call of the
    /// server behind it. False where there was no connection yet, as for an address that refuses or a
    /// handshake that fails, and for deadlines, broken rules and GOAWAY. Allocates nothing.
    ///
    /// ```
    /// # #[cfg(feature = "server")]
    /// # mod example {
    /// use alula::{Answer, Exchange, Sent, Status};
    ///
    /// async fn count(mut exchange: Exchange) -> Result<Sent, Answer> {
    ///     let content = match exchange.body().bytes_max(1024).await {
    ///         Ok(content) => content.len(),
    ///         Err(error) if error.is_peer_gone() => return Err(error.into()),
    ///         Err(error) => {
    ///             eprintln!("{error}");
    ///             return Err(Answer::new(Status::BAD_REQUEST));
    ///         }
    ///     };
    ///     Ok(exchange.respond(Status::OK).send(content.to_string()).await?)
    /// }
    /// # }
    /// ```
    pub fn is_peer_gone(&self) -> bool {
        let had_connection = matches!(self.0.phase, Phase::Send | Phase::Head | Phase::Content);
        let is_given_up = match self.0.cause {
            Cause::Reset(_) | Cause::Unanswered => true,
            Cause::Http1(error) => matches!(error, h1::ConnectionError::Unanswered { .. }),
            _ => false,
        };
        had_connection && (is_given_up || self.is_of_peer_that_left())
    }

    /// Returns true if this error ended a connection because its peer closed or reset it.
    pub(crate) fn is_of_peer_that_left(&self) -> bool {
        match &self.0.cause {
            Cause::ClientLeft | Cause::Closed | Cause::Io(..) => true,
            Cause::Http1(h1::ConnectionError::PeerClosed) => true,
            Cause::Http1(h1::ConnectionError::Peer(rule)) => {
                matches!(*rule, h1::Violation::CUT_CONTENT | h1::Violation::CUT_HEAD)
            }
            _ => false,
        }
    }

    /// Returns true for an end that the system reports only once: the peer has reset the connection, or has
    /// taken nothing for too long.
    pub(crate) fn is_told_once(&self) -> bool {
        matches!(self.0.cause, Cause::Io(io::ErrorKind::ConnectionReset | io::ErrorKind::TimedOut, _))
    }
}

/// Failures of connections and of their streams.
impl Error {
    pub(crate) fn connection(error: ConnectionError) -> Self {
        Self::new(Phase::Head, Cause::Connection(error), Retry::IfIdempotent)
    }

    /// Creates the error of a connection of HTTP/1.1 that ended. One that had been used before and closes
    /// without a word may have been closing when the request came; that it was not acted on is likely, and
    /// not certain.
    pub(crate) fn http1(error: h1::ConnectionError) -> Self {
        match error {
            h1::ConnectionError::PeerClosed => OFTEN.peer_closed.clone(),
            error => of_http1(error),
        }
    }

    /// Creates the error of a connection that the peer closed. Allocates nothing.
    pub(crate) fn closed() -> Self {
        OFTEN.closed.clone()
    }

    /// Creates the error of a client that left before its answer was complete. Allocates nothing.
    pub(crate) fn client_left() -> Self {
        OFTEN.client_left.clone()
    }

    /// Creates the error of a stream that ended before its messages were complete.
    pub(crate) fn reset(reset: &Reset) -> Self {
        let cause = match reset.origin {
            Origin::Peer => Cause::Reset(reset.code),
            Origin::GoAway => Cause::GoAway(reset.code),
            Origin::Us(violation) => Cause::Peer(violation),
        };
        let retry = if reset.unprocessed { Retry::Safe } else { Retry::IfIdempotent };
        Self::new(Phase::Head, cause, retry)
    }

    /// Creates the error of a peer that went away because something was wrong, without answering what it had
    /// taken.
    pub(crate) fn farewell(code: ErrorCode) -> Self {
        Self::new(Phase::Head, Cause::GoAway(code), Retry::IfIdempotent)
    }

    /// Creates the error of a peer that ran into a limit; before there is a connection, nothing was received
    /// from it.
    pub(crate) fn overrun(phase: Phase, overrun: Overrun, limits: &Limits) -> Self {
        let retry = if matches!(phase, Phase::Handshake) { Retry::Safe } else { Retry::IfIdempotent };
        let error = Self::new(phase, Cause::Overrun(overrun), retry);
        error.knowing(|facts| facts.limits.value = overrun.value(limits))
    }

    /// Creates the error of a command that the machine refused; nothing was sent.
    pub fn refused(refusal: impl Into<Refusal>) -> Self {
        let refusal = refusal.into();
        let (phase, retry) = match refusal.is_of_connection() {
            true => (Phase::Send, Retry::Safe),
            false => (Phase::Build, Retry::Pointless),
        };
        Self::new(phase, Cause::Refused(refusal), retry)
    }

    /// Makes the error of content that is longer than so many bytes.
    pub(crate) fn too_long(bytes_max: u64) -> Self {
        Self::new(Phase::Content, Cause::TooLong(bytes_max), Retry::Pointless)
    }

    /// Creates the error of content whose copy could not be written.
    pub fn sink(error: io::Error) -> Self {
        let cause = Cause::Sink(error.kind(), error.raw_os_error());
        Self::new(Phase::Content, cause, Retry::IfIdempotent).because(error)
    }

    /// Creates the error of a stream whose deadline has passed.
    pub(crate) fn deadline(given: Option<Duration>) -> Self {
        Self::new(Phase::Head, Cause::Timeout, Retry::IfIdempotent).in_spite_of(given)
    }
}

impl Error {
    pub(crate) fn no_version() -> Self {
        Self::new(Phase::Handshake, Cause::Protocol, Retry::Pointless)
    }
}

#[cfg(feature = "tls")]
impl Error {
    pub(crate) fn tls(phase: Phase, error: rustls::Error) -> Self {
        let retry = if phase == Phase::Handshake { Retry::Pointless } else { Retry::IfIdempotent };
        Self::new(phase, error.into(), retry)
    }
}

/// Errors that are created once: connections that go well end with them, and must not allocate then.
struct Often {
    cancelled: Error,
    unfinished: Error,
    closed: Error,
    peer_closed: Error,
    client_left: Error,
}

static OFTEN: LazyLock<Often> = LazyLock::new(|| Often {
    cancelled: Error::new(Phase::Send, Cause::Cancelled, Retry::IfIdempotent),
    unfinished: Error::new(Phase::Head, Cause::Unfinished, Retry::IfIdempotent),
    closed: Error::new(Phase::Head, Cause::Closed, Retry::IfIdempotent),
    peer_closed: of_http1(h1::ConnectionError::PeerClosed),
    client_left: Error::new(Phase::Send, Cause::ClientLeft, Retry::IfIdempotent),
});

fn of_http1(error: h1::ConnectionError) -> Error {
    Error::new(Phase::Head, Cause::Http1(error), Retry::IfIdempotent)
}

impl From<FieldError> for Error {
    fn from(error: FieldError) -> Self {
        Self::new(Phase::Build, Cause::Field(error), Retry::Pointless)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Error").field(&EscapedDebug(&*self.0)).finish()
    }
}

/// Returns an error of the operating system, a connector, a resolver, a reader or a writer as the source, if
/// that is the cause.
impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        if let Cause::Other(error) = &self.0.cause {
            return Some(&**error);
        }
        let source = self.0.source.as_deref();
        source.map(|error| error as &(dyn std::error::Error + 'static))
    }
}
