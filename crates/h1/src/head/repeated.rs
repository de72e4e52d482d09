//! The last section sent, with its facts and its lines: many connections repeat the same fields.
//!
//! Comparing a section with a copy of the last one costs a fraction of checking and writing it. The facts and
//! the lines depend on the section and the configuration alone; a stated `host` is compared with the
//! authority each time.
//!
//! Sections that differ in `content-length` alone, by other digits of the same count, are the usual ones of
//! answers that are made for each request: then the digits are written over.

use alloc::boxed::Box;
use alloc::vec::Vec;

use alula_fields::{Adopted, FieldSection, KnownName, bytes};

use crate::guard::facts::Facts;
use crate::head::repeat_odds::RepeatOdds;

/// The most bytes of the lines of a remembered section.
const LINES_BYTES_MAX: usize = 2 * 1024;

/// The last section that was sent, if it is remembered.
#[derive(Default)]
pub(crate) struct Repeated {
    /// The remembered section, in a box, since a connection with one head needs none.
    last: Option<Box<Last>>,
    luck: RepeatOdds,
}

#[derive(Default)]
struct Last {
    fields: FieldSection,
    facts: Facts,
    /// Its lines, with their ends.
    lines: Vec<u8>,
    length: Option<Length>,
}

/// The place of `content-length`.
#[derive(Clone, Copy)]
struct Length {
    /// The number of the field.
    field: usize,
    /// The place of its value in the lines.
    value: usize,
}

impl Repeated {
    /// Returns the facts of a section if it is the remembered one, or differs from it in `content-length`
    /// only.
    #[inline]
    pub(crate) fn find(&mut self, fields: &FieldSection) -> Option<Facts> {
        let last = self.last.as_mut()?;
        let Some(length) = last.length else {
            return last.fields.is_copy_of(fields).then_some(last.facts);
        };
        match last.fields.adopt(fields, length.field) {
            Adopted::Refused => None,
            Adopted::Nothing => Some(last.facts),
            Adopted::Value(value) => {
                let found = last.take_length(length, value);
                if found.is_none() {
                    self.last = None;
                }
                found
            }
        }
    }

    /// Returns the lines of the remembered section, which is sent again.
    #[inline]
    pub(crate) fn lines(&mut self) -> &[u8] {
        self.luck.was_good();
        self.last.as_ref().map_or(&[], |last| &last.lines)
    }

    /// Remembers a valid section and its lines.
    pub(crate) fn keep(&mut self, fields: &FieldSection, facts: &Facts, lines: &[u8]) {
        if lines.is_empty() || lines.len() > LINES_BYTES_MAX || !self.luck.tries() {
            return;
        }
        let last = self.last.get_or_insert_default();
        last.fields.copy_from(fields);
        last.facts = *facts;
        last.lines.clear();
        last.lines.extend_from_slice(lines);
        last.length = facts.content_length.and_then(|_| Length::find(fields));
    }

    /// Forgets the section, and frees memory.
    pub(crate) fn trim(&mut self) {
        *self = Self::default();
    }

    /// Returns the bytes of memory outside the struct itself.
    pub(crate) fn memory_bytes(&self) -> usize {
        let of_last = |last: &Last| size_of::<Last>() + last.fields.capacity_bytes() + last.lines.capacity();
        self.last.as_deref().map_or(0, of_last)
    }
}

impl Last {
    /// Updates `content-length`, which the fields have already; returns nothing if it is not a number.
    #[inline]
    fn take_length(&mut self, place: Length, value: &[u8]) -> Option<Facts> {
        let mut facts = Facts { content_length: None, ..self.facts };
        facts.note(KnownName::CONTENT_LENGTH, bytes::trim(value), false).ok()?;
        self.lines[place.value..place.value + value.len()].copy_from_slice(value);
        self.facts = facts;
        Some(facts)
    }
}

impl Length {
    /// Colon, space and the end of a line are four bytes beside name and value, and a spelling is as long as
    /// its name.
    fn find(fields: &FieldSection) -> Option<Self> {
        let mut lines = 0;
        for (number, field) in fields.iter().enumerate() {
            let name = field.name_bytes().len();
            if field.known() == Some(KnownName::CONTENT_LENGTH) {
                return Some(Self { field: number, value: lines + name + 2 });
            }
            lines += name + field.value().len() + 4;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use alula_machine::OutBuf;

    use super::*;
    use crate::{
        config::Spelling,
        head::{head_out, outgoing},
    };

    fn section(length: &str, tag: &str) -> FieldSection {
        FieldSection::from_pairs([("x-first", "1"), ("content-length", length), ("x-tag", tag)]).unwrap()
    }

    fn written(fields: &FieldSection) -> (Facts, Vec<u8>) {
        let mut out = OutBuf::default();
        head_out::fields(fields, Spelling::Canonical, &mut out);
        (outgoing::fields(fields).unwrap(), out.unsent().to_vec())
    }

    #[test]
    fn another_length_of_as_many_digits_is_written_over() {
        let mut repeated = Repeated::default();
        let (facts, lines) = written(&section("83", "a"));
        // The first of a connection is let pass.
        repeated.keep(&section("83", "a"), &facts, &lines);
        repeated.keep(&section("83", "a"), &facts, &lines);
        for length in ["83", "79", "00", "99"] {
            let fields = section(length, "a");
            let (facts, lines) = written(&fields);
            assert_eq!(repeated.find(&fields), Some(facts), "{length}");
            assert_eq!(repeated.lines(), lines, "{length}");
        }
        for (length, tag) in [("9", "a"), ("999", "a"), ("98", "b")] {
            assert_eq!(repeated.find(&section(length, tag)), None, "{length} {tag}");
        }
        let other =
            FieldSection::from_pairs([("x-first", "1"), ("x-other-length", "98"), ("x-tag", "a")]).unwrap();
        assert_eq!(repeated.find(&other), None);
        assert!(repeated.find(&section("99", "a")).is_some());
        assert_eq!(repeated.lines(), written(&section("99", "a")).1);
        for length in ["9x", "-1"] {
            assert_eq!(repeated.find(&section(length, "a")), None, "{length}");
            assert_eq!(repeated.find(&section("99", "a")), None, "{length} is forgotten");
        }
    }
}
