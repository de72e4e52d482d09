//! The peer on whose account a request holds room.

use alula::Exchange;

use crate::budget::Peer;
use crate::store::Store;

/// Returns the user of a request where there are users, else the network of its client. Allocates nothing.
pub(in crate::http) fn of<E>(exchange: &Exchange<Store<E>>, store: &Store<E>) -> Peer {
    let user = if store.shared().config.access.is_some() { exchange.user() } else { None };
    user.map_or_else(|| Peer::of_address(exchange.client_address()), Peer::User)
}
