//! The disk that a folder is on: how much it holds, and how much of it is free.

use std::error::Error as StdError;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

/// The bytes that are written together where the system gives no blocks.
const PIECE_BYTES: usize = 256 * 1024;

/// The bytes of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine::fjall) struct Disk {
    pub(in crate::engine::fjall) total: u64,
    /// The bytes that this user may still write.
    pub(in crate::engine::fjall) free: u64,
}

impl Disk {
    /// Reads how full the disk of a folder is; `None` where the system does not tell.
    #[cfg(unix)]
    pub(in crate::engine::fjall) fn of(folder: &Path) -> Option<Self> {
        let disk = rustix::fs::statvfs(folder).ok()?;
        let bytes = |blocks: u64| blocks.saturating_mul(disk.f_frsize);
        Some(Self { total: bytes(disk.f_blocks), free: bytes(disk.f_bavail) })
    }

    #[cfg(not(unix))]
    pub(in crate::engine::fjall) fn of(_: &Path) -> Option<Self> {
        None
    }
}

/// Makes a file of so many bytes whose blocks are allocated: nothing else on the disk gets them.
pub(in crate::engine::fjall) fn allocate(file: &mut File, bytes: u64) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    match rustix::fs::fallocate(&*file, rustix::fs::FallocateFlags::empty(), 0, bytes) {
        Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS | rustix::io::Errno::INVAL) => {}
        other => return other.map_err(io::Error::from).and_then(|()| file.sync_all()),
    }
    write_all(file, bytes)
}

/// Writes a file of so many bytes that no file system can store in fewer.
fn write_all(file: &mut File, bytes: u64) -> io::Result<()> {
    let mut piece = vec![0; PIECE_BYTES];
    let random = |error: getrandom::Error| io::Error::other(error.to_string());
    getrandom::fill(&mut piece).map_err(random)?;
    let mut left = bytes;
    while left > 0 {
        // Two pieces that are alike would be kept once by some.
        piece[..8].copy_from_slice(&left.to_le_bytes());
        let bytes = left.min(PIECE_BYTES as u64);
        file.write_all(&piece[..bytes as usize])?;
        left -= bytes;
    }
    file.sync_all()
}

/// Returns true if an error says that the disk, or the share of it that this user has, is full.
pub(in crate::engine::fjall) fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded)
}

/// Returns true if the error, or one of its sources, says that the disk is full.
pub(in crate::engine::fjall) fn has_no_room(error: &(dyn StdError + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if error.downcast_ref().is_some_and(is_full) {
            return true;
        }
        cause = error.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_allocated_either_way() {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, by) in [("given", allocate as fn(&mut File, u64) -> _), ("written", write_all)] {
            let mut file = File::create(folder.path().join(name)).expect("a file");
            by(&mut file, 1_000_000).expect("room");
            let metadata = file.metadata().expect("a file");
            assert_eq!(metadata.len(), 1_000_000, "{name}");
            #[cfg(unix)]
            assert!(std::os::unix::fs::MetadataExt::blocks(&metadata) * 512 >= 1_000_000, "{name}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_disk_has_no_more_free_than_it_holds() {
        let disk = Disk::of(Path::new("/")).expect("a disk");
        assert!(disk.free <= disk.total && disk.total > 0);
        assert_eq!(Disk::of(Path::new("/no such folder")), None);
    }
}
