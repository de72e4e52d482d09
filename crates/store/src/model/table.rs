//! An entry of the table at the start of a record: the metadata of a content and the lengths of its bytes.

use super::bytes::{Bytes, put_number};
use super::{Actor, Content, Dot, Moment, Vtag};

const DELETED: u8 = 1;

/// The metadata of a content, with the lengths of its attributes and its value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    dot: Dot,
    vtag: Vtag,
    modified: Moment,
    is_deleted: bool,
    attributes_len: u64,
    value_len: u64,
}

impl Entry {
    pub(super) fn of(content: &Content<'_>) -> Self {
        Self {
            dot: content.dot,
            vtag: content.vtag,
            modified: content.modified,
            is_deleted: content.is_deleted,
            attributes_len: content.attributes.len() as u64,
            value_len: content.value.len() as u64,
        }
    }

    pub(super) const fn dot(&self) -> Dot {
        self.dot
    }

    /// Returns the bytes of the attributes and of the value together, or `None` if no memory holds them.
    pub(super) fn len(&self) -> Option<u64> {
        self.attributes_len.checked_add(self.value_len)
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.dot.actor().number().to_be_bytes());
        put_number(self.dot.count(), out);
        out.extend_from_slice(&self.vtag.bits().to_be_bytes());
        out.extend_from_slice(&self.modified.micros().to_be_bytes());
        out.push(if self.is_deleted { DELETED } else { 0 });
        put_number(self.attributes_len, out);
        put_number(self.value_len, out);
    }

    /// Reads the next entry of a table; `None` if it is cut off, or of a form that no store writes.
    pub(super) fn read(table: &mut Bytes<'_>) -> Option<Self> {
        let actor = Actor::new(u64::from_be_bytes(table.array()?));
        let dot = Dot::new(actor, table.number()?)?;
        let vtag = Vtag::from_bits(u128::from_be_bytes(table.array()?));
        let modified = Moment::from_micros(u64::from_be_bytes(table.array()?));
        let flags = table.byte().filter(|flags| *flags <= DELETED)?;
        let (attributes_len, value_len) = (table.number()?, table.number()?);
        Some(Self { dot, vtag, modified, is_deleted: flags == DELETED, attributes_len, value_len })
    }

    /// Reads the content of this entry, whose bytes come next in `parts`.
    pub(super) fn content<'a>(&self, parts: &mut Bytes<'a>) -> Option<Content<'a>> {
        Some(Content {
            dot: self.dot,
            vtag: self.vtag,
            modified: self.modified,
            is_deleted: self.is_deleted,
            attributes: parts.take(self.attributes_len)?,
            value: parts.take(self.value_len)?,
        })
    }
}
