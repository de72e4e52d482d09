//! The streams of a connection: reusable slots, found by key or by identifier, with two queues through them.
//!
//! Rule 1: a key is a slot and its generation; a slot that is freed gets a new generation, so old keys find
//! nothing.
//! Rule 2: the identifier finds a stream only while it is not closed; the key finds it until its slot is
//! freed.
//! Rule 3: a slot keeps its buffers when it is freed, so streams allocate nothing once the slots are warm.
//! The buffers stay across connections which pass their slots on while none is in use.

use alloc::boxed::Box;
use alloc::vec::Vec;

use alula_fields::Head;
use alula_machine::StreamKey;

use crate::stream::Stream;
use crate::stream::id_table::IdTable;
use crate::stream::state::State;

/// The queues a stream can wait in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Queue {
    /// Streams whose reset the application has to hear of.
    Reset = 0,
    /// Streams that can send again once the connection's window allows, of which the application has to hear.
    Writable = 1,
}

const QUEUES: usize = 2;
const NOBODY: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Link {
    before: u32,
    after: u32,
    queued: bool,
}

const UNLINKED: Link = Link { before: NOBODY, after: NOBODY, queued: false };

#[derive(Clone, Copy)]
struct Ends {
    first: u32,
    last: u32,
}

struct Slot {
    generation: u32,
    used: bool,
    links: [Link; QUEUES],
    stream: Stream,
}

pub(crate) struct Streams {
    slots: Vec<Slot>,
    /// The last freed slot; each free slot names the one that was freed before it, in the place where a used
    /// one has its link in a queue.
    free: u32,
    /// The number of free slots.
    free_count: u32,
    ids: IdTable,
    queues: [Ends; QUEUES],
    /// The generation of new slots, which no earlier slot has had.
    first_generation: u32,
}

/// The memory of a connection's streams with their heads, while no stream is held, for another connection.
/// [`Connection::leave_stream_memory`](crate::Connection::leave_stream_memory) fills it.
pub struct StreamMemory {
    slots: Vec<Slot>,
    free: u32,
    ids: IdTable,
}

impl Default for StreamMemory {
    /// Returns memory for no stream. Allocates nothing.
    fn default() -> Self {
        Self { slots: Vec::new(), free: NOBODY, ids: IdTable::new() }
    }
}

impl StreamMemory {
    /// Returns the number of streams for which it has memory.
    pub fn streams(&self) -> usize {
        self.slots.len()
    }

    /// Returns the bytes that it holds, with those of its heads; the cost grows with the streams.
    pub fn memory_bytes(&self) -> usize {
        message_bytes(&self.slots) + self.slots.capacity() * size_of::<Slot>() + self.ids.memory_bytes()
    }
}

/// Returns the bytes of the heads and trailers in slots.
fn message_bytes(slots: &[Slot]) -> usize {
    slots.iter().map(|entry| entry.stream.memory_bytes()).sum()
}

impl Streams {
    pub(crate) fn new() -> Self {
        let ends = Ends { first: NOBODY, last: NOBODY };
        Self {
            slots: Vec::new(),
            free: NOBODY,
            free_count: 0,
            ids: IdTable::new(),
            queues: [ends; QUEUES],
            first_generation: 0,
        }
    }

    /// Returns the number of slots in use, including closed streams that the application still holds.
    #[inline]
    pub(crate) fn held(&self) -> usize {
        self.slots.len() - self.free_count as usize
    }

    /// Takes a slot for a new stream; its buffers are as the last stream left them. Allocates only if none is
    /// free.
    #[inline(always)]
    pub(crate) fn open(&mut self, id: u32) -> (StreamKey, &mut Stream) {
        let slot = match self.free {
            NOBODY => self.add_slot(),
            slot => slot,
        };
        self.ids.insert(id, slot);
        let entry = &mut self.slots[slot as usize];
        self.free = core::mem::replace(&mut entry.links[0], UNLINKED).after;
        self.free_count -= 1;
        entry.used = true;
        entry.stream.id = id;
        (StreamKey::new(slot, entry.generation), &mut entry.stream)
    }

    #[cold]
    fn add_slot(&mut self) -> u32 {
        let slot = self.slots.len() as u32;
        if slot == 0 {
            // Many connections ask once.
            self.slots = Vec::with_capacity(1);
        }
        self.slots.push(Slot {
            generation: self.first_generation,
            used: false,
            links: [UNLINKED; QUEUES],
            stream: Stream::new(),
        });
        self.ids.reserve(self.slots.len());
        self.free_count += 1;
        slot
    }

    /// Puts a stream into a state in which it is not open, so that frames do not find it any more. Returns
    /// its identifier and the state before.
    #[inline]
    pub(crate) fn close(&mut self, key: StreamKey, state: State) -> Option<(u32, State)> {
        let entry = self.slots.get_mut(key.slot())?;
        if entry.generation != key.generation() {
            return None;
        }
        let before = core::mem::replace(&mut entry.stream.state, state);
        if before.is_open() {
            self.ids.remove(entry.stream.id, key.slot() as u32);
        }
        Some((entry.stream.id, before))
    }

    /// Frees the slot; its key finds nothing from now on. The stream must be closed.
    #[inline]
    pub(crate) fn free(&mut self, key: StreamKey) {
        self.unlink(Queue::Reset, key);
        self.unlink(Queue::Writable, key);
        let entry = &mut self.slots[key.slot()];
        debug_assert!(entry.used && entry.generation == key.generation());
        entry.generation = entry.generation.wrapping_add(1);
        entry.used = false;
        entry.stream.recycle();
        entry.links[0] = Link { after: self.free, ..UNLINKED };
        self.free = key.slot() as u32;
        self.free_count += 1;
    }

    /// Frees the slots if there are several and none is in use. Old keys still find nothing.
    pub(crate) fn trim(&mut self) {
        if self.slots.len() > 1 {
            self.leave_memory(&mut StreamMemory::default());
        }
    }

    /// Moves the slots into `to`, if none is in use and `to` is empty. Old keys still find nothing.
    pub(crate) fn leave_memory(&mut self, to: &mut StreamMemory) {
        if self.slots.is_empty() || self.held() > 0 || !to.slots.is_empty() {
            return;
        }
        debug_assert!(self.nobody_waits());
        let generations = self.slots.iter().map(|entry| entry.generation);
        self.first_generation = generations.fold(self.first_generation, u32::max);
        self.exchange_memory(to);
    }

    /// Takes over the slots of `from`; frees them if there are slots already.
    pub(crate) fn use_memory(&mut self, from: &mut StreamMemory) {
        if !self.slots.is_empty() {
            *from = StreamMemory::default();
        } else if !from.slots.is_empty() {
            self.exchange_memory(from);
            for entry in &mut self.slots {
                entry.generation = entry.generation.max(self.first_generation);
            }
        }
    }

    /// Exchanges unused slots for none, or none for slots. They are exchanged where they lie: memory that is
    /// passed on by value is copied more than once.
    fn exchange_memory(&mut self, other: &mut StreamMemory) {
        core::mem::swap(&mut self.slots, &mut other.slots);
        core::mem::swap(&mut self.free, &mut other.free);
        core::mem::swap(&mut self.ids, &mut other.ids);
        self.free_count = self.slots.len() as u32;
    }

    #[inline]
    pub(crate) fn find(&self, id: u32) -> Option<StreamKey> {
        let slot = self.ids.find(id)?;
        Some(StreamKey::new(slot, self.slots[slot as usize].generation))
    }

    #[inline]
    pub(crate) fn get(&self, key: StreamKey) -> Option<&Stream> {
        let entry = self.slots.get(key.slot())?;
        (entry.generation == key.generation()).then_some(&entry.stream)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, key: StreamKey) -> Option<&mut Stream> {
        let entry = self.slots.get_mut(key.slot())?;
        (entry.generation == key.generation()).then_some(&mut entry.stream)
    }

    /// Returns all streams whose slots are in use; for events that concern all of them, never for one
    /// request.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Stream> {
        self.slots.iter().filter(|entry| entry.used).map(|entry| &entry.stream)
    }

    /// Returns the key of the slot with this number, if it is in use.
    pub(crate) fn key_at(&self, slot: usize) -> Option<StreamKey> {
        let entry = self.slots.get(slot)?;
        entry.used.then_some(StreamKey::new(slot as u32, entry.generation))
    }

    pub(crate) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// Takes the spare head of a slot, if no slot is in use and one has a head.
    pub(crate) fn take_empty_head(&mut self) -> Option<Box<Head>> {
        match self.held() {
            0 => self.slots.iter_mut().find_map(|entry| entry.stream.head.take()),
            _ => None,
        }
    }

    /// Returns the bytes of the slots with their heads and trailers; its cost grows with the slots.
    pub(crate) fn memory_bytes(&self) -> usize {
        message_bytes(&self.slots) + self.slots.capacity() * size_of::<Slot>() + self.ids.memory_bytes()
    }
}

impl Streams {
    /// Puts a stream at the end of a queue, unless it is in it.
    pub(crate) fn enqueue(&mut self, queue: Queue, key: StreamKey) {
        let at = queue as usize;
        if self.slots[key.slot()].links[at].queued {
            return;
        }
        let last = self.queues[at].last;
        self.slots[key.slot()].links[at] = Link { before: last, after: NOBODY, queued: true };
        match self.slots.get_mut(last as usize) {
            Some(entry) => entry.links[at].after = key.slot() as u32,
            None => self.queues[at].first = key.slot() as u32,
        }
        self.queues[at].last = key.slot() as u32;
    }

    /// Returns the stream that waits longest in a queue; it stays there.
    #[inline]
    pub(crate) fn first(&self, queue: Queue) -> Option<StreamKey> {
        let slot = self.queues[queue as usize].first;
        let entry = self.slots.get(slot as usize)?;
        Some(StreamKey::new(slot, entry.generation))
    }

    /// Returns true if no stream waits in any queue.
    #[inline]
    pub(crate) fn nobody_waits(&self) -> bool {
        self.queues.iter().all(|ends| ends.first == NOBODY)
    }

    /// Takes the stream that waits longest out of a queue.
    pub(crate) fn dequeue(&mut self, queue: Queue) -> Option<StreamKey> {
        let key = self.first(queue)?;
        self.unlink(queue, key);
        Some(key)
    }

    /// Returns the streams in a queue, the one that waits longest first.
    pub(crate) fn waiting(&self, queue: Queue) -> impl Iterator<Item = StreamKey> {
        let at = queue as usize;
        let link = move |slot: u32| self.slots.get(slot as usize).map(|entry| (slot, entry));
        core::iter::successors(link(self.queues[at].first), move |(_, entry)| link(entry.links[at].after))
            .map(|(slot, entry)| StreamKey::new(slot, entry.generation))
    }

    /// Takes a stream out of a queue, wherever it stands.
    pub(crate) fn leave(&mut self, queue: Queue, key: StreamKey) {
        self.unlink(queue, key);
    }

    #[inline]
    fn unlink(&mut self, queue: Queue, key: StreamKey) {
        let at = queue as usize;
        let link = &mut self.slots[key.slot()].links[at];
        if link.queued {
            let Link { before, after, .. } = core::mem::replace(link, UNLINKED);
            self.join(at, before, after);
        }
    }

    fn join(&mut self, at: usize, before: u32, after: u32) {
        match self.slots.get_mut(before as usize) {
            Some(entry) => entry.links[at].after = after,
            None => self.queues[at].first = after,
        }
        match self.slots.get_mut(after as usize) {
            Some(entry) => entry.links[at].before = before,
            None => self.queues[at].last = before,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_freed_slots_find_nothing() {
        let mut streams = Streams::new();
        let old = streams.open(1).0;
        assert_eq!(streams.find(1), Some(old));
        streams.close(old, State::IDLE.let_go());
        assert_eq!(streams.find(1), None);
        assert!(streams.get(old).is_some(), "closed, and held");
        streams.free(old);
        let new = streams.open(3).0;
        assert_eq!(new.slot(), old.slot());
        assert!(streams.get(old).is_none() && streams.get(new).is_some());
        assert_eq!((streams.held(), streams.slots()), (1, 1));
    }

    #[test]
    fn slots_are_given_back_when_none_is_used_and_old_keys_find_nothing() {
        let mut streams = Streams::new();
        let keys = [1, 3, 5].map(|id| streams.open(id).0);
        for key in &keys[1..] {
            streams.close(*key, State::IDLE.let_go());
            streams.free(*key);
        }
        streams.trim();
        assert_eq!(streams.slots(), 3, "one is in use");
        streams.close(keys[0], State::IDLE.let_go());
        streams.free(keys[0]);
        streams.trim();
        assert_eq!((streams.slots(), streams.held()), (0, 0));
        let new = [7, 9, 11].map(|id| streams.open(id).0);
        assert!(keys.iter().all(|key| streams.get(*key).is_none()));
        assert!(new.iter().all(|key| streams.get(*key).is_some()));
        assert_eq!(streams.find(9), Some(new[1]));
    }

    #[test]
    fn slots_are_passed_on_and_keys_of_either_connection_find_nothing() {
        let (mut streams, mut others) = (Streams::new(), Streams::new());
        let close = |streams: &mut Streams, key| {
            streams.close(key, State::IDLE.let_go());
            streams.free(key);
        };
        let keys: Vec<_> = (0..9).map(|id| streams.open(2 * id + 1).0).collect();
        let mut memory = StreamMemory::default();
        streams.leave_memory(&mut memory);
        assert_eq!(memory.streams(), 0, "all are in use");
        keys.iter().for_each(|key| close(&mut streams, *key));
        let own = others.open(1).0;
        close(&mut others, own);
        others.leave_memory(&mut StreamMemory::default());
        streams.leave_memory(&mut memory);
        assert_eq!((memory.streams(), streams.slots(), streams.memory_bytes()), (9, 0, 0));
        others.use_memory(&mut memory);
        assert_eq!((others.slots(), others.held()), (9, 0));
        assert!(others.find(1).is_none() && others.get(own).is_none());
        let new: Vec<_> = (0..9).map(|id| others.open(2 * id + 3).0).collect();
        assert_eq!((others.slots(), others.held(), others.find(19)), (9, 9, Some(new[8])));
        assert!(others.get(own).is_none());
        let again = streams.open(21).0;
        assert!(keys.iter().all(|key| streams.get(*key).is_none()) && streams.get(again).is_some());
    }

    #[test]
    fn queues_are_first_in_first_out_and_let_go_of_freed_streams() {
        let mut streams = Streams::new();
        let keys = [1, 3, 5, 7].map(|id| streams.open(id).0);
        for key in keys {
            streams.enqueue(Queue::Writable, key);
            streams.enqueue(Queue::Writable, key);
        }
        for freed in [keys[0], keys[2]] {
            streams.close(freed, State::IDLE.let_go());
            streams.free(freed);
        }
        assert_eq!(streams.dequeue(Queue::Reset), None);
        assert_eq!(streams.dequeue(Queue::Writable), Some(keys[1]));
        streams.enqueue(Queue::Writable, keys[1]);
        assert_eq!(streams.dequeue(Queue::Writable), Some(keys[3]));
        assert_eq!(streams.dequeue(Queue::Writable), Some(keys[1]));
        assert_eq!(streams.dequeue(Queue::Writable), None);
    }
}
