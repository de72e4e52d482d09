//! The state of a connection that its lock protects: the machine, the slots of its streams, and the octets on
//! their way in and out. Everything here is memory work; no system call, no user code, no waking.

use std::{collections::VecDeque, sync::Arc, task::Waker};

use alula_fields::{FieldSection, Head, OutBuf, Status, Time};
use alula_h2::{Connection, ErrorCode, Event, Notice, ResponseHead, StreamKey, Violation};

#[cfg(feature = "tls")]
use crate::tls::Tls;
use crate::{
    error::{Cause, Error},
    hand_over::{HandOver, Side},
    idle::Idleness,
    ledger::Ledger,
    memory::Held,
    pace::{Least, Pace},
    read_buf::ReadBuf,
    slot::{Sides, Slot, SlotKey},
    transport::ReadHalf,
};

/// Output over this many octets makes writers wait and reading stop.
pub(crate) const OUTPUT_SOFT_LIMIT: usize = 256 * 1024;
/// Spare heads and content buffers kept for the next streams.
const SPARES_MAX: usize = 256;
/// What a spare head may keep of its memory.
const SPARE_HEAD_OCTETS: usize = 4 * 1024;
/// The least that a content buffer holds; larger ones are powers of two, so that they soon fit whatever comes.
const CONTENT_OCTETS_MIN: usize = 4 * 1024;
/// A frame of that size or more is taken for the first of several: its buffer gets room for eight.
const CONTENT_LARGE_FRAME: usize = 4 * 1024;
/// But no more room than this.
const CONTENT_FORESIGHT_MAX: usize = 128 * 1024;

/// A request that a server's peer has opened.
pub(crate) struct Accepted {
    pub(crate) at: SlotKey,
    pub(crate) head: Box<Head>,
    pub(crate) ended: bool,
}

pub(crate) struct Shared {
    pub(crate) machine: Connection,
    #[cfg(feature = "tls")]
    pub(crate) tls: Option<Box<Tls>>,
    /// What the machine has written and nobody has taken yet.
    pub(crate) out: OutBuf,
    /// What is being written to the socket; it goes before `out`.
    pub(crate) pending: OutBuf,
    /// Somebody is in a write call with `pending` in hand.
    pub(crate) writing: bool,
    /// Writers wait for the output to drain.
    pub(crate) writers_wait: bool,
    /// The socket took no more; the connection's task waits for room.
    pub(crate) blocked: bool,
    /// The reading half of the socket, and who has it.
    pub(crate) hand_over: HandOver<ReadHalf>,
    pub(crate) input: ReadBuf,
    /// The socket takes no more octets, ever.
    pub(crate) output_is_lost: bool,
    #[cfg(feature = "tls")]
    pub(crate) plain: ReadBuf,
    pub(crate) slots: Vec<Slot>,
    free: Vec<u32>,
    /// The slot of each of the machine's streams, by the stream's own slot.
    by_stream: Vec<u32>,
    pub(crate) accepted: Vec<Accepted>,
    /// Streams that were reset: on a server, nobody waits for their answers.
    pub(crate) cancelled: Vec<SlotKey>,
    /// Boxed, because they are handed on from hand to hand.
    #[expect(clippy::vec_box)]
    heads: Vec<Box<Head>>,
    /// Taken in turn, so that all of them get to know the largest content soon.
    contents: VecDeque<Vec<u8>>,
    contents_octets: usize,
    /// Handles to wake once the lock is released.
    pub(crate) wake: Vec<Waker>,
    pub(crate) ended: Option<Error>,
    /// What the peer said was wrong when it went away, if it said so.
    farewell: Option<ErrorCode>,
    /// No new streams; the connection ends when the last handle is gone.
    pub(crate) closing: bool,
    queue: VecDeque<(u64, Waker)>,
    tickets: u64,
    pub(crate) now: Time,
    pub(crate) idleness: Idleness,
    /// What all connections of this server or client keep together.
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) held: Held,
    pub(crate) least: Least,
    /// Whether the peer takes what the socket holds.
    pub(crate) pace: Pace,
    /// Octets the socket has taken.
    pub(crate) written: u64,
    pub(crate) next_deadline: Option<Time>,
}

impl Shared {
    pub(crate) fn new(machine: Connection, read_half: ReadHalf, ledger: Arc<Ledger>) -> Self {
        let (held, least) = (Held::new(machine.limits(), &ledger), Least::new(machine.limits()));
        Self {
            machine,
            #[cfg(feature = "tls")]
            tls: None,
            out: OutBuf::new(),
            pending: OutBuf::new(),
            writing: false,
            writers_wait: false,
            blocked: false,
            hand_over: HandOver::new(read_half),
            input: ReadBuf::default(),
            output_is_lost: false,
            #[cfg(feature = "tls")]
            plain: ReadBuf::default(),
            slots: Vec::new(),
            free: Vec::new(),
            by_stream: Vec::new(),
            accepted: Vec::new(),
            cancelled: Vec::new(),
            heads: Vec::new(),
            contents: VecDeque::new(),
            contents_octets: 0,
            wake: Vec::new(),
            ended: None,
            farewell: None,
            closing: false,
            queue: VecDeque::new(),
            tickets: 0,
            now: Time::ZERO,
            idleness: Idleness::default(),
            ledger,
            held,
            least,
            pace: Pace::default(),
            written: 0,
            next_deadline: None,
        }
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
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() as u32 - 1
        });
        let slot = &mut self.slots[index as usize];
        slot.stream = Some(stream);
        slot.held = Sides::BOTH;
        let machine_slot = stream.slot();
        if self.by_stream.len() <= machine_slot {
            self.by_stream.resize(machine_slot + 1, u32::MAX);
        }
        self.by_stream[machine_slot] = index;
        SlotKey { index, generation: slot.generation }
    }

    /// The slot that holds what this stream of the machine receives.
    #[inline]
    fn of_stream(&mut self, stream: StreamKey) -> Option<(u32, &mut Slot)> {
        let index = *self.by_stream.get(stream.slot())?;
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
        let unread = if sides.has(Sides::READ) { slot.content.len() as u32 } else { 0 };
        slot.held = slot.held.without(sides);
        let (stream, held, ended, failed) = (slot.stream, slot.held, slot.ended, slot.failed.is_some());
        self.hand_over.count_arrived(woken);
        if let Some(stream) = stream {
            if unread > 0 {
                let _ = self.machine.release_capacity(stream, unread);
            }
            if let Some(code) = self.reason_to_reset(stream, sides, held, ended || failed) {
                self.machine.reset(stream, code);
            }
        }
        if held == Sides::NONE {
            self.recycle(at);
        }
    }

    /// Why a stream must be reset of which these sides were let go, if it must.
    fn reason_to_reset(&self, stream: StreamKey, gone: Sides, held: Sides, ended: bool) -> Option<ErrorCode> {
        let sent = self.machine.has_sent_all(stream) != Some(false);
        if gone.has(Sides::WRITE) && !sent {
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
        heads.into_iter().flatten().for_each(|head| self.give_head(head));
        self.free.push(at.index);
        if self.ended.is_none() {
            self.wake_queue();
        }
    }

    /// A cleared head, a used one if there is any.
    #[inline]
    pub(crate) fn lend_head(&mut self) -> Box<Head> {
        self.heads.pop().unwrap_or_default()
    }

    #[inline]
    pub(crate) fn give_head(&mut self, mut head: Box<Head>) {
        if self.heads.len() < SPARES_MAX {
            head.clear();
            head.trim(SPARE_HEAD_OCTETS);
            self.heads.push(head);
        }
    }

    /// What the heads hold that wait for the next messages.
    pub(crate) fn spare_heads_octets(&self) -> usize {
        self.heads.iter().map(|head| size_of::<Head>() + head.capacity_bytes()).sum()
    }

    pub(crate) fn drop_spare_heads(&mut self) {
        self.heads = Vec::new();
    }

    /// Takes a content buffer back; as a rule there is none.
    #[inline]
    pub(crate) fn give_content(&mut self, content: Vec<u8>) {
        if content.capacity() > 0 {
            self.keep_content(content);
        }
    }

    fn keep_content(&mut self, mut content: Vec<u8>) {
        let octets = content.capacity();
        if !self.held.is_tight() {
            content.clear();
            self.contents_octets += octets;
            self.contents.push_back(content);
        } else {
            self.held.content_went(octets);
        }
    }

    /// Gives back the memory of an idle connection.
    pub(crate) fn trim(&mut self) {
        self.drop_spares();
        self.input.trim();
        #[cfg(feature = "tls")]
        self.plain.trim();
        self.out.trim(0);
        self.pending.trim(0);
        self.settle_memory();
    }

    /// Gives back the content buffers that wait for the next streams.
    pub(crate) fn drop_spares(&mut self) {
        self.contents = VecDeque::new();
        self.held.content_went(std::mem::take(&mut self.contents_octets));
    }

    /// Handles what the peer sent: decrypts it, feeds the machine, and notes whom to wake.
    pub(crate) fn feed(&mut self) {
        if let Err(error) = self.try_feed() {
            self.take_notices();
            self.end(error);
        }
        self.take_notices();
        self.settle_memory();
    }

    #[cfg(feature = "tls")]
    fn try_feed(&mut self) -> Result<(), Error> {
        let Some(tls) = &mut self.tls else {
            return self.feed_input();
        };
        let closed = tls.decrypt(self.input.unread(), &mut self.plain)?;
        self.input.consume(self.input.unread().len());
        std::mem::swap(&mut self.input, &mut self.plain);
        let fed = self.feed_input();
        std::mem::swap(&mut self.input, &mut self.plain);
        fed?;
        if closed { Err(Error::closed()) } else { Ok(()) }
    }

    #[cfg(not(feature = "tls"))]
    fn try_feed(&mut self) -> Result<(), Error> {
        self.feed_input()
    }

    fn feed_input(&mut self) -> Result<(), Error> {
        let mut input = std::mem::take(&mut self.input);
        let result = loop {
            match self.machine.receive(input.unread(), self.now) {
                Ok(received) => {
                    let (consumed, event) = (received.consumed, received.event);
                    let idle = event.is_none();
                    if let Some(event) = event {
                        self.on_event(event);
                    }
                    input.consume(consumed);
                    if idle && consumed == 0 {
                        break Ok(());
                    }
                }
                Err(error) => break Err(Error::connection(error)),
            }
        };
        self.input = input;
        result
    }

    fn on_event(&mut self, event: Event<'_>) {
        match event {
            Event::Head { stream, end } => self.on_head(stream, end),
            Event::Data { stream, bytes, end } => self.on_data(stream, bytes, end),
            Event::Trailers { stream } => self.on_trailers(stream),
            Event::HeadTooLarge { stream, .. } => self.on_head_too_large(stream),
            // Interim responses announce what the caller does not wait for; settings concern the machine.
            _ => {}
        }
    }

    fn on_head(&mut self, stream: StreamKey, end: bool) {
        let mut head = self.lend_head();
        if self.machine.take_boxed_head(stream, &mut head).is_err() {
            return;
        }
        if !self.machine.is_client() {
            let at = self.attach(stream);
            let slot = &mut self.slots[at.index as usize];
            slot.ended = end;
            slot.head_octets = self.held.head_came(&head);
            self.accepted.push(Accepted { at, head, ended: end });
            return;
        }
        match self.of_stream(stream) {
            Some((index, slot)) => {
                slot.head = Some(head);
                slot.ended = end;
                self.wake_later(index, Side::Read);
            }
            None => self.give_head(head),
        }
    }

    /// A request with more fields than we take is answered 431 (RFC 6585 §5) and not looked at any more.
    fn on_head_too_large(&mut self, stream: StreamKey) {
        let fields = FieldSection::new();
        let head = ResponseHead { status: Status::REQUEST_HEADER_FIELDS_TOO_LARGE, fields: &fields };
        self.ledger.note_violation(Violation::FIELDS_TOO_LARGE);
        // A stream that is gone already needs no answer.
        let _ = self.machine.send_response(stream, &head, true, &mut self.out);
        self.machine.forget(stream);
    }

    fn on_data(&mut self, stream: StreamKey, bytes: &[u8], end: bool) {
        let mut spare = Vec::new();
        match self.of_stream(stream) {
            Some((index, slot)) if slot.held.has(Sides::READ) => {
                std::mem::swap(&mut spare, &mut slot.content);
                slot.ended |= end;
                if spare.capacity() == 0 && !bytes.is_empty() {
                    spare = self.lend_content();
                }
                let grown = append(&mut spare, bytes, self.held.is_tight());
                self.held.content_grew(grown);
                let slot = &mut self.slots[index as usize];
                slot.content = spare;
                slot.received += bytes.len() as u64;
                self.wake_later(index, Side::Read);
            }
            _ => {
                let _ = self.machine.release_capacity(stream, bytes.len() as u32);
            }
        }
    }

    fn lend_content(&mut self) -> Vec<u8> {
        let content = self.contents.pop_front().unwrap_or_default();
        self.contents_octets -= content.capacity();
        content
    }

    fn on_trailers(&mut self, stream: StreamKey) {
        let mut head = self.lend_head();
        let taken = self.machine.take_trailers(stream, &mut head.fields);
        match self.of_stream(stream) {
            Some((index, slot)) if taken.is_ok() => {
                slot.trailers = Some(head);
                slot.ended = true;
                self.wake_later(index, Side::Read);
            }
            _ => self.give_head(head),
        }
    }

    pub(crate) fn take_notices(&mut self) {
        while let Some(notice) = self.machine.poll_notice() {
            self.on_notice(notice);
        }
    }

    fn on_notice(&mut self, notice: Notice) {
        match notice {
            Notice::Writable { stream } => {
                if let Some((index, _)) = self.of_stream(stream) {
                    self.wake_later(index, Side::Write);
                }
            }
            Notice::Reset { stream, reset } => self.fail(stream, Error::reset(&reset)),
            Notice::StreamSlots => self.wake_queue(),
            Notice::GoAway { code, .. } => {
                self.farewell = (code != ErrorCode::NO_ERROR).then_some(code);
                self.closing = true;
                self.wake_task();
            }
            Notice::Breach(violation) => self.ledger.note_violation(violation),
            Notice::Closed(error) => self.end(Error::connection(error)),
            _ => {}
        }
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

    /// Ends the connection: every stream that is not whole fails.
    pub(crate) fn end(&mut self, error: Error) {
        if self.ended.is_some() {
            return;
        }
        let error = match (self.farewell, error.cause()) {
            // What the peer said before it closed, or the connection broke, says more than that.
            (Some(code), Cause::Closed | Cause::Io(..)) => Error::farewell(code),
            _ => error,
        };
        for index in 0..self.slots.len() as u32 {
            let slot = &mut self.slots[index as usize];
            if slot.stream.is_some() && slot.failed.is_none() {
                slot.failed = Some(error.clone());
            }
            self.wake_later(index, Side::Read);
            self.wake_later(index, Side::Write);
        }
        self.ledger.note_error(&error);
        self.ended = Some(error);
        while let Some((_, waker)) = self.queue.pop_front() {
            self.wake.push(waker);
        }
        self.wake_task();
    }

    pub(crate) fn wake_later(&mut self, index: u32, side: Side) {
        let wait = &mut self.slots[index as usize].waits[side as usize];
        self.hand_over.wake_caller(wait, &mut self.wake);
    }

    /// Wakes every writer, after the output has drained.
    pub(crate) fn wake_writers(&mut self) {
        for index in 0..self.slots.len() as u32 {
            self.wake_later(index, Side::Write);
        }
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

    /// Whether it is this caller's turn to open a stream: nobody came before.
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

    /// Fails every stream whose deadline has passed; the next deadline is noted.
    pub(crate) fn expire(&mut self, now: Time) {
        self.next_deadline = None;
        for index in 0..self.slots.len() as u32 {
            let slot = &mut self.slots[index as usize];
            let (Some(stream), Some(deadline), None) = (slot.stream, slot.deadline, &slot.failed) else {
                continue;
            };
            if deadline > now {
                self.next_deadline = Some(self.next_deadline.map_or(deadline, |next| next.min(deadline)));
                continue;
            }
            if slot.ended {
                continue;
            }
            slot.failed = Some(Error::deadline());
            self.machine.reset(stream, ErrorCode::CANCEL);
            self.wake_later(index, Side::Read);
            self.wake_later(index, Side::Write);
        }
    }

    /// Whether any stream is held by a handle.
    pub(crate) fn is_idle(&self) -> bool {
        self.free.len() == self.slots.len() && self.queue.is_empty()
    }
}

/// Appends, with room for more of the same unless memory is tight; says by how much the capacity grew.
#[inline]
fn append(content: &mut Vec<u8>, bytes: &[u8], is_tight: bool) -> usize {
    let before = content.capacity();
    let needed = content.len() + bytes.len();
    if needed > before {
        let foreseen = if is_tight || bytes.len() < CONTENT_LARGE_FRAME { 0 } else { bytes.len() * 8 };
        let wanted = needed.max(foreseen.min(CONTENT_FORESIGHT_MAX)).max(CONTENT_OCTETS_MIN);
        let capacity = wanted.next_power_of_two();
        content.reserve_exact(capacity - content.len());
    }
    content.extend_from_slice(bytes);
    content.capacity() - before
}
