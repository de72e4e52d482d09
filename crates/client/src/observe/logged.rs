//! Events for connections.

use alula_net::Conn;
use tracing::{debug, field};

use super::words::{number_of, word_of};
use crate::pool::opening::Outcome;

pub(super) fn opened(outcome: &Outcome) {
    match outcome {
        Ok(conn) => tell(conn, "connection opened"),
        Err(error) => {
            debug!(target: "alula", { "error.type" = word_of(error.phase()), %error }, "connection failed");
        }
    }
}

pub(super) fn closed(conn: &Conn) {
    tell(conn, "connection closed");
}

fn tell(conn: &Conn, what: &str) {
    let (peer, version) = (conn.peer(), number_of(conn.version()));
    debug!(
        target: "alula",
        { network.peer.address = peer.map(field::display), network.protocol.version = version },
        "{what}"
    );
}
