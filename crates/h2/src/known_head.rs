//! Heads of blocks that come again octet for octet: what such a block meant the last time.

use alula_fields::{Head, KnownName};

use crate::fields_in::{FieldCheck, Section};

/// A head, and what was found out about it.
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
    /// Keeps a head that was found good.
    pub(crate) fn keep(&mut self, check: &FieldCheck, head: &Head) {
        self.check = *check;
        copy(head, &mut self.head);
    }

    /// Gives the head again, if the block is for the same kind of section.
    #[inline]
    pub(crate) fn give(&self, check: &mut FieldCheck, head: &mut Head) -> bool {
        let is_same = self.check.section() == check.section();
        if is_same {
            *check = self.check;
            copy(&self.head, head);
        }
        is_same
    }

    /// Name + value + 32, summed over all fields.
    #[inline]
    pub(crate) fn size(&self) -> usize {
        self.check.size
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.head.capacity_bytes()
    }
}

/// Copies into memory that is there; a clone would allocate.
#[inline]
fn copy(from: &Head, into: &mut Head) {
    into.clear();
    into.fields.extend_from(&from.fields);
    if let Some(status) = from.status() {
        into.set_status(status);
        return;
    }
    for (name, text) in [
        (KnownName::PSEUDO_METHOD, from.method()),
        (KnownName::PSEUDO_SCHEME, from.scheme()),
        (KnownName::PSEUDO_AUTHORITY, from.authority()),
        (KnownName::PSEUDO_PATH, from.path()),
        (KnownName::PSEUDO_PROTOCOL, from.protocol()),
    ] {
        if let Some(text) = text {
            into.put_pseudo(name, text.as_bytes());
        }
    }
}
