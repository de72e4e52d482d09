//! The ends of journals: after a crash or a loss of power, batches that are not whole and were never answered
//! are cut off and kept aside.
//!
//! Rule 1: a journal is cut at its first batch that is not whole, and only if no later mark says that this
//! batch had been flushed.
//! Rule 2: nothing is cut before it is kept aside, flushed.
//! Rule 3: a journal that has another one after it was flushed whole when that one was made.
//!
//! Rule 4: a journal is emptied at an end if all its rows are in files. fjall would read it again, and of a
//! table that became empty it no longer knows that its rows were in files: those that were removed would be
//! back in memory.
//!
//! The last batch of all has no mark after it, so that damage to it is taken for an interrupted write, as in
//! any journal of this kind.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use super::folder::{Folder, sync_folder};
use super::journal::Journal;
use super::open_error::FjallOpenError;
use super::private_files;

/// A damaged end of a journal that was cut off when the folder was opened. Nobody had been answered for the
/// writes in it as flushed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutTail {
    journal: PathBuf,
    offset: u64,
    bytes: u64,
    kept: PathBuf,
}

impl CutTail {
    /// Returns the journal.
    pub fn journal(&self) -> &Path {
        &self.journal
    }

    /// Returns the byte at which the journal was cut.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the number of bytes that were cut off.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the file in which the bytes are kept.
    pub fn kept(&self) -> &Path {
        &self.kept
    }
}

/// Reads all journals, and cuts off what is not whole at the end.
pub(in crate::engine::fjall) fn cut_damaged(folder: &Folder) -> Result<Vec<CutTail>, FjallOpenError> {
    let journals = journals(folder).map_err(FjallOpenError::at(&folder.engine()))?;
    let mut cut = Vec::new();
    let mut last = None;
    for (index, path) in journals.iter().enumerate() {
        let at = FjallOpenError::at(path);
        let Some((offset, end)) = damaged(path, folder, &mut last).map_err(&at)? else { continue };
        let is_flushed = is_flushed(path, folder, offset, last).map_err(&at)?
            || has_batch(&journals[index + 1..], folder).map_err(&at)?;
        if is_flushed {
            return Err(FjallOpenError::Damaged { journal: path.clone(), offset });
        }
        cut.push(cut_at(path, folder, offset, end).map_err(&at)?);
    }
    Ok(cut)
}

/// Writes the last journal anew, flushed. After a failed flush the system may take bytes for written that
/// are not: a later flush would say that it succeeded and leave them out.
pub(in crate::engine::fjall) fn rewrite_last(folder: &Folder) -> Result<(), FjallOpenError> {
    let engine = folder.engine();
    let Some(path) = journals(folder).map_err(FjallOpenError::at(&engine))?.pop() else { return Ok(()) };
    let unfinished = path.with_extension("new");
    let rewrite = || {
        let end = Journal::open(&path, folder.id())?.end_of_bytes(0)?;
        copy(&path, 0, end, &unfinished)?;
        fs::rename(&unfinished, &path)?;
        sync_folder(&engine)
    };
    rewrite().map_err(FjallOpenError::at(&path))
}

/// Empties the one journal of a folder whose tables are closed and have all their rows in files.
pub(in crate::engine::fjall) fn empty(folder: &Folder) -> io::Result<()> {
    let journals = journals(folder)?;
    let [journal] = &journals[..] else { return Ok(()) };
    let journal = File::options().write(true).open(journal)?;
    journal.set_len(0)?;
    journal.sync_all()
}

/// Returns how many bytes the last journal takes when it is written anew.
pub(in crate::engine::fjall) fn last_bytes(folder: &Folder) -> io::Result<u64> {
    let Some(path) = journals(folder)?.pop() else { return Ok(0) };
    Journal::open(&path, folder.id())?.end_of_bytes(0)
}

/// Returns the journals, by their numbers.
fn journals(folder: &Folder) -> io::Result<Vec<PathBuf>> {
    let engine = folder.engine();
    if !engine.try_exists()? {
        return Ok(Vec::new());
    }
    let mut journals = Vec::new();
    for entry in fs::read_dir(engine)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let number = name.and_then(|name| name.strip_suffix(".jnl")?.parse::<u64>().ok());
        journals.extend(number.map(|number| (number, path)));
    }
    journals.sort();
    Ok(journals.into_iter().map(|(_, path)| path).collect())
}

/// Reads the whole batches from the start of a journal, with the number of the last one. Returns from where
/// to where it has bytes after them.
fn damaged(path: &Path, folder: &Folder, last: &mut Option<u64>) -> io::Result<Option<(u64, u64)>> {
    let mut journal = Journal::open(path, folder.id())?;
    let mut offset = 0;
    while let Some(batch) = journal.batch(offset)? {
        offset = batch.end;
        *last = batch.mark.map(|mark| mark.number).or(*last);
    }
    let end = journal.end_of_bytes(offset)?;
    Ok((end > offset).then_some((offset, end)))
}

/// Returns true if a later mark in the journal says that the first damaged batch had been flushed.
fn is_flushed(path: &Path, folder: &Folder, offset: u64, last: Option<u64>) -> io::Result<bool> {
    let mut journal = Journal::open(path, folder.id())?;
    let own = journal.unchecked_mark(offset)?.map(|mark| mark.number);
    let mut damaged = last.map(|last| last.saturating_add(1));
    let mut after = offset;
    while let Some((end, mark)) = journal.next_batch(after)? {
        // Without a batch before it, its number is what is left of its mark, and not above the batch before
        // the first whole one.
        let before = mark.number.saturating_sub(1);
        if mark.flushed >= *damaged.get_or_insert(own.map_or(before, |own| own.min(before))) {
            return Ok(true);
        }
        after = end - 1;
    }
    Ok(false)
}

/// Returns true if one of these journals holds a whole batch.
fn has_batch(journals: &[PathBuf], folder: &Folder) -> io::Result<bool> {
    for path in journals {
        let mut journal = Journal::open(path, folder.id())?;
        if journal.batch(0)?.is_some() || journal.next_batch(0)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn cut_at(path: &Path, folder: &Folder, offset: u64, end: u64) -> io::Result<CutTail> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let kept = folder.aside(&format!("journal-{name}-at-{offset}"))?;
    copy(path, offset, end, &kept)?;
    kept.parent().map_or(Ok(()), sync_folder)?;
    let journal = File::options().write(true).open(path)?;
    journal.set_len(offset)?;
    journal.sync_all()?;
    Ok(CutTail { journal: path.to_path_buf(), offset, bytes: end - offset, kept })
}

/// Writes a part of a file to another one, flushed. The bytes pass through memory: a copy by the system may
/// share what is on the disk.
fn copy(from: &Path, start: u64, end: u64, to: &Path) -> io::Result<()> {
    let mut source = File::open(from)?;
    source.seek(SeekFrom::Start(start))?;
    let mut source = source.take(end - start);
    let mut target = BufWriter::new(private_files::writing().truncate(true).open(to)?);
    let mut bytes = vec![0; 64 * 1024];
    loop {
        match source.read(&mut bytes)? {
            0 => break,
            count => target.write_all(&bytes[..count])?,
        }
    }
    target.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}

#[cfg(test)]
mod tests;
