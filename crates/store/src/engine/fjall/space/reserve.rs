//! The reserve: a file whose blocks are given up when the disk is full, so that what was written can be
//! deleted, compacted and closed.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::disk::{self, Disk};
use crate::engine::fjall::open::private_files;

const MIB: u64 = 1024 * 1024;
const MIN: u64 = 64 * MIB;
const MAX: u64 = 1024 * MIB;

/// The part that a reserve has at least where a quota has no room for all of it.
const PART_MAX: u64 = 16;

/// The file in a folder.
#[derive(Debug)]
pub(in crate::engine::fjall) struct Reserve {
    path: PathBuf,
    bytes: u64,
    /// The bytes that it holds: fewer than it should where the user has a quota.
    held: Option<u64>,
    #[cfg(test)]
    quota: Option<u64>,
}

impl Reserve {
    /// Finds the reserve of a folder on a disk: a hundredth of it, from 64 MiB to 1 GiB, and of a very small
    /// disk a quarter.
    pub(in crate::engine::fjall) fn find(folder: &Path, disk: Disk) -> Self {
        let bytes = (disk.total / 100).clamp(MIN, MAX).min(disk.total / 4);
        let path = folder.join("reserve");
        let mut reserve = Self {
            path,
            bytes,
            held: Some(bytes),
            #[cfg(test)]
            quota: None,
        };
        reserve.look();
        reserve
    }

    /// Returns the bytes that the reserve holds, or is to hold.
    pub(in crate::engine::fjall) fn bytes(&self) -> u64 {
        self.held.unwrap_or(self.bytes)
    }

    /// Returns true while the reserve holds its blocks.
    pub(in crate::engine::fjall) const fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// Checks that the blocks are still there: an operator who needs room may have removed the file.
    pub(in crate::engine::fjall) fn look(&mut self) {
        let is_there = |bytes: &u64| self.path.metadata().is_ok_and(|metadata| is_whole(&metadata, *bytes));
        self.held = self.held.filter(is_there);
    }

    /// Makes the file, if it is not there, and there is room for it and for so many bytes more. A quota of
    /// the user may have none where the disk has: then it is a half of what it should be, or less. One that
    /// does not get all of its blocks gives them back.
    pub(in crate::engine::fjall) fn make(&mut self, more: u64) -> io::Result<()> {
        if self.is_held() {
            return Ok(());
        }
        let mut bytes = self.bytes;
        loop {
            match self.allocate(bytes, more.min(bytes)) {
                Ok(()) => {
                    self.held = Some(bytes);
                    return Ok(());
                }
                Err(error) if disk::is_full(&error) && bytes / 2 >= self.bytes / PART_MAX => bytes /= 2,
                Err(error) => {
                    self.give_up();
                    return Err(error);
                }
            }
        }
    }

    fn allocate(&self, bytes: u64, more: u64) -> io::Result<()> {
        let mut file = private_files::writing().truncate(true).open(&self.path)?;
        #[cfg(test)]
        if self.quota.is_some_and(|quota| bytes + more > quota) {
            return Err(io::ErrorKind::QuotaExceeded.into());
        }
        disk::allocate(&mut file, bytes + more)?;
        file.set_len(bytes)?;
        file.sync_all()
    }

    /// Makes the system refuse this user more bytes.
    #[cfg(test)]
    pub(in crate::engine::fjall) fn plant_quota(&mut self, quota: Option<u64>) {
        self.quota = quota;
    }

    /// Frees the blocks for the writes that follow.
    pub(in crate::engine::fjall) fn give_up(&mut self) {
        self.held = None;
        // A system may refuse to remove a name while it has no block left, and take a shorter file.
        let removed = fs::remove_file(&self.path);
        if removed.is_err() {
            let _ = File::options().write(true).open(&self.path).and_then(|file| file.set_len(0));
        }
    }
}

#[cfg(unix)]
fn is_whole(metadata: &fs::Metadata, bytes: u64) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    metadata.len() == bytes && metadata.blocks() * 512 >= bytes
}

#[cfg(not(unix))]
fn is_whole(metadata: &fs::Metadata, bytes: u64) -> bool {
    metadata.len() == bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reserve(folder: &Path, total: u64) -> Reserve {
        Reserve::find(folder, Disk { total, free: total })
    }

    #[test]
    fn it_is_a_hundredth_within_bounds() {
        let folder = Path::new("none");
        for (total, bytes) in
            [(100 * MIB, 25 * MIB), (365 * MIB, MIN), (10_000 * MIB, 100 * MIB), (1 << 40, MAX)]
        {
            assert_eq!(reserve(folder, total).bytes(), bytes, "{total}");
        }
    }

    #[test]
    fn it_is_made_given_up_and_found_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut first = reserve(folder.path(), 8 * MIB);
        assert!(!first.is_held());
        first.make(MIB).expect("room");
        assert!(reserve(folder.path(), 8 * MIB).is_held());
        assert!(!reserve(folder.path(), 16 * MIB).is_held(), "the disk has grown");
        first.give_up();
        assert!(!first.is_held() && !reserve(folder.path(), 8 * MIB).is_held());
    }

    #[test]
    fn one_that_was_removed_is_not_held() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut reserve = reserve(folder.path(), 8 * MIB);
        reserve.make(MIB).expect("room");
        fs::remove_file(folder.path().join("reserve")).expect("a file");
        reserve.look();
        assert!(!reserve.is_held());
        reserve.make(MIB).expect("room");
        assert!(reserve.is_held());
    }

    #[test]
    fn it_is_smaller_where_a_quota_has_no_room_for_it() {
        let folder = tempfile::tempdir().expect("a folder");
        for (quota, held) in [(3 * MIB, Some(2 * MIB)), (2 * MIB + MIB / 2, Some(MIB)), (1, None)] {
            let mut reserve = reserve(folder.path(), 8 * MIB);
            reserve.plant_quota(Some(quota));
            assert_eq!(reserve.make(MIB).is_ok(), held.is_some(), "{quota}");
            let length = folder.path().join("reserve").metadata().ok().map(|metadata| metadata.len());
            assert_eq!((length, reserve.is_held()), (held, held.is_some()), "{quota}");
            reserve.give_up();
        }
    }

    #[test]
    fn one_without_blocks_is_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = File::create(folder.path().join("reserve")).expect("a file");
        file.set_len(2 * MIB).expect("a length");
        assert!(cfg!(not(unix)) || !reserve(folder.path(), 8 * MIB).is_held());
    }
}
