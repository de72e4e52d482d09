//! Sends part of a large file.
//!
//! Nothing is read before the peer has room for it, and no more than that; what it does not take after all is
//! read again later. A stream whose peer takes nothing holds no buffer and no thread. What the system has in
//! memory is read at once; what it would have to wait for is read by threads that may block, and then others
//! may use the room first. Reading ahead is the system's business, which does it anyway.

use std::{fs::File, future::ready, io, ops::Range};

use alula_net::{BodyWriter, Error};

use super::{
    buffers::{BUFFER_BYTES, Buffer, FileBuffers},
    open_file::OpenFile,
    sendfile::Sendfile,
    stamp::Stamp,
};

impl OpenFile {
    /// Sends a part of the file, which lies within its length.
    ///
    /// Bytes that the system has in memory go without a copy if the writer [takes
    /// files](BodyWriter::takes_files) and the file
    /// [is settled](Self::is_settled), all but the last 64 KiB at most: what is written in place to the file while the peer takes its
    /// time may be sent then. All else is read as the peer has room, and so are the last bytes, before which
    /// the file must be what it was.
    ///
    /// Dropping the future may send some of the part, so drop the writer then as well. A read that the system
    /// must wait for takes a thread for blocking work, and allocates.
    ///
    /// # Errors
    /// As [`BodyWriter::write`]; and the file ends before the part does, was changed otherwise than at its
    /// end, or cannot be read.
    pub(crate) async fn send_part(&self, part: Range<u64>, writer: &mut BodyWriter) -> Result<(), Error> {
        // The answer to HEAD drops its content: nothing is read for it.
        let mut rest = if writer.is_muted() { part.end..part.end } else { part };
        let mut sendfile = Sendfile::new(self, writer);
        while !rest.is_empty() {
            rest.start += match sendfile.send(self, &rest, writer).await? {
                Some(bytes) => bytes,
                None => self.copy(&rest, writer).await?,
            };
        }
        Ok(())
    }

    /// Reads the beginning of what is left of a part, as much as there is room for, and sends it; returns how
    /// many bytes that was.
    async fn copy(&self, rest: &Range<u64>, writer: &mut BodyWriter) -> Result<u64, Error> {
        let buffers = FileBuffers::shared();
        let _ = writer.writable().await?;
        let buffer = buffers.lend().await?;
        // Others may have used the room meanwhile.
        let room = tokio::select! {
            biased;
            room = writer.writable() => room?,
            () = ready(()) => 0,
        };
        if room == 0 {
            buffers.give(buffer);
            return Ok(0);
        }
        let bytes = (rest.end - rest.start).min(room.min(BUFFER_BYTES) as u64);
        let is_last = bytes == rest.end - rest.start;
        let buffer = self.read(buffer, rest.start..rest.start + bytes, is_last).await?;
        let bytes = writer.try_write(buffer.read())? as u64;
        buffers.give(buffer);
        Ok(bytes)
    }

    /// Fills the buffer with what is at this place of the file, or with the beginning of it. Before the last
    /// bytes are sent the file must still be what it was.
    async fn read(&self, mut buffer: Buffer, place: Range<u64>, is_last: bool) -> Result<Buffer, Error> {
        let bytes = (place.end - place.start) as usize;
        let read = read_cached(self.file(), buffer.first(bytes), place.start);
        if read > 0 {
            let _ = buffer.first(read);
            // A file system that reads without waiting has the state of an open file in memory: asking for it
            // waits for no disk.
            let is_checked = is_last && read == bytes;
            return if is_checked { self.check().map(|()| buffer) } else { Ok(buffer) };
        }
        let file = self.clone();
        let read = tokio::task::spawn_blocking(move || {
            read_exact_at(file.file(), buffer.first(bytes), place.start)?;
            if is_last { check(file.file(), file.stamp()).map(|()| buffer) } else { Ok(buffer) }
        });
        let read = read.await.unwrap_or_else(|panic| Err(io::Error::other(panic)));
        read.map_err(|error| self.named(&error))
    }

    fn check(&self) -> Result<(), Error> {
        check(self.file(), self.stamp()).map_err(|error| self.named(&error))
    }

    /// Converts an error of the system to a failure of this program, and adds the path of the file.
    fn named(&self, error: &io::Error) -> Error {
        Error::other(format!("{}: {error}", self.path().display()))
    }
}

/// Reads what the system has in memory, without waiting for a disk: how many bytes. None when there are
/// none, or the system cannot tell.
#[cfg(target_os = "linux")]
pub(super) fn read_cached(file: &File, bytes: &mut [u8], at: u64) -> usize {
    use rustix::io::{ReadWriteFlags, preadv2};
    preadv2(file, &mut [io::IoSliceMut::new(bytes)], at, ReadWriteFlags::NOWAIT).unwrap_or(0)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn read_cached(_: &File, _: &mut [u8], _: u64) -> usize {
    0
}

#[cfg(unix)]
pub(super) fn read_exact_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    use std::os::unix::fs::FileExt as _;
    file.read_exact_at(bytes, at)
}

#[cfg(not(unix))]
pub(super) fn read_exact_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    use std::os::windows::fs::FileExt as _;
    while !bytes.is_empty() {
        match file.seek_read(bytes, at)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                bytes = &mut bytes[read..];
                at += read as u64;
            }
        }
    }
    Ok(())
}

/// Checks that the facts that were stated of the content at its beginning hold at its end.
pub(super) fn check(file: &File, stamp: &Stamp) -> io::Result<()> {
    let is_kept = stamp.is_kept_by(&Stamp::of(file)?);
    if is_kept { Ok(()) } else { Err(io::Error::other("the file was changed while it was sent")) }
}
