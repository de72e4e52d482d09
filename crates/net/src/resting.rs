//! The memory that a connection has between two requests: next to none where many are open.
//!
//! Rule 1: what a request needs comes with a kit (`kit.rs`), which is taken before the machine is fed or asked for anything, and left when
//! nothing is under way any more: at once where many connections have one, else at the look that finds the connection idle.
//! Rule 2: a connection that had several streams at once keeps its tables until that look, so that a busy one does not make them
//! over and over.

use crate::{
    connection::Connection,
    heads,
    kit::{self, Kit},
};

impl Connection {
    /// Takes what a request needs, if it was left or never there.
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
        let kit = kit::take();
        if self.slots.count() == 0 {
            self.slots.use_memory(kit.slots);
        }
        self.output.use_memory(kit.output);
        self.held.content_grew(kit.content.capacity());
        self.give_content(kit.content);
        self.held.note_change();
    }

    /// Leaves what a request needs, if nothing is under way and many connections have it.
    #[inline]
    pub(crate) fn leave_kit_if_crowded(&mut self) {
        if self.has_kit && self.is_unused() && self.ledger.is_crowded() && self.is_lean() {
            self.leave_kit();
            self.settle_memory();
        }
    }

    /// Returns true if nothing waits to go out or to be fed, and it has never had more than one stream at once since it rested.
    fn is_lean(&self) -> bool {
        let is_quiet = self.output.unsent() == 0 && self.input.octets() == 0;
        is_quiet && self.slots.count() <= 1 && self.output.octets() <= kit::OUTPUT_OCTETS_MAX
    }

    fn leave_kit(&mut self) {
        if !std::mem::take(&mut self.has_kit) {
            return;
        }
        self.ledger.kit_left();
        self.spares.leave_heads();
        std::iter::from_fn(|| self.machine.take_empty_head()).for_each(heads::keep_head);
        let content = self.spares.lend_content();
        self.held.content_went(content.capacity());
        self.drop_spares();
        kit::leave(Kit { slots: self.slots.take_memory(), output: self.output.take_memory(), content });
        self.held.note_change();
    }

    /// Gives back the memory of an idle connection.
    pub(crate) fn trim(&mut self) {
        drop(self.spares.take_list());
        if self.slots.count() > 1 {
            self.queue.trim();
            self.inbox.trim();
            self.wake.trim();
        }
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
    /// The memory of the last request is of use to others.
    fn drop(&mut self) {
        match self.has_kit {
            true if self.slots.are_unused() => self.leave_kit(),
            true => self.ledger.kit_left(),
            false => {}
        }
    }
}
