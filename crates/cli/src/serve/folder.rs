//! The folder that is served, as the system sees it. Everything here may block.
//!
//! Rule: every path goes through [`Dir`], which resolves each link within the folder and refuses what leads
//! out of it or is absolute, whoever moves things about meanwhile.

use std::{ffi::OsString, fs::File, io, path::Path, time::SystemTime};

use alula::files::Stamp;
use cap_std::{
    ambient_authority,
    fs::{Dir, Metadata, OpenOptions},
};

use super::target;

/// Entries of a folder that are shown: more make a page that nobody reads.
pub(super) const ENTRIES_MAX: usize = 10_000;

/// The file that stands for a folder.
pub(super) const INDEX: &str = "index.html";

/// The folder.
pub(super) struct Folder {
    root: Dir,
    dot_files: bool,
}

/// The kind of entry that a path names.
pub(super) enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
}

/// An entry of a listing.
#[derive(Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Listed {
    /// Its name, as the system has it.
    pub(super) name: OsString,
    /// Bytes, of a file; `None` for a folder.
    pub(super) length: Option<u64>,
    /// The time of its last change, where the system has one.
    pub(super) modified: Option<SystemTime>,
}

impl Folder {
    /// Opens it.
    ///
    /// # Errors
    /// It is no folder, or may not be read.
    pub(super) fn open(path: &Path, dot_files: bool) -> io::Result<Self> {
        Ok(Self { root: Dir::open_ambient_dir(path, ambient_authority())?, dot_files })
    }

    /// Returns true if names that begin with a dot are served.
    pub(super) fn shows_dot_files(&self) -> bool {
        self.dot_files
    }

    /// Returns the kind of entry that the path names.
    ///
    /// # Errors It names nothing, a special file, or something outside.
    pub(super) fn kind(&self, path: &Path) -> io::Result<Kind> {
        kind_of(&self.root.metadata(or_itself(path))?)
    }

    /// The state of a regular file, without opening it.
    ///
    /// # Errors
    /// As [`kind`](Self::kind), and for a folder.
    pub(super) fn stamp(&self, path: &Path) -> io::Result<Stamp> {
        let metadata = self.root.metadata(path)?;
        match kind_of(&metadata)? {
            Kind::File => Ok(stamp_of(&metadata)),
            Kind::Folder => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    /// Opens a regular file for reading.
    ///
    /// # Errors
    /// As [`stamp`](Self::stamp), and when it may not be read.
    pub(super) fn open_file(&self, path: &Path) -> io::Result<File> {
        // A fifo is not opened at all: that alone would wake who writes to it, or wait for someone who does.
        self.stamp(path)?;
        let file = self.root.open_with(path, &options())?;
        match kind_of(&file.metadata()?)? {
            Kind::File => Ok(file.into_std()),
            Kind::Folder => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    /// Opens a folder within, for files to come.
    ///
    /// # Errors
    /// It names nothing, something else, or something outside.
    pub(super) fn open_folder(&self, path: &Path) -> io::Result<Dir> {
        self.root.open_dir(or_itself(path))
    }

    /// Returns the entries of a folder that can be asked for, in the order of names; true if there are
    /// more.
    ///
    /// # Errors It is no folder, or may not be read.
    pub(super) fn list(&self, path: &Path) -> io::Result<(Vec<Listed>, bool)> {
        let folder = self.root.open_dir(or_itself(path))?;
        let (mut listed, mut is_cut) = (Vec::new(), false);
        for entry in folder.entries()? {
            let name = entry?.file_name();
            if !target::is_fit(name.as_encoded_bytes(), self.dot_files) {
                continue;
            }
            // Through the root: a link may lead to another folder within it.
            let Ok(metadata) = self.root.metadata(path.join(&name)) else { continue };
            let length = match kind_of(&metadata) {
                Ok(Kind::File) => Some(metadata.len()),
                Ok(Kind::Folder) => None,
                Err(_) => continue,
            };
            if listed.len() == ENTRIES_MAX {
                is_cut = true;
                break;
            }
            listed.push(Listed { name, length, modified: modified(&metadata) });
        }
        listed.sort();
        Ok((listed, is_cut))
    }
}

/// The folder's own path is empty, which the system takes for nothing.
fn or_itself(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

fn kind_of(metadata: &Metadata) -> io::Result<Kind> {
    match metadata {
        metadata if metadata.is_file() => Ok(Kind::File),
        metadata if metadata.is_dir() => Ok(Kind::Folder),
        _ => Err(io::ErrorKind::NotFound.into()),
    }
}

#[cfg(unix)]
fn stamp_of(metadata: &Metadata) -> Stamp {
    use cap_std::fs::MetadataExt as _;
    let changed = Some((metadata.ctime(), metadata.ctime_nsec()));
    Stamp::new(metadata.len(), modified(metadata), changed, (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn stamp_of(metadata: &Metadata) -> Stamp {
    Stamp::new(metadata.len(), modified(metadata), None, (0, 0))
}

fn modified(metadata: &Metadata) -> Option<SystemTime> {
    metadata.modified().ok().map(|time| time.into_std())
}

/// Returns options with which opening never waits, should a fifo replace the file that was just checked.
#[cfg(unix)]
fn options() -> OpenOptions {
    use cap_std::fs::OpenOptionsExt as _;
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(libc::O_NONBLOCK);
    options
}

#[cfg(not(unix))]
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    options
}
