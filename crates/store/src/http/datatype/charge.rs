//! The room that a data type takes beyond its record, charged to the octets in flight before it is taken.
//!
//! A state is decoded to a multiple of its record, and its answer in JSON may be longer than both. A request
//! has a share of that from the moment before it decodes; once the JSON is made, the state is gone and the
//! share is that of the JSON.

use crate::budget::{Peer, SMALL_OCTETS_MAX, Share};
use crate::engine::{Engine, ObjectName, ReadTerms};
use crate::http::fail::Fail;
use crate::http::loading::load as load_record;
use crate::model::Record;
use crate::model::types::State;
use crate::store::Shared;

/// The octets of a record that takes no share.
const FREE_OCTETS_MAX: usize = (SMALL_OCTETS_MAX / (1 + 2 * State::DECODED_FACTOR + JSON_FACTOR)) as usize;

/// The octets of JSON for each octet of a record, at most: a control character takes six.
const JSON_FACTOR: u64 = 6;

/// The octets of an operation in memory for each octet of its JSON, at most, while it is read.
const OPERATION_FACTOR: u64 = 32;

/// The octets of an operation in memory, while it is read and carried out.
pub(super) const fn of_operation(content: usize) -> u64 {
    content as u64 * OPERATION_FACTOR
}

/// The octets that a read of a data type takes: its record, its state and its answer.
pub(super) fn of_read(record: Record<'_>) -> u64 {
    let octets = octets(record);
    octets + decoded(record, octets) + JSON_FACTOR * octets
}

/// The octets that a change of a data type takes: its state, the new one as it is kept, alone and in its
/// record, and the answer.
pub(super) fn of_change(record: Record<'_>, is_shown: bool) -> u64 {
    let octets = octets(record);
    let shown = if is_shown { JSON_FACTOR * octets } else { 0 };
    decoded(record, octets) + 2 * octets + shown
}

/// As [`of_change`], of a record of which only the length is known.
pub(super) const fn of_change_of(octets: u64, is_shown: bool) -> u64 {
    let shown = if is_shown { JSON_FACTOR * octets } else { 0 };
    (2 * State::DECODED_FACTOR + 2) * octets + shown
}

fn octets(record: Record<'_>) -> u64 {
    record.contents().map(|content| content.value().len() as u64).sum()
}

/// States that are merged are held beside the one that they become.
fn decoded(record: Record<'_>, octets: u64) -> u64 {
    let times = if record.contents().len() > 1 { 2 } else { 1 };
    times * State::DECODED_FACTOR * octets
}

/// Loads a record with a share of what `charge` says of it. What waits for room holds nothing meanwhile.
/// Allocates nothing but what the engine does.
pub(crate) async fn load<E: Engine>(
    shared: &Shared<E>,
    peer: &Peer,
    name: ObjectName<'_>,
    terms: &ReadTerms,
    charge: impl Fn(&[u8]) -> u64,
) -> Result<(Option<E::Octets>, Share), Fail> {
    let (mut stored, mut share) = load_record(shared, peer, name, terms).await?;
    loop {
        // Nearly all records are too short for a share, whatever they hold.
        let long = stored.as_ref().map(AsRef::as_ref).filter(|octets| octets.len() > FREE_OCTETS_MAX);
        let octets = long.map_or(0, &charge);
        if octets <= SMALL_OCTETS_MAX || shared.budget.grow(&mut share, octets).is_ok() {
            return Ok((stored, share));
        }
        drop((stored, share));
        share = shared.budget.share_for(peer, octets, terms.deadline).await?;
        stored = shared.engine.get(name, terms).await?;
    }
}
