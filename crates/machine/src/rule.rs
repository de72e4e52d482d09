//! The rules of a protocol that a peer can break.

use core::{
    error::Error,
    fmt::{Debug, Display},
};

/// The part of a connection that a broken rule brings down.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Scope {
    /// The stream alone; the connection goes on.
    Stream,
    /// The connection, which is closed.
    Connection,
}

/// A row of a version's table of rules: it names the rule, and says what comes of it when a peer breaks it.
///
/// Its `Display` is the rule in words, ending in its section. `Copy` and free of allocation, as it is built
/// on hostile paths.
pub trait Rule: Copy + Debug + Eq + Error + 'static {
    /// The numbers by which the two ends tell each other their reasons; a type without values in a version
    /// that has none.
    type Code: Copy + Debug + Display + Eq;

    /// The name of the version, as in `the peer broke HTTP/2`.
    const PROTOCOL: &'static str;

    /// Returns the name under which it is counted.
    fn name(self) -> &'static str;

    /// Returns the part of the connection that it brings down.
    fn scope(self) -> Scope;

    /// Returns true if the peer may have gone over a limit of ours, of which the machine tells more.
    fn is_of_limit(self) -> bool;

    /// Returns true if the peer's message was cut short, which may be nobody's fault.
    fn is_cut(self) -> bool {
        false
    }
}
