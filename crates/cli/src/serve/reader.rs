//! Reads part of a large file by threads that may block, one buffer ahead of who sends it.
//!
//! Never more than two buffers are held for a request: nothing is read while the last two are still to be sent.

use std::{io, ops::Range, sync::Arc};

use alula::{Cause, Error, Phase, Retry};
use cap_std::fs::{File, FileExt as _};
use tokio::task::JoinHandle;

use super::{
    Site,
    buffers::{BUFFER_OCTETS, Buffer},
    entry::Entry,
    stamp::Stamp,
};

/// Reads a part from its beginning to its end.
pub(super) struct Reader<'a> {
    site: &'a Site,
    entry: &'a Entry,
    file: &'a Arc<File>,
    /// What is still to be read, what is being read left out.
    rest: Range<u64>,
    ahead: Option<JoinHandle<io::Result<Buffer>>>,
    /// What was handed out last.
    last: Option<Buffer>,
}

impl<'a> Reader<'a> {
    /// Begins to read this part of the open file of this entry.
    pub(super) fn new(site: &'a Site, entry: &'a Entry, file: &'a Arc<File>, part: Range<u64>) -> Self {
        let mut reader = Self { site, entry, file, rest: part, ahead: None, last: None };
        reader.read_ahead();
        reader
    }

    /// The next octets, and whether they are the last; `None` after those.
    ///
    /// # Errors
    /// The file ends before the part does, was changed otherwise than at its end, or cannot be read.
    pub(super) async fn next(&mut self) -> Result<Option<(&[u8], bool)>, Error> {
        let Some(ahead) = self.ahead.take() else { return Ok(None) };
        let read = ahead.await.unwrap_or_else(|panic| Err(io::Error::other(panic)));
        let buffer = read.map_err(|error| {
            self.entry.distrust();
            cannot_read(&error)
        })?;
        self.read_ahead();
        let last = self.last.replace(buffer);
        last.into_iter().for_each(|buffer| self.site.buffers.give(buffer));
        let is_last = self.ahead.is_none();
        Ok(self.last.as_ref().map(|buffer| (buffer.read(), is_last)))
    }

    fn read_ahead(&mut self) {
        let octets = (self.rest.end - self.rest.start).min(BUFFER_OCTETS as u64);
        if octets == 0 {
            return;
        }
        let (file, at) = (Arc::clone(self.file), self.rest.start);
        let mut buffer = self.site.buffers.lend();
        self.rest.start += octets;
        let stamp = self.rest.is_empty().then_some(self.entry.stamp);
        self.ahead = Some(tokio::task::spawn_blocking(move || {
            read_exact_at(&file, buffer.first(octets as usize), at)?;
            stamp.map_or(Ok(()), |stamp| check(&file, &stamp))?;
            Ok(buffer)
        }));
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        self.last.take().into_iter().for_each(|buffer| self.site.buffers.give(buffer));
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

fn cannot_read(error: &io::Error) -> Error {
    Error::new(Phase::Send, Cause::Io(error.kind(), error.raw_os_error()), Retry::Pointless)
}
