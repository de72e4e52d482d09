//! The state of a connection under its lock: the machine, and the parts that move bytes and wake callers.
//!
//! Each part owns its state; this module composes them. Everything here is memory work: no system call, no
//! user code, no waking. The files beside it that extend [`Connection`] each have one subject: `receive.rs`
//! (what comes), `send.rs` (what goes), `checks` (slow peers, idle time, deadlines), `memory` (the
//! account).

pub(crate) mod checks;
pub(crate) mod claim;
pub(crate) mod inbox;
pub(crate) mod input;
pub(crate) mod life;
pub(crate) mod membership;
pub(crate) mod memory;
pub(crate) mod open_queue;
pub(crate) mod output;
pub(crate) mod receive;
pub(crate) mod room;
pub(crate) mod send;
pub(crate) mod send_file;
pub(crate) mod stream;

use std::sync::Arc;

use alula_fields::Head;
use alula_h1 as h1;
use alula_h2::{self as h2, Awaited, ErrorCode, Violation};
use alula_machine::{Reason, StreamKey, Time};

#[cfg(feature = "tls")]
use crate::tls::Tls;
use crate::{
    connection::{
        checks::{idle::Idleness, progress::Progress, starvation::Starvation},
        claim::Claims,
        inbox::Inbox,
        input::Input,
        life::Life,
        membership::{Membership, News},
        memory::{account::Held, first_head::FirstHead, ledger::Ledger, spares::Spares},
        open_queue::OpenQueue,
        output::Output,
        room::Room,
        stream::{
            pace::PeerPace,
            slot::{Sides, SlotKey},
            table::Slots,
            tallies::Tallies,
        },
    },
    drive::{
        reader::{HandOver, Reader, Side},
        wakers::Wakes,
    },
    error::{Error, cause::Cause, limit::Overrun, refused::Refused},
    machine::{Machine, notices::Notice},
    message::content::Content,
    transport::ReadHalf,
};

pub(crate) struct Connection {
    pub(crate) machine: Machine,
    #[cfg(feature = "tls")]
    pub(crate) tls: Option<Box<Tls>>,
    pub(crate) input: Input,
    pub(crate) claims: Claims,
    pub(crate) output: Output,
    /// The bound on output, and the streams that wait for room in it.
    pub(crate) room: Room,
    pub(crate) slots: Slots,
    pub(crate) spares: Spares,
    /// The connection has the memory that a request needs (`rest.rs`).
    pub(crate) has_kit: bool,
    /// The reading half of the socket, and its present owner.
    pub(crate) hand_over: HandOver<ReadHalf>,
    /// Callers to wake once the lock is released.
    pub(crate) wake: Wakes,
    /// The news for a server's task.
    pub(crate) inbox: Inbox,
    /// Callers that wait to open a stream.
    pub(crate) queue: OpenQueue,
    pub(crate) life: Life,
    /// The news for the pool of a client.
    pub(crate) membership: Membership,
    /// The number of times that bytes arrived.
    pub(crate) heard: u64,
    pub(crate) now: Time,
    pub(crate) idleness: Idleness,
    pub(crate) starvation: Starvation,
    pub(crate) pace: PeerPace,
    /// The earliest deadline of a stream.
    pub(crate) next_deadline: Option<Time>,
    /// The memory and the counts of all connections of this server or client.
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) held: Held,
    pub(crate) first_head: FirstHead,
    /// The bytes that the machine has received.
    pub(crate) fed: u64,
    pub(crate) progress: Progress,
    pub(crate) tallies: Tallies,
}

impl Connection {
    pub(crate) fn new(machine: Machine, read_half: ReadHalf, ledger: Arc<Ledger>) -> Self {
        let limits = machine.limits();
        Self {
            #[cfg(feature = "tls")]
            tls: None,
            input: Input::default(),
            claims: Claims::default(),
            output: Output::default(),
            room: Room::new(limits),
            slots: Slots::default(),
            spares: Spares::default(),
            has_kit: false,
            hand_over: HandOver::new(read_half),
            wake: Wakes::default(),
            inbox: Inbox::default(),
            queue: OpenQueue::default(),
            life: Life::default(),
            membership: Membership::default(),
            heard: 0,
            now: Time::ZERO,
            idleness: Idleness::default(),
            starvation: Starvation::default(),
            pace: PeerPace::default(),
            next_deadline: None,
            held: Held::new(limits, &ledger),
            first_head: if machine.is_client() { FirstHead::Free } else { FirstHead::of(limits) },
            fed: 0,
            progress: Progress::default(),
            ledger,
            tallies: Tallies::default(),
            machine,
        }
    }

    /// Returns true if the bytes are those of TLS.
    pub(crate) const fn is_secure(&self) -> bool {
        #[cfg(feature = "tls")]
        return self.tls.is_some();
        #[cfg(not(feature = "tls"))]
        false
    }

    /// Returns true if a request would be sent at once.
    #[inline]
    pub(crate) fn takes_request(&self) -> bool {
        self.life.takes_streams() && !self.input.is_held_back() && self.machine.is_free()
    }

    /// Returns true if no stream is held by a handle, and nobody waits to open one.
    pub(crate) fn is_unused(&self) -> bool {
        self.slots.are_unused() && self.queue.is_empty()
    }
}

/// Streams.
impl Connection {
    /// Returns a slot for a stream of the machine.
    pub(crate) fn attach(&mut self, stream: StreamKey) -> SlotKey {
        self.note_stream();
        if !self.slots.has_free()
            && let Some(streams) = self.slots.add()
        {
            self.make_room(streams);
        }
        self.slots.attach(stream, self.heard, self.now)
    }

    /// Makes room for the events of so many streams in one turn. How many of them it happens to is chance,
    /// and a connection that had as many streams before must not allocate when it is more than ever.
    fn make_room(&mut self, streams: usize) {
        // Each has a request and a response, and may be waited for by who reads and by who writes.
        self.spares.expect_heads(2 * streams);
        self.wake.expect(2 * streams);
        if !self.machine.is_client() {
            self.inbox.expect(streams);
        }
    }

    /// Drops sides of a stream. An unfinished message is reset; the last side gives the slot back. Returns
    /// the time at which a request was sent that is given up so, if nothing has come on the connection since.
    pub(crate) fn release(&mut self, at: SlotKey, sides: Sides) -> Option<Time> {
        let slot = self.slots.get(at)?;
        let mut unheard_since = None;
        let woken = slot.let_go(sides);
        let unread = if sides.has(Sides::READ) { slot.incoming.content().len() } else { 0 };
        let (stream, held) = (slot.stream, slot.held);
        let (is_cut, has_ended) = (slot.is_cut_without(sides), slot.has_ended());
        self.hand_over.count_arrived(woken);
        if let Some(stream) = stream {
            if unread > 0 {
                self.release_capacity(stream, unread);
            }
            if let Some(reason) = self.reason_to_reset(stream, is_cut, held, has_ended) {
                self.machine.reset(stream, reason);
                unheard_since = self.unheard_since(at.index, sides);
                // The other half has to fail: the machine has forgotten the stream, so its waiter would wait
                // for ever.
                if held != Sides::NONE && !has_ended {
                    self.fail_other_half(at.index, is_cut);
                }
            }
        }
        if held == Sides::NONE {
            self.recycle(at);
        }
        unheard_since
    }

    /// Takes back handles of a stream, and the memory that its user had.
    #[inline]
    pub(crate) fn take_back(
        &mut self,
        at: SlotKey,
        sides: Sides,
        head: Option<Box<Head>>,
        content: Content,
    ) -> Option<Time> {
        self.give_back(at, content.len());
        let unheard_since = self.release(at, sides);
        if let Some(head) = head {
            self.spares.give_head(head);
        }
        self.give_content(content);
        self.take_notices();
        unheard_since
    }

    /// Returns the code with which a stream has to be reset whose sides were dropped, if it has to be. With
    /// `is_cut`, what is left to be sent is lost.
    fn reason_to_reset(
        &self,
        stream: StreamKey,
        is_cut: bool,
        held: Sides,
        has_ended: bool,
    ) -> Option<Reason> {
        if is_cut && self.machine.has_sent_all(stream) == Some(false) {
            // There are clients that take a response for whole that ends in CANCEL: Node's, for one.
            return Some(if self.machine.is_client() { Reason::Cancelled } else { Reason::Failed });
        }
        if has_ended || held.has(Sides::READ) {
            return None;
        }
        match !self.machine.is_client() {
            // A handler that answers may do without the rest of the request: it is dropped as it comes, and
            // once the answer is whole the peer is told that it need not send it (RFC 9113 §8.1).
            true if held.has(Sides::WRITE) => None,
            true => Some(Reason::NotWanted),
            false => Some(Reason::Cancelled),
        }
    }

    /// Ends the half of a stream that is still held after the stream was reset, because the other half was
    /// dropped.
    #[cold]
    fn fail_other_half(&mut self, index: u32, is_cut: bool) {
        let error = if is_cut { Error::unfinished() } else { Error::cancelled() };
        self.slots[index].failed = Some(error);
        self.wake_both(index);
    }

    fn recycle(&mut self, at: SlotKey) {
        let slot = &mut self.slots[at.index];
        self.tallies.keep(at, slot);
        if let (Some(stream), true) = (slot.stream, slot.failed.is_some()) {
            self.machine.forget(stream);
        }
        let (heads, head_bytes) = slot.incoming.take_heads();
        let content = self.slots.free(at.index);
        self.held.heads_went(head_bytes);
        self.give_content(content);
        heads.into_iter().flatten().for_each(|head| self.spares.give_head(head));
        if !self.life.has_ended() {
            self.wake_queue();
        }
    }

    /// Ends one stream with an error for its handles; the machine keeps it until the handles are gone.
    fn fail(&mut self, stream: StreamKey, error: Error) {
        let Some((index, slot)) = self.slots.of_stream(stream) else { return self.machine.forget(stream) };
        let at = slot.key(index);
        slot.failed = Some(error);
        if !self.machine.is_client() {
            self.inbox.cancel(at);
        }
        self.wake_both(index);
    }

    /// Ends one stream with an error for its handles, and tells the peer.
    pub(crate) fn fail_and_reset(&mut self, index: u32, error: Error, reason: Reason) {
        let slot = &mut self.slots[index];
        slot.failed = Some(error);
        if let Some(stream) = slot.stream {
            self.machine.reset(stream, reason);
        }
        self.wake_both(index);
    }
}

/// Memory that is used again.
impl Connection {
    /// Takes a content buffer back for the next stream; there is usually none.
    #[inline]
    pub(crate) fn give_content(&mut self, content: Content) {
        if content.capacity() > 0 {
            self.keep_content(content);
        } else if !content.is_none() {
            self.spares.keep_list(content);
        }
    }

    fn keep_content(&mut self, content: Content) {
        if self.held.is_tight() {
            self.held.content_went(content.capacity());
        } else {
            self.spares.keep_content(content);
        }
    }

    /// Gives back the content buffers that wait for the next streams.
    pub(crate) fn drop_spares(&mut self) {
        let bytes = self.spares.drop_contents();
        self.held.content_went(bytes);
    }
}

/// Notices of the machine.
impl Connection {
    #[inline(always)]
    pub(crate) fn take_notices(&mut self) {
        if !self.machine.has_notice() {
            return;
        }
        match self.machine.take_only_room() {
            true => self.is_free_again(),
            false => self.take_all_notices(),
        }
    }

    fn take_all_notices(&mut self) {
        while let Some(notice) = self.machine.poll_notice() {
            self.on_notice(notice);
        }
    }

    #[inline]
    fn on_notice(&mut self, notice: Notice) {
        match notice {
            Notice::Writable { stream } => {
                if let Some((index, _)) = self.slots.of_stream(stream) {
                    self.wake_later(index, Side::Write);
                }
            }
            Notice::Reset { stream, error } => {
                let is_left_out = self.machine.has_taken_requests();
                self.heed(error.cause());
                self.fail(stream, if is_left_out { error.left_out() } else { error });
            }
            Notice::Room => self.is_free_again(),
            Notice::Last(code) => {
                self.life.note_farewell(code);
                if let Some(code) = code {
                    self.life.heed(code);
                }
                self.stop_taking_streams();
            }
            Notice::Breach(violation) => self.note_breach(violation),
            Notice::Closed(error) => self.end(error),
            Notice::Other => {}
        }
    }

    /// Opens no more streams if this failure asks for HTTP/1.1, and this side speaks it.
    fn heed(&mut self, cause: &Cause) {
        if let Cause::Reset(code) | Cause::GoAway(code) = cause
            && self.life.heed(*code)
        {
            self.stop_taking_streams();
        }
    }

    /// Records a broken rule that ends one stream.
    #[cold]
    pub(crate) fn note_breach(&mut self, rule: Violation) {
        let head = self.machine.take_refused_head();
        self.note_breach_of(rule, head);
    }

    /// Records a rule that this request broke, which ends its stream.
    #[cold]
    pub(crate) fn note_breach_of(&mut self, rule: Violation, head: Option<Box<Head>>) {
        self.ledger.note_violation(rule);
        self.note_refused(Refused::by_rule(rule, head));
    }

    /// Records that a request was refused for want of memory. Its head is used again unless it is told of.
    #[cold]
    pub(crate) fn note_overload(&mut self, limit: Overrun, request: Box<Head>) {
        self.ledger.note_overrun(limit);
        let untold = self.note_refused(Refused::for_memory(limit, request));
        untold.and_then(Refused::into_head).into_iter().for_each(|head| self.spares.give_head(head));
    }

    /// Returns a refusal that was not reported yet.
    fn note_refused(&mut self, refused: Refused) -> Option<Refused> {
        if self.machine.is_client() { Some(refused) } else { self.inbox.refuse(refused) }
    }

    /// Wakes a caller that waits for this connection, or one that waits for any of the origin's: another
    /// request may be sent if there is room for its answer.
    #[inline]
    pub(crate) fn is_free_again(&mut self) {
        if self.machine.is_http1() && !self.machine.is_free() {
            return;
        }
        if self.life.takes_streams() {
            self.membership.tell(self.free_news());
        }
        self.wake_queue();
    }

    /// Returns the news of a connection that takes another request.
    pub(crate) fn free_news(&self) -> News {
        if self.machine.is_http1() { News::Free } else { News::Room }
    }
}

/// The end of a connection.
impl Connection {
    /// Refuses new streams, so that the connection ends with its last one, and tells callers that wait to
    /// open one.
    pub(crate) fn stop_taking_streams(&mut self) {
        self.life.close();
        self.wake_queue();
        self.wake_task();
    }

    /// Returns the error with which the peer went away, by its GOAWAY.
    #[cold]
    fn farewell(&self, code: ErrorCode) -> Error {
        Error::farewell(code).with_goaway_debug(self.machine.goaway_debug())
    }

    /// Returns the error for a stream that is not opened because the connection ends or has ended; nothing
    /// was sent.
    #[cold]
    pub(crate) fn takes_no_more(&self) -> Error {
        match (self.life.end(), self.life.farewell()) {
            (Some(error), _) => error.clone().before_sending(),
            (None, Some(code)) => self.farewell(code).before_sending(),
            (None, None) if self.machine.is_http1() => Error::refused(h1::SendError::GoingAway),
            (None, None) => Error::refused(h2::SendError::GoingAway),
        }
    }

    /// Ends the connection: every stream that is not complete fails.
    pub(crate) fn end(&mut self, error: Error) {
        if self.life.has_ended() {
            return;
        }
        if self.owes_answers(&error) {
            // It ends as any that takes no more requests: when the socket has taken all, or as a stuck one.
            return self.stop_taking_streams();
        }
        let error = match (self.life.farewell(), error.cause()) {
            // The peer's GOAWAY says more than that it closed, or that the connection broke.
            (Some(code), Cause::Closed | Cause::Io(..)) => self.farewell(code),
            _ => error,
        };
        self.fail_all(&error);
        self.ledger.note_error(&error);
        self.life.ends(error);
        self.membership.tell(News::Lost);
        self.queue.drain().for_each(|waker| self.wake.push(waker));
        self.wake_task();
    }

    /// Returns true if a client of HTTP/1.1 has closed its side after its last request, and the socket has
    /// not taken all of the answers.
    fn owes_answers(&self, error: &Error) -> bool {
        let is_at_rest = matches!(error.cause(), Cause::Http1(h1::ConnectionError::PeerClosed));
        is_at_rest && !self.machine.is_client() && self.output.unsent() > 0 && self.output.failure().is_none()
    }

    fn fail_all(&mut self, error: &Error) {
        // A peer that stopped answering is no peer that closes a connection as soon as it has opened it.
        let is_used = is_unheard(error) && self.heard > 0;
        let heard = (is_used || self.is_silent_end(error)).then_some(self.heard);
        let has_left = matches!(error.cause(), Cause::ClientLeft);
        for index in 0..self.slots.count() {
            self.slots[index].fail_with_connection(error, heard, is_used);
            if has_left && self.slots[index].stream.is_some() {
                // Its handler is dropped before it hears of an error: as when a stream is reset.
                self.inbox.cancel(self.slots[index].key(index));
            }
            self.wake_both(index);
        }
    }

    /// Returns true if the peer has closed a client's connection of HTTP/2 without a word: a request that was
    /// not the first on it, and after which nothing came, may have been sent while the peer was closing (over
    /// HTTP/1.1 the machine knows that by itself).
    fn is_silent_end(&self, error: &Error) -> bool {
        let is_lost = matches!(error.cause(), Cause::Closed | Cause::Io(..));
        is_lost && self.machine.is_client() && !self.machine.is_http1()
    }
}

/// Returns true if the connection has ended because a silent peer did not answer.
fn is_unheard(error: &Error) -> bool {
    matches!(error.cause(), Cause::Connection(h2::ConnectionError::TimedOut(Awaited::Pong)))
}

/// Waking.
impl Connection {
    #[inline]
    pub(crate) fn wake_later(&mut self, index: u32, side: Side) {
        let wait = &mut self.slots[index].waits[side as usize];
        self.hand_over.wake_caller(wait, &mut self.wake);
    }

    /// Wakes the callers that wait for either side of a stream.
    #[inline]
    pub(crate) fn wake_both(&mut self, index: u32) {
        self.wake_later(index, Side::Read);
        self.wake_later(index, Side::Write);
    }

    pub(crate) fn wake_task(&mut self) {
        self.hand_over.wake_task(&mut self.wake);
    }

    pub(crate) fn wake_task_of_server(&mut self) {
        if !self.machine.is_client() {
            self.wake_task();
        }
    }

    /// Lets a client's caller leave, and passes on its role as the reader.
    pub(crate) fn give_way(&mut self, leaves: impl Fn(Reader) -> bool) {
        if self.machine.is_client() {
            self.hand_over.give_way(leaves, &mut self.slots, &mut self.wake);
        }
    }

    /// Takes a caller out of the queue of those that wait to open a stream.
    pub(crate) fn leave_queue(&mut self, ticket: u64) {
        self.queue.leave(ticket);
        self.wake_queue();
    }

    fn wake_queue(&mut self) {
        if let Some(waker) = self.queue.first() {
            self.wake.push(waker.clone());
        }
    }
}
