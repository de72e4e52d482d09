//! The state of a file by its metadata, and the date that follows from it (RFC 9110 §8.8.2).

use std::{
    fs::{File, Metadata},
    io,
    time::{Duration, SystemTime},
};

/// A file that was changed less than this ago may change again without any of its times telling: the coarsest
/// clock of a file system has two seconds (FAT).
const SETTLED: Duration = Duration::from_secs(3);

/// The state of a file: equal as long as the file is, but for a change right after another
/// ([`is_settled`](Self::is_settled)).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
    changed: Option<(i64, i64)>,
    inode: (u64, u64),
}

impl Stamp {
    /// Asks the system about an open file. May block.
    ///
    /// # Errors
    /// As [`File::metadata`].
    pub fn of(file: &File) -> io::Result<Self> {
        file.metadata().map(|metadata| Self::from(&metadata))
    }

    /// Makes the stamp of a file of which somebody else has asked: its length in bytes, the time of its
    /// content's last change, the time of its last change of any kind in seconds and nanoseconds, and the
    /// numbers of its device and inode. Where no time of change is known, nothing is ever settled.
    pub const fn new(
        length: u64,
        modified: Option<SystemTime>,
        changed: Option<(i64, i64)>,
        inode: (u64, u64),
    ) -> Self {
        Self { length, modified, changed, inode }
    }

    /// Returns the length of the file in bytes.
    pub const fn length(&self) -> u64 {
        self.length
    }

    /// Returns true if any further change would show, seen from the time at which the stamp was taken: the
    /// last one lies three seconds back, more than a tick of any file system's clock.
    pub fn is_settled(&self, now: SystemTime) -> bool {
        let Some((seconds, nanoseconds)) = self.changed else { return false };
        let (Ok(seconds), Ok(nanoseconds)) = (seconds.try_into(), nanoseconds.try_into()) else {
            return false;
        };
        let changed = SystemTime::UNIX_EPOCH + Duration::new(seconds, nanoseconds);
        now.duration_since(changed).is_ok_and(|past| past >= SETTLED)
    }

    /// Returns the `last-modified` date: in whole seconds, not in the future (RFC 9110 §8.8.2.1); none from
    /// before 1970.
    pub fn date(&self, now: SystemTime) -> Option<SystemTime> {
        let since = self.modified?.min(now).duration_since(SystemTime::UNIX_EPOCH).ok()?;
        Some(SystemTime::UNIX_EPOCH + Duration::from_secs(since.as_secs()))
    }

    /// Returns true if what was read by now is what this stamp was of: what has only grown still begins with
    /// it.
    pub(super) fn is_kept_by(&self, now: &Self) -> bool {
        now.length > self.length || (now.length == self.length && now.modified == self.modified)
    }
}

#[cfg(unix)]
impl From<&Metadata> for Stamp {
    fn from(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self {
            length: metadata.len(),
            modified: modified(metadata),
            changed: Some((metadata.ctime(), metadata.ctime_nsec())),
            inode: (metadata.dev(), metadata.ino()),
        }
    }
}

/// A stamp without a time of change, which is never settled.
#[cfg(not(unix))]
impl From<&Metadata> for Stamp {
    fn from(metadata: &Metadata) -> Self {
        Self { length: metadata.len(), modified: modified(metadata), changed: None, inode: (0, 0) }
    }
}

fn modified(metadata: &Metadata) -> Option<SystemTime> {
    metadata.modified().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    const STAMP: Stamp = Stamp {
        length: 10,
        modified: Some(SystemTime::UNIX_EPOCH),
        changed: Some((1_000, 1)),
        inode: (1, 2),
    };

    #[test]
    fn what_was_just_changed_is_not_settled() {
        for (now, is_settled) in [(0, false), (1_000, false), (1_003, false), (1_004, true)] {
            assert_eq!(STAMP.is_settled(at(now)), is_settled, "{now}");
        }
        assert!(!Stamp { changed: None, ..STAMP }.is_settled(at(2_000)));
    }

    #[test]
    fn dates_are_whole_and_not_of_the_future() {
        let of = |time| Stamp { modified: Some(time), ..STAMP }.date(at(100));
        assert_eq!(of(at(50) + Duration::from_millis(900)), Some(at(50)));
        assert_eq!(of(at(150)), Some(at(100)));
        assert_eq!(of(SystemTime::UNIX_EPOCH - Duration::from_secs(1)), None);
    }

    #[test]
    fn growth_is_no_change_of_what_was_there() {
        let later = Stamp { modified: Some(at(5)), ..STAMP };
        for (now, is_kept) in [
            (STAMP, true),
            (Stamp { changed: Some((2_000, 0)), ..STAMP }, true),
            (Stamp { length: 11, ..later }, true),
            (later, false),
            (Stamp { length: 9, ..later }, false),
            (Stamp { length: 9, ..STAMP }, false),
        ] {
            assert_eq!(STAMP.is_kept_by(&now), is_kept, "{now:?}");
        }
    }
}
