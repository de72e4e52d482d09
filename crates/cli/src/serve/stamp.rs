//! What the system says about the state of a file, and the entity-tag and date that follow from it (RFC 9110 §8.8).
//!
//! A strong entity-tag must differ whenever the content does. That of a file held in memory is made of its content. That of
//! a larger one is made of its inode, its size and the times of its last change: no program can set the time of change
//! (`ctime`) back, and what is written later gets a later one, unless it is written within the same tick of the
//! system's clock. So it is weak until the last change lies [`SETTLED`] back, and so is the tag of what may have changed
//! unnoticed while it was read.

use std::{
    fmt::Write as _,
    io,
    time::{Duration, SystemTime},
};

use aws_lc_rs::digest::{SHA256, digest};
use cap_std::fs::{File, Metadata};

/// A file that was changed less than this ago may change again without any of its times telling: the coarsest clock of
/// a file system has two seconds (FAT).
const SETTLED: Duration = Duration::from_secs(3);

/// Octets of a digest that are told: two contents with the same 128 bits are not to be expected.
const DIGEST_OCTETS: usize = 16;

/// Equal as long as the file is.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Stamp {
    /// Octets.
    pub(super) length: u64,
    /// When its content was changed, or is said to have been.
    pub(super) modified: Option<SystemTime>,
    /// When anything about it was changed, in seconds and nanoseconds.
    changed: Option<(i64, i64)>,
    /// Which file it is.
    inode: (u64, u64),
}

/// An entity-tag as it is sent.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Etag(String);

impl Stamp {
    /// Of an open file.
    pub(super) fn of(file: &File) -> io::Result<Self> {
        file.metadata().map(|metadata| Self::from(&metadata))
    }

    /// Whether any further change would show, seen from the time at which the stamp was taken.
    pub(super) fn is_settled(&self, now: SystemTime) -> bool {
        let Some((seconds, nanoseconds)) = self.changed else { return false };
        let (Ok(seconds), Ok(nanoseconds)) = (seconds.try_into(), nanoseconds.try_into()) else {
            return false;
        };
        let changed = SystemTime::UNIX_EPOCH + Duration::new(seconds, nanoseconds);
        now.duration_since(changed).is_ok_and(|past| past >= SETTLED)
    }

    /// The `last-modified` date: in whole seconds, not in the future (RFC 9110 §8.8.2.1); none from before 1970.
    pub(super) fn date(&self, now: SystemTime) -> Option<SystemTime> {
        let since = self.modified?.min(now).duration_since(SystemTime::UNIX_EPOCH).ok()?;
        Some(SystemTime::UNIX_EPOCH + Duration::from_secs(since.as_secs()))
    }

    /// Whether what was read by now is what this stamp was of: what has only grown still begins with it.
    pub(super) fn is_kept_by(&self, now: &Self) -> bool {
        now.length > self.length || (now.length == self.length && now.modified == self.modified)
    }
}

#[cfg(unix)]
impl From<&Metadata> for Stamp {
    fn from(metadata: &Metadata) -> Self {
        use cap_std::fs::MetadataExt as _;
        Self {
            length: metadata.len(),
            modified: modified(metadata),
            changed: Some((metadata.ctime(), metadata.ctime_nsec())),
            inode: (metadata.dev(), metadata.ino()),
        }
    }
}

/// Where no time of change is told, nothing is ever settled.
#[cfg(not(unix))]
impl From<&Metadata> for Stamp {
    fn from(metadata: &Metadata) -> Self {
        Self { length: metadata.len(), modified: modified(metadata), changed: None, inode: (0, 0) }
    }
}

fn modified(metadata: &Metadata) -> Option<SystemTime> {
    metadata.modified().ok().map(|time| time.into_std())
}

impl Etag {
    /// Of content that is here: strong, and the same wherever the content is the same.
    pub(super) fn of_content(content: &[u8]) -> Self {
        Self(quoted(content, ""))
    }

    /// Of a file that is not here.
    pub(super) fn of_stamp(stamp: &Stamp, is_settled: bool) -> Self {
        let text = format!("{stamp:?}");
        Self(quoted(text.as_bytes(), if is_settled { "" } else { "W/" }))
    }

    /// With quotes, and `W/` if it is weak.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Part of the digest in hexadecimal.
fn quoted(octets: &[u8], weakness: &str) -> String {
    let mut text = format!("{weakness}\"");
    for octet in &digest(&SHA256, octets).as_ref()[..DIGEST_OCTETS] {
        let _ = write!(text, "{octet:02x}");
    }
    text.push('"');
    text
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
    fn a_tag_of_content_is_part_of_its_sha_256() {
        // FIPS 180-4, the example "abc".
        assert_eq!(Etag::of_content(b"abc").as_str(), "\"ba7816bf8f01cfea414140de5dae2223\"");
    }

    #[test]
    fn a_tag_of_a_stamp_differs_with_all_of_it() {
        let tag = |stamp| Etag::of_stamp(&stamp, true);
        for other in [
            Stamp { length: 11, ..STAMP },
            Stamp { modified: Some(at(1)), ..STAMP },
            Stamp { changed: Some((1_000, 2)), ..STAMP },
            Stamp { inode: (1, 3), ..STAMP },
        ] {
            assert_ne!(tag(STAMP), tag(other), "{other:?}");
        }
        assert_eq!(tag(STAMP), tag(STAMP));
        assert!(tag(STAMP).as_str().starts_with('"'));
        assert!(Etag::of_stamp(&STAMP, false).as_str().starts_with("W/\""));
    }

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
