//! Heads of blocks that repeat byte for byte: the decoded form of the last ones.

use alula_fields::Head;

use crate::head::fields_in::{FieldCheck, Section};

/// A head with its facts.
#[derive(Debug)]
pub(crate) struct KnownHead {
    check: FieldCheck,
    head: Head,
}

impl Default for KnownHead {
    fn default() -> Self {
        Self { check: FieldCheck::new(Section::Discarded), head: Head::new() }
    }
}

impl KnownHead {
    /// Keeps a valid head.
    pub(crate) fn keep(&mut self, check: &FieldCheck, head: &Head) {
        self.check = *check;
        self.head.copy_from(head);
    }

    /// Returns the head, if the block is for the same kind of section.
    #[inline]
    pub(crate) fn give(&self, check: &mut FieldCheck, head: &mut Head) -> bool {
        let is_same = self.check.section() == check.section();
        if is_same {
            *check = self.check;
            head.copy_from(&self.head);
        }
        is_same
    }

    /// Returns name + value + 32, summed over all fields.
    #[inline]
    pub(crate) fn size(&self) -> usize {
        self.check.size
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.head.capacity_bytes()
    }
}
