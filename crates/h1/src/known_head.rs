//! Heads that come again octet for octet: what such a head meant the last time.
//!
//! A peer sends nearly the same head every time. Comparing it with the last one, and copying what that meant, costs a fraction of
//! reading it.
//!
//! Rule 1: what a head means by itself depends on its octets and on the configuration alone. Only that is remembered; what
//! depends on the exchange as well, such as where the content of an answer to HEAD ends, is found out each time.
//! Rule 2: fields are remembered as a whole, with the empty line after them: what follows cannot change what they mean.
//! Rule 3: a line that begins with the name that was in its place has that name, which is not looked up again. Its value is read as
//! ever.
//! Rule 4: fields that come again after another start line mean the same but for the version, and for a host that must agree with
//! the target.

use alloc::vec::Vec;

use alula_fields::{Head, KnownName};

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
    /// The place of its first octet in the head.
    start: u32,
    /// None of a line that is not usual.
    name: Option<LineName>,
}

/// The valid name that a line begins with, and its colon behind it.
#[derive(Clone, Copy)]
pub(crate) struct LineName {
    pub(crate) len: u32,
    pub(crate) known: Option<KnownName>,
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

    /// Returns the name of the line of this number after the start line, if the input begins with it and a colon.
    #[inline]
    pub(crate) fn name_of_line(&self, number: usize, input: &[u8]) -> Option<LineName> {
        let Line { start, name } = self.lines.get(number)?;
        let name = (*name)?;
        begin_alike(self.octets.get(*start as usize..)?, input, name.len as usize + 1).then_some(name)
    }

    /// Returns true if the head whose start line was just read is to be remembered: its lines are marked then.
    #[inline]
    pub(crate) fn begins(&mut self) -> bool {
        self.marks.clear();
        self.luck.tries()
    }

    /// Notes the place of a line, and its name.
    #[inline]
    pub(crate) fn mark(&mut self, start: usize, name: Option<LineName>) {
        self.marks.push(Line { start: start as u32, name });
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

/// Returns true if the first `len` octets are the same. Both strings must have sixteen, which are compared at once.
#[inline]
fn begin_alike(one: &[u8], other: &[u8], len: usize) -> bool {
    let (Some((block, rest)), Some((other_block, other_rest))) =
        (one.split_first_chunk(), other.split_first_chunk())
    else {
        return false;
    };
    let differs = u128::from_le_bytes(*block) ^ u128::from_le_bytes(*other_block);
    if len > block.len() {
        return differs == 0
            && rest.get(..len - block.len()).is_some_and(|rest| other_rest.starts_with(rest));
    }
    differs.trailing_zeros() as usize >= 8 * len
}
