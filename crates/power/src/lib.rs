//! The states in which a loss of power may leave a folder, made from a recording of what a program did to its
//! files.
//!
//! A program is started [with the recorder](Recorded), a library that the system loads before its own, and
//! leaves a [`Recording`]. A [`Disk`] follows it up to any entry, and [leaves](Disk::leave) a folder as it
//! may be found after the power was lost there. These are taken for possible:
//!
//! - *Bytes*: those that were written to a file before a flush of it began are there once the flush has
//!   ended. Of all later writes each block of 512 or of 4,096 bytes, aligned, has the state after any one of
//!   them, or after none, whatever other blocks have.
//! - *Lengths*: the length of a file is that after any of the changes of its length since its flush. Bytes
//!   that it is extended by and that were not written are 0. Bytes that a truncation cut off do not come
//!   back once the truncation is there.
//! - *Names*: new, renamed and removed names come to the disk in order, a rename whole or not at all. Under
//!   [`Names::Ordered`] that is one order for all folders, and a flush of a file or folder brings all of them
//!   up to its own last one, as the journals of ext4 and XFS do. Under [`Names::PerFolder`] each folder has
//!   an order of its own, and a flush brings the names in a folder, or that of a file and those of the
//!   folders above it, as that of Btrfs does. POSIX alone does not promise that a flushed file has its name.
//! - *Failed flushes*: what was written before a flush that failed may or may not be there, and later flushes
//!   do not change that, since the system takes it for written.
//!
//! Not modelled: disks that tell of a flush and have done none, and blocks that change after they were
//! flushed.
#![forbid(unsafe_code)]

mod content;
mod disk;
mod entry;
mod file;
mod loss;
mod names;
mod notes;
mod recorded;
mod recording;

pub use disk::Disk;
pub use entry::Entry;
pub use loss::{Flushes, Loss, Names};
pub use notes::{Fail, Notes};
pub use recorded::Recorded;
pub use recording::Recording;

/// The environment variables of a program that is recorded.
pub mod variables {
    /// The folder whose files are recorded: an absolute path without links.
    pub const FOLDER: &str = "ALULA_DISK_FOLDER";
    /// The file that takes the recording.
    pub const LOG: &str = "ALULA_DISK_LOG";
    /// The file that takes the notes of the program.
    pub const NOTES: &str = "ALULA_DISK_NOTES";
    /// The microseconds that a flush takes; none if it is not set.
    pub const FLUSH_MICROS: &str = "ALULA_DISK_FLUSH_MICROS";
}
