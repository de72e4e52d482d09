//! Support for tests of the loops on simulated time: a network, a fixed date, and the state of a connection.

use crate::drive::{reader::Wait, shared::Conn};
pub use crate::transport::{
    link::Link,
    network::{Connecting, Listen, Network, install},
};

/// Makes this thread use one date in all answers from now on: the length of a date in Huffman code depends on
/// its digits, and with it the course of a simulation.
pub fn hold_date() {
    crate::message::date::hold();
}

/// Frees the read buffers, heads and kits that this thread keeps for its connections.
pub fn free_read_buffers() {
    crate::connection::memory::read_buffers::free_kept();
    // The heads of a kit go to those that are kept.
    crate::connection::memory::kit::free_kept();
    crate::connection::memory::heads::free_kept();
}

/// The state of a connection without calls, for tests.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Rest {
    /// The connection has ended.
    pub has_ended: bool,
    /// The bytes that this side may send.
    pub may_send: i64,
    /// The bytes that the peer may send.
    pub may_receive: i64,
    /// The streams that are open.
    pub streams: usize,
    /// Handles of streams are held, or callers wait for a stream.
    pub is_used: bool,
    /// Callers that count as woken and have not run.
    pub woken: usize,
    /// The connection's own task reads.
    pub task_reads: bool,
    /// The bytes that wait to be written.
    pub unsent: usize,
}

/// Returns the present state.
///
/// # Panics
/// When the machine's books do not agree.
pub fn rest(conn: &Conn) -> Rest {
    let connection = conn.lock();
    connection.machine.check_invariants();
    let [may_send, may_receive] = connection.machine.windows();
    Rest {
        has_ended: connection.life.has_ended(),
        may_send,
        may_receive,
        streams: connection.machine.in_flight(),
        is_used: !connection.is_unused(),
        woken: connection.hand_over.woken(),
        task_reads: connection.hand_over.task_reads(),
        unsent: connection.output.unsent(),
    }
}

/// Returns true if a caller waits on a stream that the machine does not know: nothing would ever wake it.
pub fn has_lost_waiter(conn: &Conn) -> bool {
    let connection = conn.lock();
    connection.slots.iter().any(|slot| {
        let is_gone = slot.stream.is_some_and(|stream| connection.machine.has_sent_all(stream).is_none());
        is_gone && !slot.has_ended() && slot.waits.iter().any(Wait::is_waiting)
    })
}
