//! The details of a failure: the party at fault, the rule that was broken, and the addresses that were tried.

use std::{io, net::SocketAddr};

use crate::error::{Error, Phase, Retry, cause::Cause};

/// The side that has to change something for the same request to succeed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fault {
    /// The caller: the request, the settings, or the writer that content was copied to.
    Caller,
    /// The peer, or the proxy: it broke a rule, refused, or went away.
    Peer,
    /// The network between the two, or the time limit.
    Between,
}

/// An address that was tried, and its failure.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Attempt {
    /// The address.
    pub address: SocketAddr,
    /// The error of the operating system; `TimedOut` when it did not answer in time.
    pub failure: io::ErrorKind,
}

impl Error {
    /// Returns the party at fault, as far as this side can tell. Allocates nothing.
    pub fn fault(&self) -> Fault {
        match self.cause() {
            Cause::RuntimeEnded
            | Cause::Other(_)
            | Cause::Usage(_)
            | Cause::Url(_)
            | Cause::Field(_)
            | Cause::Refused(_)
            | Cause::Sink(..)
            | Cause::Cancelled
            | Cause::Unfinished => Fault::Caller,
            // A file that is not there, for one.
            Cause::Io(..) if self.phase() == Phase::Build => Fault::Caller,
            Cause::Io(..) | Cause::Timeout => Fault::Between,
            _ => Fault::Peer,
        }
    }

    /// Returns true if the failure is a time limit.
    pub fn is_timeout(&self) -> bool {
        match self.cause() {
            Cause::Timeout => true,
            Cause::Io(kind, _) => *kind == io::ErrorKind::TimedOut,
            Cause::Connection(error) => matches!(error, alula_h2::ConnectionError::TimedOut(_)),
            Cause::Http1(error) => matches!(error, alula_h1::ConnectionError::TimedOut(_)),
            _ => false,
        }
    }

    /// Returns true if the same request may be sent again without being carried out twice.
    pub fn is_retryable(&self) -> bool {
        self.retry() == Retry::Safe
    }

    /// Returns true if the failure came before there was a connection.
    pub fn is_connect(&self) -> bool {
        matches!(
            self.phase(),
            Phase::Queue | Phase::Resolve | Phase::Connect | Phase::Proxy | Phase::Handshake
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_told_apart() {
        for (cause, fault, is_timeout) in [
            (Cause::Usage("a rule"), Fault::Caller, false),
            (Cause::Timeout, Fault::Between, true),
            (Cause::Io(io::ErrorKind::TimedOut, None), Fault::Between, true),
            (Cause::Closed, Fault::Peer, false),
        ] {
            let error = Error::new(Phase::Head, cause, Retry::IfIdempotent);
            assert_eq!((error.fault(), error.is_timeout()), (fault, is_timeout), "{error}");
        }
        let no_file = Error::io(Phase::Build, io::ErrorKind::NotFound.into());
        assert_eq!((no_file.fault(), no_file.retry()), (Fault::Caller, Retry::Pointless));
    }
}
