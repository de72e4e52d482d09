//! The observation of connections: each that was opened, could not be opened, or has closed is told.

use alula_net::Connect;

#[cfg(feature = "metrics")]
use super::counted;
#[cfg(feature = "tracing")]
use super::logged;
use crate::pool::opening::Outcome;

/// Tells what came of opening a connection.
#[inline]
pub(crate) fn opened(outcome: Outcome) -> Outcome {
    #[cfg(feature = "metrics")]
    counted::opened(&outcome);
    #[cfg(feature = "tracing")]
    logged::opened(&outcome);
    outcome
}

/// Has the end of each connection told.
#[inline]
pub(crate) fn watch(connect: Connect) -> Connect {
    #[cfg(any(feature = "metrics", feature = "tracing"))]
    let connect = connect.at_end(|_conn| {
        #[cfg(feature = "metrics")]
        counted::closed();
        #[cfg(feature = "tracing")]
        logged::closed(_conn);
    });
    connect
}
