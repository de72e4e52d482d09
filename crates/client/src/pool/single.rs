//! The connections of an origin over HTTP/1.1, each of which takes one request at a time.
//!
//! Rule 1: a connection is in the list while it is free; a caller that takes it sends a request on it or
//! gives it back.
//! Rule 2: the one freed last is taken first: those that are not needed idle, and end. The one that has idled
//! longest ends at once when there are more than may idle.

use std::collections::VecDeque;

use super::member::Member;

pub(super) struct Single<C: Member> {
    /// The free connections, the last freed one at the end. Their own tasks hold them, not this list.
    free: VecDeque<C::Weak>,
    /// The number of connections that are being opened.
    opening: usize,
}

impl<C: Member> Single<C> {
    pub(super) fn new() -> Self {
        Self { free: VecDeque::new(), opening: 0 }
    }

    pub(super) fn free(&self) -> &VecDeque<C::Weak> {
        &self.free
    }

    pub(super) fn into_free(self) -> VecDeque<C::Weak> {
        self.free
    }

    pub(super) fn opening(&self) -> usize {
        self.opening
    }

    /// Takes the last freed connection.
    #[inline]
    pub(super) fn take(&mut self) -> Option<C> {
        loop {
            let freed_last = self.free.pop_back()?;
            // A connection that ended since it was freed is skipped here, and counted off by its own task.
            if let Some(conn) = C::upgrade(&freed_last) {
                return Some(conn);
            }
        }
    }

    /// Adds a free connection.
    #[inline]
    pub(super) fn add(&mut self, conn: C::Weak) {
        self.free.push_back(conn);
    }

    /// Takes out the connection that was idle longest, if there are too many free ones.
    #[inline]
    pub(super) fn take_excess(&mut self, free_max: usize) -> Option<C::Weak> {
        if self.free.len() > free_max { self.free.pop_front() } else { None }
    }

    /// Removes a connection that has ended.
    pub(super) fn remove(&mut self, conn: &C::Weak) {
        self.free.retain(|free| !C::is_same(free, conn));
    }

    /// Counts an opening.
    pub(super) fn opens(&mut self) {
        self.opening += 1;
    }

    /// Counts the end of an opening, successful or not.
    pub(super) fn ends_opening(&mut self) {
        self.opening = self.opening.saturating_sub(1);
    }
}
