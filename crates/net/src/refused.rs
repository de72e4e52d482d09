//! Requests that get to no handler, on connections that go on: a server tells of them, since nobody else hears of it.

use alula_h2::Violation;

use crate::{
    cause::Cause,
    conn::Conn,
    error::{Error, Phase, Retry},
    machine::Machine,
    overrun::Overrun,
    shared::Shared,
};

/// Why a request was refused; [`Conn::refusal`] makes an error of it.
#[derive(Clone, Copy)]
pub struct Refused(Reason);

#[derive(Clone, Copy)]
enum Reason {
    /// The peer broke a rule of HTTP/2 on one stream, or its head is too large.
    Rule(Violation),
    /// All connections together hold too much.
    Overloaded,
}

impl Shared {
    /// Notes that a rule was broken which brings down one stream.
    #[cold]
    pub(crate) fn note_breach(&mut self, rule: Violation) {
        self.ledger.note_violation(rule);
        self.note_refused(Reason::Rule(rule));
    }

    /// Notes that a request was refused for want of memory.
    #[cold]
    pub(crate) fn note_overload(&mut self) {
        self.ledger.note_overrun(Overrun::OVERLOADED);
        self.note_refused(Reason::Overloaded);
    }

    /// The first one of a turn is told of; there may be very many.
    fn note_refused(&mut self, reason: Reason) {
        if !self.machine.is_client() {
            self.refused.get_or_insert(Refused(reason));
        }
    }
}

impl Conn {
    /// What was refused, as an error. Allocates.
    #[cold]
    pub fn refusal(&self, refused: Refused) -> Error {
        let shared = self.lock();
        match refused.0 {
            Reason::Rule(rule) => {
                let error = Error::new(Phase::Head, Cause::Peer(rule), Retry::Pointless);
                match &shared.machine {
                    Machine::Http2(machine) => error.exceeding(machine.exceeded()),
                    Machine::Http1(_) => error,
                }
            }
            Reason::Overloaded => Error::overrun(Phase::Head, Overrun::OVERLOADED, shared.machine.limits()),
        }
    }
}
