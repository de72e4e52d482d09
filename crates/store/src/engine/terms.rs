//! The replicas that a request waits for, and its deadline.

use tokio::time::Instant;

/// The replicas that a read waits for. Engines of one process are as many replicas as there may be, on one
/// machine.
#[derive(Clone, Copy, Debug)]
pub struct ReadTerms {
    /// The replicas of the object.
    pub n: u32,
    /// The replicas that answer, from 1 to `n`.
    pub r: u32,
    /// The primary replicas among these.
    pub pr: u32,
    /// The replicas on different machines that answer.
    pub node_confirms: u32,
    /// A replica without the object counts as one that answers.
    pub notfound_ok: bool,
    /// A majority of replicas without the object ends the read; heeded only without `notfound_ok`.
    pub basic_quorum: bool,
    /// The time at which the read is given up.
    pub deadline: Instant,
}

/// The replicas that a write waits for, and how they keep it.
#[derive(Clone, Copy, Debug)]
pub struct WriteTerms {
    /// The replicas of the object.
    pub n: u32,
    /// The replicas that take the write, from 1 to `n`.
    pub w: u32,
    /// The primary replicas among these.
    pub pw: u32,
    /// The replicas of `w` that handed the write to their disk.
    pub dw: u32,
    /// The replicas on different machines that take the write.
    pub node_confirms: u32,
    /// The durability of the write when it is answered.
    pub durability: Durability,
    /// The time after which the write is not begun any more.
    pub deadline: Instant,
}

/// The durability of a write when it is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durability {
    /// The operating system has the write, which outlives the process.
    Buffered,
    /// The disk has the write, which outlives a loss of power.
    #[default]
    Flushed,
}
