//! A file as it is held between requests: its content when that is small, else its descriptor, and with it all that is
//! said about it.

use std::{
    io::{self, Read as _},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use alula::{FieldError, FieldSection, KnownName};
use cap_std::fs::File;

use super::{
    conditions::Validators,
    folder::Folder,
    media_type,
    open_files::{OpenFile, OpenFiles},
    stamp::{Etag, Stamp},
};

/// Files up to this many octets are held in memory.
pub(super) const HELD_OCTETS_MAX: u64 = 64 * 1024;

/// How often a file is read again that changes while it is read.
const READS_MAX: usize = 3;

/// Stands for a time at which an entry was checked, when it must not be believed.
const DISTRUSTED: u64 = u64::MAX;

/// A file, ready to be sent.
pub(super) struct Entry {
    /// Where it is.
    pub(super) path: PathBuf,
    /// What it was when it was read or opened.
    pub(super) stamp: Stamp,
    /// What it holds.
    pub(super) content: Content,
    /// Its `content-type`.
    pub(super) media_type: String,
    /// The fields of an answer of 200.
    pub(super) fields: FieldSection,
    etag: Etag,
    modified: Option<SystemTime>,
    is_settled: bool,
    /// When it was last found to be as it was, in nanoseconds on the cache's clock.
    checked: AtomicU64,
    /// Held while it is looked at again, so that one request does it and the others wait.
    pub(super) gate: tokio::sync::Mutex<()>,
}

/// What a file holds.
pub(super) enum Content {
    /// All of it.
    Held(Box<[u8]>),
    /// An open file.
    Open(Arc<OpenFile>),
}

impl Entry {
    /// Reads or opens a file. May block.
    ///
    /// # Errors
    /// As [`Folder::open_file`], and when too many large files are open.
    pub(super) fn load(folder: &Folder, open_files: &OpenFiles, path: PathBuf) -> io::Result<Self> {
        let file = folder.open_file(&path)?;
        let now = SystemTime::now();
        let stamp = Stamp::of(&file)?;
        let (content, stamp) = read(file, stamp, open_files)?;
        let is_settled = stamp.is_settled(now);
        let etag = match &content {
            Content::Held(octets) => Etag::of_content(octets),
            Content::Open(_) => Etag::of_stamp(&stamp, is_settled),
        };
        let mut entry = Self {
            media_type: media_type::of(&path),
            path,
            content,
            fields: FieldSection::new(),
            etag,
            modified: stamp.date(now),
            is_settled,
            stamp,
            checked: AtomicU64::new(0),
            gate: tokio::sync::Mutex::new(()),
        };
        entry.fields = entry.describe().map_err(io::Error::other)?;
        Ok(entry)
    }

    /// The fields of an answer of 200.
    fn describe(&self) -> Result<FieldSection, FieldError> {
        let mut fields = FieldSection::new();
        fields.append(KnownName::CONTENT_TYPE, &self.media_type)?;
        fields.append(KnownName::ETAG, self.etag.as_str())?;
        if let Some(modified) = self.modified {
            fields.append(KnownName::LAST_MODIFIED, httpdate::fmt_http_date(modified))?;
        }
        fields.append(KnownName::ACCEPT_RANGES, "bytes")?;
        fields.append(KnownName::CONTENT_LENGTH, self.length().to_string())?;
        Ok(fields)
    }

    /// Octets of content.
    pub(super) fn length(&self) -> u64 {
        match &self.content {
            Content::Held(octets) => octets.len() as u64,
            Content::Open(_) => self.stamp.length,
        }
    }

    /// What conditions are held against.
    pub(super) fn validators(&self) -> Validators<'_> {
        Validators {
            etag: Some(self.etag.as_str()),
            modified: self.modified,
            is_date_strong: self.is_settled,
        }
    }

    /// Whether it is still good when the file is in this state: the same, and nothing could have changed unnoticed.
    pub(super) fn is_good_for(&self, stamp: &Stamp) -> bool {
        self.is_settled && self.stamp == *stamp
    }

    /// How long ago it was last looked at; `None` when it is known not to be as it was.
    pub(super) fn age(&self, clock: Duration) -> Option<Duration> {
        let checked = self.checked.load(Ordering::Acquire);
        (checked != DISTRUSTED).then(|| clock.saturating_sub(Duration::from_nanos(checked)))
    }

    /// Its file turned out not to be as it was: whoever wants it next looks again.
    pub(super) fn distrust(&self) {
        self.checked.store(DISTRUSTED, Ordering::Release);
    }

    /// It was looked at, and is as it was.
    pub(super) fn set_checked(&self, clock: Duration) {
        let nanoseconds = u64::try_from(clock.as_nanos()).unwrap_or(u64::MAX);
        self.checked.store(nanoseconds, Ordering::Release);
    }
}

/// Reads a file if it is small. One that changes meanwhile is read again, and in the end taken as it was read: nothing
/// is made of its stamp then, since it is not settled.
fn read(file: File, mut stamp: Stamp, open_files: &OpenFiles) -> io::Result<(Content, Stamp)> {
    if stamp.length > HELD_OCTETS_MAX {
        return Ok((Content::Open(open_files.hold(file)?), stamp));
    }
    let mut octets = Vec::new();
    for _ in 0..READS_MAX {
        octets = read_at_most(&file, HELD_OCTETS_MAX + 1)?;
        let after = Stamp::of(&file)?;
        if octets.len() as u64 > HELD_OCTETS_MAX {
            return Ok((Content::Open(open_files.hold(file)?), after));
        }
        if after == stamp {
            break;
        }
        stamp = after;
    }
    Ok((Content::Held(octets.into()), stamp))
}

/// The first octets of a file.
fn read_at_most(mut file: &File, octets_max: u64) -> io::Result<Vec<u8>> {
    let mut octets = Vec::new();
    io::Seek::rewind(&mut file)?;
    file.take(octets_max).read_to_end(&mut octets)?;
    Ok(octets)
}
