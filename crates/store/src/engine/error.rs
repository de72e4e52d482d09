//! The ways in which an engine fails.

use std::error::Error as StdError;
use std::fmt::{self, Write as _};
use std::sync::Arc;

use alula::fields::{EscapedDebug, OneLine};

use crate::model::Damaged;

/// The reason for which an engine failed.
///
/// `Display` gives one line, in which whatever a terminal would obey is escaped, as in `Debug`.
#[derive(Clone)]
#[non_exhaustive]
pub enum EngineError {
    /// Fewer replicas answer than were asked for. A write of this outcome may be kept by some of them.
    Unavailable(Shortage),
    /// The deadline passed. A write of this outcome was not begun.
    TimedOut,
    /// More writes wait than the engine holds. Nothing was written.
    Busy,
    /// A write failed before, and no other is taken until the engine has opened what it keeps anew. Nothing
    /// was written.
    WritesRefused,
    /// The engine opens its files anew after a write failed, or has done it since the snapshot was taken.
    /// Nothing was read; the same read may succeed a moment later.
    Reopening,
    /// The engine has no room for a write that grows. Nothing was written; deletes and smaller values are
    /// taken.
    NoRoom,
    /// A write failed part-way: it may or may not be kept.
    Unknown(Arc<dyn StdError + Send + Sync>),
    /// A record or a row cannot be read.
    Unreadable(Arc<dyn StdError + Send + Sync>),
}

/// The replicas that answered, and those that were asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// The count that was asked for.
    pub level: Level,
    /// The replicas that answered.
    pub got: u32,
    /// The replicas that were needed.
    pub needed: u32,
}

/// The counts of replicas that a request may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Replicas that answer a read.
    R,
    /// Primary replicas among those of `R`.
    Pr,
    /// Replicas that take a write.
    W,
    /// Primary replicas among those of `W`.
    Pw,
    /// Replicas among those of `W` that handed the write to their disk.
    Dw,
    /// Different machines.
    NodeConfirms,
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = OneLine(f);
        match self {
            Self::Unavailable(shortage) => write!(line, "{shortage}"),
            Self::TimedOut => line.write_str("the storage engine did not answer in time"),
            Self::Busy => line.write_str("too many writes wait for the storage engine"),
            Self::WritesRefused => line.write_str("the storage engine takes no writes after one failed"),
            Self::Reopening => {
                line.write_str("the storage engine opens its files anew: try again in a moment")
            }
            Self::NoRoom => line.write_str("the store is full: deletes and smaller values are taken"),
            Self::Unknown(cause) => write!(line, "a write failed and may or may not be kept: {cause}"),
            Self::Unreadable(cause) => write!(line, "what is stored cannot be read: {cause}"),
        }
    }
}

impl fmt::Debug for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable(shortage) => f.debug_tuple("Unavailable").field(shortage).finish(),
            Self::TimedOut => f.write_str("TimedOut"),
            Self::Busy => f.write_str("Busy"),
            Self::WritesRefused => f.write_str("WritesRefused"),
            Self::Reopening => f.write_str("Reopening"),
            Self::NoRoom => f.write_str("NoRoom"),
            Self::Unknown(cause) => f.debug_tuple("Unknown").field(&EscapedDebug(cause)).finish(),
            Self::Unreadable(cause) => f.debug_tuple("Unreadable").field(&EscapedDebug(cause)).finish(),
        }
    }
}

impl StdError for EngineError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Unknown(cause) | Self::Unreadable(cause) => Some(&**cause),
            _ => None,
        }
    }
}

impl From<Damaged> for EngineError {
    fn from(damaged: Damaged) -> Self {
        Self::Unreadable(Arc::new(damaged))
    }
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-value unsatisfied: {}/{}", self.level.name(), self.got, self.needed)
    }
}

impl Level {
    /// Returns the name that clients see.
    pub const fn name(self) -> &'static str {
        match self {
            Self::R => "R",
            Self::Pr => "PR",
            Self::W => "W",
            Self::Pw => "PW",
            Self::Dw => "DW",
            Self::NodeConfirms => "node_confirms",
        }
    }
}
