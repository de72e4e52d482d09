//! Reads of records for responses: each record has a share of the bytes in flight.

use crate::budget::{Peer, Share};
use crate::engine::{Engine, ObjectName, ReadTerms};
use crate::http::answer::fail::Fail;
use crate::store::Shared;

/// Reads the record of an object, with its share on the account of a peer. While others have shares, the
/// length of the record is asked first, so that those that wait hold nothing. A small record waits for
/// nobody. Allocates nothing but what the engine does, and to wait.
pub(in crate::http) async fn load<E: Engine>(
    shared: &Shared<E>,
    peer: &Peer,
    name: ObjectName<'_>,
    terms: &ReadTerms,
) -> Result<(Option<E::Bytes>, Share), Fail> {
    let mut share = Share::of(peer);
    if shared.budget.is_in_use() {
        let bytes = shared.engine.bytes(name, terms).await?;
        share = shared.budget.share_for(peer, bytes, terms.deadline).await?;
    }
    loop {
        let stored = shared.engine.get(name, terms).await?;
        let bytes = stored.as_ref().map_or(0, |bytes| bytes.as_ref().len() as u64);
        if shared.budget.grow(&mut share, bytes).is_ok() {
            return Ok((stored, share));
        }
        // It became longer, or it was the first to be read.
        drop((stored, share));
        share = shared.budget.share_for(peer, bytes, terms.deadline).await?;
    }
}
