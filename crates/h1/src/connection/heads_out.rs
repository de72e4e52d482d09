//! Sending heads: requests of a client, answers of a server.

use alula_fields::{FieldSection, RequestHead, ResponseHead, Status};
use alula_machine::{OutBuf, StreamKey, Time};

use super::{Connection, Receiving, Sending};
use crate::content::framing::Asked;
use crate::error::SendError;
use crate::guard::facts::Facts;
use crate::guard::violation::Violation;
use crate::head::head_in::Kind;
use crate::head::head_out::{self, Extra};
use crate::head::outgoing;
use crate::head::prepared::Prepared;

impl Connection {
    /// Sends a request; with `end` it has no content. Without, its content is as long as `content-length`
    /// says, or comes in chunks, in which case the machine says so. CONNECT, and a request whose `connection`
    /// says `upgrade`, have no content: what is sent after them waits for the peer to agree.
    ///
    /// # Errors
    /// When it cannot be sent; nothing has changed then, and nothing is written.
    pub fn send_request(
        &mut self,
        head: &RequestHead<'_>,
        end: bool,
        out: &mut OutBuf,
    ) -> Result<StreamKey, SendError> {
        self.check_idle()?;
        let known = self.repeated.find(head.fields);
        let facts = known.map_or_else(|| outgoing::fields(head.fields), Ok)?;
        outgoing::control(head, &facts, Some(&mut self.authority))?;
        let plan = Plan::of(head.method, &facts, end)?;
        let is_absolute = self.config.absolute_targets && head.method != "CONNECT";
        check_origin(is_absolute, !head.authority.is_empty())?;
        let spelling = self.config.spelling;
        head_out::request_line(head, facts.has_host, is_absolute, spelling, out);
        self.write_fields(head.fields, &facts, known.is_some(), out);
        head_out::end(plan.extra, spelling, out);
        self.tell_proxy(out);
        Ok(self.begin(plan, Asked::by(head.method), &facts))
    }

    /// Checks what [`send_request`](Self::send_request) would refuse on any connection; with `end` the
    /// request has no content. Allocates nothing.
    ///
    /// # Errors
    /// When it could not be sent.
    pub fn check_sendable(head: &RequestHead<'_>, end: bool) -> Result<(), SendError> {
        let facts = outgoing::fields(head.fields)?;
        outgoing::control(head, &facts, None)?;
        Plan::of(head.method, &facts, end).map(drop)
    }

    /// Sends a prepared request with these values for its holes.
    ///
    /// # Errors
    /// As [`send_request`](Self::send_request), and when the values do not fit the holes.
    pub fn send_prepared(
        &mut self,
        prepared: &Prepared,
        values: &[&[u8]],
        end: bool,
        out: &mut OutBuf,
    ) -> Result<StreamKey, SendError> {
        self.check_idle()?;
        let facts = prepared.check(values)?;
        let plan = Plan::of(prepared.method(), &facts, end)?;
        check_origin(self.config.absolute_targets, prepared.has_authority())?;
        prepared.write(values, self.config.absolute_targets, out);
        head_out::end(plan.extra, self.config.spelling, out);
        self.tell_proxy(out);
        Ok(self.begin(plan, Asked::by(prepared.method()), &facts))
    }

    /// Sends the final response; with `end` it has no content. Without, its content is as long as
    /// `content-length` says, or comes in chunks, or lasts as long as the connection if the peer knows no
    /// chunks. The answer to HEAD has none in any case, and neither have 204 and 304.
    ///
    /// # Errors
    /// When it cannot be sent; nothing has changed then, and nothing is written.
    pub fn send_response(
        &mut self,
        stream: StreamKey,
        head: &ResponseHead<'_>,
        end: bool,
        out: &mut OutBuf,
    ) -> Result<(), SendError> {
        self.check_answer(stream)?;
        if head.status.is_informational() {
            return Err(SendError::Status);
        }
        let known = self.repeated.find(head.fields);
        let facts = known.map_or_else(|| outgoing::fields(head.fields), Ok)?;
        let opens_tunnel = self.asked == Asked::Connect && head.status.is_success();
        let sending = self.answer_of(head.status, &facts, opens_tunnel, end)?;
        self.persists_after(&facts, sending, opens_tunnel);
        let extra = self.extra_of(head.status, &facts, sending, opens_tunnel);
        if known.is_some() && extra == Extra::default() {
            head_out::known_answer(head.status, self.repeated.lines(), out);
        } else {
            head_out::status_line(head.status, out);
            self.write_fields(head.fields, &facts, known.is_some(), out);
            head_out::end(extra, self.config.spelling, out);
        }
        self.awaits_continue = false;
        self.decide_tunnel(opens_tunnel);
        match end {
            true => self.sent_all(),
            false => self.sending = sending,
        }
        Ok(())
    }

    /// Sends an interim response, 1xx but not 101. A client of HTTP/1.0 knows none, and gets none.
    ///
    /// # Errors
    /// When it cannot be sent; nothing has changed then, and nothing is written.
    pub fn send_interim(
        &mut self,
        stream: StreamKey,
        head: &ResponseHead<'_>,
        out: &mut OutBuf,
    ) -> Result<(), SendError> {
        self.check_answer(stream)?;
        if !head.status.is_interim() {
            return Err(SendError::Status);
        }
        let facts = outgoing::fields(head.fields)?;
        if facts.content_length.is_some() || facts.is_chunked {
            return Err(SendError::ContentLength);
        }
        // A client of HTTP/1.0 would take a 1xx for the final response (RFC 9110 §15.2).
        if !self.is_peer_old {
            head_out::status_line(head.status, out);
            head_out::fields(head.fields, self.config.spelling, out);
            head_out::end(Extra::default(), self.config.spelling, out);
            self.awaits_continue &= head.status != Status::CONTINUE;
        }
        Ok(())
    }

    /// Sends 100 to a client that waits for it, because the content of its request is wanted (RFC 9110
    /// §10.1.1).
    #[inline]
    pub fn invite_content(&mut self, stream: StreamKey, out: &mut OutBuf) {
        if self.awaits_continue && self.is_current(stream) && self.sending == Sending::Head {
            self.awaits_continue = false;
            out.extend(b"HTTP/1.1 100 Continue\r\n\r\n");
        }
    }
}

/// Checks that a whole URI names an authority (RFC 9112 §3.2.2).
#[inline]
fn check_origin(is_absolute: bool, has_authority: bool) -> Result<(), SendError> {
    if is_absolute && !has_authority { Err(SendError::Control(Violation::TARGET_INVALID)) } else { Ok(()) }
}

/// The plan for a request: the fields that the machine adds, and the framing of its content.
pub(crate) struct Plan {
    extra: Extra,
    sending: Sending,
}

impl Plan {
    #[inline]
    pub(crate) fn of(method: &str, facts: &Facts, end: bool) -> Result<Self, SendError> {
        let mut extra = Extra::default();
        let is_connect = method == "CONNECT";
        let sending = match facts.content_length {
            // The bytes behind CONNECT wait until the proxy agrees to the tunnel.
            None | Some(0) if is_connect && !end && !facts.is_chunked => Sending::Undecided,
            _ if is_connect
                && (facts.is_chunked || facts.content_length.is_some_and(|length| length > 0)) =>
            {
                return Err(SendError::ContentLength);
            }
            _ if end && (facts.is_chunked || facts.content_length.is_some_and(|length| length > 0)) => {
                return Err(SendError::ContentLength);
            }
            None if end => {
                // A method for which content is usual states that there is none (RFC 9110 §8.6).
                extra.length = matches!(method, "POST" | "PUT" | "PATCH").then_some(0);
                Sending::Ended
            }
            Some(0) if end => Sending::Ended,
            Some(0) => Sending::Nothing,
            Some(length) => Sending::Length(length),
            // Content of an upgrade without a stated length is that of the other protocol, if the server
            // switches.
            None if !facts.is_chunked && facts.says_upgrade => Sending::Undecided,
            None => {
                extra.is_chunked = !facts.is_chunked;
                Sending::Chunks
            }
        };
        Ok(Self { extra, sending })
    }
}

impl Connection {
    /// Writes the lines of the fields; those of the previous section are remembered.
    #[inline]
    fn write_fields(&mut self, fields: &FieldSection, facts: &Facts, is_known: bool, out: &mut OutBuf) {
        if is_known {
            return out.extend(self.repeated.lines());
        }
        let mark = out.end();
        head_out::fields(fields, self.config.spelling, out);
        self.repeated.keep(fields, facts, out.since(mark));
    }

    #[inline]
    fn check_idle(&self) -> Result<(), SendError> {
        match () {
            () if !self.is_client => Err(SendError::WrongRole),
            () if self.error.is_some() => Err(SendError::Closed),
            // Pipelined requests could not be sent again safely after a close (RFC 9112 §9.3.2), so there is
            // one at a time.
            () if !self.is_over => Err(SendError::Busy),
            () if !self.persists || self.is_going => Err(SendError::GoingAway),
            () => Ok(()),
        }
    }

    #[inline]
    fn check_answer(&self, stream: StreamKey) -> Result<(), SendError> {
        match self.sending {
            _ if self.is_client => Err(SendError::WrongRole),
            _ if self.error.is_some() => Err(SendError::Closed),
            _ if !self.is_current(stream) => Err(SendError::UnknownStream),
            Sending::Head => Ok(()),
            _ => Err(SendError::HeadAlreadySent),
        }
    }

    /// Writes `proxy-authorization`, if credentials are configured.
    #[inline]
    fn tell_proxy(&self, out: &mut OutBuf) {
        if !self.config.proxy_authorization.is_empty() {
            head_out::add_proxy_authorization(&self.config.proxy_authorization, self.config.spelling, out);
        }
    }

    /// Begins the exchange, whose request is on its way.
    #[inline]
    fn begin(&mut self, plan: Plan, asked: Asked, facts: &Facts) -> StreamKey {
        self.generation += 1;
        self.is_over = false;
        self.asked = asked;
        self.asked_upgrade = facts.says_upgrade;
        // A client that sends `close` must not send another request (RFC 9112 §9.6).
        self.persists = !facts.says_close;
        self.sending = plan.sending;
        self.receiving = Receiving::Head;
        self.due = Time::FAR;
        self.head_in.begin(Kind::Response);
        self.head_in.answers_connect = asked == Asked::Connect;
        self.key()
    }

    /// Decides the framing of an answer's content.
    #[inline]
    fn answer_of(
        &self,
        status: Status,
        facts: &Facts,
        opens_tunnel: bool,
        end: bool,
    ) -> Result<Sending, SendError> {
        if facts.is_chunked && self.is_peer_old {
            return Err(SendError::Control(Violation::CODING_TOO_EARLY));
        }
        let states_length = facts.content_length.is_some() || facts.is_chunked;
        // Neither of these may state a length (RFC 9110 §8.6, §9.3.6).
        if (opens_tunnel || status == Status::NO_CONTENT) && states_length {
            return Err(SendError::ContentLength);
        }
        let has_none = self.asked == Asked::Head || status.is_bodiless();
        Ok(match facts.content_length {
            _ if opens_tunnel => Sending::UntilClose,
            // A length is allowed here: it is the one that GET would have had (RFC 9110 §8.6).
            _ if has_none => Sending::Nothing,
            Some(0) => Sending::Nothing,
            Some(_) if end => return Err(SendError::ContentLength),
            Some(length) => Sending::Length(length),
            None if end && facts.is_chunked => return Err(SendError::ContentLength),
            None if end => Sending::Nothing,
            // An HTTP/1.0 client knows no chunks (RFC 9112 §6.1).
            None if self.is_peer_old => Sending::UntilClose,
            None => Sending::Chunks,
        })
    }

    #[inline]
    fn persists_after(&mut self, facts: &Facts, sending: Sending, opens_tunnel: bool) {
        // A client that did not wait for its tunnel has sent what is no request, though it may look like one
        // (RFC 9110 §9.3.6).
        let is_refused = self.receiving == Receiving::Undecided && !opens_tunnel;
        let ends_with_it = sending == Sending::UntilClose || opens_tunnel || is_refused;
        // A client that was not told to go on may send its content or not: what comes next cannot be known.
        self.persists &= !facts.says_close && !ends_with_it && !self.awaits_continue && !self.is_going;
        if self.awaits_continue {
            self.receiving = Receiving::Ended;
        }
    }

    #[inline]
    fn extra_of(&self, status: Status, facts: &Facts, sending: Sending, opens_tunnel: bool) -> Extra {
        let states_length = facts.content_length.is_some() || facts.is_chunked;
        let is_empty = sending == Sending::Nothing && !status.is_bodiless() && self.asked != Asked::Head;
        Extra {
            length: (is_empty && !states_length).then_some(0),
            is_chunked: sending == Sending::Chunks && !facts.is_chunked,
            closes: !self.persists && !facts.says_close && !opens_tunnel,
            // An HTTP/1.0 client expects a close unless it is told otherwise (RFC 9112 §9.3).
            keeps_alive: self.persists && self.is_peer_old && !facts.says_keep_alive,
        }
    }

    /// Decides whether the bytes after CONNECT belong to the tunnel or are dropped.
    fn decide_tunnel(&mut self, opens_tunnel: bool) {
        if self.receiving == Receiving::Undecided {
            self.is_tunnel = opens_tunnel;
            self.receiving = if opens_tunnel { Receiving::UntilClose } else { Receiving::Ended };
        }
    }
}
