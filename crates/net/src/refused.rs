//! Requests that get to no handler, on connections that go on: a server tells of them, since nobody else hears of it.

use alula_h2::Violation;

/// The reason why a request was refused; [`Conn::refusal`](crate::Conn::refusal) makes an error of it.
#[derive(Clone, Copy)]
pub struct Refused(Reason);

#[derive(Clone, Copy)]
enum Reason {
    /// The peer broke a rule of HTTP/2 on one stream, or its head is too large.
    Rule(Violation),
    /// All connections together hold too much.
    Overloaded,
}

impl Refused {
    /// The peer broke a rule.
    pub(crate) const fn by_rule(rule: Violation) -> Self {
        Self(Reason::Rule(rule))
    }

    /// All connections together hold too much.
    pub(crate) const fn for_memory() -> Self {
        Self(Reason::Overloaded)
    }

    /// The rule that was broken; none if memory is what is short.
    pub(crate) const fn rule(self) -> Option<Violation> {
        match self.0 {
            Reason::Rule(rule) => Some(rule),
            Reason::Overloaded => None,
        }
    }
}
