//! Small files, and those that can be opened without waiting for a disk.
//!
//! A name whose every part the system has in memory is found at once (`openat2` with RESOLVE_CACHED, Linux
//! 5.12), or found to be of nothing: peers who ask for what is not there cost no thread. Where the system
//! cannot say so at once, and for every other error, it is left to a thread that may block: opening again
//! tells what it was.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use super::{
    open_file::OpenFile,
    reading::{check, read_cached, read_exact_at},
};

/// Files of so many bytes are read when they are opened: a second change of threads costs more than what
/// they take in memory, which is what a handler's own content of that size would take while the peer has no
/// room.
const SMALL_MAX: usize = 16 * 1024;

/// An open file, with its whole content if that is small and could be read while it was what it had been when
/// it was opened. No content is no error: sending finds out.
pub(crate) struct ReadFile {
    pub(crate) file: OpenFile,
    pub(crate) content: Option<Vec<u8>>,
}

impl ReadFile {
    /// Opens a file, and reads it, if that takes no waiting.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn open_cached(path: &Path) -> io::Result<Option<Self>> {
        let file = open_cached(path)?;
        Ok(file.map(|file| {
            let content = read_small(&file, |file, content| read_cached(file, content, 0) == content.len());
            Self { file, content }
        }))
    }

    /// Opens a file, and reads it. May block.
    ///
    /// # Errors
    /// As [`OpenFile::open`].
    pub(crate) fn open(path: PathBuf) -> io::Result<Self> {
        let file = OpenFile::open(path)?;
        let content = read_small(&file, |file, content| read_exact_at(file, content, 0).is_ok());
        Ok(Self { file, content })
    }
}

/// Runs what may block where it may.
pub(crate) async fn on_blocking_thread<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|panic| Err(io::Error::other(panic)))
}

/// Reads the content of a small file, if `read` fills the memory for it.
fn read_small(file: &OpenFile, read: impl FnOnce(&File, &mut [u8]) -> bool) -> Option<Vec<u8>> {
    let bytes = usize::try_from(file.length()).ok().filter(|bytes| *bytes <= SMALL_MAX)?;
    let mut content = vec![0; bytes];
    let is_whole = bytes == 0 || read(file.file(), &mut content);
    (is_whole && check(file.file(), file.stamp()).is_ok()).then_some(content)
}

#[cfg(target_os = "linux")]
fn open_cached(path: &Path) -> io::Result<Option<OpenFile>> {
    use rustix::fs::OFlags;
    // A fifo is not opened at all, as in `open`.
    let is_file = |named: &File| named.metadata().is_ok_and(|metadata| metadata.is_file());
    let Some(_) = resolve_cached(path, OFlags::PATH)?.filter(is_file) else { return Ok(None) };
    let file = resolve_cached(path, OFlags::RDONLY | OFlags::NONBLOCK)?;
    Ok(file.and_then(|file| OpenFile::from_std(file, path).ok()))
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "the other one finds out more")]
fn open_cached(_: &Path) -> io::Result<Option<OpenFile>> {
    Ok(None)
}

#[cfg(target_os = "linux")]
fn resolve_cached(path: &Path, flags: rustix::fs::OFlags) -> io::Result<Option<File>> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    use rustix::io::Errno;
    match openat2(CWD, path, flags | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::CACHED) {
        Ok(file) => Ok(Some(file.into())),
        Err(nothing @ (Errno::NOENT | Errno::NOTDIR)) => Err(nothing.into()),
        Err(_) => Ok(None),
    }
}
