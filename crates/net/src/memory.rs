//! The memory a connection holds, charged to its account: capacities, not lengths.
//!
//! Rule 1: a warm connection pays one sum and one comparison per read. What grows does so rarely, and says so (`moved`).
//! Rule 2: before a connection is ended for what it holds, it gives back what it only keeps for later.
//! Rule 3: one that holds no more than had to be there when it was accepted is not ended for what others hold.

use alula_fields::{Head, Limits, MemoryAccount};

use crate::{conn::Conn, ledger::Ledger, overrun::Overrun, shared::Shared, slot::Slot};

/// Heads that are no larger than this are charged with their slot.
const HEAD_OCTETS: usize = 1024;

/// Octets that a connection holds which waits for a request; to be there before one is accepted.
pub(crate) const CONNECTION_OCTETS: u64 = 16 * 1024;

/// An estimate of what a connection's task holds, and the runtime for it and for its socket. On a server those are the future,
/// the slot of a handler, two timers and their places in queues; the handlers' own futures are not known here.
const TASK_OCTETS: usize = 2 * 1024 + 512;

/// Octets by which the buffers may differ from what is charged for them: less is not worth the count.
const BUFFERS_DRIFT: usize = 512;

/// The memory of one connection.
pub(crate) struct Held {
    account: MemoryAccount,
    bytes_max: u64,
    /// Content buffers, in slots, in users' hands and spare.
    contents: usize,
    /// What large heads hold beyond what is charged with their slots.
    heads: usize,
    /// The buffers of input and output when they were looked at last.
    buffers: usize,
    /// Something else than the buffers has changed since.
    moved: bool,
}

impl Held {
    pub(crate) fn new(limits: &Limits, ledger: &Ledger) -> Self {
        // What the windows let in may be held twice: by who reads, and by what comes meanwhile.
        let window = limits.connection_window.max(limits.connection_window_max);
        let bytes_max = limits.connection_memory_bytes.saturating_add(2 * u64::from(window));
        let account = MemoryAccount::within(&ledger.memory, bytes_max);
        Self { account, bytes_max, contents: 0, heads: 0, buffers: 0, moved: true }
    }

    /// So much more room for content.
    pub(crate) fn content_grew(&mut self, octets: usize) {
        self.contents += octets;
        self.moved |= octets > 0;
    }

    /// All that can be given back was: what is left is to be counted.
    pub(crate) fn note_trim(&mut self) {
        self.moved = true;
    }

    /// A content buffer is gone.
    pub(crate) fn content_went(&mut self, octets: usize) {
        self.contents = self.contents.saturating_sub(octets);
        self.moved |= octets > 0;
    }

    /// Charges a head that a slot is about to hold; says how much is to be given back with the slot.
    #[inline]
    pub(crate) fn head_came(&mut self, head: &Head) -> u32 {
        let octets = head.capacity_bytes();
        if octets <= HEAD_OCTETS {
            return 0;
        }
        self.heads += octets;
        self.moved = true;
        octets as u32
    }

    pub(crate) fn head_went(&mut self, octets: u32) {
        self.heads -= octets as usize;
        self.moved = true;
    }

    /// Returns true if half of what the connection may hold is held: no time for buffers that are larger than they must be.
    pub(crate) fn is_tight(&self) -> bool {
        self.account.held() > self.bytes_max / 2
    }
}

impl Shared {
    /// Charges what is held now; ends the connection when that is too much. One that has ended stays charged with what it held.
    #[inline]
    pub(crate) fn settle_memory(&mut self) {
        let buffers = self.buffers();
        let is_news = self.held.moved || buffers.abs_diff(self.held.buffers) >= BUFFERS_DRIFT;
        if is_news && self.ended.is_none() {
            self.held.buffers = buffers;
            self.settle_moved();
        }
    }

    #[cold]
    fn settle_moved(&mut self) {
        self.held.moved = false;
        if self.charge().is_ok() {
            return;
        }
        self.drop_spares();
        self.heads.leave();
        match self.charge() {
            Ok(()) => {}
            // It is not what fills the memory of all. It is charged as soon as there is room.
            Err(Overrun::PROCESS_MEMORY) if self.octets() as u64 <= CONNECTION_OCTETS => {
                self.held.moved = true
            }
            Err(overrun) => self.give_up(overrun),
        }
    }

    fn charge(&mut self) -> Result<(), Overrun> {
        let (held, before) = (self.octets(), self.held.account.held());
        self.held.account.resize(before, held as u64).map_err(|over| match over.of_process {
            true => Overrun::PROCESS_MEMORY,
            false => Overrun::CONNECTION_MEMORY,
        })
    }

    /// What is held now.
    fn octets(&mut self) -> usize {
        let slots = self.slots.capacity() * size_of::<Slot>() + self.slots.len() * HEAD_OCTETS;
        let kept = self.heads.octets();
        self.held.contents
            + self.held.heads
            + self.held.buffers
            + slots
            + kept
            + self.machine.memory_bytes()
            + self.fixed_octets()
    }

    /// What a connection holds however little it does.
    fn fixed_octets(&self) -> usize {
        #[cfg(feature = "tls")]
        let tls = self.tls.as_ref().map_or(0, |tls| tls.memory_bytes());
        #[cfg(not(feature = "tls"))]
        let tls = 0;
        size_of::<Conn>() + TASK_OCTETS + tls
    }

    fn buffers(&self) -> usize {
        self.out.capacity() + self.pending.capacity() + self.input_octets()
    }
}
