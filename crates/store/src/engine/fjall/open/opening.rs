//! Opening the embedded engine of a folder: its journals are checked first, and what a crash left of them is
//! cut.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::folder::Folder;
use super::open_error::FjallOpenError;
use super::options::FjallOptions;
use super::tail::{CutTail, cut_damaged, rewrite_last};
use crate::engine::fjall::errors::Cause;
use crate::engine::fjall::failure::FjallFailure;
use crate::engine::fjall::tables::Tables;
use crate::engine::marks::Marks;

/// An engine as it was opened.
pub(in crate::engine::fjall) struct Opened {
    pub(in crate::engine::fjall) tables: Tables,
    /// A new actor: dots of the old one may have been given out and lost.
    pub(in crate::engine::fjall) marks: Marks,
    /// The number of the last batch. All of them are flushed: opening does that.
    pub(in crate::engine::fjall) last_batch: u64,
    pub(in crate::engine::fjall) cut: Vec<CutTail>,
}

/// Opens the engine of a folder.
pub(in crate::engine::fjall) fn open(
    folder: &Folder,
    options: &FjallOptions,
) -> Result<Opened, FjallOpenError> {
    let cut = cut_damaged(folder)?;
    open_whole(folder, options, cut)
}

/// Opens the engine of a folder after a write failed.
pub(in crate::engine::fjall) fn open_after_failure(
    folder: &Folder,
    options: &FjallOptions,
) -> Result<Opened, FjallOpenError> {
    let cut = cut_damaged(folder)?;
    rewrite_last(folder)?;
    open_whole(folder, options, cut)
}

fn open_whole(folder: &Folder, options: &FjallOptions, cut: Vec<CutTail>) -> Result<Opened, FjallOpenError> {
    // fjall asserts some of what it reads.
    let opened = catch_unwind(AssertUnwindSafe(|| Tables::open(&folder.engine(), options)));
    let tables = match opened {
        Ok(Ok(tables)) => tables,
        Ok(Err(::fjall::Error::Locked)) => {
            return Err(FjallOpenError::InUse { folder: folder.path().to_path_buf() });
        }
        Ok(Err(error)) => return Err(failed(folder, Arc::new(FjallFailure(error)))),
        Err(_) => return Err(failed(folder, Arc::new(Cause::Stopped))),
    };
    let mark = tables.last_mark(folder.id()).map_err(|error| failed(folder, Arc::new(error)))?;
    Ok(Opened { tables, marks: Marks::new(), last_batch: mark.map_or(0, |mark| mark.number), cut })
}

fn failed(folder: &Folder, error: Arc<dyn std::error::Error + Send + Sync>) -> FjallOpenError {
    FjallOpenError::Engine { folder: folder.engine(), error }
}
