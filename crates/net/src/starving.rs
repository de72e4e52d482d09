//! Content that cannot come: responses that nobody reads hold the whole window of a client's connection (RFC 9113 §6.9.1).
//!
//! The peer waits for us then, and the callers that read the other responses would wait for the one who does not. They are failed
//! after a while, and told by what they were kept.
//!
//! Rule: the connection's task looks when it looks for slow peers (`idle.rs`); nothing is noted on the way of octets.

use std::time::Duration;

use alula_fields::Time;
use alula_h2::ErrorCode;

use crate::{
    error::{Error, Phase},
    hand_over::Side,
    shared::Shared,
    slot::Slot,
};

/// Since when the window is used up, and how long that may last.
#[derive(Default)]
pub(crate) struct Starving {
    since: Option<Time>,
    most: Option<Duration>,
}

impl Starving {
    /// Lets callers wait so long.
    pub(crate) fn allow(&mut self, most: Duration) {
        self.most = Some(most);
    }
}

impl Shared {
    /// Fails callers that have waited too long for content for which the connection has no window.
    pub(crate) fn look_for_starving(&mut self, now: Time) {
        let Some(most) = self.starving.most else { return };
        if !self.machine.is_out_of_window() || !self.slots.iter().any(Slot::is_starving) {
            self.starving.since = None;
            return;
        }
        let since = *self.starving.since.get_or_insert(now);
        if now.saturating_since(since) >= most {
            self.fail_starving();
        }
    }

    #[cold]
    fn fail_starving(&mut self) {
        self.starving.since = None;
        let error = Error::deadline(self.starving.most).during(Phase::Content).with_occupied(self.unread());
        for index in 0..self.slots.len() as u32 {
            let slot = &mut self.slots[index as usize];
            let Some(stream) = slot.stream.filter(|_| slot.is_starving()) else { continue };
            slot.failed = Some(error.clone());
            self.machine.reset(stream, ErrorCode::CANCEL);
            self.wake_later(index, Side::Read);
            self.wake_later(index, Side::Write);
        }
        self.take_notices();
    }
}

impl Slot {
    /// Returns true if a caller waits for content, and has read all that came.
    fn is_starving(&self) -> bool {
        let waits = self.is_head_taken && self.waits[Side::Read as usize].is_waiting();
        waits && self.content.is_empty() && !self.ended && self.failed.is_none()
    }
}
