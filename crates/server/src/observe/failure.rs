//! A request that failed on this server: its target, its peer, and the reason for the missing answer.

use std::{
    error::Error as StdError,
    fmt::{self, Write as _},
    io,
    net::{IpAddr, SocketAddr},
};

use alula_fields::{EscapedDebug, Head, KnownName, OneLine, Status, masked_target};
use alula_net::{Cause, Error, Fault, Overrun, Phase, Version, h1};

/// The bytes of a target that are kept for reports of failures.
const TARGET_BYTES_MAX: usize = 256;

/// A request that failed on this server; [`ServerBuilder::on_error`](crate::ServerBuilder::on_error) is
/// called with it.
///
/// `Display` gives one line, in which whatever a terminal would obey is escaped.
#[derive(Clone, Copy, Debug)]
pub struct RequestFailure<'a> {
    facts: &'a RequestFacts,
    peer: SocketAddr,
    version: Version,
    cause: FailureCause<'a>,
    left_out: u64,
}

/// The cause of the failure of a request.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum FailureCause<'a> {
    /// The handler ended with this error. Among them are the head of an answer that cannot be sent, and
    /// errors of services and contents under [`from_tower`](crate::from_tower).
    Error(&'a Error),
    /// The handler panicked with this message.
    Panic(&'a str),
    /// The peer broke a rule or went over a limit, so that the connection or its stream ended, with 400 or
    /// 431 for instance; or all connections together hold too much (503, or REFUSED_STREAM over HTTP/2); or
    /// the connection failed before its first request, in its TLS handshake for instance. Method and target
    /// are those of the request as far as its head was read, and empty where it could not be, or where it is
    /// not the head that was refused. A handler that was called for it already fails by itself as well. Told
    /// of at most ten times at once, and once per second; [`left_out`](RequestFailure::left_out) counts the
    /// others.
    Refused(&'a Error),
    /// A connection could not be accepted, for example for want of descriptors; method, target and peer are
    /// empty. Told of as often as the former.
    Accept(&'a io::Error),
}

/// The facts of a request that are recorded while it is handled, in reused memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestFacts {
    method: String,
    target: String,
    /// The other facts that hooks see.
    more: Option<Box<MoreFacts>>,
}

/// Facts for those who log requests.
#[derive(Clone, Debug, Default)]
struct MoreFacts {
    authority: String,
    referer: String,
    user_agent: String,
    request_id: String,
    client: Option<IpAddr>,
}

impl<'a> RequestFailure<'a> {
    pub(crate) const fn new(
        facts: &'a RequestFacts,
        peer: SocketAddr,
        version: Version,
        cause: FailureCause<'a>,
    ) -> Self {
        Self { facts, peer, version, cause, left_out: 0 }
    }

    /// Sets the number of refusals before this one that were not reported.
    pub(crate) const fn with_left_out(self, left_out: u64) -> Self {
        Self { left_out, ..self }
    }

    /// Returns the method of the request.
    pub fn method(&self) -> &'a str {
        &self.facts.method
    }

    /// Returns the path with the names of its query but not the values, which may be secret; the authority
    /// for CONNECT, `*` for the server as a whole. A longer one is cut after about 256 bytes.
    pub fn target(&self) -> &'a str {
        &self.facts.target
    }

    /// Returns the name of the request, if a hook [set one](crate::Begun::note_request_id) before the
    /// failure.
    pub fn request_id(&self) -> Option<&'a str> {
        self.facts.request_id()
    }

    /// Returns the address of the peer.
    pub const fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// Returns the version of HTTP that the request came by.
    pub const fn version(&self) -> Version {
        self.version
    }

    /// Returns the status with which a request was refused, where it was answered with one: 400, 408, 414,
    /// 431, 501 or 503, for
    /// [`FailureCause::Refused`] only. None for failed handshakes, and over HTTP/2 for all but 431 and 503.
    pub fn status(&self) -> Option<Status> {
        let FailureCause::Refused(error) = self.cause else { return None };
        match error.cause() {
            Cause::Http1(h1::ConnectionError::Peer(rule)) => Some(rule.status),
            Cause::Http1(h1::ConnectionError::TimedOut(_)) => Some(Status::REQUEST_TIMEOUT),
            Cause::Peer(rule) if alula_machine::Rule::is_of_limit(*rule) => {
                Some(Status::REQUEST_HEADER_FIELDS_TOO_LARGE)
            }
            Cause::Overrun(Overrun::OVERLOADED | Overrun::HEADS_UNPAID) => Some(Status::SERVICE_UNAVAILABLE),
            _ => None,
        }
    }

    /// Returns the number of refusals since the last reported one that were not reported, because there were
    /// too many: at most ten at once are reported, and one more each second.
    pub const fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Returns the cause of the failure.
    pub const fn cause(&self) -> FailureCause<'a> {
        self.cause
    }

    /// Returns a sentence about the cause with its sources, without the request and its peer. Text that a
    /// terminal would obey is escaped. Allocates.
    pub fn reason(&self) -> String {
        let mut reason = String::new();
        // To write to a string does not fail.
        let _ = self.write_reason(&mut OneLine(&mut reason));
        reason
    }

    fn write_reason(&self, line: &mut impl fmt::Write) -> fmt::Result {
        match self.cause {
            FailureCause::Panic(message) => write!(line, "the handler panicked: {message}"),
            FailureCause::Error(error) | FailureCause::Refused(error) => write_cause(line, error),
            FailureCause::Accept(error) => write!(line, "{error}"),
        }
    }

    /// Returns the side at fault, as far as this side can tell; [`Fault::Caller`] is this program.
    pub fn fault(&self) -> Fault {
        match self.cause {
            // The peer did not wait for the answer.
            FailureCause::Error(error) if matches!(error.cause(), Cause::Cancelled) => Fault::Between,
            FailureCause::Error(error) => error.fault(),
            FailureCause::Panic(_) | FailureCause::Accept(_) => Fault::Caller,
            FailureCause::Refused(_) => Fault::Peer,
        }
    }
}

impl RequestFacts {
    pub(crate) fn method(&self) -> &str {
        &self.method
    }

    pub(crate) fn target(&self) -> &str {
        &self.target
    }

    pub(crate) fn authority(&self) -> &str {
        self.more.as_ref().map_or("", |more| &more.authority)
    }

    pub(crate) fn referer(&self) -> &str {
        self.more.as_ref().map_or("", |more| &more.referer)
    }

    pub(crate) fn user_agent(&self) -> &str {
        self.more.as_ref().map_or("", |more| &more.user_agent)
    }

    pub(crate) fn client(&self) -> Option<IpAddr> {
        self.more.as_ref().and_then(|more| more.client)
    }

    pub(crate) fn request_id(&self) -> Option<&str> {
        self.more.as_ref().map(|more| &*more.request_id).filter(|name| !name.is_empty())
    }

    /// Sets the name of the request. Allocates nothing once warm.
    pub(crate) fn note_request_id(&mut self, name: &str) {
        note(&mut self.more.get_or_insert_default().request_id, Some(name));
    }

    /// Records the further facts for hooks. Allocates nothing once warm.
    pub(crate) fn note_more(&mut self, head: &Head) {
        let MoreFacts { authority, referer, user_agent, request_id, client } =
            &mut **self.more.get_or_insert_default();
        request_id.clear();
        *client = head.client();
        let host = || head.fields.text(KnownName::HOST);
        note(authority, head.authority().or_else(host));
        referer.clear();
        if let Some(url) = head.fields.text(KnownName::REFERER) {
            // The rest is refused by what is full.
            let _ = write!(Bounded(referer), "{}", masked_target(url));
        }
        note(user_agent, head.fields.text(KnownName::USER_AGENT));
    }

    /// About what they hold at most: few methods are long.
    pub(crate) const BYTES_MAX: usize = size_of::<Self>() + TARGET_BYTES_MAX + 16;

    /// Records the method and target. Allocates nothing once warm.
    pub(crate) fn note(&mut self, head: &Head) {
        self.method.clear();
        self.method.push_str(head.method().unwrap_or_default());
        let authority = || head.authority().filter(|_| head.method() == Some("CONNECT"));
        let target = head.path().or_else(authority).unwrap_or_default();
        self.target.clear();
        // The rest is refused by what is full.
        let _ = write!(Bounded(&mut self.target), "{}", masked_target(target));
    }
}

/// Records a text, or its beginning if it is long.
fn note(into: &mut String, text: Option<&str>) {
    into.clear();
    let _ = Bounded(into).write_str(text.unwrap_or_default());
}

/// Text up to [`TARGET_BYTES_MAX`] bytes.
struct Bounded<'a>(&'a mut String);

impl fmt::Write for Bounded<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = TARGET_BYTES_MAX - self.0.len();
        // Of what a target shows nothing but the mark of a secret has several bytes.
        self.0.push_str(text.get(..room.min(text.len())).unwrap_or_default());
        if text.len() <= room { Ok(()) } else { Err(fmt::Error) }
    }
}

impl fmt::Display for RequestFailure<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = OneLine(f);
        match self.cause {
            FailureCause::Accept(_) => line.write_str("no connection can be accepted: ")?,
            FailureCause::Refused(error) => match (error.phase(), self.method()) {
                (Phase::Handshake, _) => write!(line, "a connection from {} failed: ", self.peer)?,
                (_, "") => write!(line, "a request from {} over {} was refused: ", self.peer, self.version)?,
                (_, method) => {
                    let (target, peer, version) = (self.target(), self.peer, self.version);
                    write!(line, "{method} {target} from {peer} over {version} was refused: ")?;
                }
            },
            FailureCause::Error(_) | FailureCause::Panic(_) => {
                write!(
                    line,
                    "{} {} from {} over {}: ",
                    self.method(),
                    self.target(),
                    self.peer,
                    self.version
                )?;
            }
        }
        self.write_reason(&mut line)
    }
}

/// Writes the sentence of the error and those of its sources, each once.
fn write_cause(line: &mut impl fmt::Write, error: &Error) -> fmt::Result {
    let mut said = match (error.phase(), error.asked()) {
        // The sentence is about a response that a client waits for.
        (Phase::Head, None) => match error.exceeded() {
            Some(exceeded) => exceeded.to_string(),
            None => error.cause().to_string(),
        },
        _ => error.to_string(),
    };
    line.write_str(&said)?;
    let mut source = StdError::source(error);
    while let Some(error) = source {
        let text = error.to_string();
        if !said.contains(&text) {
            write!(line, ": {text}")?;
        }
        (said, source) = (text, error.source());
    }
    Ok(())
}

impl fmt::Debug for FailureCause<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error(error) => f.debug_tuple("Error").field(error).finish(),
            Self::Panic(message) => f.debug_tuple("Panic").field(message).finish(),
            Self::Refused(error) => f.debug_tuple("Refused").field(error).finish(),
            Self::Accept(error) => f.debug_tuple("Accept").field(&EscapedDebug(error)).finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alula_fields::KnownName;

    fn facts(path: &str) -> RequestFacts {
        let mut head = Head::new();
        head.put_pseudo(KnownName::PSEUDO_METHOD, b"GET");
        head.put_pseudo(KnownName::PSEUDO_PATH, path.as_bytes());
        let mut facts = RequestFacts::default();
        facts.note(&head);
        facts
    }

    fn shown(path: &str, cause: FailureCause<'_>) -> String {
        let peer = SocketAddr::from(([127, 0, 0, 1], 9));
        RequestFailure::new(&facts(path), peer, Version::Http1, cause).to_string()
    }

    #[test]
    fn a_failure_is_one_line_without_the_query() {
        let panic = FailureCause::Panic("\x1b[31mred\nline\u{9b}");
        assert_eq!(
            shown("/a?token=secret", panic),
            "GET /a?token=… from 127.0.0.1:9 over HTTP/1.1: the handler panicked: \\u{1b}[31mred\\nline\\u{9b}"
        );
    }

    #[test]
    fn the_sources_of_an_error_are_told_once() {
        let source = std::io::Error::other("the disk is full");
        let error = Error::other(source);
        assert_eq!(
            shown("/", FailureCause::Error(&error)),
            "GET / from 127.0.0.1:9 over HTTP/1.1: the disk is full"
        );
    }

    #[test]
    fn the_sentence_of_an_error_is_told() {
        let refused = Error::io(Phase::Connect, std::io::ErrorKind::ConnectionRefused.into());
        let refused =
            refused.about("/run/a.sock").asking(|| alula_net::Asked::new("GET", "http://up", "/b?c=d"));
        assert_eq!(
            shown("/", FailureCause::Error(&refused)),
            "GET / from 127.0.0.1:9 over HTTP/1.1: GET http://up/b?c=…: could not connect to /run/a.sock: connection refused"
        );
        let late = Error::new(Phase::Content, Cause::Timeout, alula_net::Retry::IfIdempotent);
        assert!(shown("/", FailureCause::Error(&late)).ends_with(": timed out reading the content"));
    }

    #[test]
    fn what_is_no_request_is_told_without_one() {
        let full = std::io::Error::from_raw_os_error(24);
        let line = shown("/", FailureCause::Accept(&full));
        assert!(line.starts_with("no connection can be accepted: "), "{line}");
    }

    #[test]
    fn long_targets_are_cut() {
        assert_eq!(facts(&"/".repeat(1000)).target.len(), TARGET_BYTES_MAX);
    }

    #[test]
    fn a_peer_that_is_gone_is_no_fault_of_the_program() {
        let fault = |error: Error| {
            let (facts, peer) = (RequestFacts::default(), SocketAddr::from(([0; 4], 0)));
            RequestFailure::new(&facts, peer, Version::Http2, FailureCause::Error(&error)).fault()
        };
        assert_eq!((fault(Error::cancelled()), fault(Error::other("x"))), (Fault::Between, Fault::Caller));
    }
}
