//! Whose turn it is to send DATA when there is not enough for all (RFC 9218 §10), on a server that schedules.
//!
//! Who could not send all it had waits in a queue. Whoever ranks first there is told to go on, and what there is of the
//! connection's window and of the driver's room is promised to it; until its turn ends, those who rank behind get nothing, as
//! nobody knows how much more it has. Those that share a rank share what there is. A turn that is not used holds nobody up:
//! it ends when the driver says that everybody who was told has run.
//!
//! Lower urgency ranks first. Within an urgency, those whose clients have said that they want responses one after the other
//! rank by identifier, before those that share. Streams of which nothing was said share.

use alloc::vec::Vec;
use core::cmp::Ordering;

use super::Connection;
use alula_machine::StreamKey;

use crate::event::Notice;
use crate::priority::Priority;
use crate::stream::Stream;
use crate::streams::Queue;

/// What was promised, and what there is to promise.
#[derive(Debug)]
pub(super) struct Turns {
    /// True if DATA is to be scheduled once a client has said what it wants.
    pub(super) schedules: bool,
    /// True if it is; else everybody is told at once, as they came.
    pub(super) is_on: bool,
    /// What streams were promised and have not sent.
    grants: Vec<(StreamKey, u32)>,
    /// The sum of that.
    pub(super) granted: u32,
    /// The rank of those streams, if there are any.
    rank: Rank,
    /// The number of octets that the driver takes now, if it has told that it does not take all.
    room: Option<u32>,
}

impl Turns {
    pub(super) const fn new(schedules: bool) -> Self {
        Self { schedules, is_on: false, grants: Vec::new(), granted: 0, rank: (0, false, 0), room: None }
    }

    fn grant_of(&self, stream: StreamKey) -> u32 {
        self.grants.iter().find(|(other, _)| *other == stream).map_or(0, |(_, grant)| *grant)
    }

    fn promise(&mut self, stream: StreamKey, octets: u32) {
        self.granted += octets;
        match self.grants.iter_mut().find(|(other, _)| *other == stream) {
            Some((_, grant)) => *grant += octets,
            None => self.grants.push((stream, octets)),
        }
    }

    /// A stream has used some of its promise, and the rest is kept.
    fn use_grant(&mut self, stream: StreamKey, octets: u32) {
        if let Some((_, grant)) = self.grants.iter_mut().find(|(other, _)| *other == stream) {
            let used = octets.min(*grant);
            *grant -= used;
            self.granted -= used;
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.grants.capacity() * size_of::<(StreamKey, u32)>()
    }

    /// Panics unless the promises add up.
    pub(super) fn check_invariants(&self) {
        assert_eq!(self.grants.iter().map(|(_, grant)| grant).sum::<u32>(), self.granted, "promised octets");
    }
}

/// The least that a stream that shares gets at a time.
const SHARE_BYTES: u32 = 16 * 1024;

/// Where a stream ranks: urgency, whether it shares, and the identifier if it does not.
type Rank = (u8, bool, u32);

fn rank(entry: &Stream) -> Rank {
    let Priority { urgency, incremental } =
        entry.priority.unwrap_or(Priority { incremental: true, ..Priority::default() });
    (urgency, incremental, if incremental { 0 } else { entry.id })
}

/// For drivers whose output is bounded.
impl Connection {
    /// Says that the driver takes no more octets of this stream for now, which has some to send:
    /// [`Notice::Writable`](crate::Notice::Writable) follows when it is the stream's turn, after
    /// [`give_room`](Self::give_room). Only for a server with [`Config::schedule`](crate::Config::schedule).
    ///
    /// Returns whether the machine will tell; if not, nothing has changed.
    pub fn await_room(&mut self, stream: StreamKey) -> bool {
        if !self.turns.is_on {
            return false;
        }
        let Some(entry) = self.streams.get_mut(stream).filter(|entry| entry.state.is_open()) else {
            return false;
        };
        entry.is_blocked = true;
        self.turns.room = Some(0);
        self.end_grant(stream);
        self.streams.enqueue(Queue::Writable, stream);
        true
    }

    /// Says that the driver takes so many octets again; those whose turn it is are told. While some stream waits, no more
    /// than that is taken. Cheap when nobody waits.
    #[inline]
    pub fn give_room(&mut self, octets: u32) {
        if self.turns.room.is_some() {
            self.turns.room = self.streams.first(Queue::Writable).map(|_| octets);
        }
    }

    /// Returns true if [`give_room`](Self::give_room) is waited for.
    #[inline]
    pub fn awaits_room(&self) -> bool {
        self.turns.room.is_some()
    }

    /// Ends the turn: streams that were told to go on and have not sent anything lose their place, and others are told. A
    /// driver of a server with [`Config::schedule`](crate::Config::schedule) calls it when everybody who was told has had the
    /// chance to send, and asks for notices afterwards. Cheap when there is nothing to end.
    #[inline]
    pub fn end_turn(&mut self) {
        if self.turns.is_on {
            self.turns.grants.clear();
            self.turns.granted = 0;
        }
    }

    /// What the client has said last about how soon it wants this response; `None` if nothing, or if the stream is gone.
    pub fn priority(&self, stream: StreamKey) -> Option<Priority> {
        self.streams.get(stream)?.priority
    }
}

impl Connection {
    /// What all streams together may send now.
    fn shared_capacity(&self) -> u32 {
        let window = self.window_out.available();
        self.turns.room.map_or(window, |room| room.min(window))
    }

    /// Returns true if something is left that nobody was promised.
    pub(super) fn has_turns(&self) -> bool {
        self.shared_capacity() > self.turns.granted
    }

    /// What this stream may take of what there is for all.
    #[cold]
    #[inline(never)]
    pub(super) fn share(&self, stream: StreamKey, entry: &Stream) -> u32 {
        let shared = self.shared_capacity();
        if self.turns.granted == 0 {
            return shared;
        }
        match rank(entry).cmp(&self.turns.rank) {
            Ordering::Less => shared,
            Ordering::Equal => {
                shared.min(shared.saturating_sub(self.turns.granted) + self.turns.grant_of(stream))
            }
            Ordering::Greater => 0,
        }
    }

    /// A stream has sent so much, and may have to wait for more than its own window.
    #[cold]
    #[inline(never)]
    pub(super) fn wait_in_line(&mut self, stream: StreamKey, octets: u32, waits: bool) {
        if waits {
            self.streams.enqueue(Queue::Writable, stream);
        }
        self.turns.room = self.turns.room.map(|room| room.saturating_sub(octets));
        self.turns.use_grant(stream, octets);
    }

    /// A stream has closed, or waits.
    #[cold]
    #[inline(never)]
    pub(super) fn end_grant(&mut self, stream: StreamKey) {
        self.turns.use_grant(stream, u32::MAX);
    }

    /// Tells whoever ranks first that it can go on, and promises it what it wants and there is.
    #[cold]
    pub(super) fn next_turn(&mut self) -> Option<Notice> {
        while let Some((stream, rank, equals)) = self.first_in_rank() {
            if self.turns.granted > 0 && rank > self.turns.rank {
                return None;
            }
            self.streams.leave(Queue::Writable, stream);
            let left = self.shared_capacity().saturating_sub(self.turns.granted);
            let Some(entry) = self.streams.get_mut(stream) else { continue };
            let share = left.min(SHARE_BYTES.max(left / equals));
            let grant = entry.window_out.available().min(share);
            if entry.is_blocked && entry.state.is_open() && grant > 0 {
                entry.is_blocked = false;
                self.turns.promise(stream, grant);
                self.turns.rank = rank;
                return Some(Notice::Writable { stream });
            }
        }
        None
    }

    /// Of those that wait, and of equals the one that has waited longest; its rank, and how many have the same.
    fn first_in_rank(&self) -> Option<(StreamKey, Rank, u32)> {
        let waiting = self.streams.waiting(Queue::Writable);
        let mut ranks = waiting.filter_map(|stream| Some((stream, rank(self.streams.get(stream)?))));
        let first = ranks.next().map(|(stream, rank)| (stream, rank, 1))?;
        Some(ranks.fold(first, |(best, rank, equals), (stream, other)| match other.cmp(&rank) {
            Ordering::Less => (stream, other, 1),
            Ordering::Equal => (best, rank, equals + 1),
            Ordering::Greater => (best, rank, equals),
        }))
    }
}
