//! The events and notices of HTTP/2, and the facts that it has beside messages.

use crate::guard::violation::Violation;

pub use alula_machine::Farewell;

/// The outcome of [`Connection::receive`](crate::Connection::receive).
pub type Received<'i> = alula_machine::Received<'i, Fact>;

/// The meaning of a frame, for one stream or for the connection. Borrows from the input and never from the
/// machine.
pub type Event<'i> = alula_machine::Event<'i, Fact>;

/// An effect of a frame, a timeout or a command beside the event: for several streams, or for the connection.
pub type Notice = alula_machine::Notice<Violation>;

/// The reset of a stream.
pub type Reset = alula_machine::Reset<Violation>;

/// The side that reset a stream.
pub type Origin = alula_machine::Origin<Violation>;

/// A fact about the connection.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fact {
    /// The peer's SETTINGS are in force; see [`peer_settings`](crate::Connection::peer_settings).
    Settings,
    /// The peer has acknowledged the oldest of our SETTINGS that it had not.
    SettingsAcknowledged,
    /// The answer to our [`ping`](crate::Connection::ping).
    Pong {
        /// The bytes of the ping.
        payload: [u8; 8],
    },
}
