//! Connections that ended because their peer broke a rule: a server tells of them, since no handler hears of it.

use alula_h1 as h1;
use alula_h2::ConnectionError;
use alula_machine::Rule as _;

use crate::{cause::Cause, conn::Conn, error::Error};

impl Conn {
    /// The error with which the connection ended, if its peer broke a rule or went over a limit. A message that is cut is none.
    #[cold]
    pub fn breach(&self) -> Option<Error> {
        self.lock().life.end().filter(|error| is_breach(error)).cloned()
    }
}

fn is_breach(error: &Error) -> bool {
    match error.cause() {
        Cause::Http1(h1::ConnectionError::Peer(rule)) => !rule.is_cut(),
        Cause::Overrun(_) => true,
        Cause::Connection(error) => {
            matches!(error, ConnectionError::Peer(_) | ConnectionError::Compression { .. })
        }
        _ => false,
    }
}
