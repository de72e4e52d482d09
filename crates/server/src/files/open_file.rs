//! A file that was opened to be sent, with what the system said of it then.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use super::{entity_tag::EntityTag, stamp::Stamp};

/// An open regular file, its state, and the validators that follow from it. Cloning shares the descriptor.
#[derive(Clone, Debug)]
pub struct OpenFile(Arc<Opened>);

#[derive(Debug)]
struct Opened {
    file: File,
    path: PathBuf,
    stamp: Stamp,
    etag: EntityTag,
    modified: Option<SystemTime>,
    is_settled: bool,
}

impl OpenFile {
    /// Opens a file to be sent. May block: call it on a thread that may, as
    /// [`Reply::file`](crate::Reply::file) does.
    ///
    /// # Errors
    /// There is none, it may not be read, or it is a folder or a special file ([`io::ErrorKind::NotFound`] as
    /// well).
    pub fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        // A fifo is not opened at all: that alone would wake its writers, or wait for one.
        if !std::fs::metadata(&path)?.is_file() {
            return Err(io::ErrorKind::NotFound.into());
        }
        Self::from_std(open(&path)?, path)
    }

    /// Takes a file that is open already; the path names it in errors, and is not looked at. May block.
    ///
    /// # Errors
    /// The system says nothing of it, or it is no regular file.
    pub fn from_std(file: File, path: impl Into<PathBuf>) -> io::Result<Self> {
        let (metadata, now) = (file.metadata()?, SystemTime::now());
        if !metadata.is_file() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let stamp = Stamp::from(&metadata);
        let is_settled = stamp.is_settled(now);
        let etag = EntityTag::of_stamp(&stamp, is_settled);
        let modified = stamp.date(now);
        Ok(Self(Arc::new(Opened { file, path: path.into(), stamp, etag, modified, is_settled })))
    }

    /// Returns the state of the file when it was opened.
    pub fn stamp(&self) -> &Stamp {
        &self.0.stamp
    }

    /// Returns the length in bytes.
    pub fn length(&self) -> u64 {
        self.0.stamp.length()
    }

    /// Returns the entity-tag, which is weak if the file was changed within the last seconds.
    pub fn etag(&self) -> &EntityTag {
        &self.0.etag
    }

    /// Returns the `last-modified` date, in whole seconds.
    pub fn modified(&self) -> Option<SystemTime> {
        self.0.modified
    }

    /// Returns true if any change of the file would have shown in its validators.
    pub fn is_settled(&self) -> bool {
        self.0.is_settled
    }

    /// Returns the path that it was opened by.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Returns the file.
    pub(super) fn file(&self) -> &File {
        &self.0.file
    }
}

/// Opens a file without waiting, even if a fifo has taken the place of the file that was just looked at.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}
