//! Small files, and those that can be opened without waiting for a disk.
//!
//! A name whose every part the system has in memory is found at once (`openat2` with RESOLVE_CACHED, Linux 5.12), and the system says
//! so where it cannot. Then it is left to a thread that may block, and so is every error: opening again tells what it was.

use std::{fs::File, path::Path};

use super::{
    open_file::OpenFile,
    reading::{check, read_cached, read_exact_at},
};

/// Files of so many octets are read when they are opened: a second change of threads costs more than what they take in memory, which
/// is what a handler's own content of that size would take while the peer has no room.
const SMALL_MAX: u64 = 16 * 1024;

/// The way in which a small file is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Reads {
    /// As far as the system has it in memory.
    Cached,
    /// From wherever it is, on a thread that may block.
    Blocking,
}

impl OpenFile {
    /// Opens a file to be sent if that takes no waiting.
    #[cfg(target_os = "linux")]
    pub(crate) fn open_cached(path: &Path) -> Option<Self> {
        use rustix::fs::OFlags;
        // A fifo is not opened at all, as in `open`.
        let named = resolve_cached(path, OFlags::PATH)?;
        if !named.metadata().ok()?.is_file() {
            return None;
        }
        let file = resolve_cached(path, OFlags::RDONLY | OFlags::NONBLOCK)?;
        Self::from_std(file, path).ok()
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn open_cached(_: &Path) -> Option<Self> {
        None
    }

    /// The whole content of a file that is small and still what it was. None is no error yet: sending finds out.
    pub(crate) fn read_small(&self, reads: Reads) -> Option<Vec<u8>> {
        let octets = usize::try_from(self.length()).ok().filter(|_| self.length() <= SMALL_MAX)?;
        let mut content = vec![0; octets];
        let is_whole = match reads {
            Reads::Cached => octets == 0 || read_cached(self.file(), &mut content, 0) == octets,
            Reads::Blocking => read_exact_at(self.file(), &mut content, 0).is_ok(),
        };
        (is_whole && check(self.file(), self.stamp()).is_ok()).then_some(content)
    }
}

#[cfg(target_os = "linux")]
fn resolve_cached(path: &Path, flags: rustix::fs::OFlags) -> Option<File> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    openat2(CWD, path, flags | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::CACHED).ok().map(File::from)
}
