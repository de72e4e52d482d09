//! Requests that were refused before a handler, on connections that go on: the server reports them, since no
//! handler can.

use alula_fields::Head;
use alula_h2::Violation;

use crate::error::limit::Overrun;

/// The reason why a request was refused; [`Conn::refusal`](crate::Conn::refusal) makes an error of it.
pub struct Refused {
    reason: Reason,
    head: Option<Box<Head>>,
}

#[derive(Clone, Copy)]
enum Reason {
    /// The peer broke a rule of HTTP/2 on one stream, or its head is too large.
    Rule(Violation),
    /// Memory is short because of this limit.
    Memory(Overrun),
}

impl Refused {
    /// Creates the refusal of a request that broke a rule.
    pub(crate) const fn by_rule(rule: Violation, head: Option<Box<Head>>) -> Self {
        Self { reason: Reason::Rule(rule), head }
    }

    /// Creates the refusal for want of memory, with the limit.
    pub(crate) const fn for_memory(limit: Overrun, head: Box<Head>) -> Self {
        Self { reason: Reason::Memory(limit), head: Some(head) }
    }

    pub(crate) fn into_head(self) -> Option<Box<Head>> {
        self.head
    }

    /// Returns the known part of the request's head, at least its control data.
    pub fn head(&self) -> Option<&Head> {
        self.head.as_deref()
    }

    /// Returns the broken rule, or the limit on memory.
    pub(crate) const fn reason(&self) -> Result<Violation, Overrun> {
        match self.reason {
            Reason::Rule(rule) => Ok(rule),
            Reason::Memory(limit) => Err(limit),
        }
    }
}
