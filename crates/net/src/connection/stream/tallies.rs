//! Finished exchanges of a server, for those who count and log them.
//!
//! A slot forgets its stream when the last handle is gone, which may be before the handler has ended. Where
//! somebody asks, the facts of such streams are kept until then.

use crate::connection::stream::{
    slot::{Slot, SlotKey},
    tally::Tally,
};

/// The most facts that are kept; more streams do not end between two checks.
const KEPT_MAX: usize = 1024;

/// The facts of streams whose slots were used again, if somebody wants them.
#[derive(Default)]
pub(crate) struct Tallies(Option<Vec<(SlotKey, Tally)>>);

impl Tallies {
    /// Keeps facts from now on.
    pub(crate) fn begin(&mut self) {
        self.0.get_or_insert_default();
    }

    /// Keeps the facts of a stream whose slot is about to be used again, if they are wanted.
    #[inline]
    pub(crate) fn keep(&mut self, at: SlotKey, slot: &Slot) {
        if let Some(kept) = &mut self.0
            && slot.answer.is_tallied()
        {
            add(kept, at, slot);
        }
    }

    /// Takes the facts of a stream, if they were kept.
    pub(crate) fn take(&mut self, at: SlotKey) -> Tally {
        let Some(kept) = &mut self.0 else { return Tally::default() };
        let place = kept.iter().position(|(of, _)| *of == at);
        place.map(|place| kept.swap_remove(place).1).unwrap_or_default()
    }
}

#[cold]
fn add(kept: &mut Vec<(SlotKey, Tally)>, at: SlotKey, slot: &Slot) {
    if kept.len() < KEPT_MAX {
        kept.push((at, slot.tally()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_kept_of_streams_that_are_asked_for() {
        let (at, other) = (SlotKey { index: 0, generation: 7 }, SlotKey { index: 1, generation: 7 });
        let (mut slot, untold) = (Slot::default(), Slot::default());
        slot.answer.set_tallied(true);
        slot.counts.receive(10);
        let mut tallies = Tallies::default();
        tallies.keep(at, &slot);
        assert_eq!(tallies.take(at).received, 0, "nobody asked");
        tallies.begin();
        tallies.keep(at, &slot);
        tallies.keep(other, &untold);
        assert_eq!(
            (tallies.take(other).received, tallies.take(at).received, tallies.take(at).received),
            (0, 10, 0)
        );
    }
}
