//! Sends part of a large file.
//!
//! Nothing is read before the peer has room for it, and no more than that; what it does not take after all is read again later.
//! So a stream whose peer takes nothing holds no buffer and no thread. What the system has in memory is read at once; what it
//! would have to wait for is read by threads that may block, and then others may use the room first. Reading ahead is the
//! system's business, which does it anyway.

use std::{future::ready, io, ops::Range, sync::Arc};

use alula::{BodyWriter, Error};
use cap_std::fs::{File, FileExt as _};

use super::{
    Site,
    buffers::{BUFFER_OCTETS, Buffer},
    entry::Entry,
    log::Record,
    open_files::OpenFile,
    stamp::Stamp,
};

/// Sends this part of the open file of this entry.
///
/// # Errors
/// As [`BodyWriter::write`]; and the file ends before the part does, was changed otherwise than at its end, or cannot be read.
pub(super) async fn send(
    site: &Site,
    entry: &Entry,
    file: &Arc<OpenFile>,
    part: Range<u64>,
    writer: &mut BodyWriter,
    record: &mut Record,
) -> Result<(), Error> {
    let mut rest = part;
    while !rest.is_empty() {
        let _ = writer.writable().await?;
        let buffer = site.buffers.lend().await;
        // Others may have used the room meanwhile.
        let room = tokio::select! {
            biased;
            room = writer.writable() => room?,
            () = ready(()) => 0,
        };
        if room == 0 {
            site.buffers.give(buffer);
            continue;
        }
        let octets = (rest.end - rest.start).min(room.min(BUFFER_OCTETS) as u64);
        let is_last = octets == rest.end - rest.start;
        let buffer = read(buffer, entry, file, rest.start..rest.start + octets, is_last).await?;
        let sent = writer.try_write(buffer.read())? as u64;
        site.buffers.give(buffer);
        record.add(sent);
        rest.start += sent;
    }
    Ok(())
}

/// Fills the buffer with what is at this place of the file, or with the beginning of it. Before the last octets are sent the file
/// must still be what it was.
async fn read(
    mut buffer: Buffer,
    entry: &Entry,
    file: &Arc<OpenFile>,
    place: Range<u64>,
    is_last: bool,
) -> Result<Buffer, Error> {
    let octets = (place.end - place.start) as usize;
    if !is_last && read_cached(file, &mut buffer, octets, place.start) {
        return Ok(buffer);
    }
    let (file, stamp) = (Arc::clone(file), entry.stamp);
    let read = tokio::task::spawn_blocking(move || {
        read_exact_at(&file, buffer.first(octets), place.start)?;
        if is_last { check(&file, &stamp).map(|()| buffer) } else { Ok(buffer) }
    });
    let read = read.await.unwrap_or_else(|panic| Err(io::Error::other(panic)));
    read.map_err(|error| cannot_read(entry, &error))
}

/// The answer cannot be what its head says, and the entry is not what the file is.
fn cannot_read(entry: &Entry, error: &io::Error) -> Error {
    entry.distrust();
    // The program's own failure, whatever the system calls it: the line of the server names the file.
    Error::other(format!("{}: {error}", entry.path.display()))
}

/// Reads what the system has in memory, without waiting for a disk. False when there is nothing, or the system cannot tell.
#[cfg(target_os = "linux")]
fn read_cached(file: &File, buffer: &mut Buffer, octets: usize, at: u64) -> bool {
    use rustix::io::{ReadWriteFlags, preadv2};
    let mut into = [io::IoSliceMut::new(buffer.first(octets))];
    let read = preadv2(file, &mut into, at, ReadWriteFlags::NOWAIT).unwrap_or(0);
    let _ = buffer.first(read);
    read > 0
}

#[cfg(not(target_os = "linux"))]
fn read_cached(_: &File, _: &mut Buffer, _: usize, _: u64) -> bool {
    false
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
