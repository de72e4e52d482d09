//! The bounds of a walk: the objects and links that all of its steps together read and hold.
//!
//! Objects, their links and the steps of a walk multiply: two kilobytes of path over 500 objects with 500
//! links each are 25 million links.

use crate::budget::{Budget, Peer, Share};
use crate::http::answer::fail::Fail;

/// The objects that a step may reach, and those that all steps together may keep: each is read again for the
/// response.
const OBJECTS_MAX: usize = 10_000;

/// The objects that all steps together may read, and the bytes of their records.
const READS_MAX: u32 = 50_000;
const READ_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// The links that all steps together may look at. Each takes a tenth of a microsecond.
const LINKS_MAX: u32 = 500_000;

/// The bytes of the names that are held at once: those of the last step, of the next one, and of the steps
/// that are kept.
const NAMES_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The work of a walk so far, and its share of the bytes in flight.
pub(super) struct Bounds<'a> {
    budget: &'a Budget,
    share: Share,
    reads: u32,
    read_bytes: u64,
    links: u32,
}

impl<'a> Bounds<'a> {
    pub(super) fn new(budget: &'a Budget, peer: &Peer) -> Self {
        Self { budget, share: Share::of(peer), reads: 0, read_bytes: 0, links: 0 }
    }

    /// Counts an object that is about to be read.
    ///
    /// # Errors
    /// 400.
    pub(super) fn count_read(&mut self) -> Result<(), Fail> {
        self.reads += 1;
        within(self.reads, READS_MAX, "reads", "objects")
    }

    /// Counts the bytes of a record that was read.
    ///
    /// # Errors
    /// 400.
    pub(super) fn count_bytes(&mut self, bytes: usize) -> Result<(), Fail> {
        self.read_bytes += bytes as u64;
        within(self.read_bytes, READ_BYTES_MAX, "reads objects of", "bytes")
    }

    /// Counts a link.
    ///
    /// # Errors
    /// 400.
    pub(super) fn count_link(&mut self) -> Result<(), Fail> {
        self.links += 1;
        within(self.links, LINKS_MAX, "looks at", "links")
    }

    /// Takes a share for so many bytes of names, in place of the earlier one.
    ///
    /// # Errors
    /// 503 if there is no room for them.
    pub(super) fn hold(&mut self, names_bytes: u64) -> Result<(), Fail> {
        Ok(self.budget.grow(&mut self.share, names_bytes)?)
    }

    /// Returns the share of the names, to be held as long as they are.
    pub(super) fn into_share(self) -> Share {
        self.share
    }
}

/// Checks a number of objects whose names are held together.
///
/// # Errors
/// 400.
pub(super) fn check_objects(objects: usize) -> Result<(), Fail> {
    within(objects, OBJECTS_MAX, "reaches", "objects")
}

/// Checks the bytes of the names that are held together.
///
/// # Errors
/// 400.
pub(super) fn check_names(names_bytes: u64) -> Result<(), Fail> {
    within(names_bytes, NAMES_BYTES_MAX, "holds names of", "bytes")
}

fn within<N: PartialOrd + std::fmt::Display>(
    number: N,
    most: N,
    does: &str,
    things: &str,
) -> Result<(), Fail> {
    match number > most {
        true => Err(Fail::bad_request(format!("A walk {does} more than {most} {things}\n"))),
        false => Ok(()),
    }
}
