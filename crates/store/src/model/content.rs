//! A content of an object.

use super::{Attributes, Dot, Moment, Vtag};

/// A content of an object, borrowed from its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content<'a> {
    pub(super) dot: Dot,
    pub(super) vtag: Vtag,
    pub(super) modified: Moment,
    pub(super) is_deleted: bool,
    pub(super) attributes: &'a [u8],
    pub(super) value: &'a [u8],
}

impl<'a> Content<'a> {
    /// Returns the write that made the content, as its dot.
    pub const fn dot(&self) -> Dot {
        self.dot
    }

    /// Returns the token of the content.
    pub const fn vtag(&self) -> Vtag {
        self.vtag
    }

    /// Returns the time at which the content was written.
    pub const fn modified(&self) -> Moment {
        self.modified
    }

    /// Returns true if the content says that the object was deleted.
    pub const fn is_deleted(&self) -> bool {
        self.is_deleted
    }

    /// Returns the media type, metadata, index entries and links.
    pub const fn attributes(&self) -> Attributes<'a> {
        Attributes::new(self.attributes)
    }

    /// Returns the bytes of the attributes as they are kept.
    pub(crate) const fn attributes_len(&self) -> usize {
        self.attributes.len()
    }

    /// Returns the bytes that were stored.
    pub const fn value(&self) -> &'a [u8] {
        self.value
    }
}
