//! The fields of a section, one after the other.

use core::{fmt, iter::FusedIterator, slice};

use crate::value::field::{Entry, Field};

/// The fields of a section in order; made by [`FieldSection::iter`](crate::FieldSection::iter).
#[derive(Clone)]
pub struct Fields<'s> {
    pub(super) entries: slice::Iter<'s, Entry>,
    pub(super) arena: &'s [u8],
}

impl<'s> Iterator for Fields<'s> {
    type Item = Field<'s>;

    #[inline]
    fn next(&mut self) -> Option<Field<'s>> {
        self.entries.next().map(|&entry| Field { entry, arena: self.arena })
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.entries.size_hint()
    }
}

impl DoubleEndedIterator for Fields<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        self.entries.next_back().map(|&entry| Field { entry, arena: self.arena })
    }
}

impl ExactSizeIterator for Fields<'_> {}
impl FusedIterator for Fields<'_> {}

impl fmt::Debug for Fields<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}
