//! A file as it is held between requests: its content when that is small, else its descriptor, and with it
//! all that is said about it; and the same of files beside it that have its content compressed.

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

use alula_fields::{Decimal, FieldError, FieldSection, KnownName};
use alula_machine::Reservation;

use super::{
    coding::{Coding, identity_weight},
    open_files::{CountedFile, OpenFiles},
    root::Root,
};
use crate::{
    conditional::Validators,
    files::{
        entity_tag::EntityTag,
        media_type::{content_coding, media_type},
        stamp::Stamp,
    },
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

/// A file, ready to be sent, or the page of a folder.
pub(in crate::files) struct Entry {
    /// The file itself.
    pub(in crate::files) main: Representation,
    /// Files beside it, by their codings.
    variants: Vec<(Coding, Representation)>,
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

/// One file with the fields of its answer.
pub(in crate::files) struct Representation {
    path: PathBuf,
    /// The file's metadata when it was read or opened.
    pub(super) stamp: Stamp,
    pub(super) content: Content,
    /// The fields of an answer of 200.
    pub(super) fields: FieldSection,
    /// Any change of the file would have shown in its metadata.
    pub(super) is_settled: bool,
}

/// The content of a file.
pub(super) enum Content {
    /// The bytes, in memory.
    Held(Box<[u8]>),
    /// An open file.
    Open(Arc<CountedFile>),
}

/// The choices about an entry.
#[derive(Clone, Copy, Default)]
pub(super) struct LoadOptions {
    /// Files beside it may have its content compressed.
    pub(super) has_variants: bool,
    /// It depends on `accept` whether the file stands for a path.
    pub(super) varies_by_accept: bool,
}

impl Entry {
    /// Reads or opens a file. May block.
    ///
    /// # Errors
    /// As [`Root::open_file`], and when too many large files are open or there is no memory left for another.
    pub(super) fn load(
        root: &Root,
        open_files: &OpenFiles,
        path: PathBuf,
        options: LoadOptions,
        mut held: Reservation,
    ) -> io::Result<Self> {
        charge(&mut held, HELD_BYTES_MAX)?;
        let kind = media_type(&path);
        let mut main = Representation::load(root, open_files, path, &kind)?;
        let mut variants = Vec::new();
        for coding in Coding::ALL.into_iter().filter(|_| options.has_variants) {
            let path = coding.beside(&main.path);
            charge(&mut held, HELD_BYTES_MAX * (2 + variants.len() as u64))?;
            // What is not there, or cannot be read, is no variant.
            if let Ok(mut variant) = Representation::load(root, open_files, path, &kind) {
                let fields = &mut variant.fields;
                fields.set(KnownName::CONTENT_ENCODING, coding.name()).map_err(io::Error::other)?;
                variants.push((coding, variant));
            }
        }
        let mut vary = Vec::new();
        vary.extend(options.varies_by_accept.then_some("accept"));
        vary.extend((!variants.is_empty()).then_some("accept-encoding"));
        if !vary.is_empty() {
            for form in variants.iter_mut().map(|(_, form)| form).chain([&mut main]) {
                form.fields.append(KnownName::VARY, vary.join(", ")).map_err(io::Error::other)?;
            }
        }
        Ok(Self::new(main, variants, false, held))
    }

    /// Takes the page of a folder, for the memory of which `held` stands. Its entity-tag is made of its
    /// content; there is no date, since the length of a file in the folder can change without any date of the
    /// folder telling.
    ///
    /// # Errors
    /// None that is known: its fields are valid.
    pub(super) fn of_page(path: PathBuf, page: Vec<u8>, held: Reservation) -> io::Result<Self> {
        let content = Content::Held(page.into());
        let main = Representation::new(path, Stamp::default(), content, HTML, None)?;
        Ok(Self::new(main, Vec::new(), true, held))
    }

    fn new(
        main: Representation,
        variants: Vec<(Coding, Representation)>,
        is_page: bool,
        held: Reservation,
    ) -> Self {
        let (checked, gate) = (AtomicU64::new(0), tokio::sync::Mutex::new(()));
        let mut entry = Self { main, variants, is_page, checked, gate, _held: held };
        let bytes = entry.forms().map(|form| form.content.held()).sum();
        // It holds no more than was reserved for it.
        let _ = charge(&mut entry._held, bytes);
        entry
    }

    /// Returns the file and those beside it.
    pub(super) fn forms(&self) -> impl Iterator<Item = &Representation> {
        self.variants.iter().map(|(_, form)| form).chain([&self.main])
    }

    /// Returns the form of the content that a request with these fields gets.
    pub(super) fn choose(&self, headers: &FieldSection) -> &Representation {
        if self.variants.is_empty() {
            return &self.main;
        }
        let weighed = self.variants.iter().map(|(coding, form)| (coding.weight(headers), form));
        // The first of the greatest weight.
        let best = weighed.reduce(|best, other| if other.0 > best.0 { other } else { best });
        let wanted = best.filter(|(weight, _)| *weight > 0 && *weight >= identity_weight(headers));
        wanted.map_or(&self.main, |(_, form)| form)
    }

    /// Returns true if it is a page with this content.
    pub(super) fn is_same_page(&self, page: &[u8]) -> bool {
        self.is_page && matches!(&self.main.content, Content::Held(bytes) if **bytes == *page)
    }

    /// Returns true if its files are what they were when this was made of them, by the state of each; `None`
    /// where one is not known.
    pub(super) fn is_unchanged(
        &self,
        has_variants: bool,
        state: impl Fn(&Path) -> Option<io::Result<Stamp>>,
    ) -> Option<bool> {
        for form in self.forms() {
            if !state(&form.path)?.is_ok_and(|stamp| form.is_good_for(&stamp)) {
                return Some(false);
            }
        }
        let is_held = |coding| self.variants.iter().any(|(own, _)| *own == coding);
        for coding in Coding::ALL.into_iter().filter(|coding| has_variants && !is_held(*coding)) {
            if state(&coding.beside(&self.main.path))?.is_ok() {
                return Some(false);
            }
        }
        Some(true)
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

impl Representation {
    fn load(root: &Root, open_files: &OpenFiles, path: PathBuf, media_type: &str) -> io::Result<Self> {
        let file = root.open_file(&path)?;
        let stamp = Stamp::of(&file)?;
        let (content, stamp) = read(file, &path, stamp, open_files)?;
        let coding = content_coding(&path);
        Self::new(path, stamp, content, media_type, coding)
    }

    fn new(
        path: PathBuf,
        stamp: Stamp,
        content: Content,
        media_type: &str,
        coding: Option<&str>,
    ) -> io::Result<Self> {
        let now = SystemTime::now();
        let is_settled = stamp.is_settled(now);
        let mut form = Self { path, stamp, content, fields: FieldSection::new(), is_settled };
        form.describe(media_type, coding, now).map_err(io::Error::other)?;
        Ok(form)
    }

    /// Writes the fields of an answer of 200.
    fn describe(
        &mut self,
        media_type: &str,
        coding: Option<&str>,
        now: SystemTime,
    ) -> Result<(), FieldError> {
        let (etag, length) = match &self.content {
            Content::Held(bytes) => (EntityTag::of_content(bytes), bytes.len() as u64),
            // A large file is not read for its tag: its metadata names the version.
            Content::Open(_) => (EntityTag::of_stamp(&self.stamp, self.is_settled), self.stamp.length()),
        };
        let fields = &mut self.fields;
        fields.append(KnownName::CONTENT_TYPE, media_type)?;
        if let Some(coding) = coding {
            fields.append(KnownName::CONTENT_ENCODING, coding)?;
        }
        fields.append(KnownName::ETAG, etag.as_str())?;
        if let Some(modified) = self.stamp.date(now) {
            fields.append(KnownName::LAST_MODIFIED, httpdate::fmt_http_date(modified))?;
        }
        fields.append(KnownName::ACCEPT_RANGES, "bytes")?;
        fields.append(KnownName::CONTENT_LENGTH, Decimal::of(length).as_bytes())
    }

    /// Returns the validators that the conditions of a request are held against.
    pub(in crate::files) fn validators(&self) -> Validators<'_> {
        Validators::stated(&self.fields).strong_date(self.is_settled)
    }

    /// Returns true if it is still good when the file is in this state: the same, and nothing could have
    /// changed unnoticed.
    pub(super) fn is_good_for(&self, stamp: &Stamp) -> bool {
        self.is_settled && self.stamp == *stamp
    }
}

impl Content {
    /// Returns the bytes that are in memory.
    pub(super) fn held(&self) -> u64 {
        match self {
            Self::Held(bytes) => bytes.len() as u64,
            Self::Open(_) => 0,
        }
    }
}

/// Charges what an entry of so many bytes of content holds at most.
///
/// # Errors
/// There is no room for it.
pub(super) fn charge(held: &mut Reservation, bytes: u64) -> io::Result<()> {
    held.resize(bytes + ENTRY_BYTES).then_some(()).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
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

/// Reads the first bytes of a file.
fn read_at_most(mut file: &File, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::Seek::rewind(&mut file)?;
    file.take(bytes_max).read_to_end(&mut bytes)?;
    Ok(bytes)
}
