//! Heads that repeat byte for byte: the parsed form of the last one.
//!
//! A peer sends nearly the same head every time. Comparing it with the last one, and copying what that meant,
//! costs a fraction of reading it.
//!
//! Rule 1: what a head means by itself depends on its bytes and on the configuration alone. Only that is
//! remembered; what depends on the exchange as well, such as where the content of an answer to HEAD ends, is
//! found out each time.
//! Rule 2: fields are remembered as a whole, with the empty line after them: what follows cannot change what
//! they mean.
//! Rule 3: a line that begins with the name that was in its place, or behind it, has that name, which is not
//! looked up again. Its value is read as ever.
//! Rule 4: fields that come again after another start line mean the same but for the version, and for a host
//! that must agree with the target.

use alloc::boxed::Box;
use alloc::vec::Vec;

use alula_fields::{Head, KnownName};

use crate::guard::facts::Facts;
use crate::head::repeat_odds::RepeatOdds;

/// The most bytes of a remembered head; a usual one has 100 to 1,500.
const HEAD_BYTES_MAX: usize = 2 * 1024;

/// The most lines whose names are remembered: proxies forward 15 to 25.
const LINES_MAX: usize = 32;

/// The last valid head.
#[derive(Default)]
pub(crate) struct KnownHead {
    /// The remembered head, in a box, since a connection with one head needs none.
    last: Option<Box<Remembered>>,
    luck: RepeatOdds,
}

/// A valid head with its parsed form.
#[derive(Default)]
struct Remembered {
    /// The bytes of the head with the empty line; empty if there is none.
    bytes: Vec<u8>,
    /// The length of the start line in bytes, which is a part of them.
    start_bytes: usize,
    head: Head,
    facts: Facts,
    /// The usual lines of the head, one after the other.
    lines: Vec<Line>,
    /// The lines of the head that is being read.
    marks: Vec<Line>,
}

/// A line of a head, in part.
struct Line {
    /// The place of its first byte in the head.
    start: u32,
    name: LineName,
    /// The name and colon, within the first sixteen bytes; the others are zero.
    begin: u128,
    /// The mask of the bytes of `begin` that are name or colon.
    mask: u128,
}

/// A valid name and its colon at the beginning of a line.
#[derive(Clone, Copy)]
pub(crate) struct LineName {
    pub(crate) len: u32,
    pub(crate) known: Option<KnownName>,
}

impl KnownHead {
    /// Returns the length of the head at the start of the input, if it is the known one.
    #[inline]
    pub(crate) fn find(&self, input: &[u8]) -> Option<usize> {
        let bytes = &self.last.as_ref()?.bytes;
        (!bytes.is_empty() && input.starts_with(bytes)).then_some(bytes.len())
    }

    /// Returns the recognised head.
    #[inline]
    pub(crate) fn give(&mut self, head: &mut Head) -> Facts {
        self.luck.was_good();
        let Some(last) = &self.last else { return Facts::default() };
        head.copy_from(&last.head);
        last.facts
    }

    /// Returns the length of the fields at the start of the input, with the empty line, if they are the
    /// remembered ones.
    #[inline]
    pub(crate) fn find_fields(&self, input: &[u8]) -> Option<usize> {
        let last = self.last.as_ref()?;
        let fields = &last.bytes[last.start_bytes..];
        (!fields.is_empty() && input.starts_with(fields)).then_some(fields.len())
    }

    /// Adds the recognised fields to a head whose target has no authority.
    #[inline]
    pub(crate) fn give_fields(&mut self, head: &mut Head, is_old: bool) -> Facts {
        self.luck.was_good();
        let Some(last) = &self.last else { return Facts::default() };
        head.fields.copy_from(&last.head.fields);
        if last.facts.has_host {
            let host = last.head.pseudo(KnownName::PSEUDO_AUTHORITY).unwrap_or_default();
            head.put_pseudo(KnownName::PSEUDO_AUTHORITY, host);
        }
        Facts { is_old, is_authority_in_target: false, ..last.facts }
    }

    /// Returns the name at the start of the input, if it is that of the line of this number or of the next
    /// one; and the number of the line behind it.
    #[inline]
    pub(crate) fn find_name(&self, number: usize, input: &[u8]) -> Option<(LineName, usize)> {
        let last = self.last.as_ref()?;
        let line = last.lines.get(number)?;
        match line.begins(input, &last.bytes) {
            true => Some((line.name, number + 1)),
            false => last.find_name_behind(number + 1, input),
        }
    }

    /// Returns true if the head whose start line was just read will be remembered: its lines are recorded
    /// then.
    #[inline]
    pub(crate) fn begins(&mut self) -> bool {
        let remembers = self.luck.tries();
        if remembers {
            self.last.get_or_insert_default().marks.clear();
        }
        remembers
    }

    /// Records a line at this place of a head.
    pub(crate) fn mark(&mut self, start: usize, name: LineName, line: &[u8]) {
        if let Some(last) = &mut self.last
            && last.marks.len() < LINES_MAX
        {
            last.marks.push(Line::new(start, name, line));
        }
    }

    /// Remembers a head in place of the one before, if that was decided when it began. Not if its target
    /// spells its `host` otherwise, which its fields alone do not tell; and not an interim response, behind
    /// which another one comes.
    pub(crate) fn keep(&mut self, bytes: &[u8], start_bytes: usize, host: &[u8], head: &Head, facts: &Facts) {
        let is_host_authority =
            !facts.has_host || head.pseudo(KnownName::PSEUDO_AUTHORITY).is_none_or(|own| own == host);
        let is_interim = head.status().is_some_and(|status| status.is_interim());
        if bytes.len() > HEAD_BYTES_MAX || !is_host_authority || is_interim {
            return;
        }
        let Some(last) = &mut self.last else { return };
        last.bytes.clear();
        last.bytes.extend_from_slice(bytes);
        last.start_bytes = start_bytes;
        last.head.copy_from(head);
        last.facts = *facts;
        core::mem::swap(&mut last.lines, &mut last.marks);
    }

    /// Forgets the head, and frees memory.
    pub(crate) fn trim(&mut self) {
        *self = Self::default();
    }

    /// Returns the bytes of memory outside the struct itself.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.last.as_ref().map_or(0, |last| size_of::<Remembered>() + last.memory_bytes())
    }
}

impl Remembered {
    #[cold]
    fn find_name_behind(&self, number: usize, input: &[u8]) -> Option<(LineName, usize)> {
        let line = self.lines.get(number).filter(|line| line.begins(input, &self.bytes))?;
        Some((line.name, number + 1))
    }

    fn memory_bytes(&self) -> usize {
        let lines = (self.lines.capacity() + self.marks.capacity()) * size_of::<Line>();
        self.bytes.capacity() + self.head.capacity_bytes() + lines
    }
}

impl Line {
    fn new(start: usize, name: LineName, line: &[u8]) -> Self {
        let len = (name.len as usize + 1).min(16);
        let mut begin = [0; 16];
        begin[..len].copy_from_slice(&line[..len]);
        let mask = u128::MAX >> (128 - 8 * len);
        Self { start: start as u32, name, begin: u128::from_le_bytes(begin), mask }
    }

    /// Returns true if the input begins with the name and a colon; `head` is where the line is.
    #[inline]
    fn begins(&self, input: &[u8], head: &[u8]) -> bool {
        let Some((block, rest)) = input.split_first_chunk() else { return false };
        let is_like = (u128::from_le_bytes(*block) ^ self.begin) & self.mask == 0;
        is_like && (self.name.len < 16 || self.goes_on(rest, head))
    }

    /// Returns true if these bytes, after the first sixteen, go on with the name and a colon.
    #[inline(never)]
    fn goes_on(&self, rest: &[u8], head: &[u8]) -> bool {
        let (from, end) = (self.start as usize + 16, self.start as usize + self.name.len as usize + 1);
        head.get(from..end).is_some_and(|bytes| rest.starts_with(bytes))
    }
}
