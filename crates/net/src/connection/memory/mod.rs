//! Charging a connection with what it holds, and ending one that holds too much.
//!
//! Rule 1: a warm connection pays one sum and one comparison per read. A part that grows does so rarely, and
//! notes that it did.
//! Rule 2: before a connection is ended for what it holds, it gives back what it only keeps for later.
//! Rule 3: a connection that holds no more than a newly accepted one needs is not ended for the memory of
//! others.

pub(crate) mod account;
pub(crate) mod contents;
pub(crate) mod first_head;
pub(crate) mod heads;
pub(crate) mod kit;
pub(crate) mod ledger;
pub(crate) mod read_buffers;
pub(crate) mod rest;
pub(crate) mod spares;

use crate::{
    connection::{Connection, memory::account::CONNECTION_BYTES},
    drive::shared::Conn,
    error::limit::Overrun,
};

/// The memory of a server's connection outside of it: its task with the future, timer, slot of a handler and
/// place among all connections, and the runtime's share for task and socket. The handlers' own futures are
/// not known here. Measured (`idle_memory`).
const SERVER_TASK_BYTES: usize = 1320;

/// The same memory on a client, whose task only watches. Most of what an origin and its pool take is in it,
/// since most origins have one connection.
const CLIENT_TASK_BYTES: usize = 1200;

/// The bytes of heads that each received byte allows. Heads of browsers and of gRPC, most of whose fields are
/// in the table, are about ten times as long as on the wire.
const PAID_BY_BYTE: u64 = 8;

impl Connection {
    /// Returns the limit that leaves too little memory for a new request.
    ///
    /// Over HTTP/1.1 a head holds no more than its bytes, and the one before has gone.
    #[cold]
    pub(crate) fn shortage(&self) -> Option<Overrun> {
        if self.ledger.is_overloaded() {
            return Some(Overrun::OVERLOADED);
        }
        let unpaid_max = self.machine.limits().unpaid_head_bytes;
        let paid = self.fed.saturating_mul(PAID_BY_BYTE).saturating_add(unpaid_max.into());
        let is_unpaid = !self.machine.is_http1() && unpaid_max < u32::MAX && self.held.heads() as u64 > paid;
        is_unpaid.then_some(Overrun::HEADS_UNPAID)
    }

    /// Charges what the connection holds now; ends the connection if that is too much. One that has ended
    /// stays charged with what it held.
    #[inline]
    pub(crate) fn settle_memory(&mut self) {
        let taken = self.spares.take_taken();
        if taken > 0 {
            self.held.content_went(taken);
        }
        let heads = self.held.heads() + self.spares.head_bytes();
        let queued = self.machine.queued_bytes();
        let buffers = self.output.bytes() + queued + self.input.bytes() + heads;
        if self.held.is_outdated(buffers) && !self.life.has_ended() {
            self.held.begin_count(buffers);
            self.charge_all();
        }
    }

    #[cold]
    fn charge_all(&mut self) {
        if self.charge().is_ok() {
            return self.tell_if_heavy();
        }
        self.drop_spares();
        self.spares.leave_heads();
        match self.charge() {
            Ok(()) => {}
            // It is not what fills the memory of all. It is charged as soon as there is room.
            Err(Overrun::PROCESS_MEMORY) if self.is_small() => self.held.note_change(),
            Err(overrun) => self.give_up(overrun),
        }
    }

    /// Tells the observer how much the connection holds, if that is much, or was at the last report.
    pub(crate) fn tell_if_heavy(&mut self) {
        if self.held.is_heavy() {
            self.tell_held();
        }
    }

    /// Tells the observer how much the connection holds, and whether memory is scarce.
    pub(crate) fn tell_held(&mut self) {
        self.idleness.tell_held(self.held.bytes(), self.ledger.memory.is_scarce());
    }

    fn charge(&mut self) -> Result<(), Overrun> {
        let others = self.other_bytes();
        self.held.charge(others)
    }

    /// Returns true if the connection holds no more than had to be free when it was accepted.
    fn is_small(&mut self) -> bool {
        let others = self.other_bytes();
        self.held.total(others) as u64 <= CONNECTION_BYTES
    }

    /// Returns the bytes that are held beside content, heads and buffers.
    fn other_bytes(&mut self) -> usize {
        #[cfg(feature = "tls")]
        let tls = self.tls.as_ref().map_or(0, |tls| tls.memory_bytes());
        #[cfg(not(feature = "tls"))]
        let tls = 0;
        let task = if self.machine.is_client() { CLIENT_TASK_BYTES } else { SERVER_TASK_BYTES };
        // The machine's queued bytes are counted with the buffers, at every read.
        let machine = self.machine.memory_bytes().saturating_sub(self.machine.queued_bytes());
        size_of::<Conn>() + task + tls + self.slots.bytes() + machine
    }
}
