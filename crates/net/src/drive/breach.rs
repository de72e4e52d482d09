//! Connections that ended because their peer broke a rule: the server reports them, since no handler can.

use std::mem;

use alula_fields::Head;
use alula_h1 as h1;
use alula_h2::ConnectionError;
use alula_machine::Rule as _;

use crate::{
    drive::shared::Conn,
    error::{Error, cause::Cause},
};

impl Conn {
    /// Returns the error of the connection, if its peer broke a rule, exceeded a limit or did not finish a
    /// head in time. A message that is cut is none.
    #[cold]
    pub fn breach(&self) -> Option<Error> {
        self.lock().life.end().filter(|error| is_breach(error)).cloned()
    }

    /// Returns true if the connection has ended because its peer left, and this error is what a waiting
    /// handler got.
    #[cold]
    pub fn has_left_with(&self, told: &Error) -> bool {
        let is_same = |end: &Error| mem::discriminant(end.cause()) == mem::discriminant(told.cause());
        self.lock().life.end().is_some_and(|end| end.is_of_peer_that_left() && is_same(end))
    }
}

impl Conn {
    /// Lends the head that was being received when the connection ended.
    #[cold]
    pub fn with_refused_head(&self, note: impl FnOnce(&Head)) {
        let connection = self.lock();
        if let Some(head) = connection.machine.refused_head() {
            note(head);
        }
    }
}

fn is_breach(error: &Error) -> bool {
    match error.cause() {
        Cause::Http1(h1::ConnectionError::Peer(rule)) => !rule.is_cut(),
        Cause::Overrun(_) | Cause::Http1(h1::ConnectionError::TimedOut(h1::Awaited::Head)) => true,
        Cause::Connection(error) => {
            matches!(error, ConnectionError::Peer(_) | ConnectionError::Compression { .. })
        }
        _ => false,
    }
}
