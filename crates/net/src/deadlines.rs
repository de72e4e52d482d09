//! How long the parts of an exchange may take.
//!
//! Rule 1: octets that come and go note no time. The connection's task looks a few times within what may pass in silence, and
//! compares how many have moved.
//! Rule 2: only who waits can wait too long: content that nobody asks for may take its time.

use std::time::Duration;

use alula_fields::Time;
use alula_h2::ErrorCode;
use tokio::time::Instant;

use crate::{error::Error, hand_over::Side, shared::Shared, slot::Slot, stream::Stream};

/// How often to look within what may pass in silence.
const LOOKS: u32 = 4;
/// Not more often than that.
const LOOK_AFTER_MIN: Duration = Duration::from_millis(1);

/// The time that an exchange may take, in all and in its parts; without bound where there is nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Deadlines {
    /// When the response is to be whole.
    pub ends_at: Option<Instant>,
    /// The time that the call was given for that, which is only told.
    pub total: Option<Duration>,
    /// The time that from now on its head may take.
    pub head: Option<Duration>,
    /// How long none of the content may move that is waited for, either way.
    pub idle: Option<Duration>,
}

/// The same for one stream, in its connection's time.
#[derive(Clone, Copy, Default)]
pub(crate) struct Terms {
    total: Option<Time>,
    head: Option<Time>,
    idle: Option<Duration>,
    /// The times that were given for `total` and `head`.
    given: [Option<Duration>; 2],
    is_head_here: bool,
    /// Since when nothing has moved, and how much had.
    still_since: Time,
    moved: u64,
}

impl Deadlines {
    /// Returns true if there is a bound.
    #[inline]
    pub const fn are_any(&self) -> bool {
        self.ends_at.is_some() || self.head.is_some() || self.idle.is_some()
    }
}

impl Stream {
    /// Fails the stream when one of these has passed.
    pub fn set_deadlines(&self, deadlines: Deadlines) {
        let conn = self.conn();
        let now = conn.time();
        let mut shared = conn.lock();
        let Some(slot) = shared.slot(self.at()) else { return };
        slot.terms = Terms {
            total: deadlines
                .ends_at
                .map(|at| now.saturating_add(at.saturating_duration_since(Instant::now()))),
            head: deadlines.head.map(|after| now.saturating_add(after)),
            idle: deadlines.idle,
            given: [deadlines.total, deadlines.head],
            is_head_here: false,
            still_since: now,
            moved: slot.received + slot.sent,
        };
        slot.deadline = slot.terms.next(now);
        let next = slot.deadline;
        if let Some(next) = next.filter(|next| shared.next_deadline.is_none_or(|earlier| *next < earlier)) {
            shared.next_deadline = Some(next);
            shared.wake_task();
        }
        conn.unlock_and_wake(shared);
    }
}

impl Terms {
    /// When to look next.
    fn next(&self, now: Time) -> Option<Time> {
        let idle = self.idle.map(|idle| now.saturating_add((idle / LOOKS).max(LOOK_AFTER_MIN)));
        [self.total, self.head, idle].into_iter().flatten().min()
    }
}

impl Slot {
    /// The head has come in time.
    #[inline]
    pub(crate) fn head_is_here(&mut self) {
        self.terms.is_head_here = true;
        if self.terms.head.take().is_some() && self.terms.idle.is_none() {
            self.deadline = self.terms.total;
        }
    }

    /// The failure if anything has taken too long by now; if not, it notes when to look again.
    fn late(&mut self, now: Time) -> Option<Error> {
        let waits = |side: Side| self.waits[side as usize].is_waiting();
        let is_awaited = waits(Side::Write) || (self.terms.is_head_here && waits(Side::Read));
        let moved = self.received + self.sent;
        let terms = &mut self.terms;
        if !is_awaited || moved != terms.moved {
            (terms.still_since, terms.moved) = (now, moved);
        }
        let is_still = terms.idle.is_some_and(|idle| now.saturating_since(terms.still_since) >= idle);
        let has_passed = |at: Option<Time>| at.is_some_and(|at| at <= now);
        self.deadline = terms.next(now);
        let [total, head] = terms.given;
        match (has_passed(terms.total), has_passed(terms.head)) {
            (true, _) => Some(Error::deadline(total)),
            (_, true) => Some(Error::deadline(head)),
            _ => is_still.then(|| Error::deadline(terms.idle)),
        }
    }
}

impl Shared {
    /// Fails every stream of which something has taken too long; when to look next is noted.
    pub(crate) fn expire(&mut self, now: Time) {
        self.next_deadline = None;
        for index in 0..self.slots.len() as u32 {
            let slot = &mut self.slots[index as usize];
            let (Some(stream), Some(deadline)) = (slot.stream, slot.deadline) else { continue };
            if slot.failed.is_some() || slot.ended {
                continue;
            }
            let late = if deadline <= now { slot.late(now) } else { None };
            if let Some(late) = late {
                slot.failed = Some(late);
                self.machine.reset(stream, ErrorCode::CANCEL);
                self.wake_later(index, Side::Read);
                self.wake_later(index, Side::Write);
                continue;
            }
            self.next_deadline = [self.next_deadline, slot.deadline].into_iter().flatten().min();
        }
        self.take_notices();
    }
}
