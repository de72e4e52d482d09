//! The order in which streams send DATA when the room is short (RFC 9218 §10), on a server that schedules.
//!
//! A stream that could not send all of its bytes waits in a queue. The stream that ranks first there is told
//! to go on, and the rest of the connection's window and of the driver's room is promised to it; until its
//! turn ends, streams that rank behind get nothing, since it may have more. Streams of the same rank share. A
//! turn that is not used delays no other stream: it ends when the driver says that every stream that was told
//! has run.
//!
//! Lower urgency ranks first. Within an urgency, streams that are not incremental rank by identifier, before
//! incremental ones. Streams without a stated priority share.

use core::cmp::Ordering;

use alula_machine::StreamKey;

use super::Connection;
use crate::event::Notice;
use crate::flow::grants::{Rank, rank};
use crate::frame::priority::Priority;
use crate::stream::streams::Queue;

/// The least that a stream gets at a time when it shares.
const SHARE_BYTES: u32 = 16 * 1024;

/// Turns, for drivers whose output is bounded.
impl Connection {
    /// Records that the driver takes no more bytes of this stream for now, which has some to send:
    /// [`Notice::Writable`](crate::Notice::Writable) follows when it is the stream's turn, after
    /// [`give_room`](Self::give_room). Only for a server with [`Config::schedule`](crate::Config::schedule).
    ///
    /// Returns whether the machine will tell; if not, nothing has changed.
    pub fn await_room(&mut self, stream: StreamKey) -> bool {
        if !self.turns.is_on() {
            return false;
        }
        let Some(entry) = self.streams.get_mut(stream).filter(|entry| entry.state.is_open()) else {
            return false;
        };
        entry.is_blocked = true;
        self.turns.room_is_out();
        self.end_grant(stream);
        self.streams.enqueue(Queue::Writable, stream);
        true
    }

    /// Records that the driver takes so many bytes again; the streams whose turn it is are told. While some
    /// stream waits, no more than that is taken. Cheap when nobody waits.
    #[inline]
    pub fn give_room(&mut self, bytes: u32) {
        if self.turns.awaits_room() {
            self.turns.set_room(self.streams.first(Queue::Writable).map(|_| bytes));
        }
    }

    /// Returns true if streams wait for [`give_room`](Self::give_room).
    #[inline]
    pub fn awaits_room(&self) -> bool {
        self.turns.awaits_room()
    }

    /// Ends the turn: streams that were told to go on and have sent nothing lose their place, and others are
    /// told. A driver of a server with [`Config::schedule`](crate::Config::schedule) calls it when everybody
    /// who was told has had the chance to send, and asks for notices afterwards. Cheap when there is nothing
    /// to end.
    #[inline]
    pub fn end_turn(&mut self) {
        self.turns.end();
    }

    /// Returns the priority that the client stated last for this response; `None` if it stated none, or if
    /// the stream is gone.
    pub fn priority(&self, stream: StreamKey) -> Option<Priority> {
        self.streams.get(stream)?.priority
    }
}

impl Connection {
    /// Returns true if some room was not promised to any stream.
    pub(super) fn has_turns(&self) -> bool {
        self.turns.left(self.window_out.available()) > 0
    }

    /// Records that a stream has sent so much, and may have to wait for its next turn.
    #[cold]
    #[inline(never)]
    pub(super) fn wait_in_line(&mut self, stream: StreamKey, bytes: u32, waits: bool) {
        if waits {
            self.streams.enqueue(Queue::Writable, stream);
        }
        self.turns.sent(stream, bytes);
    }

    /// Ends the promise to a stream that has closed, or waits.
    #[cold]
    #[inline(never)]
    pub(super) fn end_grant(&mut self, stream: StreamKey) {
        self.turns.end_of(stream);
    }

    /// Tells the first stream in rank to go on, and promises it as many bytes as it wants and the windows
    /// allow.
    #[cold]
    pub(super) fn next_turn(&mut self) -> Option<Notice> {
        while let Some((stream, rank, equals)) = self.first_in_rank() {
            if self.turns.go_before(rank) {
                return None;
            }
            self.streams.leave(Queue::Writable, stream);
            let left = self.turns.left(self.window_out.available());
            let Some(entry) = self.streams.get_mut(stream) else { continue };
            let share = left.min(SHARE_BYTES.max(left / equals));
            let grant = entry.window_out.available().min(share);
            if entry.is_blocked && entry.state.is_open() && grant > 0 {
                entry.is_blocked = false;
                self.turns.promise(stream, rank, grant);
                return Some(Notice::Writable { stream });
            }
        }
        None
    }

    /// Returns the first stream in rank among those that wait, and of equals the one that has waited longest;
    /// with its rank, and how many have the same.
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
