//! The room that a data type takes beyond its record, charged to the bytes in flight before it is taken.
//!
//! A state is decoded to a multiple of its record, and its answer in JSON may be longer than both. A request
//! has a share of that from the moment before it decodes; once the JSON is made, the state is gone and the
//! share is that of the JSON.

use crate::budget::{Peer, SMALL_BYTES_MAX, Share};
use crate::engine::{Engine, ObjectName, ReadTerms};
use crate::http::answer::fail::Fail;
use crate::http::object::loading::load as load_record;
use crate::model::Record;
use crate::model::types::State;
use crate::store::Shared;

/// The bytes up to which a record needs no share.
const FREE_BYTES_MAX: usize = (SMALL_BYTES_MAX / (1 + 2 * State::DECODED_FACTOR + JSON_FACTOR)) as usize;

/// The bytes of JSON for each byte of a record, at most: a control character takes six.
const JSON_FACTOR: u64 = 6;

/// The bytes of an operation in memory for each byte of its JSON, at most, the parts that it is made of
/// included.
pub(super) const OPERATION_FACTOR: u64 = 16;

/// The copies of a string: in its JSON or the answer, in the operation, in the new state, and in its record.
const COPIES: u64 = 4;

/// The overhead of a string: an element of a decoded set, with its dot twice as it is kept.
const STRING_BYTES: u64 = 72;

/// The overhead of a member of an object beside its string: a field of a map, with the value in it.
const MEMBER_BYTES: u64 = 128;

/// Returns the bytes of an operation in memory, while it is read and carried out, and of what it adds to a
/// state. The parts of a long one are counted by its strings and members.
pub(super) fn of_operation(json: &[u8]) -> u64 {
    let (bytes, most) = (json.len() as u64, json.len() as u64 * OPERATION_FACTOR);
    if most <= SMALL_BYTES_MAX {
        return most;
    }
    let (strings, members) = strings_and_members(json);
    most.min(COPIES * bytes + STRING_BYTES * strings + MEMBER_BYTES * members)
}

/// Counts the strings and the members of objects.
fn strings_and_members(json: &[u8]) -> (u64, u64) {
    let (mut quotes, mut members, mut is_escaped) = (0, 0, false);
    for byte in json {
        let is_string = quotes % 2 == 1;
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_string => is_escaped = true,
            b'"' => quotes += 1,
            b':' if !is_string => members += 1,
            _ => {}
        }
    }
    (quotes / 2, members)
}

/// Returns the bytes that a read of a data type takes: its record, its state and its answer.
pub(super) fn of_read(record: Record<'_>) -> u64 {
    let bytes = bytes(record);
    bytes + decoded(record, bytes) + JSON_FACTOR * bytes
}

/// Returns the bytes that a change of a data type takes: its state, the new one as it is kept, alone and in
/// its record, and the answer.
pub(super) fn of_change(record: Record<'_>, is_shown: bool) -> u64 {
    let bytes = bytes(record);
    let shown = if is_shown { JSON_FACTOR * bytes } else { 0 };
    decoded(record, bytes) + 2 * bytes + shown
}

/// Returns the most bytes that a change takes, as [`of_change`], by the length of the record alone.
pub(super) const fn of_change_of(bytes: u64, is_shown: bool) -> u64 {
    let shown = if is_shown { JSON_FACTOR * bytes } else { 0 };
    (2 * State::DECODED_FACTOR + 2) * bytes + shown
}

fn bytes(record: Record<'_>) -> u64 {
    record.contents().map(|content| content.value().len() as u64).sum()
}

/// Returns the bytes of decoded states: merged ones are held beside their result.
fn decoded(record: Record<'_>, bytes: u64) -> u64 {
    let times = if record.contents().len() > 1 { 2 } else { 1 };
    times * State::DECODED_FACTOR * bytes
}

/// Loads a record with the share that `charge` asks for. A request that waits for room holds nothing
/// meanwhile. Allocates nothing but what the engine does.
pub(crate) async fn load<E: Engine>(
    shared: &Shared<E>,
    peer: &Peer,
    name: ObjectName<'_>,
    terms: &ReadTerms,
    charge: impl Fn(&[u8]) -> u64,
) -> Result<(Option<E::Bytes>, Share), Fail> {
    let (mut stored, mut share) = load_record(shared, peer, name, terms).await?;
    loop {
        // Nearly all records are too short for a share, whatever they hold.
        let long = stored.as_ref().map(AsRef::as_ref).filter(|bytes| bytes.len() > FREE_BYTES_MAX);
        let bytes = long.map_or(0, &charge);
        if bytes <= SMALL_BYTES_MAX {
            return Ok((stored, share));
        }
        if shared.budget.grow(&mut share, bytes).is_ok() {
            shared.long_steps.wait(terms.deadline).await;
            return Ok((stored, share));
        }
        drop((stored, share));
        share = shared.budget.share_for(peer, bytes, terms.deadline).await?;
        stored = shared.engine.get(name, terms).await?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_members_are_counted_outside_of_strings() {
        for (json, strings, members) in [
            (&br#"{"add_all":["a","\"","\\",":"]}"#[..], 5, 1),
            (br#"{"update":{"a_set":{"add":"b:c"}}}"#, 4, 3),
            (b"[1,2,{}]", 0, 0),
            (br#""cut"#, 0, 0),
        ] {
            assert_eq!(strings_and_members(json), (strings, members), "{}", json.escape_ascii());
        }
    }

    #[test]
    fn an_operation_is_charged_by_what_it_has() {
        let long = |unit: &str| unit.repeat(100_000).into_bytes();
        assert_eq!(of_operation(&long("a")), 400_000);
        assert_eq!(of_operation(&long("\"abcd\",")), 100_000 * (4 * 7 + 72));
        assert_eq!(of_operation(&long("\"\":1,")), 500_000 * OPERATION_FACTOR);
        assert_eq!(of_operation(b"1"), OPERATION_FACTOR);
    }
}
