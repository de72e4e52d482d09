//! Notices of a machine beside its events, with failures as errors of this crate.

use alula_h1 as h1;
use alula_h2::{self as h2, ErrorCode};
use alula_machine::{ConnectionError, ProtocolMachine, Reset, Rule, StreamKey};

use crate::error::Error;

/// An effect beside the events.
pub(crate) enum Notice {
    Writable {
        stream: StreamKey,
    },
    Reset {
        stream: StreamKey,
        error: Error,
    },
    /// A new stream may be opened.
    Room,
    /// The connection takes no new streams; with the error code, if the peer gave one.
    Last(Option<ErrorCode>),
    /// The peer broke a rule, which ended one stream.
    Breach(h2::Violation),
    Closed(Error),
    Other,
}

impl Notice {
    /// Adds what the machine knows of the failure: the debug data of the peer's GOAWAY, and the exceeded
    /// limit.
    #[inline]
    pub(crate) fn of<M>(notice: alula_machine::Notice<M::Rule>, machine: &M) -> Self
    where
        M: ProtocolMachine<Rule: Failures>,
    {
        use alula_machine::Notice as Said;
        match notice {
            Said::Writable { stream } => Self::Writable { stream },
            Said::Reset { stream, reset } => {
                let error = Failures::reset(&reset).with_goaway_debug(machine.goaway_debug());
                Self::Reset { stream, error: error.exceeding(machine.exceeded()) }
            }
            Said::Room => Self::Room,
            Said::Last(farewell) => Self::Last(farewell.map(|farewell| M::Rule::code(farewell.code))),
            Said::Breach(rule) => rule.on_stream().map_or(Self::Other, Self::Breach),
            Said::Closed(error) => Self::Closed(Failures::ended(error).exceeding(machine.exceeded())),
            _ => Self::Other,
        }
    }
}

/// The rules of a version, whose failures become errors of this crate.
pub(crate) trait Failures: Rule {
    /// Returns the error for a connection that ended for this reason.
    fn ended(error: ConnectionError<Self>) -> Error;

    /// Returns the error for a stream that was reset for this reason.
    fn reset(reset: &Reset<Self>) -> Error;

    /// Returns the error code that the peer gave.
    fn code(code: Self::Code) -> ErrorCode;

    /// Returns the rule, for versions whose connections go on after it was broken.
    fn on_stream(self) -> Option<h2::Violation>;
}

impl Failures for h1::Violation {
    fn ended(error: ConnectionError<Self>) -> Error {
        Error::http1(error)
    }

    /// Has no code, and so cannot be.
    fn reset(reset: &Reset<Self>) -> Error {
        match reset.code {}
    }

    fn code(code: Self::Code) -> ErrorCode {
        match code {}
    }

    /// Returns nothing: a connection of HTTP/1.1 ends with every rule that is broken.
    fn on_stream(self) -> Option<h2::Violation> {
        None
    }
}

impl Failures for h2::Violation {
    fn ended(error: ConnectionError<Self>) -> Error {
        match error {
            ConnectionError::PeerClosed => Error::closed(),
            error => Error::connection(error),
        }
    }

    fn reset(reset: &Reset<Self>) -> Error {
        Error::reset(reset)
    }

    fn code(code: ErrorCode) -> ErrorCode {
        code
    }

    fn on_stream(self) -> Option<Self> {
        Some(self)
    }
}
