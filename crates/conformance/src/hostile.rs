//! Peers that die, stall or babble, at every point of a connection, as a client ([`requests`]) or a server
//! ([`answers`]).

pub mod answers;
pub mod requests;
mod server;

use std::io;

pub use server::HostileServer;

use crate::wire::Wire;

/// What a hostile peer does once it has come to its point.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ending {
    /// It closes the connection.
    Dies,
    /// It neither sends nor closes.
    Stalls,
    /// It sends what no protocol says, until the other side closes.
    Babbles,
}

impl Ending {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Dies, Self::Stalls, Self::Babbles];
}

/// Sends bytes that are no frame header of any length in force, wherever a frame begins among them.
///
/// # Errors
/// When the other side has closed by then.
pub fn babble(wire: &mut dyn Wire) -> io::Result<()> {
    // Longer than what any half-sent frame here lacks: the rest is read as a frame of 16 MiB.
    wire.write_all(&[0xff; 4096])?;
    wire.flush()
}
