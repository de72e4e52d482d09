//! Exchanges of a server as they went, for those who count and log them.
//!
//! A slot forgets its stream when the last handle is gone, which may be before the handler has ended. Where somebody asks, the
//! facts of such streams are kept until then.

use std::{sync::Arc, time::Duration};

use crate::{
    conn::Conn,
    owner::StreamName,
    shared::Shared,
    slot::{Slot, SlotKey},
    tally::Tally,
};

/// Facts that are kept at most; more streams do not end between two looks.
const KEPT_MAX: usize = 1024;

impl Conn {
    /// Keeps how exchanges go that are [begun](Self::begin_tally), for [`Self::take_tally`].
    pub fn keep_tallies(&self) {
        self.lock().tallies = Some(Vec::new());
    }

    /// Keeps how this exchange goes, until that is taken. Those that nobody asks for are not kept.
    pub fn begin_tally(&self, name: StreamName) {
        if let Some(slot) = self.lock().slot(name.at()) {
            slot.is_tallied = true;
        }
    }

    /// How far an exchange came whose handler has ended. Nothing is known of it where tallies are not kept.
    pub fn take_tally(self: &Arc<Self>, name: StreamName) -> Tally {
        let mut shared = self.lock();
        if let Some(slot) = shared.slot(name.at()) {
            slot.is_tallied = false;
            return slot.tally();
        }
        let Some(tallies) = &mut shared.tallies else { return Tally::default() };
        let kept = tallies.iter().position(|(at, _)| *at == name.at());
        kept.map(|kept| tallies.swap_remove(kept).1).unwrap_or_default()
    }
}

impl Shared {
    /// Notes how a stream went whose slot is used again.
    #[inline]
    pub(crate) fn keep_tally(&mut self, at: SlotKey) {
        if self.tallies.is_some() {
            self.keep(at);
        }
    }

    #[cold]
    fn keep(&mut self, at: SlotKey) {
        let Some(slot) = self.slots.get(at.index as usize) else { return };
        if !slot.is_tallied {
            return;
        }
        let tally = slot.tally();
        if let Some(tallies) = self.tallies.as_mut().filter(|tallies| tallies.len() < KEPT_MAX) {
            tallies.push((at, tally));
        }
    }
}

impl Slot {
    fn tally(&self) -> Tally {
        Tally {
            answered: self.answered.map(|(status, at)| (status, Duration::from_nanos(at.as_nanos()))),
            received: self.received - self.began_at.0,
            sent: self.sent - self.began_at.1,
            user: self.user.clone(),
            failure: self.failed.clone(),
        }
    }
}
