//! Sections that go again field for field: what was found out about the last one, and what it was written as.
//!
//! Comparing a section with a copy of the last one costs a fraction of checking and writing it. What was found out, and the lines,
//! depend on the section and the configuration alone; a stated `host` is compared with the authority each time.

use alloc::boxed::Box;
use alloc::vec::Vec;

use alula_fields::FieldSection;

use crate::facts::Facts;
use crate::luck::Luck;

/// Sections whose lines have as many octets are remembered, longer ones are not.
const LINES_BYTES_MAX: usize = 2 * 1024;

/// The last section that went with a head, if it is remembered.
#[derive(Default)]
pub(crate) struct Repeated {
    /// In a box, since a connection that sends one head has none.
    last: Option<Box<Last>>,
    luck: Luck,
}

#[derive(Default)]
struct Last {
    fields: FieldSection,
    facts: Facts,
    /// Its lines, with their ends.
    lines: Vec<u8>,
}

impl Repeated {
    /// What a section says, if it is the remembered one.
    #[inline]
    pub(crate) fn find(&self, fields: &FieldSection) -> Option<Facts> {
        let last = self.last.as_ref()?;
        last.fields.is_copy_of(fields).then_some(last.facts)
    }

    /// What the remembered section, which is sent again, is written as.
    #[inline]
    pub(crate) fn lines(&mut self) -> &[u8] {
        self.luck.was_good();
        self.last.as_ref().map_or(&[], |last| &last.lines)
    }

    /// Remembers a section that was found good, and what it was written as.
    pub(crate) fn keep(&mut self, fields: &FieldSection, facts: &Facts, lines: &[u8]) {
        if lines.is_empty() || lines.len() > LINES_BYTES_MAX || !self.luck.tries() {
            return;
        }
        let last = self.last.get_or_insert_default();
        last.fields.copy_from(fields);
        last.facts = *facts;
        last.lines.clear();
        last.lines.extend_from_slice(lines);
    }

    /// Forgets, and gives memory back.
    pub(crate) fn trim(&mut self) {
        *self = Self::default();
    }

    /// Octets of memory held outside the struct itself.
    pub(crate) fn memory_bytes(&self) -> usize {
        let of_last = |last: &Last| size_of::<Last>() + last.fields.capacity_bytes() + last.lines.capacity();
        self.last.as_deref().map_or(0, of_last)
    }
}
