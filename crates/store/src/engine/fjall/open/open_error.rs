//! The reasons for which a folder does not open.

use std::error::Error as StdError;
use std::fmt::{self, Write as _};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use alula::fields::{EscapedDebug, OneLine};

/// The reason for which a [`Fjall`](crate::engine::fjall::Fjall) does not open.
///
/// `Display` gives one line, in which whatever a terminal would obey is escaped, as in `Debug`.
#[derive(Clone)]
#[non_exhaustive]
pub enum FjallOpenError {
    /// A file or folder cannot be read or written.
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        error: Arc<io::Error>,
    },
    /// Another process has the folder open, or this one has it twice.
    InUse {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder belongs to another user than the one as whom this process runs.
    OfAnotherUser {
        /// The folder.
        folder: PathBuf,
        /// The number of the user whose it is.
        owner: u32,
        /// The number of the user of this process.
        user: u32,
    },
    /// The folder was written by a later version of this engine.
    Newer {
        /// The folder.
        folder: PathBuf,
        /// The version of the folder.
        found: u32,
        /// The latest version that this engine reads.
        known: u32,
    },
    /// The folder holds something else than objects of this engine.
    NotAStore {
        /// The folder.
        folder: PathBuf,
        /// The reason.
        reason: &'static str,
    },
    /// A journal is damaged at a place that was flushed: flushed writes follow it. Nothing was changed.
    Damaged {
        /// The journal.
        journal: PathBuf,
        /// The byte at which it is no longer whole.
        offset: u64,
    },
    /// The embedded engine does not open.
    Engine {
        /// The folder.
        folder: PathBuf,
        /// The error of that engine.
        error: Arc<dyn StdError + Send + Sync>,
    },
}

impl FjallOpenError {
    /// Returns a function that makes an error of the operating system one of this path.
    pub(in crate::engine::fjall) fn at(path: &Path) -> impl Fn(io::Error) -> Self {
        move |error| Self::Io { path: path.to_path_buf(), error: Arc::new(error) }
    }
}

impl fmt::Display for FjallOpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = OneLine(f);
        match self {
            Self::Io { path, error } => write!(line, "{}: {error}", path.display()),
            Self::InUse { folder } => {
                write!(line, "{}: another store has this folder open", folder.display())
            }
            Self::OfAnotherUser { folder, owner, user } => write!(
                line,
                "{}: this folder belongs to user {owner}, and this program runs as user {user}; change its owner, \
                 or name a folder that this user may make",
                folder.display()
            ),
            Self::Newer { folder, found, known } => write!(
                line,
                "{}: this folder has version {found} of the format, and this program reads up to version {known}",
                folder.display()
            ),
            Self::NotAStore { folder, reason } => {
                write!(line, "{}: this folder holds no objects: {reason}", folder.display())
            }
            Self::Damaged { journal, offset } => write!(
                line,
                "{}: this journal is damaged at byte {offset}, before writes that were flushed after it",
                journal.display()
            ),
            Self::Engine { folder, error } => write!(line, "{}: {error}", folder.display()),
        }
    }
}

impl fmt::Debug for FjallOpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, error } => {
                f.debug_struct("Io").field("path", path).field("error", &EscapedDebug(error)).finish()
            }
            Self::InUse { folder } => f.debug_struct("InUse").field("folder", folder).finish(),
            Self::OfAnotherUser { folder, owner, user } => {
                let mut of_another = f.debug_struct("OfAnotherUser");
                of_another.field("folder", folder).field("owner", owner).field("user", user).finish()
            }
            Self::Newer { folder, found, known } => {
                let mut newer = f.debug_struct("Newer");
                newer.field("folder", folder).field("found", found).field("known", known).finish()
            }
            Self::NotAStore { folder, reason } => {
                f.debug_struct("NotAStore").field("folder", folder).field("reason", reason).finish()
            }
            Self::Damaged { journal, offset } => {
                f.debug_struct("Damaged").field("journal", journal).field("offset", offset).finish()
            }
            Self::Engine { folder, error } => {
                f.debug_struct("Engine").field("folder", folder).field("error", &EscapedDebug(error)).finish()
            }
        }
    }
}

impl StdError for FjallOpenError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Io { error, .. } => Some(&**error),
            Self::Engine { error, .. } => Some(&**error),
            _ => None,
        }
    }
}
