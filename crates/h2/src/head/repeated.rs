//! The last section sent, with its facts and its block: many connections repeat the same fields.
//!
//! Comparing a section with a copy of the last one costs a fraction of checking and coding it. The facts hold
//! as long as the section is for the same kind of message; the block holds until the encoder's table changes.

use alula_fields::{FieldSection, KnownName, SECTION_KEPT_BYTES_MAX};

use crate::head::fields_in::Section;

/// The last section that was encoded as indexes only.
pub(crate) struct Repeated {
    fields: FieldSection,
    /// A section was sent twice in a row: from then on the last one is remembered with its fields.
    is_kept: bool,
    /// The kind of section that it was sent as; `Discarded` stands for none.
    section: Section,
    content_length: Option<u64>,
    epoch: u64,
    block: [u8; BLOCK_BYTES_MAX],
    len: usize,
}

/// The most fields of a remembered section.
const BLOCK_BYTES_MAX: usize = 32;

/// A section that equals the remembered one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Known {
    pub(crate) content_length: Option<u64>,
}

impl Repeated {
    pub(crate) const fn new() -> Self {
        Self {
            fields: FieldSection::new(),
            is_kept: false,
            section: Section::Discarded,
            content_length: None,
            epoch: 0,
            block: [0; BLOCK_BYTES_MAX],
            len: 0,
        }
    }

    /// Returns the facts of a section if it equals the remembered one, and is of the same kind.
    #[inline]
    pub(crate) fn find(&self, fields: &FieldSection, section: Section) -> Option<Known> {
        let is_known = self.is_kept && self.section == section && self.fields.is_copy_of(fields);
        is_known.then_some(Known { content_length: self.content_length })
    }

    /// Returns the block of the remembered section, if an encoder at this epoch would encode it in the same
    /// way.
    #[inline]
    pub(crate) fn block(&self, epoch: u64) -> Option<&[u8]> {
        if self.epoch == epoch { self.block.get(..self.len) } else { None }
    }

    /// Remembers a valid section and its block, if the block is only short indexes. The first one is
    /// remembered when it comes for the second time in a row, since many connections send no more than one. A
    /// section with `host` is not remembered: whether `host` is valid depends on the authority as well.
    pub(crate) fn keep(
        &mut self,
        fields: &FieldSection,
        section: Section,
        known: Known,
        block: &[u8],
        epoch: u64,
    ) {
        if block.len() > BLOCK_BYTES_MAX
            || fields.bytes() > SECTION_KEPT_BYTES_MAX
            || !block.iter().all(|byte| (0x81..0xff).contains(byte))
            || fields.contains(KnownName::HOST)
        {
            return;
        }
        let block_before = if self.epoch == epoch { &self.block[..self.len] } else { &[] };
        if self.is_kept || block_before == block {
            self.is_kept = true;
            self.fields.copy_from(fields);
        }
        (self.section, self.content_length, self.epoch) = (section, known.content_length, epoch);
        self.len = block.len();
        self.block[..self.len].copy_from_slice(block);
    }

    /// Forgets the section, and frees memory.
    pub(crate) fn trim(&mut self) {
        *self = Self::new();
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.fields.capacity_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(pairs: &[(&str, &str)]) -> FieldSection {
        let mut fields = FieldSection::new();
        fields.extend_pairs(pairs.iter().copied()).unwrap();
        fields
    }

    const KNOWN: Known = Known { content_length: Some(5) };

    #[test]
    fn the_last_section_is_known_for_its_kind_and_its_block_for_its_epoch() {
        let (fields, mut repeated) = (section(&[("a", "1"), ("content-length", "5")]), Repeated::new());
        assert_eq!(repeated.find(&fields, Section::Request), None);
        assert_eq!(repeated.find(&FieldSection::new(), Section::Request), None);
        repeated.keep(&fields, Section::Request, KNOWN, &[0xbe, 0xbf], 7);
        assert_eq!(
            (repeated.find(&fields, Section::Request), repeated.memory_bytes()),
            (None, 0),
            "it came once"
        );
        repeated.keep(&fields, Section::Request, KNOWN, &[0xbe, 0xbf], 7);
        assert_eq!(repeated.find(&fields.clone(), Section::Request), Some(KNOWN));
        assert_eq!(repeated.find(&fields, Section::Response), None);
        assert_eq!(repeated.block(7), Some(&[0xbe, 0xbf][..]));
        assert_eq!(repeated.block(8), None);
        let mut marked = section(&[("a", "1")]);
        marked.append_sensitive("content-length", "5").unwrap();
        for other in [section(&[("a", "1")]), section(&[("content-length", "5"), ("a", "1")]), marked] {
            assert_eq!(repeated.find(&other, Section::Request), None, "{other:?}");
        }
        repeated.trim();
        assert_eq!((repeated.find(&fields, Section::Request), repeated.memory_bytes()), (None, 0));
    }

    #[test]
    fn what_may_mean_something_else_or_is_large_is_not_kept() {
        let large = "x".repeat(SECTION_KEPT_BYTES_MAX);
        for (pairs, block) in [
            ([("a", "1")], &[0x40][..]),
            ([("a", "1")], &[0xff, 0x01]),
            ([("a", "1")], &[0x80]),
            ([("a", "1")], &[0xbe; BLOCK_BYTES_MAX + 1]),
            ([("a", &large)], &[0xbe]),
            ([("host", "a.example")], &[0xbe]),
        ] {
            let (fields, mut repeated) = (section(&pairs), Repeated::new());
            (0..2).for_each(|_| repeated.keep(&fields, Section::Request, KNOWN, block, 0));
            assert_eq!(repeated.find(&fields, Section::Request), None, "{block:x?}");
        }
    }
}
