//! Reads part of a large file by threads that may block, a buffer at a time.
//!
//! A request holds one buffer, and nothing is read while that is still to be sent: a peer that takes its time makes us
//! keep no more than that for each of its streams. Reading ahead is the system's business, which does it anyway.

use std::{io, ops::Range, sync::Arc};

use alula::{Cause, Error, Phase, Retry};
use cap_std::fs::{File, FileExt as _};

use super::{
    Site,
    buffers::{BUFFER_OCTETS, Buffer},
    entry::Entry,
    open_files::OpenFile,
    stamp::Stamp,
};

/// Reads a part from its beginning to its end.
pub(super) struct Reader<'a> {
    site: &'a Site,
    entry: &'a Entry,
    file: &'a Arc<OpenFile>,
    /// What is still to be read.
    rest: Range<u64>,
    /// What was handed out last, unless it is being filled again.
    buffer: Option<Buffer>,
}

impl<'a> Reader<'a> {
    /// Begins to read this part of the open file of this entry.
    pub(super) fn new(site: &'a Site, entry: &'a Entry, file: &'a Arc<OpenFile>, part: Range<u64>) -> Self {
        Self { site, entry, file, rest: part, buffer: None }
    }

    /// The next octets, and whether they are the last; `None` after those.
    ///
    /// # Errors
    /// The file ends before the part does, was changed otherwise than at its end, or cannot be read.
    pub(super) async fn next(&mut self) -> Result<Option<(&[u8], bool)>, Error> {
        let octets = (self.rest.end - self.rest.start).min(BUFFER_OCTETS as u64);
        if octets == 0 {
            return Ok(None);
        }
        let at = self.rest.start;
        self.rest.start += octets;
        let is_last = self.rest.is_empty();
        let buffer =
            self.read(at, octets as usize, is_last).await.map_err(|error| self.cannot_read(&error))?;
        Ok(Some((self.buffer.insert(buffer).read(), is_last)))
    }

    async fn read(&mut self, at: u64, octets: usize, is_last: bool) -> io::Result<Buffer> {
        let (file, stamp) = (Arc::clone(self.file), self.entry.stamp);
        let mut buffer = self.buffer.take().unwrap_or_else(|| self.site.buffers.lend());
        let read = tokio::task::spawn_blocking(move || {
            read_exact_at(&file, buffer.first(octets), at)?;
            if is_last { check(&file, &stamp).map(|()| buffer) } else { Ok(buffer) }
        });
        read.await.unwrap_or_else(|panic| Err(io::Error::other(panic)))
    }

    /// The answer cannot be what its head says, and the entry is not what the file is.
    fn cannot_read(&self, error: &io::Error) -> Error {
        self.entry.distrust();
        Error::new(Phase::Send, Cause::Io(error.kind(), error.raw_os_error()), Retry::Pointless)
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        self.buffer.take().into_iter().for_each(|buffer| self.site.buffers.give(buffer));
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, octets: &mut [u8], at: u64) -> io::Result<()> {
    file.read_exact_at(octets, at)
}

#[cfg(not(unix))]
fn read_exact_at(file: &File, mut octets: &mut [u8], mut at: u64) -> io::Result<()> {
    while !octets.is_empty() {
        match file.seek_read(octets, at)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                octets = &mut octets[read..];
                at += read as u64;
            }
        }
    }
    Ok(())
}

/// What was said of the content at the beginning must hold at the end.
fn check(file: &File, stamp: &Stamp) -> io::Result<()> {
    let is_kept = stamp.is_kept_by(&Stamp::of(file)?);
    if is_kept { Ok(()) } else { Err(io::Error::other("the file was changed while it was sent")) }
}
