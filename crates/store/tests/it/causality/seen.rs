//! The writes of an object that a client is given, by their dots.

use std::collections::BTreeSet;

use alula_store::model::{Attribute, Content, Dot, Moment, Record, Vtag};

/// The number of a write, which its content carries.
pub(crate) type Id = u64;

/// The index of bytes that each content has an entry of.
pub(crate) const LETTER: &[u8] = b"letter_bin";

/// The index of whole numbers that each content has an entry of.
pub(crate) const NUMBER: &[u8] = b"number_int";

/// One content that a client was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) id: Id,
    pub(crate) dot: Dot,
    pub(crate) vtag: Vtag,
    pub(crate) modified: Moment,
    pub(crate) is_deleted: bool,
    /// Attributes and value are those of the write.
    pub(crate) is_intact: bool,
}

/// All that a client was given of an object at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) contents: Vec<Given>,
    /// The token of the whole object.
    pub(crate) vtag: Option<Vtag>,
}

impl Seen {
    /// Reads what an engine gave.
    ///
    /// # Panics
    /// The bytes are no record.
    pub(crate) fn read(bytes: Option<&[u8]>) -> Self {
        Self::of(bytes.map(|bytes| Record::read(bytes).expect("an engine gives whole records")))
    }

    pub(crate) fn of(record: Option<Record<'_>>) -> Self {
        Self {
            contents: record.into_iter().flat_map(|record| record.contents()).map(Given::of).collect(),
            vtag: record.map(|record| record.vtag()),
        }
    }

    pub(crate) fn ids(&self) -> BTreeSet<Id> {
        self.contents.iter().map(|given| given.id).collect()
    }

    pub(crate) fn dots(&self) -> BTreeSet<Dot> {
        self.contents.iter().map(|given| given.dot).collect()
    }

    pub(crate) fn has(&self, id: Id) -> bool {
        self.contents.iter().any(|given| given.id == id)
    }

    /// Returns true if there are contents and all say that the object was deleted.
    pub(crate) fn is_deleted(&self) -> bool {
        !self.contents.is_empty() && self.contents.iter().all(|given| given.is_deleted)
    }
}

impl Given {
    fn of(content: Content<'_>) -> Self {
        let id = content.attributes().find_map(|attribute| match attribute {
            Ok(Attribute::Meta { name: b"id", value }) => value.try_into().ok().map(Id::from_be_bytes),
            _ => None,
        });
        let id = id.expect("every content carries its number");
        let (mut expected, is_deleted) = (Vec::new(), content.is_deleted());
        write_attributes(id, is_deleted, &mut expected);
        let attributes = content.attributes().map_while(Result::ok);
        let mut kept = Vec::new();
        attributes.for_each(|attribute| attribute.write(&mut kept));
        Self {
            id,
            dot: content.dot(),
            vtag: content.vtag(),
            modified: content.modified(),
            is_deleted,
            is_intact: kept == expected && content.value() == value(id, is_deleted),
        }
    }
}

/// Appends the attributes of a write. A tombstone has no entries of indexes.
pub(crate) fn write_attributes(id: Id, is_deleted: bool, out: &mut Vec<u8>) {
    Attribute::Meta { name: b"id", value: &id.to_be_bytes() }.write(out);
    if !is_deleted {
        Attribute::BinaryEntry { field: LETTER, term: letter(id) }.write(out);
        Attribute::IntegerEntry { field: NUMBER, term: number(id).as_bytes() }.write(out);
    }
}

/// The value of a write, by which it is known where its bytes end.
pub(crate) fn value(id: Id, is_deleted: bool) -> Vec<u8> {
    if is_deleted { Vec::new() } else { id.to_le_bytes().repeat(1 + id as usize % 3) }
}

/// The term of a write in the index of bytes, which many share.
pub(crate) fn letter(id: Id) -> &'static [u8] {
    [&b"a"[..], b"b", b"c\0"][id as usize % 3]
}

/// The term of a write in the index of whole numbers.
pub(crate) fn number(id: Id) -> String {
    match id % 2 {
        0 => format!("-{}", id + 1),
        _ => id.to_string(),
    }
}
