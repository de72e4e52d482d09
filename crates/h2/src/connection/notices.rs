//! The notices about a connection, and the control data of a request that is refused, for logs.
//!
//! Rule: nothing is kept of a request that is taken. If several requests are refused before the driver asks,
//! the first is kept: a driver reports one at a time.

use alloc::boxed::Box;
use alloc::collections::VecDeque;

use alula_fields::{Head, KnownName};

use super::Connection;
use crate::guard::violation::Violation;

/// The bytes of a value that are kept for logs.
const VALUE_BYTES_MAX: usize = 1024;

/// The notices about the connection that were not fetched yet.
#[derive(Debug, Default)]
pub(super) struct Notices {
    pub(super) goaway: bool,
    pub(super) slots: bool,
    /// A request was refused for want of a slot.
    pub(super) wants_slot: bool,
    pub(super) closed: bool,
    /// The recorded breaches: as many as the bucket of glitches admits between two calls.
    pub(super) breaches: VecDeque<Breach>,
    /// The control data of the request whose refusal was reported last.
    pub(super) refused_head: Option<Box<Head>>,
}

impl Notices {
    #[inline]
    pub(super) fn is_any(&self) -> bool {
        self.goaway | self.slots | self.closed | !self.breaches.is_empty()
    }
}

/// A rule that was broken on a stream, with the control data of a request whose head broke it.
#[derive(Debug)]
pub(super) struct Breach {
    pub(super) rule: Violation,
    pub(super) head: Option<Box<Head>>,
}

impl Connection {
    /// Announces that requests may be sent, if one was refused for want of a slot.
    #[inline]
    pub(super) fn offer_slots(&mut self) {
        if self.notices.wants_slot && self.open < self.stream_limit() {
            self.notices.wants_slot = false;
            self.notices.slots = true;
        }
    }

    /// Takes the control data of the request in the last notice of a breach, or in the last
    /// [`Event::HeadTooLarge`](crate::Event::HeadTooLarge), as far as it was decoded: `:method` and `:path`,
    /// and for CONNECT `:authority`. Each is valid, and cut after 1 KiB. None if it was about no request's
    /// head.
    #[cold]
    pub fn take_refused_head(&mut self) -> Option<Box<Head>> {
        self.notices.refused_head.take()
    }

    /// Returns the head of the request whose block ended the connection with an error, as far as it was
    /// decoded.
    #[cold]
    pub fn refused_head(&self) -> Option<&Head> {
        self.block.unfinished_request().filter(|_| self.error.is_some())
    }

    /// Keeps the control data of the request that is being read, for the last recorded breach.
    #[cold]
    pub(super) fn keep_refused_head(&mut self) {
        let head = self.control_data();
        // The driver reports one refusal at a time.
        if let Some(breach) = self.notices.breaches.front_mut().filter(|_| head.is_some()) {
            breach.head = head;
        }
    }

    /// Keeps the control data of the request that is being read, for an event that follows at once.
    #[cold]
    pub(super) fn lay_out_refused_head(&mut self) {
        self.notices.refused_head = self.control_data();
    }

    fn control_data(&self) -> Option<Box<Head>> {
        let head = self.block.request()?;
        let mut kept = Box::<Head>::default();
        let is_connect = head.method() == Some("CONNECT");
        for (name, is_kept) in [
            (KnownName::PSEUDO_METHOD, true),
            (KnownName::PSEUDO_PATH, true),
            (KnownName::PSEUDO_AUTHORITY, is_connect),
        ] {
            if let Some(value) = head.pseudo(name).filter(|_| is_kept) {
                kept.put_pseudo(name, &value[..value.len().min(VALUE_BYTES_MAX)]);
            }
        }
        Some(kept)
    }
}
