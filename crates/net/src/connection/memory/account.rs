//! The memory that one connection holds, charged to its account: capacities, not lengths.

use alula_fields::Head;
use alula_machine::{Limits, MemoryAccount};

use crate::{connection::memory::ledger::Ledger, error::limit::Overrun};

/// The bytes of a connection that waits for a request; they have to be free before a connection is accepted.
pub(crate) const CONNECTION_BYTES: u64 = 16 * 1024;

/// The bytes by which buffers and heads may differ from what was charged: smaller changes are not worth a
/// count.
const BUFFERS_DRIFT: usize = 512;

/// The bytes from which on a server is told how much a connection holds: twice what had to be free when it
/// was accepted.
pub(crate) const HEAVY_BYTES: u64 = 32 * 1024;

pub(crate) struct Held {
    account: MemoryAccount,
    bytes_max: u64,
    /// The bytes of content buffers: in slots, in users' hands, and spare.
    contents: usize,
    /// The bytes of heads of messages under way.
    heads: usize,
    /// The bytes that the handlers of a server's connection hold; they are charged elsewhere.
    handlers: u64,
    /// The bytes of the buffers of input and output, and of the heads, at the last count.
    buffers: usize,
    /// True if something other than the buffers has changed since the last charge.
    has_moved: bool,
    /// True if the connection was heavy at the last check.
    was_heavy: bool,
}

impl Held {
    pub(crate) fn new(limits: &Limits, ledger: &Ledger) -> Self {
        // All that the windows let in may be held twice: by the reader, and by what comes meanwhile.
        let window = limits.connection_window.max(limits.connection_window_max);
        let bytes_max = limits.connection_memory_bytes.saturating_add(2 * u64::from(window));
        let account = MemoryAccount::within(&ledger.memory, bytes_max);
        Self {
            account,
            bytes_max,
            contents: 0,
            heads: 0,
            handlers: 0,
            buffers: 0,
            has_moved: true,
            was_heavy: false,
        }
    }

    /// Notes that a buffer of content has grown by so many bytes.
    #[inline]
    pub(crate) fn content_grew(&mut self, bytes: usize) {
        self.contents += bytes;
        self.has_moved |= bytes > 0;
    }

    /// Records that a buffer of content is gone.
    pub(crate) fn content_went(&mut self, bytes: usize) {
        self.contents = self.contents.saturating_sub(bytes);
        self.has_moved |= bytes > 0;
    }

    /// Records a change that has to be counted.
    pub(crate) fn note_change(&mut self) {
        self.has_moved = true;
    }

    /// Adds the head of a message under way, held by a slot or by its user. Returns the bytes that are to be
    /// given back with the slot.
    #[inline]
    pub(crate) fn head_came(&mut self, head: &Head) -> u32 {
        let bytes = size_of::<Head>() + head.capacity_bytes();
        self.heads += bytes;
        bytes as u32
    }

    /// Notes that the heads of a slot are gone.
    #[inline]
    pub(crate) fn heads_went(&mut self, bytes: u32) {
        self.heads -= bytes as usize;
    }

    /// Returns the bytes of heads of messages under way.
    pub(crate) const fn heads(&self) -> usize {
        self.heads
    }

    /// Notes the bytes that the handlers of the connection hold.
    #[inline]
    pub(crate) fn note_handlers(&mut self, bytes: u64) {
        self.handlers = bytes;
    }

    /// Returns the bytes that are held on behalf of the peer: those that are charged, and those of the
    /// handlers.
    pub(crate) fn bytes(&self) -> u64 {
        self.account.held() + self.handlers
    }

    /// Returns true if much is held, or was at the last call.
    pub(crate) fn is_heavy(&mut self) -> bool {
        let is_heavy = self.bytes() >= HEAVY_BYTES;
        std::mem::replace(&mut self.was_heavy, is_heavy) || is_heavy
    }

    /// Returns true if the connection holds half of what it may hold: buffers should be no larger than
    /// necessary.
    #[inline]
    pub(crate) fn is_tight(&self) -> bool {
        self.account.held() > self.bytes_max / 2
    }

    /// Returns true if everything has to be counted anew, because sizes have changed.
    #[inline]
    pub(crate) fn is_outdated(&self, buffers: usize) -> bool {
        self.has_moved || buffers.abs_diff(self.buffers) >= BUFFERS_DRIFT
    }

    /// Begins to count anew.
    pub(crate) fn begin_count(&mut self, buffers: usize) {
        self.buffers = buffers;
        self.has_moved = false;
    }

    /// Charges all: content, heads, buffers, and so many bytes of everything else.
    pub(crate) fn charge(&mut self, others: usize) -> Result<(), Overrun> {
        let (held, before) = (self.total(others), self.account.held());
        self.account.resize(before, held as u64).map_err(|over| match over.of_process {
            true => Overrun::PROCESS_MEMORY,
            false => Overrun::CONNECTION_MEMORY,
        })
    }

    /// Returns the bytes of all, with so many of everything else.
    pub(crate) fn total(&self, others: usize) -> usize {
        self.contents + self.buffers + others
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_counted_when_something_has_changed() {
        let limits = Limits::default();
        let ledger = Ledger::new(&limits);
        let mut held = Held::new(&limits, &ledger);
        assert!(held.is_outdated(0), "nothing was counted yet");
        held.begin_count(1_000);
        assert!(!held.is_outdated(1_000 + BUFFERS_DRIFT - 1) && held.is_outdated(1_000 + BUFFERS_DRIFT));
        held.content_grew(500);
        assert!(held.is_outdated(1_000) && held.charge(24).is_ok());
        assert_eq!(ledger.memory_held(), 1_524);
        held.content_went(500);
        held.begin_count(0);
        assert!(held.charge(0).is_ok());
        assert_eq!(ledger.memory_held(), 0);
    }

    #[test]
    fn a_connection_may_hold_so_much() {
        let limits = Limits {
            connection_memory_bytes: 1_000,
            connection_window: 0,
            connection_window_max: 0,
            ..Limits::default()
        };
        let mut held = Held::new(&limits, &Ledger::new(&limits));
        held.content_grew(501);
        assert!(!held.is_tight() && held.charge(0).is_ok() && held.is_tight());
        assert_eq!(held.charge(500), Err(Overrun::CONNECTION_MEMORY));
    }
}
