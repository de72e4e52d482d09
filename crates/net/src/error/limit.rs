//! The limits that this crate holds and not the machine: the pace of a peer, and the memory that it may take.
//!
//! Rule: a limit is a row of this table, so that it has a name to be counted by.

use std::{fmt, time::Duration};

use alula_machine::Limits;

/// A limit that a peer has run into; its text ends with the name of its field in
/// [`Limits`](alula_machine::Limits).
///
/// `Copy` and free of allocation: it is built on hostile paths.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Overrun {
    /// The name by which [`Ledger::count`](crate::Ledger::count) counts it.
    pub name: &'static str,
    /// The limit in words.
    pub limit: &'static str,
}

impl fmt::Display for Overrun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.limit)
    }
}

/// The value of a limit, for messages.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value {
    Time(Duration),
    Bytes(u64),
    Rate(u32),
}

impl Overrun {
    /// Returns the value of the limit among these; `None` for one that is elsewhere, or a number of
    /// connections.
    pub(crate) fn value(self, limits: &Limits) -> Option<Value> {
        match self {
            Self::STALLED => Some(Value::Time(limits.stall_timeout)),
            Self::HANDSHAKE_LATE => Some(Value::Time(limits.handshake_timeout)),
            Self::SLOW_CONTENT => Some(Value::Rate(limits.body_rate_min)),
            Self::CONNECTION_MEMORY => Some(Value::Bytes(limits.connection_memory_bytes)),
            Self::PROCESS_MEMORY => Some(Value::Bytes(limits.process_memory_bytes)),
            _ => None,
        }
    }
}

macro_rules! overruns {
    ($($name:ident: $limit:literal;)*) => {
        /// The limits, one constant each; the text of a limit is its documentation.
        impl Overrun {
            $(
                #[doc = concat!($limit, ".")]
                pub const $name: Self = Self { name: stringify!($name), limit: $limit };
            )*

            /// The limits, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];
        }
    };
}

overruns! {
    SLOW_CONTENT: "the peer sends or takes content more slowly than it may (Limits::body_rate_min)";
    STALLED: "the peer has sent or taken no content for too long (Limits::stall_timeout)";
    CONNECTION_MEMORY: "the connection holds more memory than one may (Limits::connection_memory_bytes)";
    PROCESS_MEMORY: "all connections together hold more memory than they may (Limits::process_memory_bytes)";
    OVERLOADED: "a request has come while all connections together hold more than new ones may find (Limits::process_memory_soft_percent)";
    HEADS_UNPAID: "the heads of the connection's requests hold far more than it has sent, while memory is in use (Limits::unpaid_head_bytes)";
    HELD_TOO_LONG: "the connection holds much of the memory while it is scarce, and sends and takes little (Limits::process_memory_soft_percent)";
    HANDSHAKE_LATE: "the peer has not introduced itself in time (Limits::handshake_timeout)";
    HANDSHAKES: "more handshakes than may be are in progress (Limits::handshakes)";
    CONNECTIONS: "more connections than may be are open, and this one was idle (Limits::connections_max)";
    PEER_REFUSED: "the application takes no connection from this address (ServerBuilder::on_accept)";
    CLEAR_TEXT: "the peer does not speak TLS, and nothing else is served (ServerBuilder::clear_text)";
}
