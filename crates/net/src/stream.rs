//! A handle of one stream, or of one of its directions. Owned and `Send`; gives everything back when dropped.

use std::{
    future::poll_fn,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    task::{Context, Poll},
};

use alula_fields::{FieldSection, Head, ResponseHead, Status, StreamKey};
use tokio::time::Instant;

use crate::{
    body::Body,
    conn::Conn,
    content::Content,
    error::{Cause, Error, Phase, Refusal, Retry},
    hand_over::Side,
    machine::Machine,
    shared::{OUTPUT_SOFT_LIMIT, Shared},
    slot::{Sides, Slot, SlotKey},
    version::Version,
    writer::{BodyWriter, Sent},
};

/// One stream of a connection, seen from one side.
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

    /// The peer's address; one that is no host's (RFC 1122 §3.2.1.3) when it has none.
    pub fn peer(&self) -> SocketAddr {
        self.conn.peer().unwrap_or(SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), 0))
    }

    /// What the connection speaks.
    pub fn version(&self) -> Version {
        self.conn.version()
    }

    /// What TLS has agreed on with the peer; none in clear text. Allocates.
    #[cfg(feature = "tls")]
    pub fn tls(&self) -> Option<crate::TlsFacts> {
        self.conn.lock().tls.as_ref().map(|tls| tls.facts())
    }

    /// The two directions as handles of their own: what is received, what is sent.
    #[must_use]
    pub fn split(mut self) -> (Self, Self) {
        debug_assert!(self.sides == Sides::BOTH);
        self.sides = Sides::READ;
        let send = Self { conn: self.conn.clone(), at: self.at, sides: Sides::WRITE };
        (self, send)
    }

    /// The content that this stream receives; `ended` says that there is none.
    pub fn into_body(self, ended: bool) -> Body {
        Body::new(self, ended)
    }

    /// What sends content on this stream, whose head has been sent.
    pub fn into_writer(self) -> BodyWriter {
        BodyWriter::new(self)
    }

    /// Gives up the sending direction, whose message is whole. Allocates nothing.
    pub fn sent_all(&mut self) -> Sent {
        self.sides = self.sides.without(Sides::WRITE);
        self.conn.release(self.at, Sides::WRITE, [None, None], Content::default());
        Sent::whole()
    }

    pub(crate) fn conn(&self) -> &Conn {
        &self.conn
    }

    pub(crate) fn at(&self) -> SlotKey {
        self.at
    }

    /// Looks at what the stream holds, unless it is gone.
    pub(crate) fn with_slot<T>(&self, look: impl FnOnce(&mut Slot) -> T) -> Option<T> {
        self.conn.lock().slot(self.at).map(look)
    }

    /// Lets the peer of this stream be as slow as it likes, both ways.
    pub fn allow_slow_peer(&self) {
        if let Some(slot) = self.conn.lock().slot(self.at) {
            slot.may_be_slow = true;
        }
    }

    /// Waits for the peer's head. Safe to drop and call again. Allocates nothing once warm.
    pub async fn head(&self) -> Result<Received, Error> {
        poll_fn(|cx| self.poll_head(cx)).await
    }

    /// Waits until the server has told us to send our content, or has answered without it (RFC 9110 §10.1.1): true in the
    /// first case. Safe to drop and call again.
    ///
    /// # Errors
    /// As [`Self::head`].
    pub async fn go_ahead(&self) -> Result<bool, Error> {
        poll_fn(|cx| {
            self.conn.poll_wait(self.at, Side::Read, cx, |shared| {
                let slot = shared.slot(self.at)?;
                match &slot.failed {
                    _ if slot.head.is_some() => Some(Ok(false)),
                    _ if slot.is_told_to_go_on => Some(Ok(true)),
                    failed => failed.as_ref().map(|error| Err(error.clone().during(Phase::Head))),
                }
            })
        })
        .await
    }

    /// Keeps interim responses (RFC 9110 §15.2) for [`Self::interim`]; said before the head is waited for, it misses none.
    pub fn keep_interim(&self) {
        if let Some(slot) = self.conn.lock().slot(self.at) {
            slot.keeps_interim = true;
        }
    }

    /// Waits for an interim response; none when the final one has come. Give it back with [`Self::give_head`]. Safe to drop and
    /// call again.
    ///
    /// # Errors
    /// As [`Self::head`].
    pub async fn interim(&self) -> Result<Option<Box<Head>>, Error> {
        poll_fn(|cx| {
            self.conn.poll_wait(self.at, Side::Read, cx, |shared| {
                let slot = shared.slot(self.at)?;
                match (slot.interim.pop_front(), &slot.failed) {
                    (Some(head), _) => Some(Ok(Some(head))),
                    _ if slot.head.is_some() => Some(Ok(None)),
                    (None, failed) => failed.as_ref().map(|error| Err(error.clone().during(Phase::Head))),
                }
            })
        })
        .await
    }

    fn poll_head(&self, cx: &mut Context<'_>) -> Poll<Result<Received, Error>> {
        self.conn.poll_wait(self.at, Side::Read, cx, |shared| {
            let slot = shared.slot(self.at)?;
            slot.is_awaited = true;
            if !slot.interim.is_empty() {
                // Nobody wanted to hear of them.
                slot.interim.clear();
            }
            if let Some(head) = slot.head.take() {
                let ended = slot.ended && slot.trailers.is_none() && slot.content.is_empty();
                if slot.deadline.is_some() {
                    slot.head_is_here();
                }
                slot.mark_head(ended);
                return Some(Ok(Received { head, ended }));
            }
            slot.failed.as_ref().map(|error| Err(error.clone().during(Phase::Head)))
        })
    }

    /// Whether all that the peer sends has come, or the stream has failed.
    pub(crate) fn is_answered(&self) -> bool {
        self.conn.lock().slot(self.at).is_none_or(|slot| slot.ended || slot.failed.is_some())
    }

    /// Waits for content and puts it into `chunk`; what `chunk` held is given back to the peer's window, and its memory to the
    /// connection. False when there is no more.
    pub(crate) fn poll_content(
        &self,
        chunk: &mut Content,
        cx: &mut Context<'_>,
    ) -> Poll<Result<bool, Error>> {
        let mut returned = chunk.len();
        chunk.clear();
        self.conn.poll_wait(self.at, Side::Read, cx, |shared| {
            shared.give_back(self.at, std::mem::take(&mut returned));
            if chunk.capacity() > 0 {
                // Whoever waits holds no memory.
                shared.give_content(std::mem::take(chunk));
            }
            let slot = shared.slot(self.at)?;
            if !slot.content.is_empty() {
                *chunk = std::mem::take(&mut slot.content);
                return Some(Ok(true));
            }
            if slot.ended {
                slot.mark_end();
                return Some(Ok(false));
            }
            if slot.expects_continue {
                shared.invite_content(self.at);
                return None;
            }
            slot.failed.as_ref().map(|error| Err(error.clone().during(Phase::Content)))
        })
    }

    /// The trailers, once the content has ended and if there are any.
    pub(crate) fn take_trailers(&self) -> Option<Box<Head>> {
        self.conn.lock().slot(self.at)?.trailers.take()
    }

    /// A cleared head to build a message in, a used one if there is any; give it back with [`Self::give_head`].
    pub fn lend_head(&self) -> Box<Head> {
        self.conn.lock().lend_head()
    }

    /// Gives the memory of a body and of a head back, under one lock; nothing more can be read.
    pub fn give_body(body: &mut Body, head: Option<Box<Head>>) {
        body.give_all([head, None]);
    }

    /// Gives back the sending direction, whose message is whole, and under the same lock the content that was received
    /// and the heads of both messages.
    pub fn finish(mut self, received: Option<&mut Body>, heads: [Option<Box<Head>>; 2]) -> Sent {
        match received {
            Some(body) => {
                body.join(self);
                body.give_all(heads);
            }
            None => self.drop_with(heads, Content::default()),
        }
        Sent::whole()
    }

    /// Makes this handle hold what `other`, a handle of the same stream, holds.
    pub(crate) fn join(&mut self, mut other: Self) {
        debug_assert!(self.at == other.at);
        self.sides = self.sides.with(std::mem::replace(&mut other.sides, Sides::NONE));
    }

    /// The present; within a run of a server's task the time at which the run began, which reads no clock.
    pub fn now(&self) -> Instant {
        let shared = self.conn.lock();
        if shared.hand_over.task_runs() { self.conn.instant(shared.now) } else { Instant::now() }
    }

    /// Gives a head back for the next message.
    pub fn give_head(&self, head: Box<Head>) {
        self.conn.lock().give_head(head);
    }

    /// Runs a command of the machine on this stream, at once. What it writes leaves with the next turn.
    pub fn command<T>(
        &self,
        run: impl FnOnce(&mut Machine, StreamKey, &mut alula_fields::OutBuf) -> Result<T, Refusal>,
    ) -> Result<T, Error> {
        let mut guard = self.conn.lock();
        let shared = &mut *guard;
        let slot = shared.slot(self.at).ok_or(Error::cancelled())?;
        if let Some(error) = &slot.failed {
            return Err(error.clone().during(Phase::Send));
        }
        let stream = slot.stream.ok_or(Error::cancelled())?;
        let result = run(&mut shared.machine, stream, &mut shared.out).map_err(Error::refused);
        shared.wake_task_of_server();
        self.conn.unlock_and_wake(guard);
        result
    }

    /// Sends the head of an answer and, under the same lock, as much of its content as can be sent at once; `sent` says how much
    /// that was. False when [`write`](Self::write) has to send the rest, with which the message ends.
    ///
    /// # Errors
    /// When the head cannot be sent; nothing has been sent then. Or the stream is gone.
    pub fn answer(&self, head: &ResponseHead<'_>, content: &[u8], sent: &mut usize) -> Result<bool, Error> {
        let mut shared = self.conn.lock();
        let result = shared.answer(self.at, head, content, sent);
        shared.wake_task_of_server();
        self.conn.unlock_and_wake(shared);
        result
    }

    /// Sends content, waiting for the peer's windows and for room in the output. Dropping the future keeps what
    /// was sent; `sent` says how much that was. Allocates nothing once warm.
    pub async fn write(&self, data: &[u8], end: bool, sent: &mut usize) -> Result<(), Error> {
        poll_fn(|cx| self.poll_write(data, end, sent, cx)).await
    }

    fn poll_write(
        &self,
        data: &[u8],
        end: bool,
        sent: &mut usize,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Error>> {
        self.conn.poll_wait(self.at, Side::Write, cx, |shared| shared.write(self.at, data, end, sent))
    }

    /// Ends the message with trailers (RFC 9110 §6.5).
    pub fn write_trailers(&self, trailers: &FieldSection) -> Result<(), Error> {
        self.command(|machine, stream, out| machine.send_trailers(stream, trailers, out))?;
        self.with_slot(Slot::mark_sent);
        let shared = self.conn.push_out(self.conn.lock());
        self.conn.unlock_and_wake(shared);
        Ok(())
    }

    /// Tells the server another priority for the response that is awaited or arrives (RFC 9218 §6).
    ///
    /// # Errors
    /// The urgency is above 7, or the stream is gone.
    pub fn reprioritise(&self, priority: alula_h2::Priority) -> Result<(), Error> {
        self.command(|machine, stream, _| machine.reprioritise(stream, priority))?;
        let shared = self.conn.push_out(self.conn.lock());
        self.conn.unlock_and_wake(shared);
        Ok(())
    }

    pub(crate) fn drop_with(&mut self, heads: [Option<Box<Head>>; 2], content: Content) {
        let sides = std::mem::replace(&mut self.sides, Sides::NONE);
        self.conn.release(self.at, sides, heads, content);
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.sides != Sides::NONE {
            self.drop_with([None, None], Content::default());
        }
    }
}

/// A head received, and whether the message ended with it.
pub struct Received {
    /// The control data and the field section; give it back with [`Stream::give_head`].
    pub head: Box<Head>,
    /// No content and no trailers follow.
    pub ended: bool,
}

impl Error {
    /// The work was given up on this side.
    pub const fn cancelled() -> Self {
        Self::new(Phase::Send, Cause::Cancelled, Retry::IfIdempotent)
    }
}

impl Shared {
    fn answer(
        &mut self,
        at: SlotKey,
        head: &ResponseHead<'_>,
        content: &[u8],
        sent: &mut usize,
    ) -> Result<bool, Error> {
        let slot = self.slot(at).ok_or(Error::cancelled())?;
        if let Some(error) = &slot.failed {
            return Err(error.clone().during(Phase::Send));
        }
        let stream = slot.stream.ok_or(Error::cancelled())?;
        let is_whole = content.is_empty();
        self.machine.send_response(stream, head, is_whole, &mut self.out).map_err(Error::refused)?;
        match is_whole {
            true => Ok(true),
            false => self.write(at, content, true, sent).map_or(Ok(false), |written| written.map(|()| true)),
        }
    }

    fn write(&mut self, at: SlotKey, data: &[u8], end: bool, sent: &mut usize) -> Option<Result<(), Error>> {
        let slot = self.slot(at)?;
        if let Some(error) = &slot.failed {
            return Some(Err(error.clone().during(Phase::Send)));
        }
        let Some(stream) = slot.stream else { return Some(Err(Error::cancelled())) };
        if slot.ended && self.machine.is_client() {
            // The response is whole: nobody waits for the rest of the request.
            return Some(Ok(()));
        }
        if self.output_is_full() {
            // A machine that schedules tells who may go on; else all are woken.
            self.writers_wait |= !self.machine.await_room(stream);
            return None;
        }
        let is_last = end;
        let (rest, end) = self.piece(&data[*sent..], end);
        match self.machine.send_data(stream, rest, end, &mut self.out) {
            Ok(taken) => {
                *sent += taken;
                let slot = &mut self.slots[at.index as usize];
                slot.sent += taken as u64;
                if is_last && *sent == data.len() {
                    slot.mark_sent();
                }
                // HTTP/1.1 has no windows that tell: the rest follows when this has gone.
                self.writers_wait |= self.machine.is_http1() && *sent < data.len();
            }
            Err(error) => return Some(Err(Error::refused(error))),
        }
        (*sent == data.len()).then_some(Ok(()))
    }

    /// As much of content as is written at once: where no window bounds it, the output does.
    #[inline]
    fn piece<'d>(&self, data: &'d [u8], end: bool) -> (&'d [u8], bool) {
        if data.len() <= OUTPUT_SOFT_LIMIT || !self.machine.is_http1() {
            return (data, end);
        }
        (&data[..OUTPUT_SOFT_LIMIT], false)
    }

    /// Gives octets that were taken out back to the peer's windows.
    pub(crate) fn give_back(&mut self, at: SlotKey, octets: u32) {
        if octets > 0
            && let Some(stream) = self.slot(at).and_then(|slot| slot.stream)
        {
            self.release_capacity(stream, octets);
        }
    }

    /// Tells a client that waits for it to send its content.
    #[cold]
    fn invite_content(&mut self, at: SlotKey) {
        let Some(slot) = self.slot(at) else { return };
        slot.expects_continue = false;
        if let Some(stream) = slot.stream {
            let head = ResponseHead { status: Status::CONTINUE, fields: &FieldSection::new() };
            // Who has answered already invites nobody.
            let _ = self.machine.send_interim(stream, &head, &mut self.out);
        }
    }

    fn wake_task_of_server(&mut self) {
        if !self.machine.is_client() {
            self.wake_task();
        }
    }
}
