//! Operations while they are written.
//!
//! Rule: an operation is one run of bytes, no longer than the JSON that asks for it. What an operation on
//! elements or fields removes comes first. Elements that are added are in order and once each, and so are
//! fields that are changed, each with its operation behind it.

use std::cmp::Reverse;
use std::ops::Range;

use super::Operation;
use super::steps::{Elements, Fields, IS_CHANGED};
use crate::model::bytes::{put_counted, put_number};
use crate::model::types::Kind;

/// Nested operations that are being written.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    bytes: Vec<u8>,
    /// The names that unfinished operations remove, those of the outer ones first.
    removed: Vec<u8>,
}

/// An unfinished operation on elements.
#[derive(Debug)]
pub(crate) struct ElementsDraft {
    start: usize,
    removed_start: usize,
    /// The element that was added last.
    last: Range<usize>,
}

/// An unfinished operation on fields.
#[derive(Debug)]
pub(crate) struct FieldsDraft {
    start: usize,
    removed_start: usize,
    /// The places of the fields behind the start.
    fields: Vec<usize>,
}

impl Draft {
    /// Returns a draft with room for so many bytes.
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), removed: Vec::new() }
    }

    /// Returns the finished operation of a kind.
    pub(crate) fn end(self, kind: Kind) -> Operation {
        Operation { kind, bytes: self.bytes }
    }

    /// Writes an operation that adds to a counter: small numbers of either sign in few bytes.
    pub(crate) fn add(&mut self, number: i64) {
        put_number(((number << 1) ^ (number >> 63)).cast_unsigned(), &mut self.bytes);
    }

    /// Writes an operation that turns a flag on or off.
    pub(crate) fn turn(&mut self, on: bool) {
        self.bytes.push(on.into());
    }

    /// Writes an operation that assigns bytes to a register.
    pub(crate) fn assign(&mut self, bytes: &[u8]) {
        put_counted(bytes, &mut self.bytes);
    }

    /// Writes a whole operation.
    pub(super) fn put(&mut self, operation: &Operation) {
        self.bytes.extend_from_slice(&operation.bytes);
    }

    pub(crate) const fn begin_elements(&self) -> ElementsDraft {
        let start = self.bytes.len();
        ElementsDraft { start, removed_start: self.removed.len(), last: start..start }
    }

    /// Adds an element.
    pub(crate) fn add_element(&mut self, draft: &mut ElementsDraft, element: &[u8]) {
        let start = self.bytes.len();
        put_counted(element, &mut self.bytes);
        let (before, added) = self.bytes.split_at(start);
        match before[draft.last.clone()] == *added {
            true => self.bytes.truncate(start),
            false => draft.last = start..self.bytes.len(),
        }
    }

    /// Removes an element. One that is added, too, stays.
    pub(crate) fn remove_element(&mut self, element: &[u8]) {
        put_counted(element, &mut self.removed);
    }

    /// Writes the end of an operation on elements.
    pub(crate) fn end_elements(&mut self, draft: &ElementsDraft) {
        let added = self.bytes.split_off(draft.start);
        let added = in_order(Elements::to_end(&added));
        let removed = Elements::to_end(&self.removed[draft.removed_start..]);
        let removed = removed.filter(|element| added.binary_search(element).is_err());
        put_number(removed.clone().count() as u64, &mut self.bytes);
        removed.for_each(|element| put_counted(element, &mut self.bytes));
        put_number(added.len() as u64, &mut self.bytes);
        added.iter().for_each(|element| put_counted(element, &mut self.bytes));
        self.removed.truncate(draft.removed_start);
    }

    pub(crate) const fn begin_fields(&self) -> FieldsDraft {
        FieldsDraft { start: self.bytes.len(), removed_start: self.removed.len(), fields: Vec::new() }
    }

    /// Begins the operation on a field, which is to be written next. If several are on one field, the last
    /// counts.
    pub(crate) fn begin_field(&mut self, draft: &mut FieldsDraft, name: &[u8], kind: Kind) {
        draft.fields.push(self.bytes.len() - draft.start);
        put_counted(name, &mut self.bytes);
        self.bytes.push(kind.byte());
    }

    /// Removes a field. One that is changed, too, begins anew.
    pub(crate) fn remove_field(&mut self, name: &[u8], kind: Kind) {
        put_counted(name, &mut self.removed);
        self.removed.push(kind.byte());
    }

    /// Drops the operations on fields.
    pub(crate) fn forget_changed(&mut self, draft: &mut FieldsDraft) {
        self.bytes.truncate(draft.start);
        draft.fields.clear();
    }

    /// Drops the fields to remove.
    pub(crate) fn forget_removed(&mut self, draft: &FieldsDraft) {
        self.removed.truncate(draft.removed_start);
    }

    /// Writes the end of an operation on fields.
    pub(crate) fn end_fields(&mut self, draft: &FieldsDraft) {
        let changed = self.bytes.split_off(draft.start);
        let changed = last_in_order(&changed, &draft.fields);
        let removed = Fields::to_end(&self.removed[draft.removed_start..]);
        put_number(removed.clone().count() as u64, &mut self.bytes);
        for (name, kind) in removed {
            let is_changed = changed.binary_search_by_key(&(name, kind), Changed::key).is_ok();
            put_counted(name, &mut self.bytes);
            self.bytes.push(kind.byte() | if is_changed { IS_CHANGED } else { 0 });
        }
        put_number(changed.len() as u64, &mut self.bytes);
        changed.iter().for_each(|field| self.bytes.extend_from_slice(field.bytes));
        self.removed.truncate(draft.removed_start);
    }
}

/// Returns elements in order and once each.
fn in_order(elements: Elements<'_>) -> Vec<&[u8]> {
    let mut ordered = Vec::with_capacity(elements.clone().count());
    ordered.extend(elements);
    ordered.sort_unstable();
    ordered.dedup();
    ordered
}

/// A field, followed by its operation.
struct Changed<'a> {
    name: &'a [u8],
    kind: Kind,
    place: usize,
    bytes: &'a [u8],
}

impl<'a> Changed<'a> {
    const fn key(&self) -> (&'a [u8], Kind) {
        (self.name, self.kind)
    }
}

/// Returns the last operation on each field, in the order of the fields.
fn last_in_order<'a>(bytes: &'a [u8], places: &[usize]) -> Vec<Changed<'a>> {
    let mut fields = Vec::with_capacity(places.len());
    let ends = places.iter().skip(1).copied().chain([bytes.len()]);
    fields.extend(places.iter().zip(ends).filter_map(|(start, end)| {
        let bytes = &bytes[*start..end];
        let (name, kind) = Fields::to_end(bytes).next()?;
        Some(Changed { name, kind, place: *start, bytes })
    }));
    fields.sort_unstable_by_key(|field| (field.key(), Reverse(field.place)));
    fields.dedup_by_key(|field| field.key());
    fields
}
