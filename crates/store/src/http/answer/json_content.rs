//! Requests with content in JSON.

use std::time::Duration;

use alula::{Exchange, KnownName, Request, Scratch, fields::parameters};

use super::fail::Fail;
use crate::budget::Share;
use crate::engine::Engine;
use crate::http::checks::peer;
use crate::http::object::arriving::{self, Room};
use crate::store::Store;

/// Returns true if a request says that its content is JSON, with any parameters.
pub(in crate::http) fn is_json(request: &Request) -> bool {
    let media_type = request.headers().get(KnownName::CONTENT_TYPE).map(parameters::main);
    media_type.is_some_and(|media_type| media_type.eq_ignore_ascii_case(b"application/json"))
}

/// The bounds of a content.
pub(in crate::http) struct Bounds {
    pub(in crate::http) bytes_max: u64,
    /// The bytes of room to ask for in the end, for each byte of the content.
    pub(in crate::http) times: u64,
    /// The bytes of room to ask for in the end, beside those for the content.
    pub(in crate::http) beside: u64,
    /// The time to wait for room.
    pub(in crate::http) time: Duration,
}

/// Reads the content with its share of the bytes in flight, on the account of its peer.
///
/// # Errors
/// 413 if it is longer than it may be, 503 if there is no room in time, or the content does not come.
pub(in crate::http) async fn read<E: Engine>(
    exchange: &mut Exchange<Store<E>>,
    bounds: Bounds,
) -> Result<(Scratch, Share), Fail> {
    let Bounds { bytes_max, times, beside, time } = bounds;
    let store = exchange.state();
    let stated = arriving::stated_bytes(exchange.request().headers(), bytes_max)?;
    let peer = peer::of(exchange, &store);
    let room = Room { budget: &store.shared().budget, peer: &peer, bytes_max, times, beside, time };
    arriving::content(exchange.body(), stated, room).await
}
