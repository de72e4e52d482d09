//! The receiving side: heads, content, and the end of the connection.

use alula_fields::{KnownName, RequestForm, bytes};
use alula_machine::Time;

use super::{Connection, Receiving, Sending};
use crate::content::chunked::{Chunked, Piece};
use crate::content::framing::{Asked, Content};
use crate::error::ConnectionError;
use crate::event::{Event, Received};
use crate::guard::facts::Facts;
use crate::guard::violation::Violation;
use crate::head::head_in::Kind;

/// The result without used input and without an event.
const NOTHING: Received<'static> = Received { consumed: 0, event: None };

/// The bytes of a refused request line that are searched for method and target.
const REFUSED_LINE_BYTES_MAX: usize = 1024;

impl Connection {
    /// Takes bytes from the peer, starting with those that were not consumed before. Call it until nothing
    /// comes of it, and again when [`Notice::Room`](crate::Notice::Room) says that a server reads on.
    ///
    /// Allocates only for a head that is larger than those before.
    ///
    /// # Errors
    /// The connection has ended: the peer broke a rule, or it had ended before. What
    /// [`poll_transmit`](Self::poll_transmit) has left says so to the peer.
    #[inline]
    pub fn receive<'i>(&mut self, input: &'i [u8], now: Time) -> Result<Received<'i>, ConnectionError> {
        self.now = now;
        if let Some(error) = self.error {
            return Err(error);
        }
        let step = match self.discards {
            None => self.step(input),
            Some(left) => self.drain(input, left),
        };
        step.map_err(|rule| self.fail(rule.into()))
    }

    /// Ends the input: the peer has closed its side.
    ///
    /// That is the end of content that lasts as long as the connection, and of one direction of a tunnel. A
    /// server answers a whole request none the less, as far as the driver lets it
    /// ([`ends_with_peer`](Self::ends_with_peer)).
    ///
    /// # Errors
    /// The connection has ended: a message was cut, or there was none.
    pub fn receive_end(&mut self, now: Time) -> Result<Option<Event<'static>>, ConnectionError> {
        self.now = now;
        self.is_peer_done = true;
        match (self.error, self.receiving) {
            (Some(error), _) => Err(error),
            (None, Receiving::UntilClose) => Ok(self.data(&[], 0, true).event),
            // A client may close its side after its request and still read the answer (RFC 9112 §9.6).
            (None, Receiving::Ended | Receiving::Undecided) => {
                self.persists = false;
                Ok(None)
            }
            (None, Receiving::Head) => Err(self.fail(self.cut_head())),
            (None, Receiving::Idle) => Err(self.fail(ConnectionError::PeerClosed)),
            (None, _) => Err(self.fail(Violation::CUT_CONTENT.into())),
        }
    }

    /// Ends the input of a transport that ended without saying so: TLS without close_notify (RFC 9112 §9.8).
    /// Anyone on the path can end it so.
    ///
    /// Between messages, and after those whose end was stated, this is [`receive_end`](Self::receive_end). So
    /// it is where [`Config::accept_truncated_tls`](crate::Config::accept_truncated_tls) says so.
    ///
    /// # Errors
    /// As `receive_end`; and when content or a tunnel lasts until the close, which is not known to be whole.
    pub fn receive_truncation(&mut self, now: Time) -> Result<Option<Event<'static>>, ConnectionError> {
        self.is_truncated = !self.config.accept_truncated_tls;
        if self.is_truncated && self.receiving == Receiving::UntilClose && self.error.is_none() {
            self.now = now;
            self.is_peer_done = true;
            return Err(self.fail(Violation::TRUNCATED.into()));
        }
        self.receive_end(now)
    }

    /// Returns the error for a peer that closes before or within a head.
    fn cut_head(&self) -> ConnectionError {
        match self.is_client {
            // After an interim response the server has taken the request, so the request is not safe to send
            // again.
            _ if self.head_in.has_begun() || self.interim > 0 => Violation::CUT_HEAD.into(),
            true => ConnectionError::Unanswered { is_reused: self.is_reused },
            false => ConnectionError::PeerClosed,
        }
    }

    #[inline]
    fn step<'i>(&mut self, input: &'i [u8]) -> Result<Received<'i>, Violation> {
        match self.receiving {
            Receiving::Head => self.head_step(input),
            Receiving::Length(left) => Ok(self.length_step(input, left)),
            Receiving::Chunks => self.chunks_step(input),
            Receiving::Trailers => self.trailers_step(input),
            Receiving::UntilClose if !input.is_empty() => Ok(self.data(input, input.len(), false)),
            // The peer had ended before the tunnel was open.
            Receiving::UntilClose if self.is_truncated => Err(Violation::TRUNCATED),
            Receiving::UntilClose if self.is_peer_done => Ok(self.data(&[], 0, true)),
            Receiving::Idle if !input.is_empty() => self.unsolicited(input),
            Receiving::Idle | Receiving::UntilClose | Receiving::Undecided | Receiving::Ended => Ok(NOTHING),
        }
    }

    /// Ends the connection because of bytes that answer no request. A server that closes an idle connection
    /// may say so with 408 (RFC 9110 §15.5.9): that is the peer's close, and no breach. While the bytes may
    /// still become 408, nothing more is asked.
    #[cold]
    fn unsolicited(&mut self, input: &[u8]) -> Result<Received<'static>, Violation> {
        match is_idle_close(input) {
            Some(false) => return Err(Violation::UNSOLICITED),
            Some(true) => _ = self.fail(ConnectionError::PeerClosed),
            None => self.persists = false,
        }
        Ok(NOTHING)
    }

    /// Reads unwanted content up to the bound; with more of it the connection ends.
    #[cold]
    fn drain<'i>(&mut self, input: &'i [u8], left: u64) -> Result<Received<'i>, Violation> {
        let here = usize::try_from(left).map_or(input.len(), |left| left.min(input.len()));
        let received = self.step(&input[..here])?;
        let left = left - received.consumed as u64;
        // A line that is cut by the bound alone would wait for ever for its rest.
        let is_stuck = received.consumed == 0 && here < input.len();
        if self.discards.is_some() {
            self.discards = Some(left);
            if left == 0 || is_stuck {
                self.fail(ConnectionError::GivenUp);
            }
        }
        Ok(received)
    }

    #[inline]
    fn head_step<'i>(&mut self, input: &'i [u8]) -> Result<Received<'i>, Violation> {
        if input.is_empty() && !self.head_in.has_begun() {
            return Ok(NOTHING);
        }
        let read = self.head_in.read(input, self.head.get_or_insert_default());
        let step = read.inspect_err(|_| self.note_refused_line(input))?;
        if !step.is_done {
            self.await_head();
            return Ok(Received { consumed: step.consumed, event: None });
        }
        // Only the head that is complete decides about content and persistence (RFC 9112 §6.3, §9.3).
        let event = if self.is_client { self.response_begins()? } else { Some(self.request_begins()?) };
        Ok(Received { consumed: step.consumed, event })
    }

    /// Keeps the readable parts of a refused request line, for reports.
    #[cold]
    fn note_refused_line(&mut self, input: &[u8]) {
        if self.is_client || self.head_in.has_started() {
            return;
        }
        let head = self.head.get_or_insert_default();
        head.clear();
        let input = &input[..input.len().min(REFUSED_LINE_BYTES_MAX)];
        let end = input.iter().position(|byte| matches!(byte, b'\r' | b'\n')).unwrap_or(input.len());
        let mut words = input[..end].split(|byte| *byte == b' ');
        let Some(method) = words.next().filter(|word| bytes::is_token(word)) else { return };
        // A single word may be the beginning of anything.
        let Some(target) = words.next() else { return };
        head.put_pseudo(KnownName::PSEUDO_METHOD, method);
        if bytes::is_path(target) {
            head.put_pseudo(KnownName::PSEUDO_PATH, target);
        }
    }

    /// Begins to wait for the rest of a head, from its first byte on. The first request has no more time for
    /// that.
    #[inline]
    fn await_head(&mut self) {
        if self.head_in.has_begun() && !self.awaits_head {
            self.awaits_head = true;
            let most = if self.generation == 0 { self.due } else { Time::FAR };
            self.due = most.min(self.now.saturating_add(self.config.limits.head_timeout));
        }
    }

    #[inline]
    fn request_begins(&mut self) -> Result<Event<'static>, Violation> {
        let head = self.head.get_or_insert_default();
        self.head_in.finish_request(head)?;
        let facts = self.head_in.facts;
        let method = head.pseudo(KnownName::PSEUDO_METHOD).unwrap_or_default();
        let content = Content::of_request(&facts);
        self.asked = Asked::by_bytes(method);
        // CONNECT has no content (RFC 9110 §9.3.6), which could be read as the first bytes of the tunnel.
        if self.asked == Asked::Connect && content != Content::None {
            return Err(Violation::CONTENT_OF_CONNECT);
        }
        head.set_form(form_of(&facts, self.asked));
        self.generation += 1;
        self.is_over = false;
        self.is_peer_old = facts.is_old;
        self.persists = facts.persists() && !self.is_going;
        // `expect: 100-continue` of an HTTP/1.0 client is ignored (RFC 9110 §10.1.1).
        self.awaits_continue = facts.expects_continue && !facts.is_old && content != Content::None;
        self.sending = Sending::Head;
        self.head_ends();
        let end = content == Content::None && self.asked != Asked::Connect;
        self.receiving = match content {
            // Bytes behind CONNECT belong to the tunnel only if the answer opens it.
            Content::None if self.asked == Asked::Connect => Receiving::Undecided,
            content => self.receiving_of(content),
        };
        Ok(Event::Head { stream: self.key(), end })
    }

    #[inline]
    fn response_begins(&mut self) -> Result<Option<Event<'static>>, Violation> {
        let head = self.head.get_or_insert_default();
        let status = head.status().unwrap_or(alula_fields::Status::OK);
        self.head_in.finish_response(head, status)?;
        let facts = self.head_in.facts;
        let bytes = self.head_in.bytes();
        self.head_ends();
        if status.is_interim() {
            return self.interim_comes(bytes).map(Some);
        }
        // 101 is left here: all other 1xx are interim. It must answer a request for an upgrade (RFC 9110
        // §15.2.2).
        if status.is_informational() && !self.asked_upgrade {
            return Err(Violation::SWITCH_UNASKED);
        }
        // From here on an unanswered request may be lost to an idle close of the server (RFC 9112 §9.3.1).
        self.is_reused = true;
        let content = Content::of_response(&facts, status, self.asked);
        let ends_with_it = matches!(content, Content::UntilClose | Content::Tunnel);
        self.note_terms(facts.has_terms);
        self.persists &= facts.persists() && !ends_with_it && self.keep_alive.allows_another();
        self.is_tunnel = content == Content::Tunnel;
        self.decide();
        let event = Event::Head { stream: self.key(), end: content == Content::None };
        self.receiving = self.receiving_of(content);
        self.settle();
        Ok(Some(event))
    }

    /// Records on which conditions the server keeps the connection after this response.
    #[inline]
    fn note_terms(&mut self, has_terms: bool) {
        match &self.head {
            Some(head) if has_terms => self.keep_alive.note(&head.fields),
            _ => self.keep_alive.count_response(),
        }
    }

    /// Lets content that waited for the peer's agreement go on, or ends it.
    fn decide(&mut self) {
        if self.sending == Sending::Undecided {
            self.sending = if self.is_tunnel { Sending::UntilClose } else { Sending::Ended };
            self.notices.writable = true;
        }
    }

    /// Counts an interim response of so many bytes: together they may be no larger than one head.
    fn interim_comes(&mut self, bytes: usize) -> Result<Event<'static>, Violation> {
        self.interim += 1;
        self.interim_bytes += bytes;
        let limits = &self.config.limits;
        if self.interim > limits.interim_responses || self.interim_bytes > limits.head_bytes as usize {
            return Err(Violation::INTERIM_MANY);
        }
        Ok(Event::Interim { stream: self.key() })
    }

    /// Begins to expect the next head.
    #[inline]
    fn head_ends(&mut self) {
        self.head_in.begin(if self.is_client { Kind::Response } else { Kind::Request });
        self.awaits_head = false;
        self.due = Time::FAR;
    }

    #[inline]
    fn receiving_of(&mut self, content: Content) -> Receiving {
        match content {
            Content::None => Receiving::Ended,
            Content::Length(bytes) => Receiving::Length(bytes),
            Content::UntilClose | Content::Tunnel => Receiving::UntilClose,
            Content::Chunked => {
                let (extensions, bare_lf) =
                    (self.config.limits.chunk_extension_bytes, self.config.leniency.bare_lf);
                self.chunked = Chunked::new(extensions, bare_lf);
                Receiving::Chunks
            }
        }
    }

    #[inline]
    fn length_step<'i>(&mut self, input: &'i [u8], left: u64) -> Received<'i> {
        if input.is_empty() {
            return NOTHING;
        }
        let here = usize::try_from(left).map_or(input.len(), |left| left.min(input.len()));
        let left = left - here as u64;
        if left > 0 {
            self.receiving = Receiving::Length(left);
        }
        self.data(&input[..here], here, left == 0)
    }

    #[inline]
    fn chunks_step<'i>(&mut self, input: &'i [u8]) -> Result<Received<'i>, Violation> {
        let (consumed, piece) = self.chunked.read(input)?;
        Ok(match piece {
            Piece::More => Received { consumed, event: None },
            Piece::Data(bytes) => match self.chunked.plain_end(&input[consumed..]) {
                Some(end) => self.data(bytes, consumed + end, true),
                None => self.data(bytes, consumed, false),
            },
            Piece::Last => {
                self.receiving = Receiving::Trailers;
                self.head_in.begin(Kind::Trailers);
                self.head.get_or_insert_default().clear();
                let Received { consumed: more, event } = self.trailers_step(&input[consumed..])?;
                Received { consumed: consumed + more, event }
            }
        })
    }

    fn trailers_step<'i>(&mut self, input: &'i [u8]) -> Result<Received<'i>, Violation> {
        let step = self.head_in.read(input, self.head.get_or_insert_default())?;
        if !step.is_done {
            self.await_head();
            return Ok(Received { consumed: step.consumed, event: None });
        }
        self.head_ends();
        // Every chunked message ends with a trailer section (RFC 9112 §7.1.2); an empty one is only an end.
        if self.head.get_or_insert_default().fields.is_empty() || self.discards.is_some() {
            return Ok(self.data(&[], step.consumed, true));
        }
        let event = Event::Trailers { stream: self.key() };
        self.received_all();
        Ok(Received { consumed: step.consumed, event: Some(event) })
    }

    /// Returns content, and perhaps its end; `consumed` counts what frames it as well.
    #[inline]
    fn data<'i>(&mut self, bytes: &'i [u8], consumed: usize, end: bool) -> Received<'i> {
        self.awaits_continue = false;
        let event = Event::Data { stream: self.key(), bytes, end };
        let is_wanted = self.discards.is_none();
        if is_wanted {
            self.held += bytes.len() as u32;
        } else {
            self.discarded += bytes.len() as u64;
        }
        if end {
            self.received_all();
        }
        Received { consumed, event: is_wanted.then_some(event) }
    }

    #[inline]
    fn received_all(&mut self) {
        self.receiving = Receiving::Ended;
        self.settle();
    }
}

/// Returns the form in which a request was written, for a proxy that forwards it in the same form.
#[inline]
fn form_of(facts: &Facts, asked: Asked) -> RequestForm {
    let is_absolute = facts.is_authority_in_target && asked != Asked::Connect;
    RequestForm::NONE
        .with_if(is_absolute, RequestForm::ABSOLUTE)
        .with_if(facts.is_old, RequestForm::HTTP_10)
        .with_if(facts.has_host, RequestForm::HOST)
}

/// Returns true if `input` begins with the status line of 408, false if not, and nothing if more bytes are
/// needed.
fn is_idle_close(input: &[u8]) -> Option<bool> {
    const LINE: &[u8] = b"HTTP/1.x 408";
    let mut pairs = input.iter().zip(LINE);
    let is_like =
        pairs.all(|(byte, expected)| byte == expected || *expected == b'x' && byte.is_ascii_digit());
    (!is_like || input.len() >= LINE.len()).then_some(is_like)
}
