//! Events of an engine, for whoever runs it.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

/// An event of an engine that its operator hears of once, however many writes it strikes.
///
/// `Display` gives a sentence without a full stop.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum FjallEvent {
    /// The disk is full: writes that grow are refused, and deletes are taken.
    DiskFull {
        /// The bytes that are free.
        free: u64,
    },
    /// The disk has room again, and all writes are taken.
    DiskHasRoom {
        /// The bytes that are free.
        free: u64,
    },
    /// A write failed, and none is taken until the folder was opened anew.
    WriteFailed(Arc<dyn StdError + Send + Sync>),
    /// The folder was opened anew, and writes are taken.
    OpenedAnew,
}

impl fmt::Display for FjallEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MIB: u64 = 1024 * 1024;
        match self {
            Self::DiskFull { free } => write!(
                f,
                "the disk is full ({} MiB are free): writes that grow are refused with 507, reads and deletes go on",
                free / MIB
            ),
            Self::DiskHasRoom { free } => {
                write!(f, "the disk has room again ({} MiB are free): all writes are taken", free / MIB)
            }
            Self::WriteFailed(error) => {
                write!(f, "a write failed, and none is taken until the disk takes one: {}", Shown(&**error))
            }
            Self::OpenedAnew => f.write_str("the disk takes writes again"),
        }
    }
}

/// The text of an error in one line.
struct Shown<'a>(&'a (dyn StdError + 'static));

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Write::write_fmt(&mut alula::fields::OneLine(f), format_args!("{}", self.0))
    }
}

/// The function that hears of events, if there is one.
#[derive(Clone, Copy, Default)]
pub(super) struct Tell(pub(super) Option<fn(&FjallEvent)>);

impl Tell {
    pub(super) fn tell(self, event: &FjallEvent) {
        if let Some(hear) = self.0 {
            hear(event);
        }
    }
}
