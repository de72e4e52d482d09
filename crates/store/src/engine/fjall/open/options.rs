//! The bounds of an engine on disk.

use crate::engine::fjall::event::FjallEvent;

/// The bounds of a [`Fjall`](crate::engine::fjall::Fjall): its queue of writes, its batches and its memory.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FjallOptions {
    /// The writes that wait or are under way together; default 4096. One more is
    /// [`Busy`](crate::engine::EngineError::Busy).
    pub writes_waiting_max: usize,
    /// The bytes that those writes hold, up to 4 GiB; default 256 MiB. Further writes wait. A write alone
    /// may hold more.
    pub bytes_waiting_max: usize,
    /// The writes that are kept by one batch; default 512.
    pub batch_writes_max: usize,
    /// The bytes at which a batch takes no further write; default 16 MiB.
    pub batch_bytes_max: usize,
    /// The bytes of blocks and values that were read and stay in memory; default 64 MiB.
    pub cache_bytes: u64,
    /// The bytes of objects, and those of entries, that stay in memory before they are written to a file of
    /// their own; default 32 MiB. The engine holds up to three times as many of each while files are written.
    pub memtable_bytes: u64,
    /// A file in the folder keeps a hundredth of the disk, from 64 MiB to 1 GiB, and is given up when the
    /// disk is full, so that deletes go on; default false.
    pub reserve: bool,
    /// A function that hears of what an operator should know, on a thread of the engine; default none.
    pub on_event: Option<fn(&FjallEvent)>,
}

impl Default for FjallOptions {
    fn default() -> Self {
        const MIB: usize = 1024 * 1024;
        Self {
            writes_waiting_max: 4096,
            bytes_waiting_max: 256 * MIB,
            batch_writes_max: 512,
            batch_bytes_max: 16 * MIB,
            cache_bytes: 64 * MIB as u64,
            memtable_bytes: 32 * MIB as u64,
            reserve: false,
            on_event: None,
        }
    }
}
