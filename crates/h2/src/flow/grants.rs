//! The bytes that were promised to streams, and the rank of the promised streams.

use alloc::vec::Vec;
use core::cmp::Ordering;

use alula_machine::StreamKey;

use crate::frame::priority::Priority;
use crate::stream::Stream;

/// The promised room, and the room left to promise.
#[derive(Debug)]
pub(crate) struct Turns {
    /// True if DATA should be scheduled once a client has stated priorities.
    schedules: bool,
    /// True if DATA is scheduled; otherwise all streams are told at once, in order of arrival.
    is_on: bool,
    /// The bytes that streams were promised and have not sent.
    grants: Vec<(StreamKey, u32)>,
    /// The sum of these bytes.
    granted: u32,
    /// The rank of the promised streams, if there are any.
    rank: Rank,
    /// The bytes that the driver takes now, if it has stated a limit.
    room: Option<u32>,
}

impl Turns {
    pub(crate) const fn new(schedules: bool) -> Self {
        Self { schedules, is_on: false, grants: Vec::new(), granted: 0, rank: (0, false, 0), room: None }
    }

    /// Turns scheduling on, if it was asked for.
    pub(crate) fn turn_on(&mut self) {
        self.is_on = self.schedules;
    }

    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.is_on
    }

    #[inline]
    pub(crate) fn has_promised(&self) -> bool {
        self.granted > 0
    }

    /// Records that the driver takes nothing more for now.
    pub(crate) fn room_is_out(&mut self) {
        self.room = Some(0);
    }

    #[inline]
    pub(crate) fn awaits_room(&self) -> bool {
        self.room.is_some()
    }

    /// Records that the driver takes so many bytes; `None` is all of them.
    #[inline]
    pub(crate) fn set_room(&mut self, bytes: Option<u32>) {
        self.room = bytes;
    }

    /// Takes all promises back.
    #[inline]
    pub(crate) fn end(&mut self) {
        if self.is_on {
            self.grants.clear();
            self.granted = 0;
        }
    }

    /// Returns the bytes of the connection's window that all streams together may send.
    pub(crate) fn capacity(&self, window: u32) -> u32 {
        self.room.map_or(window, |room| room.min(window))
    }

    /// Returns the part of [`capacity`](Self::capacity) that is not promised.
    pub(crate) fn left(&self, window: u32) -> u32 {
        self.capacity(window).saturating_sub(self.granted)
    }

    /// Returns the part of [`capacity`](Self::capacity) that this stream may take.
    #[cold]
    #[inline(never)]
    pub(crate) fn share(&self, stream: StreamKey, entry: &Stream, window: u32) -> u32 {
        let shared = self.capacity(window);
        if self.granted == 0 {
            return shared;
        }
        match rank(entry).cmp(&self.rank) {
            Ordering::Less => shared,
            Ordering::Equal => shared.min(self.left(window) + self.grant_of(stream)),
            Ordering::Greater => 0,
        }
    }

    /// Returns true if the promised streams go before this rank.
    pub(crate) fn go_before(&self, rank: Rank) -> bool {
        self.granted > 0 && rank > self.rank
    }

    fn grant_of(&self, stream: StreamKey) -> u32 {
        self.grants.iter().find(|(other, _)| *other == stream).map_or(0, |(_, grant)| *grant)
    }

    pub(crate) fn promise(&mut self, stream: StreamKey, rank: Rank, bytes: u32) {
        self.rank = rank;
        self.granted += bytes;
        match self.grants.iter_mut().find(|(other, _)| *other == stream) {
            Some((_, grant)) => *grant += bytes,
            None => self.grants.push((stream, bytes)),
        }
    }

    /// Records that a stream has sent so much.
    pub(crate) fn sent(&mut self, stream: StreamKey, bytes: u32) {
        self.room = self.room.map(|room| room.saturating_sub(bytes));
        self.use_grant(stream, bytes);
    }

    /// Takes back the promise of a stream.
    pub(crate) fn end_of(&mut self, stream: StreamKey) {
        self.use_grant(stream, u32::MAX);
    }

    /// Uses a part of a stream's promise, and keeps the rest.
    fn use_grant(&mut self, stream: StreamKey, bytes: u32) {
        if let Some((_, grant)) = self.grants.iter_mut().find(|(other, _)| *other == stream) {
            let used = bytes.min(*grant);
            *grant -= used;
            self.granted -= used;
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.grants.capacity() * size_of::<(StreamKey, u32)>()
    }

    /// Panics unless the sum of the promises is right.
    pub(crate) fn check_invariants(&self) {
        assert_eq!(self.grants.iter().map(|(_, grant)| grant).sum::<u32>(), self.granted, "promised bytes");
    }
}

/// The rank of a stream: urgency, whether it shares, and the identifier if it does not.
pub(crate) type Rank = (u8, bool, u32);

pub(crate) fn rank(entry: &Stream) -> Rank {
    let Priority { urgency, incremental } =
        entry.priority.unwrap_or(Priority { incremental: true, ..Priority::default() });
    (urgency, incremental, if incremental { 0 } else { entry.id })
}
