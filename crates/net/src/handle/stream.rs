//! A handle of one stream, or of one of its directions. Owned and `Send`; gives everything back when dropped.

use std::{
    future::poll_fn,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    task::{Context, Poll},
};

use alula_fields::{FieldSection, Head, ResponseHead, Status};
use alula_machine::{Reservation, StreamKey};
use tokio::time::Instant;

use crate::{
    connection::stream::{
        answer_notes::LeftNote,
        slot::{Expectation, Sides, Slot, SlotKey},
    },
    drive::{asked::Asked, reader::Side, shared::Conn},
    error::{Error, Phase, cause::Refusal},
    establish::version::Version,
    handle::{
        body::Body,
        encoding::Encoding,
        writer::{BodyWriter, Sent},
    },
    machine::Machine,
    message::{
        content::Content,
        timing::{Marks, Opened},
    },
};

/// The error text for content after an answer that has not asked for it.
const DECLINED: &str =
    "the answer was begun without asking for the content, which the client keeps back (RFC 9110 §10.1.1)";

/// A stream of a connection, seen from one side.
///
/// Dropping it before its messages are whole resets the stream (RST_STREAM) and gives the windows back.
pub struct Stream {
    conn: Arc<Conn>,
    at: SlotKey,
    sides: Sides,
}

impl Stream {
    pub(crate) fn new(conn: Arc<Conn>, at: SlotKey, sides: Sides) -> Self {
        Self { conn, at, sides }
    }

    /// Creates a handle of no stream; each use of it fails.
    pub(crate) fn unopened(conn: Arc<Conn>) -> Self {
        Self::new(conn, SlotKey::NONE, Sides::NONE)
    }

    /// Returns the peer's address; the unspecified address (RFC 1122 §3.2.1.3) if it has none.
    pub fn peer(&self) -> SocketAddr {
        self.conn.peer().unwrap_or(SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), 0))
    }

    /// Returns the address of this end; the unspecified one if it has none. A system call.
    pub fn local(&self) -> Option<SocketAddr> {
        self.conn.local()
    }

    /// Returns the version that the connection speaks.
    pub fn version(&self) -> Version {
        self.conn.version()
    }

    /// Returns the TLS version, cipher and names of the connection; none in clear text. Allocates.
    #[cfg(feature = "tls")]
    pub fn tls(&self) -> Option<crate::tls::facts::TlsFacts> {
        self.conn.lock().tls.as_ref().map(|tls| tls.facts())
    }

    /// Writes the certificate of the peer over `der`, and returns true if there is one.
    #[cfg(feature = "tls")]
    pub fn read_peer_certificate(&self, der: &mut Vec<u8>) -> bool {
        der.clear();
        let conn = self.conn.lock();
        let certificate = conn.tls.as_ref().and_then(|tls| tls.certificate());
        der.extend_from_slice(certificate.unwrap_or_default());
        certificate.is_some()
    }

    /// Splits the stream into a handle for receiving and one for sending.
    #[must_use]
    pub fn split(mut self) -> (Self, Self) {
        debug_assert!(self.sides == Sides::BOTH);
        self.sides = Sides::READ;
        let send = Self { conn: self.conn.clone(), at: self.at, sides: Sides::WRITE };
        (self, send)
    }

    /// Returns the receiving direction as a handle of its own, unless this one does not hold both.
    pub(crate) fn split_off_read(&mut self) -> Option<Self> {
        let is_whole = self.sides == Sides::BOTH;
        is_whole.then(|| {
            self.sides = Sides::WRITE;
            Self { conn: self.conn.clone(), at: self.at, sides: Sides::READ }
        })
    }

    /// Returns the content that this stream receives, without its direction of the stream, for an exchange
    /// that rarely needs it; [`attach`](Self::attach) adds the direction. `ended` says that there is no
    /// content.
    #[inline]
    pub fn detached_body(&self, ended: bool) -> Body {
        Body::detached(&self.conn, ended)
    }

    /// Returns the content that this stream receives; `ended` says that there is none.
    pub fn into_body(self, ended: bool) -> Body {
        Body::new(self, ended)
    }

    /// Returns the writer of content on this stream, whose head has been sent.
    pub fn into_writer(self) -> BodyWriter {
        BodyWriter::new(self)
    }

    /// Does the same as [`into_writer`](Self::into_writer), with these encoders.
    pub fn into_encoding_writer(self, encoding: Encoding) -> BodyWriter {
        BodyWriter::encoding(self, encoding)
    }

    /// Returns a writer for a message that ended with its head, as the answer to HEAD does (RFC 9110 §9.3.2):
    /// it drops all content.
    pub fn into_muted_writer(self) -> BodyWriter {
        BodyWriter::muted(self)
    }

    /// Releases the sending direction, whose message is complete. Allocates nothing.
    pub fn sent_all(&mut self) -> Sent {
        self.sides = self.sides.without(Sides::WRITE);
        self.conn.release(self.at, Sides::WRITE, None, Content::default());
        Sent::whole()
    }

    /// Returns the connection of the stream.
    pub fn conn(&self) -> &Conn {
        &self.conn
    }

    /// Keeps fields for the answer, whoever sends it.
    pub fn keep_answer_headers(&self, headers: Box<Head>) {
        self.with_slot(|slot| slot.answer.keep_headers(headers));
    }

    /// Sets the user of the request, for those who count and log. Allocates nothing.
    pub fn note_user(&self, user: &Arc<str>) {
        self.with_slot(|slot| slot.answer.note_user(user.clone()));
    }

    /// Returns the user of the request, if it was set.
    pub fn user(&self) -> Option<Arc<str>> {
        self.with_slot(|slot| slot.answer.user()).flatten()
    }

    /// Adds the fields that were kept for the answer. They stay, for a head that may leave in the place of
    /// this one.
    pub fn add_answer_headers(&self, headers: &mut FieldSection) {
        self.with_slot(|slot| slot.answer.add_headers(headers));
    }

    /// Leaves the sending direction, on which nothing was sent, to the connection's task, which is woken and
    /// [reclaims](Conn::reclaim) it. A stream that is gone has nobody to answer.
    #[cold]
    pub fn leave(self, note: LeftNote) {
        if self.conn().note_left(self.at(), note) {
            self.forget(Sides::WRITE);
        }
    }

    /// Drops a side without telling the connection, which keeps it for another handle.
    pub(crate) fn forget(mut self, side: Sides) {
        self.sides = self.sides.without(side);
    }

    pub(crate) fn at(&self) -> SlotKey {
        self.at
    }

    /// Calls a function with the slot of the stream, unless the stream has ended.
    pub(crate) fn with_slot<T>(&self, look: impl FnOnce(&mut Slot) -> T) -> Option<T> {
        self.conn.lock().slots.get(self.at).map(look)
    }

    /// Returns the same failure with the request and its origin.
    #[cold]
    pub(crate) fn named(&self, error: Error) -> Error {
        let Some(origin) = self.conn.origin() else { return error };
        let asked =
            self.with_slot(|slot| slot.noted().map(|noted| Asked::new(noted.method, origin, noted.path)));
        match asked.flatten() {
            Some(asked) => error.asking(|| asked),
            None => error,
        }
    }

    /// Exempts the peer of this stream from the limits on slow peers, in both directions, once a head of 2xx
    /// has been sent.
    pub fn allow_slow_peer(&self) {
        if let Some(slot) = self.conn.lock().slots.get(self.at) {
            slot.pace.allow_slow();
        }
    }

    /// Charges bytes that the program holds for this stream, as [`Ledger::reserve`](crate::Ledger::reserve)
    /// does.
    pub fn reserve(&self, bytes: u64) -> Option<Reservation> {
        self.conn.lock().ledger.reserve(bytes)
    }

    /// Waits for the peer's head. Safe to drop and call again. Allocates nothing once warm.
    pub async fn head(&self) -> Result<Received, Error> {
        poll_fn(|cx| self.poll_head(cx)).await.map_err(|error| self.named(error))
    }

    /// Waits until the server has asked for the content, or has answered (RFC 9110 §10.1.1); returns true if
    /// it has asked, or has answered 2xx, after which it takes the content as well. Safe to drop and call
    /// again.
    ///
    /// # Errors
    /// As [`Self::head`].
    pub async fn go_ahead(&self) -> Result<bool, Error> {
        poll_fn(|cx| {
            self.conn.poll_wait(self.at, Side::Read, cx, |connection| {
                let slot = connection.slots.get(self.at)?;
                match &slot.failed {
                    _ if slot.incoming.is_head_here() => {
                        Some(Ok(slot.incoming.status().is_some_and(Status::is_success)))
                    }
                    _ if slot.is_told_to_go_on => Some(Ok(true)),
                    failed => failed.as_ref().map(|error| Err(error.clone().during(Phase::Head))),
                }
            })
        })
        .await
        .map_err(|error| self.named(error))
    }

    /// Keeps interim responses (RFC 9110 §15.2) for [`Self::interim`]; if it is called before the head is
    /// awaited, none is lost.
    pub fn keep_interim(&self) {
        if let Some(slot) = self.conn.lock().slots.get(self.at) {
            slot.incoming.keep_interim();
        }
    }

    /// Waits for an interim response; returns none once the final one has come. Give it back with
    /// [`Self::give_head`]. Safe to drop and call again.
    ///
    /// # Errors
    /// As [`Self::head`].
    pub async fn interim(&self) -> Result<Option<Box<Head>>, Error> {
        poll_fn(|cx| {
            self.conn.poll_wait(self.at, Side::Read, cx, |connection| {
                let slot = connection.slots.get(self.at)?;
                match (slot.incoming.take_interim(), &slot.failed) {
                    (Some(head), _) => Some(Ok(Some(head))),
                    _ if slot.incoming.is_head_here() => Some(Ok(None)),
                    (None, failed) => failed.as_ref().map(|error| Err(error.clone().during(Phase::Head))),
                }
            })
        })
        .await
        .map_err(|error| self.named(error))
    }

    fn poll_head(&self, cx: &mut Context<'_>) -> Poll<Result<Received, Error>> {
        self.conn.poll_wait(self.at, Side::Read, cx, |connection| {
            let slot = connection.slots.get(self.at)?;
            slot.incoming.await_head();
            if let Some((head, ended)) = slot.incoming.take_head() {
                slot.head_is_here();
                slot.marks.iter_mut().for_each(|marks| marks.head_is_taken(ended));
                return Some(Ok(Received { head, ended }));
            }
            slot.failed.as_ref().map(|error| Err(error.clone().during(Phase::Head)))
        })
    }

    /// Returns true if everything from the peer has come, or the stream has failed.
    pub(crate) fn is_answered(&self) -> bool {
        self.conn.lock().slots.get(self.at).is_none_or(|slot| slot.has_ended())
    }

    /// Waits for content and swaps it into `chunk`; the previous content of `chunk` goes back to the peer's
    /// window, and its memory to the connection. False when there is no more.
    pub(crate) fn poll_content(
        &self,
        chunk: &mut Content,
        cx: &mut Context<'_>,
    ) -> Poll<Result<bool, Error>> {
        let mut returned = chunk.len();
        chunk.clear();
        self.conn
            .poll_wait(self.at, Side::Read, cx, |connection| {
                connection.give_back(self.at, std::mem::take(&mut returned));
                if !chunk.is_none() {
                    // A waiting reader holds no content memory.
                    connection.give_content(std::mem::take(chunk));
                }
                let slot = connection.slots.get(self.at)?;
                if !slot.incoming.content().is_empty() {
                    if let Some(excess) = slot.counts.excess() {
                        return Some(Err(excess));
                    }
                    *chunk = std::mem::take(slot.incoming.content_mut());
                    return Some(Ok(true));
                }
                if slot.incoming.has_ended() {
                    slot.marks.iter_mut().for_each(Marks::content_is_taken);
                    return Some(Ok(false));
                }
                if let Some(error) = &slot.failed {
                    return Some(Err(error.clone().during(Phase::Content)));
                }
                match slot.expectation {
                    Expectation::None => None,
                    Expectation::Waiting => {
                        connection.invite_content(self.at);
                        None
                    }
                    Expectation::Declined => Some(Err(Error::usage(DECLINED))),
                }
            })
            .map_err(|error| self.named(error))
    }

    /// Bounds the bytes of content that are still handed out.
    pub(crate) fn bound_content(&self, bytes_max: u64) {
        if let Some(slot) = self.conn.lock().slots.get(self.at) {
            let here = slot.incoming.content().len();
            slot.counts.bound(bytes_max, here);
        }
    }

    /// Returns the trailers, once the content has ended and if there are any.
    pub(crate) fn take_trailers(&self) -> Option<Box<Head>> {
        self.conn.lock().slots.get(self.at)?.incoming.take_trailers()
    }

    /// Returns an empty head, preferably a used one; give it back with [`Self::give_head`].
    #[inline]
    pub fn lend_head(&self) -> Box<Head> {
        let mut head = self.conn.lock().spares.lend_head();
        if head.fields.capacity_bytes() == 0 {
            head.fields = usual_section();
        }
        head
    }

    /// Gives the memory of a body and of a head back, under one lock; nothing more can be read.
    pub fn give_body(body: &mut Body, head: Option<Box<Head>>) {
        body.give_all(head);
    }

    /// Gives back the sending direction, whose message is complete, and under the same lock the received
    /// content and a head.
    pub fn finish(mut self, received: Option<&mut Body>, head: Option<Box<Head>>) -> Sent {
        match received {
            Some(body) => {
                body.join(self);
                body.give_all(head);
            }
            None => self.drop_with(head, Content::default()),
        }
        Sent::whole()
    }

    /// Returns the sides that this handle holds.
    pub(crate) fn sides(&self) -> Sides {
        self.sides
    }

    /// Empties this handle: the connection has taken its sides back.
    pub(crate) fn let_go(&mut self) {
        self.sides = Sides::NONE;
    }

    /// Adds the sides that `other`, a handle of the same stream, holds.
    pub(crate) fn join(&mut self, mut other: Self) {
        debug_assert!(self.at == other.at);
        self.sides = self.sides.with(std::mem::replace(&mut other.sides, Sides::NONE));
    }

    /// Gives a head back for the next message.
    pub fn give_head(&self, head: Box<Head>) {
        self.conn.lock().spares.give_head(head);
    }

    /// Runs a command of the machine on this stream, without waiting. Bytes that it writes leave with the
    /// next turn.
    pub fn command<T>(
        &self,
        run: impl FnOnce(&mut Machine, StreamKey, &mut alula_machine::OutBuf) -> Result<T, Refusal>,
    ) -> Result<T, Error> {
        let mut guard = self.conn.lock();
        let connection = &mut *guard;
        let slot = connection.slots.get(self.at).ok_or_else(Error::cancelled)?;
        if let Some(error) = &slot.failed {
            return Err(error.clone().during(Phase::Send));
        }
        let stream = slot.stream.ok_or_else(Error::cancelled)?;
        let result = run(&mut connection.machine, stream, connection.output.buffer()).map_err(Error::refused);
        connection.wake_task_of_server();
        self.conn.unlock_and_wake(guard);
        result.map_err(|error| self.named(error))
    }

    /// Sends the head of an answer whose content follows. `reads_on` says that the content of the request may
    /// still be read: a client that waits to be asked for it is asked before a head of 2xx.
    ///
    /// # Errors
    /// The head cannot be sent, or the stream is gone. No final head has been sent then.
    pub fn begin_answer(&self, head: &ResponseHead<'_>, reads_on: bool) -> Result<(), Error> {
        let mut connection = self.conn.lock();
        let result = connection.send_head(self.at, head, false, reads_on);
        connection.wake_task_of_server();
        self.conn.unlock_and_wake(connection);
        result
    }

    /// Sends the head of an answer and, under the same lock, as much of its content as can be sent at once;
    /// `sent` says how much that was. False when [`write`](Self::write) has to send the rest, with which the
    /// message ends. `reads_on` is as for [`begin_answer`](Self::begin_answer).
    ///
    /// # Errors
    /// As [`begin_answer`](Self::begin_answer).
    pub fn answer(
        &self,
        head: &ResponseHead<'_>,
        content: &[u8],
        reads_on: bool,
        sent: &mut usize,
    ) -> Result<bool, Error> {
        let mut connection = self.conn.lock();
        let result = connection.answer(self.at, head, content, reads_on, sent);
        connection.wake_task_of_server();
        self.conn.unlock_and_wake(connection);
        result
    }

    /// Does the same as [`answer`](Self::answer), with content in several pieces; `sent` counts the bytes of
    /// all of them together.
    ///
    /// # Errors
    /// As [`begin_answer`](Self::begin_answer).
    pub fn answer_parts(
        &self,
        head: &ResponseHead<'_>,
        parts: &[&[u8]],
        reads_on: bool,
        sent: &mut usize,
    ) -> Result<bool, Error> {
        let mut connection = self.conn.lock();
        let result = connection.answer_parts(self.at, head, parts, reads_on, sent);
        connection.wake_task_of_server();
        self.conn.unlock_and_wake(connection);
        result
    }

    /// Sends content, waiting for the peer's windows and for room in the output. Dropping the future keeps
    /// what was sent; `sent` says how much that was. Allocates nothing once warm.
    pub async fn write(&self, data: &[u8], end: bool, sent: &mut usize) -> Result<(), Error> {
        poll_fn(|cx| self.poll_write(data, end, sent, cx)).await
    }

    /// Waits until content can be sent, and returns the number of bytes. Safe to drop and call again.
    pub(crate) async fn writable(&self) -> Result<usize, Error> {
        poll_fn(|cx| {
            self.conn.poll_wait(self.at, Side::Write, cx, |connection| connection.await_room_of(self.at))
        })
        .await
        .map_err(|error| self.named(error))
    }

    /// Sends as much of `data` as possible now, and returns the number of bytes.
    pub(crate) fn try_write(&self, data: &[u8]) -> Result<usize, Error> {
        let (mut connection, mut sent) = (self.conn.lock(), 0);
        let written = connection.write(self.at, data, false, &mut sent);
        let connection = self.conn.push_out(connection);
        self.conn.unlock_and_wake(connection);
        match written {
            Some(Ok(())) => Ok(data.len()),
            Some(Err(error)) => Err(self.named(error)),
            None => Ok(sent),
        }
    }

    /// Sends content as [`write`](Self::write) does, until the head of the response has come. Content for
    /// which there is room is sent even then, unless the response is of 300 or more: the server wants no more
    /// of it.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub async fn write_until_answered(
        &self,
        data: &[u8],
        end: bool,
        sent: &mut usize,
    ) -> Result<Written, Error> {
        poll_fn(|cx| {
            self.conn.poll_wait(self.at, Side::Write, cx, |connection| match connection.slots.get(self.at) {
                Some(slot) if slot.is_declined() => Some(Ok(Written::Declined)),
                _ => match connection.write(self.at, data, end, sent) {
                    Some(written) => Some(written.map(|()| Written::Whole)),
                    // The server may wait for the reader of its response, whom this call keeps from reading.
                    None => connection.is_head_here(self.at).then_some(Ok(Written::Answered)),
                },
            })
        })
        .await
        .map_err(|error| self.named(error))
    }

    /// Stops sending although the message is not complete: dropping the writer does not reset the stream
    /// while the response is read.
    pub fn end_sending(&self) {
        self.with_slot(Slot::end_sending);
    }

    pub(crate) fn poll_write(
        &self,
        data: &[u8],
        end: bool,
        sent: &mut usize,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Error>> {
        let written = self
            .conn
            .poll_wait(self.at, Side::Write, cx, |connection| connection.write(self.at, data, end, sent));
        written.map_err(|error| self.named(error))
    }

    /// Ends the message with trailers (RFC 9110 §6.5).
    pub fn write_trailers(&self, trailers: &FieldSection) -> Result<(), Error> {
        let mut connection = self.conn.lock();
        let written = connection.write_trailers(self.at, trailers);
        let connection = self.conn.push_out(connection);
        self.conn.unlock_and_wake(connection);
        written.map_err(|error| self.named(error))
    }

    /// Tells the server another priority for the response (RFC 9218 §6).
    ///
    /// # Errors
    /// The urgency is above 7, or the stream is gone.
    pub fn reprioritise(&self, priority: alula_h2::Priority) -> Result<(), Error> {
        self.command(|machine, stream, _| machine.reprioritise(stream, priority))?;
        let connection = self.conn.push_out(self.conn.lock());
        self.conn.unlock_and_wake(connection);
        Ok(())
    }

    pub(crate) fn drop_with(&mut self, head: Option<Box<Head>>, content: Content) {
        let sides = std::mem::replace(&mut self.sides, Sides::NONE);
        self.conn.release(self.at, sides, head, content);
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.sides != Sides::NONE {
            self.drop_with(None, Content::default());
        }
    }
}

/// The result of [`Stream::write_until_answered`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Written {
    /// All content was sent, or the response is complete.
    Whole,
    /// The response has begun, and some content is not sent.
    Answered,
    /// The server has answered that it wants no more content.
    Declined,
}

/// A received head, and whether the message ended with it.
pub struct Received {
    /// The control data and the field section; give it back with [`Stream::give_head`].
    pub head: Box<Head>,
    /// True if no content and no trailers follow.
    pub ended: bool,
}

/// Returns a section with room for a usual answer, which need not grow step by step.
#[cold]
fn usual_section() -> FieldSection {
    FieldSection::with_capacity(8, 192)
}

/// The times of the phases of its exchange.
impl Stream {
    /// Returns the times at which its connection was opened, if they were kept. Allocates nothing.
    pub fn opened(&self) -> Option<Opened> {
        self.conn().opened.get().copied()
    }

    /// Records the times of the exchange, for a call that began at this time. `is_sent` says that the request
    /// has no content.
    pub fn time_since(&self, began: Instant, is_sent: bool) {
        let queued = Instant::now();
        let sent = is_sent.then_some(queued);
        self.with_slot(|slot| slot.marks = Some(Marks { began, queued, sent, head: None, end: None }));
    }

    /// Returns the time of each phase, if it is timed. Allocates nothing.
    pub fn marks(&self) -> Option<Marks> {
        self.with_slot(|slot| slot.marks).flatten()
    }
}
