//! Records: the contents of an object, borrowed from where they are stored, and the merge of a write with
//! them.

use std::collections::HashSet;

use crate::vector::{Dot, Vector, array, counted, number, put_counted, put_number};

pub(crate) const INDEX: &str = "x-riak-index-";

#[derive(Clone)]
pub(crate) struct Content<'a> {
    pub(crate) dot: Dot,
    pub(crate) vtag: &'a [u8],
    /// Microseconds.
    pub(crate) modified: u64,
    pub(crate) media_type: &'a [u8],
    /// Metadata, links, and the terms of each index, joined by `, `.
    pub(crate) fields: Vec<(&'a [u8], &'a [u8])>,
    pub(crate) value: &'a [u8],
}

#[derive(Clone, Default)]
pub(crate) struct Record<'a> {
    pub(crate) vector: Vector,
    pub(crate) contents: Vec<Content<'a>>,
}

impl<'a> Record<'a> {
    pub(crate) fn read(mut bytes: &'a [u8]) -> Option<Self> {
        let bytes = &mut bytes;
        let vector = Vector::read(bytes)?;
        let count = number(bytes)?;
        let contents = (0..count).map(|_| Content::read(bytes)).collect::<Option<_>>()?;
        Some(Self { vector, contents })
    }

    pub(crate) fn write(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(2048);
        self.vector.write(&mut out);
        put_number(self.contents.len() as u64, &mut out);
        self.contents.iter().for_each(|content| content.write(&mut out));
        out
    }

    /// The record that a write with this context leaves.
    pub(crate) fn put(mut self, context: &Vector, mut new: Content<'a>, actor: u64) -> Self {
        if context.descends(&self.vector) {
            self.contents.clear();
        }
        self.contents.retain(|stored| context.count(stored.dot.actor) < stored.dot.count);
        self.vector.merge(context);
        new.dot = self.vector.next(actor);
        self.contents.push(new);
        self
    }

    /// The keys of the index entries of all contents.
    pub(crate) fn entries(&self, bucket: &[u8], key: &[u8]) -> HashSet<Vec<u8>> {
        let mut entries = HashSet::with_capacity(16);
        let fields = self.contents.iter().flat_map(|content| &content.fields);
        for (name, terms) in fields {
            let Some(index) = name.strip_prefix(INDEX.as_bytes()) else { continue };
            for term in terms_of(terms) {
                entries.insert([&index_key(bucket, index), term, b"\0", key].concat());
            }
        }
        entries
    }
}

pub(crate) fn index_key(bucket: &[u8], index: &[u8]) -> Vec<u8> {
    [bucket, b"\0", index, b"\0"].concat()
}

pub(crate) fn terms_of(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(value);
    std::iter::from_fn(move || {
        let value = rest?;
        let end = value.windows(2).position(|pair| pair == b", ");
        rest = end.map(|end| &value[end + 2..]);
        Some(end.map_or(value, |end| &value[..end]))
    })
}

impl<'a> Content<'a> {
    fn read(bytes: &mut &'a [u8]) -> Option<Self> {
        let (dot, modified) = (Dot::read(bytes)?, u64::from_be_bytes(*array(bytes)?));
        let (vtag, media_type) = (counted(bytes)?, counted(bytes)?);
        let count = number(bytes)?;
        let fields = (0..count).map(|_| Some((counted(bytes)?, counted(bytes)?))).collect::<Option<_>>()?;
        Some(Self { dot, vtag, modified, media_type, fields, value: counted(bytes)? })
    }

    fn write(&self, out: &mut Vec<u8>) {
        self.dot.write(out);
        out.extend_from_slice(&self.modified.to_be_bytes());
        put_counted(self.vtag, out);
        put_counted(self.media_type, out);
        put_number(self.fields.len() as u64, out);
        for (name, value) in &self.fields {
            put_counted(name, out);
            put_counted(value, out);
        }
        put_counted(self.value, out);
    }
}
