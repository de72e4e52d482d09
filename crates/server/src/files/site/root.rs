//! The folder that is served, as the system sees it. All but [`Root::probe`] may block.
//!
//! Rule: every path goes through [`Dir`], which resolves each link within the folder and refuses what leads
//! out of it or is absolute, whoever moves things about meanwhile.

use std::{fs::File, io, path::Path};

use cap_std::{
    ambient_authority,
    fs::{Dir, Metadata, OpenOptions},
};

use crate::files::stamp::Stamp;

/// The folder that is served.
pub(super) struct Root(Dir);

/// The kind of entry that a path names.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
}

impl Root {
    /// Opens the folder.
    ///
    /// # Errors
    /// It is no folder, or may not be read.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Dir::open_ambient_dir(path, ambient_authority()).map(Self)
    }

    /// Returns the metadata of what the path names, links followed.
    ///
    /// # Errors
    /// It names nothing, or something outside.
    pub(super) fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        self.0.metadata(or_itself(path))
    }

    /// Returns the state of a regular file, without opening it.
    ///
    /// # Errors
    /// As [`metadata`](Self::metadata), and for a special file ([`io::ErrorKind::NotFound`]) or a folder.
    pub(super) fn stamp(&self, path: &Path) -> io::Result<Stamp> {
        let metadata = self.0.metadata(path)?;
        match kind_of(&metadata)? {
            Kind::File => Ok(stamp_of(&metadata)),
            Kind::Folder => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    /// Returns the state of a regular file, or [`io::ErrorKind::NotFound`] where nothing is, as far as the
    /// system knows it without waiting for a disk; `None` where it does not.
    #[cfg(target_os = "linux")]
    pub(super) fn probe(&self, path: &Path) -> Option<io::Result<Stamp>> {
        use rustix::{
            fs::{Mode, OFlags, ResolveFlags, openat2},
            io::Errno,
        };
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::CACHED;
        match openat2(&self.0, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve) {
            Ok(named) => {
                let metadata = File::from(named).metadata().ok()?;
                metadata.is_file().then(|| Ok(Stamp::from(&metadata)))
            }
            Err(Errno::NOENT | Errno::NOTDIR) => Some(Err(io::ErrorKind::NotFound.into())),
            Err(_) => None,
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn probe(&self, _: &Path) -> Option<io::Result<Stamp>> {
        None
    }

    /// Opens a regular file for reading.
    ///
    /// # Errors
    /// As [`stamp`](Self::stamp), and when it may not be read.
    pub(super) fn open_file(&self, path: &Path) -> io::Result<File> {
        // A fifo is not opened at all: that alone would wake its writers, or wait for one.
        self.stamp(path)?;
        let file = self.0.open_with(path, &options())?;
        match kind_of(&file.metadata()?)? {
            Kind::File => Ok(file.into_std()),
            Kind::Folder => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    /// Opens a folder within.
    ///
    /// # Errors
    /// It names nothing, something else, or something outside.
    pub(super) fn open_folder(&self, path: &Path) -> io::Result<Dir> {
        self.0.open_dir(or_itself(path))
    }
}

/// Replaces the empty path of the folder itself, which the system takes for nothing.
fn or_itself(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

/// Returns the kind of an entry.
///
/// # Errors
/// It is a special file, which is served to nobody.
pub(super) fn kind_of(metadata: &Metadata) -> io::Result<Kind> {
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
    let modified = metadata.modified().ok().map(|time| time.into_std());
    Stamp::new(metadata.len(), modified, changed, (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn stamp_of(metadata: &Metadata) -> Stamp {
    Stamp::new(metadata.len(), metadata.modified().ok().map(|time| time.into_std()), None, (0, 0))
}

/// Returns options with which opening never waits, should a fifo replace the file that was just checked.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use cap_std::fs::OpenOptionsExt as _;
        options.custom_flags(libc::O_NONBLOCK);
    }
    options
}
