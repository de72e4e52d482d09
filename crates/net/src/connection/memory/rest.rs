//! The memory of a connection between two requests: nearly none where many connections are open.
//!
//! Rule 1: what a request needs comes with a kit (`kit.rs`), which is taken before the machine is fed or
//! asked for anything, and left when nothing is under way any more: at once where many connections have one,
//! else at the look that finds the connection idle.
//! Rule 2: a connection that had very many streams at once, or much output, keeps its memory until that look,
//! so that a busy one does not make it over and over.

use crate::connection::{
    Connection,
    memory::{
        heads,
        kit::{self, Kit},
    },
    stream::table::PASSED_ON_MAX,
};

impl Connection {
    /// Takes the memory for a request, unless the connection has it.
    #[inline]
    pub(crate) fn need_kit(&mut self) {
        if !self.has_kit {
            self.take_kit();
        }
    }

    #[cold]
    fn take_kit(&mut self) {
        self.has_kit = true;
        self.ledger.kit_taken();
        kit::take(self.machine.version(), |kit| self.use_kit(kit));
        self.held.note_change();
    }

    fn use_kit(&mut self, kit: &mut Kit) {
        self.slots.use_memory(&mut kit.slots);
        self.machine.use_stream_memory(&mut kit.streams);
        self.spares.exchange_heads(&mut kit.heads);
        kit.heads.leave();
        self.exchange_lists(kit);
        self.output.use_memory(&mut kit.output);
        self.held.content_grew(kit.contents.bytes());
        self.spares.use_contents(&mut kit.contents);
    }

    fn exchange_lists(&mut self, kit: &mut Kit) {
        self.inbox.exchange_memory(&mut kit.inbox);
        self.queue.exchange_memory(&mut kit.callers);
        self.wake.exchange_memory(&mut kit.wakers);
    }

    /// Gives the memory for requests away, if nothing is under way and many connections have it.
    #[inline]
    pub(crate) fn leave_kit_if_crowded(&mut self) {
        if self.has_kit && self.is_unused() && self.ledger.is_crowded() && self.is_lean() {
            self.leave_kit();
            self.settle_memory();
        }
    }

    /// Returns true if nothing waits to go out or to be read, and the memory is of use to another connection.
    fn is_lean(&self) -> bool {
        let is_quiet = self.output.unsent() == 0 && self.input.bytes() == 0;
        let is_passed_on = self.slots.count() as usize <= PASSED_ON_MAX;
        is_quiet && is_passed_on && self.output.bytes() <= kit::OUTPUT_BYTES_MAX
    }

    fn leave_kit(&mut self) {
        if !std::mem::take(&mut self.has_kit) {
            return;
        }
        self.ledger.kit_left();
        kit::leave(self.machine.version(), &mut |kit| self.fill_kit(kit));
        std::iter::from_fn(|| self.machine.take_empty_head()).for_each(heads::keep_head);
        self.held.note_change();
    }

    /// Moves all memory into an empty kit.
    fn fill_kit(&mut self, kit: &mut Kit) {
        self.slots.leave_memory(&mut kit.slots);
        self.machine.leave_stream_memory(&mut kit.streams);
        self.spares.exchange_heads(&mut kit.heads);
        self.exchange_lists(kit);
        self.output.leave_memory(&mut kit.output);
        self.spares.leave_contents(&mut kit.contents, kit::CONTENTS_BYTES_MAX);
        self.held.content_went(kit.contents.bytes());
    }

    /// Frees the memory of an idle connection.
    pub(crate) fn trim(&mut self) {
        drop(self.spares.take_list());
        self.leave_kit();
        self.drop_spares();
        self.input.trim();
        self.output.trim();
        self.machine.trim();
        self.held.note_change();
        self.settle_memory();
    }
}

impl Drop for Connection {
    /// Leaves the memory of the last request to others.
    fn drop(&mut self) {
        match self.has_kit {
            true if self.slots.are_unused() => self.leave_kit(),
            true => self.ledger.kit_left(),
            false => {}
        }
    }
}
