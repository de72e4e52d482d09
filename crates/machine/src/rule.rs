//! The rules of a protocol that a peer can break.

use core::{
    error::Error,
    fmt::{Debug, Display},
};

/// The part of a connection that a broken rule ends.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Scope {
    /// The stream alone; the connection goes on.
    Stream,
    /// The connection, which is closed.
    Connection,
}

/// A row of a version's table of rules: the name of the rule, and the consequences of breaking it.
///
/// Its `Display` is the rule in words, ending in its section. `Copy` and free of allocation, as it is built
/// on hostile paths.
pub trait Rule: Copy + Debug + Eq + Error + 'static {
    /// The error codes of the version; a type without values if it has none.
    type Code: Copy + Debug + Display + Eq;

    /// The name of the version, as in `the peer broke HTTP/2`.
    const PROTOCOL: &'static str;

    /// Returns the name under which a broken rule is counted.
    fn name(self) -> &'static str;

    /// Returns the part of the connection that ends.
    fn scope(self) -> Scope;

    /// Returns true if the peer may have exceeded a limit of ours, which the machine can name.
    fn is_of_limit(self) -> bool;

    /// Returns true if the peer's message was cut short, which may be nobody's fault.
    fn is_cut(self) -> bool {
        false
    }
}
