//! The news for the task of a server's connection: requests that arrived, were reset or were refused.

use alula_fields::Head;

use crate::{connection::stream::slot::SlotKey, error::refused::Refused, few::Few};

/// A request that a server's peer has opened.
pub(crate) struct Accepted {
    pub(crate) at: SlotKey,
    pub(crate) head: Box<Head>,
    pub(crate) ended: bool,
}

/// The memory of an inbox: lists without news.
#[derive(Default)]
pub(crate) struct Lists {
    accepted: Vec<Accepted>,
    cancelled: Vec<SlotKey>,
}

#[derive(Default)]
pub(crate) struct Inbox {
    accepted: Few<Accepted>,
    /// Streams that were reset: nobody waits for their answers.
    cancelled: Vec<SlotKey>,
    /// The first request that was refused without calling a handler.
    refused: Option<Refused>,
}

impl Inbox {
    /// Notes a request.
    #[inline]
    pub(crate) fn accept(&mut self, accepted: Accepted) {
        self.accepted.push(accepted);
    }

    /// Records that nobody waits for the answer on a stream.
    pub(crate) fn cancel(&mut self, at: SlotKey) {
        self.cancelled.push(at);
    }

    /// Notes that a request was refused. The first one is told of, and others are given back; there may be
    /// very many.
    pub(crate) fn refuse(&mut self, refused: Refused) -> Option<Refused> {
        if self.refused.is_some() {
            return Some(refused);
        }
        self.refused = Some(refused);
        None
    }

    /// Returns true if requests have arrived.
    #[inline]
    pub(crate) fn has_accepted(&self) -> bool {
        !self.accepted.is_empty()
    }

    /// Makes room for so many requests at once.
    pub(crate) fn expect(&mut self, requests: usize) {
        self.accepted.expect(requests);
    }

    /// Takes back the list of the task, which has been emptied.
    #[inline]
    pub(crate) fn take_back(&mut self, arrived: &mut Few<Accepted>) {
        if arrived.capacity() > 0 && self.accepted.is_empty() {
            std::mem::swap(&mut self.accepted, arrived);
        }
    }

    /// Moves the news into the lists of the task, which have been emptied.
    #[inline]
    pub(crate) fn empty_into(&mut self, arrived: &mut Few<Accepted>, refused: &mut Option<Refused>) -> bool {
        if self.refused.is_some() {
            *refused = self.refused.take();
        }
        let has_more = self.has_accepted() || !self.cancelled.is_empty();
        if has_more {
            debug_assert!(arrived.is_empty(), "the requests of the turn before were taken");
            std::mem::swap(&mut self.accepted, arrived);
        }
        has_more
    }

    /// Takes the request out if there is exactly one: HTTP/1.1 has one at a time.
    #[inline]
    pub(crate) fn take_only(&mut self) -> Option<Accepted> {
        self.accepted.pop()
    }

    /// Takes the streams out that were reset.
    pub(crate) fn drain_cancelled(&mut self) -> impl Iterator<Item = SlotKey> {
        self.cancelled.drain(..)
    }

    /// Exchanges the memory of the lists, for another connection or from one; a list with news keeps its own.
    #[inline]
    pub(crate) fn exchange_memory(&mut self, memory: &mut Lists) {
        self.accepted.exchange_memory(&mut memory.accepted);
        if self.cancelled.is_empty() {
            std::mem::swap(&mut self.cancelled, &mut memory.cancelled);
        }
    }
}
