//! A file as it is held between requests: its content when that is small, else its descriptor, and with it
//! all that is said about it.

use std::{
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use alula::{
    FieldError, FieldSection, KnownName, Ledger, Reservation,
    conditional::Validators,
    files::{EntityTag, Stamp, media_type},
};

use super::{
    folder::Folder,
    open_files::{OpenFile, OpenFiles},
};

/// Files up to this many bytes are held in memory.
pub(super) const HELD_BYTES_MAX: u64 = 64 * 1024;

/// The bytes charged for any entry beside its content: path, fields and bookkeeping.
pub(super) const ENTRY_BYTES: u64 = 4 * 1024;

const HTML: &str = "text/html; charset=utf-8";

/// The number of times that a file is read when it changes meanwhile.
const READS_MAX: usize = 3;

/// Stands for a time at which an entry was checked, when it must not be believed.
const DISTRUSTED: u64 = u64::MAX;

/// A file, ready to be sent.
pub(super) struct Entry {
    /// The path of the file.
    pub(super) path: PathBuf,
    /// The file's metadata when it was read or opened.
    pub(super) stamp: Stamp,
    /// The file's content.
    pub(super) content: Content,
    /// Its `content-type`.
    pub(super) media_type: String,
    /// The fields of an answer of 200.
    pub(super) fields: FieldSection,
    etag: EntityTag,
    modified: Option<SystemTime>,
    is_settled: bool,
    /// The content is a listing of a folder, and no file.
    pub(super) is_page: bool,
    /// The time at which it was last found to be unchanged, in nanoseconds on the cache's clock.
    checked: AtomicU64,
    /// Held while it is looked at again, so that one request does it and the others wait.
    pub(super) gate: tokio::sync::Mutex<()>,
    /// The memory of the entry, charged to that of all connections until the last answer made of it has
    /// gone.
    _held: Reservation,
}

/// The content of a file.
pub(super) enum Content {
    /// The bytes, in memory.
    Held(Box<[u8]>),
    /// An open file.
    Open(Arc<OpenFile>),
}

impl Entry {
    /// Reads or opens a file. May block.
    ///
    /// # Errors
    /// As [`Folder::open_file`], and when too many large files are open or there is no memory left for
    /// another.
    pub(super) fn load(
        folder: &Folder,
        open_files: &OpenFiles,
        path: PathBuf,
        ledger: &Ledger,
    ) -> io::Result<Self> {
        let mut held = reserve(ledger, HELD_BYTES_MAX)?;
        let file = folder.open_file(&path)?;
        let now = SystemTime::now();
        let stamp = Stamp::of(&file)?;
        let (content, stamp) = read(file, &path, stamp, open_files)?;
        give_back_rest(&mut held, &content);
        let is_settled = stamp.is_settled(now);
        let etag = match &content {
            Content::Held(bytes) => EntityTag::of_content(bytes),
            // A large file is not read for its tag: its metadata names the version.
            Content::Open(_) => EntityTag::of_stamp(&stamp, is_settled),
        };
        let mut entry = Self {
            media_type: media_type(&path),
            path,
            content,
            fields: FieldSection::new(),
            etag,
            modified: stamp.date(now),
            is_settled,
            stamp,
            is_page: false,
            checked: AtomicU64::new(0),
            gate: tokio::sync::Mutex::new(()),
            _held: held,
        };
        entry.fields = entry.describe().map_err(io::Error::other)?;
        Ok(entry)
    }

    /// Takes the page of a folder, for the memory of which `held` stands. Its entity-tag is made of its
    /// content; there is no date, since the length of a file in the folder can change without any date of the
    /// folder telling.
    ///
    /// # Errors
    /// None that is known: its fields are valid.
    pub(super) fn of_page(path: PathBuf, page: Vec<u8>, mut held: Reservation) -> io::Result<Self> {
        let etag = EntityTag::of_content(&page);
        let content = Content::Held(page.into());
        give_back_rest(&mut held, &content);
        let mut entry = Self {
            media_type: HTML.to_owned(),
            path,
            content,
            fields: FieldSection::new(),
            etag,
            modified: None,
            is_settled: false,
            is_page: true,
            stamp: Stamp::default(),
            checked: AtomicU64::new(0),
            gate: tokio::sync::Mutex::new(()),
            _held: held,
        };
        entry.fields = entry.describe().map_err(io::Error::other)?;
        Ok(entry)
    }

    /// Returns true if it is a page with this content.
    pub(super) fn is_same_page(&self, page: &[u8]) -> bool {
        self.is_page && matches!(&self.content, Content::Held(bytes) if **bytes == *page)
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

    /// Its entity-tag as it is sent.
    pub(super) fn etag(&self) -> &str {
        self.etag.as_str()
    }

    /// Bytes of content.
    pub(super) fn length(&self) -> u64 {
        match &self.content {
            Content::Held(bytes) => bytes.len() as u64,
            Content::Open(_) => self.stamp.length(),
        }
    }

    /// Returns the validators that conditions of requests are checked against.
    pub(super) fn validators(&self) -> Validators<'_> {
        let validators = Validators::present().etag(self.etag.as_str()).strong_date(self.is_settled);
        self.modified.map_or(validators, |modified| validators.modified(modified))
    }

    /// Returns true if it is still good when the file is in this state: the same, and nothing could have
    /// changed unnoticed.
    pub(super) fn is_good_for(&self, stamp: &Stamp) -> bool {
        self.is_settled && self.stamp == *stamp
    }

    /// Returns the time since the last check; `None` when the file is known to have changed.
    pub(super) fn age(&self, clock: Duration) -> Option<Duration> {
        let checked = self.checked.load(Ordering::Acquire);
        (checked != DISTRUSTED).then(|| clock.saturating_sub(Duration::from_nanos(checked)))
    }

    /// Marks the file as changed: the next request checks it.
    pub(super) fn distrust(&self) {
        self.checked.store(DISTRUSTED, Ordering::Release);
    }

    /// Records that the file was checked and is unchanged.
    pub(super) fn set_checked(&self, clock: Duration) {
        let nanoseconds = u64::try_from(clock.as_nanos()).unwrap_or(u64::MAX);
        self.checked.store(nanoseconds, Ordering::Release);
    }
}

/// Charges what an entry of so many bytes of content holds at most.
///
/// # Errors
/// There is no room for it.
pub(super) fn reserve(ledger: &Ledger, bytes: u64) -> io::Result<Reservation> {
    ledger.reserve(bytes + ENTRY_BYTES).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

/// Charges what the content really holds, which is no more than was reserved for it.
fn give_back_rest(held: &mut Reservation, content: &Content) {
    let bytes = match content {
        Content::Held(bytes) => bytes.len() as u64,
        Content::Open(_) => 0,
    };
    let _ = held.resize(bytes + ENTRY_BYTES);
}

/// Reads a file if it is small. One that changes meanwhile is read again, and in the end taken as it was
/// read: nothing is made of its stamp then, since it is not settled.
fn read(file: File, path: &Path, mut stamp: Stamp, open_files: &OpenFiles) -> io::Result<(Content, Stamp)> {
    if stamp.length() > HELD_BYTES_MAX {
        return open(file, path, open_files);
    }
    let mut bytes = Vec::new();
    for _ in 0..READS_MAX {
        bytes = read_at_most(&file, HELD_BYTES_MAX + 1)?;
        let after = Stamp::of(&file)?;
        // It has grown beyond the limit since its length was read.
        if bytes.len() as u64 > HELD_BYTES_MAX {
            return open(file, path, open_files);
        }
        if after == stamp {
            break;
        }
        stamp = after;
    }
    Ok((Content::Held(bytes.into()), stamp))
}

/// Takes a file as it is, with the stamp of now.
fn open(file: File, path: &Path, open_files: &OpenFiles) -> io::Result<(Content, Stamp)> {
    let file = open_files.hold(file, path)?;
    let stamp = *file.stamp();
    Ok((Content::Open(file), stamp))
}

/// The first bytes of a file.
fn read_at_most(mut file: &File, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::Seek::rewind(&mut file)?;
    file.take(bytes_max).read_to_end(&mut bytes)?;
    Ok(bytes)
}
