//! The reserve: a file whose blocks are given up when the disk is full, so that what was written can be
//! deleted, compacted and closed.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::disk::{Disk, allocate};
use super::private_files;

const MIB: u64 = 1024 * 1024;
const MIN: u64 = 64 * MIB;
const MAX: u64 = 1024 * MIB;

/// The file in a folder.
#[derive(Debug)]
pub(super) struct Reserve {
    path: PathBuf,
    octets: u64,
    is_held: bool,
}

impl Reserve {
    /// Finds the reserve of a folder on a disk: a hundredth of it, from 64 MiB to 1 GiB, and of a very small
    /// disk a quarter.
    pub(super) fn find(folder: &Path, disk: Disk) -> Self {
        let octets = (disk.total / 100).clamp(MIN, MAX).min(disk.total / 4);
        let path = folder.join("reserve");
        let is_held = path.metadata().is_ok_and(|metadata| is_whole(&metadata, octets));
        Self { path, octets, is_held }
    }

    /// Its bytes.
    pub(super) const fn octets(&self) -> u64 {
        self.octets
    }

    /// Returns true while it holds its blocks.
    pub(super) const fn is_held(&self) -> bool {
        self.is_held
    }

    /// Makes it, unless it is there. One that does not get all of its blocks gives them back.
    pub(super) fn make(&mut self) -> io::Result<()> {
        if self.is_held {
            return Ok(());
        }
        let made = private_files::writing()
            .truncate(true)
            .open(&self.path)
            .and_then(|mut file| allocate(&mut file, self.octets));
        match made {
            Ok(()) => self.is_held = true,
            Err(_) => self.give_up(),
        }
        made
    }

    /// Gives its blocks to whoever writes next.
    pub(super) fn give_up(&mut self) {
        self.is_held = false;
        // A system may refuse to remove a name while it has no block left, and take a shorter file.
        let removed = fs::remove_file(&self.path);
        if removed.is_err() {
            let _ = File::options().write(true).open(&self.path).and_then(|file| file.set_len(0));
        }
    }
}

#[cfg(unix)]
fn is_whole(metadata: &fs::Metadata, octets: u64) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    metadata.len() == octets && metadata.blocks() * 512 >= octets
}

#[cfg(not(unix))]
fn is_whole(metadata: &fs::Metadata, octets: u64) -> bool {
    metadata.len() == octets
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
        for (total, octets) in
            [(100 * MIB, 25 * MIB), (365 * MIB, MIN), (10_000 * MIB, 100 * MIB), (1 << 40, MAX)]
        {
            assert_eq!(reserve(folder, total).octets(), octets, "{total}");
        }
    }

    #[test]
    fn it_is_made_given_up_and_found_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut first = reserve(folder.path(), 8 * MIB);
        assert!(!first.is_held());
        first.make().expect("room");
        assert!(reserve(folder.path(), 8 * MIB).is_held());
        assert!(!reserve(folder.path(), 16 * MIB).is_held(), "the disk has grown");
        first.give_up();
        assert!(!first.is_held() && !reserve(folder.path(), 8 * MIB).is_held());
    }

    #[test]
    fn one_without_blocks_is_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = File::create(folder.path().join("reserve")).expect("a file");
        file.set_len(2 * MIB).expect("a length");
        assert!(cfg!(not(unix)) || !reserve(folder.path(), 8 * MIB).is_held());
    }
}
