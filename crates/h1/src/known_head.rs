//! Heads that come again octet for octet: what such a head meant the last time.
//!
//! A peer sends nearly the same head every time. Comparing it with the last one, and copying what that meant, costs a fraction of
//! reading it.
//!
//! Rule 1: what a head means by itself depends on its octets and on the configuration alone. Only that is remembered; what
//! depends on the exchange as well, such as where the content of an answer to HEAD ends, is found out each time.
//! Rule 2: lines are remembered as a whole, with their ends: what follows them cannot change what they mean.
//! Rule 3: a line between others that comes again in its place means the same field. Not so a line that says something about the
//! message, one that is counted otherwise, or one that goes on in the next: these are read.
//! Rule 4: fields that come again after another start line mean the same but for the version, and for a host that must agree with
//! the target.

use alloc::vec::Vec;

use alula_fields::{FieldSection, Head, KnownName, octets};

use crate::facts::Facts;
use crate::repeat_odds::RepeatOdds;

/// Heads of as many octets are remembered, longer ones are not: a usual one has 100 to 1,500.
const HEAD_BYTES_MAX: usize = 2 * 1024;

/// The last head that was found good, and what was found out about it.
#[derive(Default)]
pub(crate) struct KnownHead {
    /// Its octets, up to the empty line and with it; none while there is no such head.
    octets: Vec<u8>,
    /// How many of them are the start line.
    start_bytes: usize,
    head: Head,
    facts: Facts,
    /// Its lines after the start line, one after the other.
    lines: Vec<Line>,
    /// The same of the head that is being read.
    marks: Vec<Line>,
    luck: RepeatOdds,
}

/// A line of a head.
#[derive(Clone, Copy)]
struct Line {
    /// Where it is in the octets of the head, with its end.
    start: u32,
    end: u32,
    /// The place of the field that it means and that alone, in the section.
    field: Option<u32>,
}

/// Lines that come again.
pub(crate) struct KnownLines {
    /// The number of octets that they have.
    pub(crate) len: usize,
    pub(crate) count: usize,
    /// The place of the field of the first in the known head; those of the others follow.
    field: usize,
}

impl KnownHead {
    /// The number of octets that the head has that comes first in the input, if it is the known one.
    #[inline]
    pub(crate) fn find(&self, input: &[u8]) -> Option<usize> {
        let is_known = !self.octets.is_empty() && input.starts_with(&self.octets);
        is_known.then_some(self.octets.len())
    }

    /// Gives the head that was found again.
    #[inline]
    pub(crate) fn give(&mut self, head: &mut Head) -> Facts {
        self.luck.was_good();
        head.copy_from(&self.head);
        self.facts
    }

    /// The number of octets that the fields have that come first in the input, with the empty line after them, if they are the
    /// known ones.
    #[inline]
    pub(crate) fn find_fields(&self, input: &[u8]) -> Option<usize> {
        let fields = &self.octets[self.start_bytes..];
        (!fields.is_empty() && input.starts_with(fields)).then_some(fields.len())
    }

    /// Adds the fields that were found again to a head whose target has no authority.
    #[inline]
    pub(crate) fn give_fields(&mut self, head: &mut Head, is_old: bool) -> Facts {
        self.luck.was_good();
        head.fields.copy_from(&self.head.fields);
        if self.facts.has_host {
            let host = self.head.pseudo(KnownName::PSEUDO_AUTHORITY).unwrap_or_default();
            head.put_pseudo(KnownName::PSEUDO_AUTHORITY, host);
        }
        Facts { is_old, is_authority_in_target: false, ..self.facts }
    }

    /// The lines that come first in the input, if they are the ones from this number after the start line on: as many of them as
    /// there are.
    #[inline]
    pub(crate) fn find_lines(&self, number: usize, input: &[u8]) -> Option<KnownLines> {
        let lines = self.lines.get(number..)?;
        let Line { start, field: Some(field), .. } = *lines.first()? else { return None };
        let same = octets::common_prefix(&self.octets[start as usize..], input) as u32;
        let are_same = |line: &&Line| line.field.is_some() && line.end - start <= same;
        let count = lines.iter().take_while(are_same).count();
        let last = lines[..count].last()?;
        Some(KnownLines { len: (last.end - start) as usize, count, field: field as usize })
    }

    /// Adds the fields of lines.
    #[inline]
    pub(crate) fn give_lines(&self, lines: &KnownLines, fields: &mut FieldSection) {
        fields.push_copies(&self.head.fields, lines.field..lines.field + lines.count);
    }

    /// Returns true if the head whose start line was just read is to be remembered: its lines are marked then.
    #[inline]
    pub(crate) fn begins(&mut self) -> bool {
        self.marks.clear();
        self.luck.tries()
    }

    /// Notes where a line is, and the place of its field if it means nothing else.
    #[inline]
    pub(crate) fn mark(&mut self, start: usize, end: usize, field: Option<usize>) {
        let field = field.map(|field| field as u32);
        self.marks.push(Line { start: start as u32, end: end as u32, field });
    }

    /// The line that was marked last goes on in the next.
    pub(crate) fn goes_on(&mut self) {
        if let Some(line) = self.marks.last_mut() {
            line.field = None;
        }
    }

    /// Remembers a head in place of the one before. Not if its target spells its `host` otherwise, which its fields alone do not
    /// tell; and not an interim response, behind which another one comes.
    pub(crate) fn keep(
        &mut self,
        octets: &[u8],
        start_bytes: usize,
        host: &[u8],
        head: &Head,
        facts: &Facts,
    ) {
        let is_host_authority =
            !facts.has_host || head.pseudo(KnownName::PSEUDO_AUTHORITY).is_none_or(|own| own == host);
        let is_interim = head.status().is_some_and(|status| status.is_interim());
        if octets.len() > HEAD_BYTES_MAX || !is_host_authority || is_interim {
            return;
        }
        self.octets.clear();
        self.octets.extend_from_slice(octets);
        self.start_bytes = start_bytes;
        self.head.copy_from(head);
        self.facts = *facts;
        core::mem::swap(&mut self.lines, &mut self.marks);
    }

    /// Forgets, and gives memory back.
    pub(crate) fn trim(&mut self) {
        *self = Self::default();
    }

    /// Octets of memory held outside the struct itself.
    pub(crate) fn memory_bytes(&self) -> usize {
        let lines = (self.lines.capacity() + self.marks.capacity()) * size_of::<Line>();
        self.octets.capacity() + self.head.capacity_bytes() + lines
    }
}
