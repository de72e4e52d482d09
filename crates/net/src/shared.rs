//! The state of a connection that its lock protects: the machine, the slots of its streams, and the octets on
//! their way in and out. Everything here is memory work; no system call, no user code, no waking.

use std::{
    collections::VecDeque,
    ops::Range,
    sync::{Arc, Weak},
    task::Waker,
};

use alula_fields::{Head, OutBuf, StreamKey, Time};
use alula_h1 as h1;
use alula_h2::{self as h2, ErrorCode};

#[cfg(feature = "tls")]
use crate::tls::Tls;
use crate::{
    cause::Cause,
    claim::Claim,
    conn::Conn,
    content::Content,
    error::Error,
    few::Few,
    hand_over::{HandOver, Side},
    happened::Notice,
    heads::Heads,
    idle::Idleness,
    ledger::Ledger,
    machine::Machine,
    memory::Held,
    pace::{Least, Pace},
    read_buf::ReadBuf,
    refused::Refused,
    room::Room,
    slot::{Sides, Slot, SlotKey},
    starving::Starving,
    tally::Tally,
    transport::ReadHalf,
    vacancy::{News, Vacancy},
    wakes::Wakes,
};

/// No slot has this number.
const NO_SLOT: u32 = u32::MAX;

/// A request that a server's peer has opened.
pub(crate) struct Accepted {
    pub(crate) at: SlotKey,
    pub(crate) head: Box<Head>,
    pub(crate) ended: bool,
}

pub(crate) struct Shared {
    pub(crate) machine: Machine,
    #[cfg(feature = "tls")]
    pub(crate) tls: Option<Box<Tls>>,
    /// What the machine has written and nobody has taken yet.
    pub(crate) out: OutBuf,
    /// What is being written to the socket; it goes before `out`.
    pub(crate) pending: OutBuf,
    /// Somebody is in a write call with `pending` in hand.
    pub(crate) writing: bool,
    /// The bound on both, and who waits for room.
    pub(crate) room: Room,
    /// The socket took no more; the connection's task waits for room.
    pub(crate) blocked: bool,
    /// The reading half of the socket, and who has it.
    pub(crate) hand_over: HandOver<ReadHalf>,
    /// What was read and is not used yet; within a poll also the buffer to read into.
    pub(crate) input: ReadBuf,
    /// Large content comes: the buffers to read into are the connection's own.
    pub(crate) keeps_input: bool,
    /// Memory for what is unread between two polls.
    pub(crate) stowed: Vec<u8>,
    /// The peer has closed its side.
    pub(crate) is_input_over: bool,
    /// It did without saying so over TLS (close_notify).
    pub(crate) is_truncated: bool,
    /// The machine was told so.
    pub(crate) is_end_told: bool,
    /// The machine has left octets that it takes once the exchange before them is over.
    pub(crate) is_gated: bool,
    /// Our direction of a tunnel was shut.
    pub(crate) is_shut: bool,
    /// The last read has emptied the socket, as far as it told: the next one asks the reactor before it takes a buffer.
    pub(crate) is_emptied: bool,
    /// So many reads do not ask, since one that did found something: asking counts for the budget of the task.
    pub(crate) reads_unasked: u8,
    /// The socket was not read, because the machine wanted nothing.
    pub(crate) is_read_stopped: bool,
    /// Why the socket takes no more octets, ever.
    pub(crate) output_failure: Option<Error>,
    #[cfg(feature = "tls")]
    pub(crate) plain: ReadBuf,
    pub(crate) slots: Vec<Slot>,
    /// The generation that a new slot begins with: none was used before.
    first_generation: u32,
    /// The slot that was freed last; each free slot names the one that was freed before it.
    free: u32,
    /// How many are free.
    free_count: u32,
    /// The slot of the machine's stream in slot 0: of the only stream, on most connections.
    of_first_stream: u32,
    /// The slots of the machine's other streams, by the stream's own slot less 1.
    by_stream: Vec<u32>,
    pub(crate) accepted: Few<Accepted>,
    /// Streams that were reset: on a server, nobody waits for their answers.
    pub(crate) cancelled: Vec<SlotKey>,
    /// On a server: a request was refused in this turn, and no handler called.
    pub(crate) refused: Option<Refused>,
    pub(crate) heads: Heads,
    /// Taken in turn, so that all of them get to know the largest content soon.
    pub(crate) contents: VecDeque<Content>,
    pub(crate) contents_octets: usize,
    /// Who gets the input that is being read, where it is not copied.
    pub(crate) claim: Option<Claim>,
    /// Who got a copy of the first that was read for it, and where that is in the input.
    pub(crate) copied: Option<(u32, Range<u32>)>,
    /// A list of the parts it has, without octets.
    pub(crate) list: Content,
    /// Handles to wake once the lock is released.
    pub(crate) wake: Wakes,
    /// How often something came.
    pub(crate) heard: u64,
    pub(crate) ended: Option<Error>,
    /// What the peer said was wrong when it went away, if it said so.
    farewell: Option<ErrorCode>,
    /// No new streams; the connection ends when the last handle is gone, or has ended.
    pub(crate) closing: bool,
    /// What has become of it, of which the origin's other connections were not told.
    pub(crate) news: Option<News>,
    /// Where a client's connection says that it is free, if it takes one request at a time.
    pub(crate) vacancy: Option<(Arc<Vacancy>, Weak<Conn>)>,
    queue: VecDeque<(u64, Waker)>,
    tickets: u64,
    pub(crate) now: Time,
    pub(crate) idleness: Idleness,
    pub(crate) starving: Starving,
    /// What all connections of this server or client keep together.
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) held: Held,
    pub(crate) least: Least,
    /// Whether the peer takes what the socket holds.
    pub(crate) pace: Pace,
    /// The pace of content that is read and dropped.
    pub(crate) discard_pace: Pace,
    /// Octets the socket has taken.
    pub(crate) written: u64,
    pub(crate) next_deadline: Option<Time>,
    /// How exchanges went whose slots are used again, where somebody asks.
    pub(crate) tallies: Option<Vec<(SlotKey, Tally)>>,
}

impl Shared {
    pub(crate) fn new(machine: Machine, read_half: ReadHalf, ledger: Arc<Ledger>) -> Self {
        let (held, least) = (Held::new(machine.limits(), &ledger), Least::new(machine.limits()));
        let room = Room::new(machine.limits());
        Self {
            machine,
            #[cfg(feature = "tls")]
            tls: None,
            out: OutBuf::new(),
            pending: OutBuf::new(),
            writing: false,
            room,
            blocked: false,
            hand_over: HandOver::new(read_half),
            input: ReadBuf::default(),
            keeps_input: false,
            stowed: Vec::new(),
            is_input_over: false,
            is_truncated: false,
            is_end_told: false,
            is_gated: false,
            is_shut: false,
            is_emptied: false,
            reads_unasked: 0,
            is_read_stopped: false,
            output_failure: None,
            #[cfg(feature = "tls")]
            plain: ReadBuf::default(),
            slots: Vec::new(),
            first_generation: 0,
            free: NO_SLOT,
            free_count: 0,
            of_first_stream: NO_SLOT,
            by_stream: Vec::new(),
            accepted: Few::default(),
            cancelled: Vec::new(),
            refused: None,
            heads: Heads::default(),
            contents: VecDeque::new(),
            contents_octets: 0,
            claim: None,
            copied: None,
            list: Content::default(),
            wake: Wakes::default(),
            heard: 0,
            ended: None,
            farewell: None,
            closing: false,
            news: None,
            vacancy: None,
            queue: VecDeque::new(),
            tickets: 0,
            now: Time::ZERO,
            idleness: Idleness::default(),
            starving: Starving::default(),
            ledger,
            held,
            least,
            pace: Pace::default(),
            discard_pace: Pace::default(),
            written: 0,
            next_deadline: None,
            tallies: None,
        }
    }

    /// Returns true if the octets are those of TLS.
    pub(crate) const fn is_secure(&self) -> bool {
        #[cfg(feature = "tls")]
        return self.tls.is_some();
        #[cfg(not(feature = "tls"))]
        false
    }

    /// Somebody is reading.
    pub(crate) fn in_turn(&self) -> bool {
        self.hand_over.in_turn()
    }

    /// The slot, unless its stream is gone.
    #[inline]
    pub(crate) fn slot(&mut self, at: SlotKey) -> Option<&mut Slot> {
        self.slots.get_mut(at.index as usize).filter(|slot| slot.generation == at.generation)
    }

    /// A slot for a stream of the machine.
    pub(crate) fn attach(&mut self, stream: StreamKey) -> SlotKey {
        self.note_stream();
        let index = match self.free {
            NO_SLOT => self.add_slot(),
            index => index,
        };
        let slot = &mut self.slots[index as usize];
        self.free = slot.next_free;
        self.free_count -= 1;
        slot.stream = Some(stream);
        slot.held = Sides::BOTH;
        slot.began_at = (slot.received, slot.sent);
        slot.heard = self.heard;
        let at = SlotKey { index, generation: slot.generation };
        match stream.slot() {
            0 => self.of_first_stream = index,
            machine_slot => {
                if self.by_stream.len() < machine_slot {
                    self.by_stream.resize(machine_slot, NO_SLOT);
                }
                self.by_stream[machine_slot - 1] = index;
            }
        }
        at
    }

    #[cold]
    fn add_slot(&mut self) -> u32 {
        if self.slots.is_empty() {
            // A connection that asks once at a time needs one.
            self.slots = Vec::with_capacity(1);
        }
        if self.slots.len() == self.slots.capacity() {
            self.slots.reserve(1);
            self.make_room(self.slots.capacity());
        }
        self.slots.push(Slot { generation: self.first_generation, next_free: NO_SLOT, ..Slot::default() });
        self.free_count += 1;
        self.slots.len() as u32 - 1
    }

    /// Makes room for what can happen to so many streams in one turn. How many of them it happens to is chance, and a connection
    /// that had as many streams before must not allocate when it is more than ever.
    fn make_room(&mut self, streams: usize) {
        // Each has a request and a response, and may be waited for by who reads and by who writes.
        self.heads.expect(2 * streams);
        self.wake.expect(2 * streams);
        if !self.machine.is_client() {
            self.accepted.expect(streams);
        }
    }

    /// The slot that holds what this stream of the machine receives.
    #[inline]
    pub(crate) fn of_stream(&mut self, stream: StreamKey) -> Option<(u32, &mut Slot)> {
        let index = match stream.slot() {
            0 => self.of_first_stream,
            machine_slot => *self.by_stream.get(machine_slot - 1)?,
        };
        let slot = self.slots.get_mut(index as usize)?;
        (slot.stream == Some(stream)).then_some((index, slot))
    }

    /// Lets go of sides of a stream. What is unfinished is reset; the last side gives the slot back.
    pub(crate) fn release(&mut self, at: SlotKey, sides: Sides) {
        let Some(slot) = self.slot(at) else { return };
        let mut woken = 0;
        if sides.has(Sides::READ) {
            woken += usize::from(slot.arrive(Side::Read));
        }
        if sides.has(Sides::WRITE) {
            woken += usize::from(slot.arrive(Side::Write));
        }
        let unread = if sides.has(Sides::READ) { slot.content.len() } else { 0 };
        slot.held = slot.held.without(sides);
        let (stream, held, ended) = (slot.stream, slot.held, slot.ended || slot.failed.is_some());
        // What is left to be sent is lost with the writer, or with the response if that is read without a writer.
        let is_cut = match slot.sends_no_more {
            false => sides.has(Sides::WRITE),
            true => held == Sides::NONE,
        };
        self.hand_over.count_arrived(woken);
        if let Some(stream) = stream {
            if unread > 0 {
                self.release_capacity(stream, unread);
            }
            if let Some(code) = self.reason_to_reset(stream, is_cut, held, ended) {
                self.machine.reset(stream, code);
            }
        }
        if held == Sides::NONE {
            self.recycle(at);
        }
    }

    /// Why a stream must be reset of which sides were let go, and with `is_cut` what there is left to send, if it must.
    fn reason_to_reset(
        &self,
        stream: StreamKey,
        is_cut: bool,
        held: Sides,
        ended: bool,
    ) -> Option<ErrorCode> {
        if is_cut && self.machine.has_sent_all(stream) == Some(false) {
            // There are clients that take a response for whole that ends in CANCEL: Node's, for one.
            return Some(if self.machine.is_client() {
                ErrorCode::CANCEL
            } else {
                ErrorCode::INTERNAL_ERROR
            });
        }
        if ended || held.has(Sides::READ) {
            return None;
        }
        match !self.machine.is_client() {
            // Whoever answers may do without the rest of the request: it is dropped as it comes, and once the answer
            // is whole the peer is told that it need not send it (RFC 9113 §8.1).
            true if held.has(Sides::WRITE) => None,
            true => Some(ErrorCode::NO_ERROR),
            false => Some(ErrorCode::CANCEL),
        }
    }

    fn recycle(&mut self, at: SlotKey) {
        self.keep_tally(at);
        let slot = &mut self.slots[at.index as usize];
        if let (Some(stream), true) = (slot.stream, slot.failed.is_some()) {
            self.machine.forget(stream);
        }
        let content = slot.recycle();
        let heads = [slot.head.take(), slot.trailers.take()];
        let head_octets = std::mem::take(&mut slot.head_octets);
        if head_octets > 0 {
            self.held.head_went(head_octets);
        }
        self.give_content(content);
        heads.into_iter().flatten().for_each(|head| self.heads.give(head));
        self.slots[at.index as usize].next_free = std::mem::replace(&mut self.free, at.index);
        self.free_count += 1;
        if self.ended.is_none() {
            self.wake_queue();
        }
    }

    /// Takes a content buffer back; as a rule there is none.
    #[inline]
    pub(crate) fn give_content(&mut self, content: Content) {
        if content.capacity() > 0 {
            self.keep_content(content);
        } else if !content.is_none() {
            self.keep_list(content);
        }
    }

    /// Keeps what is left of content whose memory the program has.
    #[cold]
    fn keep_list(&mut self, mut content: Content) {
        if self.list.is_none() {
            content.clear();
            self.list = content;
        }
    }

    fn keep_content(&mut self, mut content: Content) {
        let octets = content.capacity();
        if !self.held.is_tight() {
            content.clear();
            self.contents_octets += octets;
            self.contents.push_back(content);
        } else {
            self.held.content_went(octets);
        }
    }

    #[inline]
    pub(crate) fn lend_content(&mut self) -> Content {
        let content = self.contents.pop_front().unwrap_or_default();
        self.contents_octets -= content.capacity();
        content
    }

    /// Gives back the memory of an idle connection.
    pub(crate) fn trim(&mut self) {
        self.drop_spares();
        self.heads.leave();
        self.trim_slots();
        self.trim_input();
        self.list = Content::default();
        self.out.trim(0);
        self.pending.trim(0);
        self.machine.trim();
        self.held.note_trim();
        self.settle_memory();
    }

    /// Gives the slots back when there are several; none is in use.
    fn trim_slots(&mut self) {
        if self.slots.len() < 2 {
            return;
        }
        let generations = self.slots.iter().map(|slot| slot.generation);
        self.first_generation = generations.fold(self.first_generation, u32::max);
        (self.slots, self.by_stream) = (Vec::new(), Vec::new());
        (self.free, self.free_count) = (NO_SLOT, 0);
        self.accepted.shrink_to_fit();
        self.cancelled.shrink_to_fit();
        self.wake.trim();
    }

    /// Gives back the content buffers that wait for the next streams.
    pub(crate) fn drop_spares(&mut self) {
        self.contents = VecDeque::new();
        self.held.content_went(std::mem::take(&mut self.contents_octets));
    }

    #[inline(always)]
    pub(crate) fn take_notices(&mut self) {
        if self.machine.has_notice() {
            self.take_all_notices();
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
                if let Some((index, _)) = self.of_stream(stream) {
                    self.wake_later(index, Side::Write);
                }
            }
            Notice::Reset { stream, error } => self.fail(stream, error),
            Notice::StreamSlots => self.is_free_again(),
            Notice::Last(code) => {
                self.farewell = code.filter(|code| *code != ErrorCode::NO_ERROR);
                self.stop_taking_streams();
            }
            Notice::Breach(violation) => self.note_breach(violation),
            Notice::Closed(error) => self.end(error),
            Notice::Other => {}
        }
    }

    /// No new streams: the connection ends with its last. Who waits to open one is told.
    pub(crate) fn stop_taking_streams(&mut self) {
        self.closing = true;
        self.wake_queue();
        self.wake_task();
    }

    /// Another request may be sent if there is room for its answer: who waits for this connection hears of it, or who waits for any
    /// of the origin's.
    #[inline]
    pub(crate) fn is_free_again(&mut self) {
        if self.machine.is_http1() && !self.machine.is_free() {
            return;
        }
        if self.vacancy.is_some() && !self.closing {
            self.news = Some(self.is_free_news());
        }
        self.wake_queue();
    }

    /// What is said of a connection that takes another request.
    pub(crate) fn is_free_news(&self) -> News {
        if self.machine.is_http1() { News::Free } else { News::Room }
    }

    /// Ends one stream with an error for its handles; the machine keeps it until they are gone.
    fn fail(&mut self, stream: StreamKey, error: Error) {
        match self.of_stream(stream) {
            Some((index, slot)) => {
                slot.failed = Some(error);
                let generation = slot.generation;
                if !self.machine.is_client() {
                    self.cancelled.push(SlotKey { index, generation });
                }
                self.wake_later(index, Side::Read);
                self.wake_later(index, Side::Write);
            }
            None => self.machine.forget(stream),
        }
    }

    /// Why the peer went away, by its GOAWAY.
    #[cold]
    fn farewell(&self, code: ErrorCode) -> Error {
        Error::farewell(code).with_goaway_debug(self.machine.goaway_debug())
    }

    /// Why no stream is opened on a connection that ends or has ended; nothing was sent.
    #[cold]
    pub(crate) fn takes_no_more(&self) -> Error {
        match (&self.ended, self.farewell) {
            (Some(error), _) => error.clone().before_sending(),
            (None, Some(code)) => self.farewell(code).before_sending(),
            (None, None) if self.machine.is_http1() => Error::refused(h1::SendError::GoingAway),
            (None, None) => Error::refused(h2::SendError::GoingAway),
        }
    }

    /// Ends the connection: every stream that is not whole fails.
    pub(crate) fn end(&mut self, error: Error) {
        if self.ended.is_some() {
            return;
        }
        let error = match (self.farewell, error.cause()) {
            // What the peer said before it closed, or the connection broke, says more than that.
            (Some(code), Cause::Closed | Cause::Io(..)) => self.farewell(code),
            _ => error,
        };
        let is_silent = self.is_silent_end(&error);
        for index in 0..self.slots.len() as u32 {
            let slot = &mut self.slots[index as usize];
            if slot.stream.is_some() && slot.failed.is_none() {
                let is_unanswered = is_silent && slot.generation > 0 && slot.heard == self.heard;
                slot.failed = Some(if is_unanswered { error.clone().unanswered() } else { error.clone() });
            }
            self.wake_later(index, Side::Read);
            self.wake_later(index, Side::Write);
        }
        self.ledger.note_error(&error);
        self.ended = Some(error);
        self.closing = true;
        self.news = Some(News::Lost);
        while let Some((_, waker)) = self.queue.pop_front() {
            self.wake.push(waker);
        }
        self.wake_task();
    }

    /// Returns true if the peer has closed a client's connection of HTTP/2 and said nothing: to whom has sent on it what nothing
    /// came after, and what was not the first, it may have been closing before (HTTP/1.1's machine knows that by itself).
    fn is_silent_end(&self, error: &Error) -> bool {
        let is_lost = matches!(error.cause(), Cause::Closed | Cause::Io(..));
        is_lost && self.machine.is_client() && !self.machine.is_http1()
    }

    #[inline]
    pub(crate) fn wake_later(&mut self, index: u32, side: Side) {
        let wait = &mut self.slots[index as usize].waits[side as usize];
        self.hand_over.wake_caller(wait, &mut self.wake);
    }

    pub(crate) fn wake_task(&mut self) {
        self.hand_over.wake_task(&mut self.wake);
    }

    /// Octets that wait for the socket.
    #[inline]
    pub(crate) fn unsent(&self) -> usize {
        self.out.len() + self.pending.len()
    }

    /// A place in the queue of those who wait until the peer allows another stream.
    pub(crate) fn enqueue(&mut self, ticket: &mut Option<u64>, waker: &Waker) {
        match *ticket {
            None => {
                self.tickets += 1;
                *ticket = Some(self.tickets);
                self.queue.push_back((self.tickets, waker.clone()));
            }
            Some(number) => match self.queue.iter_mut().find(|(queued, _)| *queued == number) {
                Some((_, old)) => old.clone_from(waker),
                None => self.queue.push_front((number, waker.clone())),
            },
        }
    }

    /// Returns true if it is this caller's turn to open a stream: nobody came before.
    #[inline]
    pub(crate) fn may_open(&self, ticket: Option<u64>) -> bool {
        match self.queue.front() {
            None => true,
            Some((first, _)) => ticket.is_some_and(|number| number <= *first),
        }
    }

    pub(crate) fn dequeue(&mut self, ticket: u64) {
        self.queue.retain(|(queued, _)| *queued != ticket);
        self.wake_queue();
    }

    fn wake_queue(&mut self) {
        if let Some((_, waker)) = self.queue.front() {
            self.wake.push(waker.clone());
        }
    }

    /// Returns true if any stream is held by a handle.
    pub(crate) fn is_idle(&self) -> bool {
        self.free_count as usize == self.slots.len() && self.queue.is_empty()
    }
}

impl Drop for Shared {
    /// A connection that goes with its runtime has not ended, but is gone.
    fn drop(&mut self) {
        let is_counted = self.ended.is_none() || self.news == Some(News::Lost);
        if let (true, Some((vacancy, conn))) = (is_counted, &self.vacancy) {
            vacancy.hear(conn, News::Lost);
        }
    }
}
