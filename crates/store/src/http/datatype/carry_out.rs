//! Carries out changes of data types, each with its share of the bytes in flight until it is answered.

use alula::Scratch;

use super::charge;
use super::kept::Reader;
use super::operation::{self, Asked};
use super::update::{Shows, Update};
use crate::budget::{Peer, SMALL_BYTES_MAX, Share};
use crate::engine::{Engine, ObjectName, ReadTerms, WriteTerms};
use crate::http::answer::fail::Fail;
use crate::statistics::Counted;
use crate::store::Shared;

/// The content of an answer, and the share that it holds.
pub(crate) struct Answered {
    pub(crate) content: Vec<u8>,
    /// The share of the bytes in flight, given back when the answer is sent.
    pub(crate) share: Share,
}

/// Reads an operation, whose share is taken already, and carries it out.
pub(super) async fn carry_out<E: Engine>(
    shared: &Shared<E>,
    name: ObjectName<'_>,
    (reader, shows): (Reader, Shows),
    (content, mut share): (Scratch, Share),
    terms: &WriteTerms,
) -> Result<Answered, Fail> {
    let operation_bytes = charge::of_operation(&content);
    if operation_bytes > SMALL_BYTES_MAX {
        // All of its room, before there is more to hold than its JSON.
        let bytes = operation_bytes + of_stored(shared, name, shows, terms).await?;
        shared.budget.extend(&mut share, bytes, bytes, terms.deadline).await?;
    }
    let asked =
        operation::parse(reader.kind(), &content).map_err(|error| Fail::bad_request(format!("{error}\n")))?;
    drop(content);
    if let Some(counted) = Counted::write(reader.kind()) {
        shared.statistics.count(counted);
    }
    let update = Update::new((reader, shows), (asked, operation_bytes), shared, share);
    write(shared, name, update, terms).await
}

/// Returns the room that a change needs for the stored state.
pub(super) async fn of_stored<E: Engine>(
    shared: &Shared<E>,
    name: ObjectName<'_>,
    shows: Shows,
    terms: &WriteTerms,
) -> Result<u64, Fail> {
    let stored = shared.engine.bytes(name, &read_terms(terms)).await?;
    Ok(charge::of_change_of(stored, shows != Shows::Nothing))
}

/// Carries out an operation of a few bytes.
pub(crate) async fn carry_out_small<E: Engine>(
    shared: &Shared<E>,
    peer: &Peer,
    name: ObjectName<'_>,
    (reader, shows): (Reader, Shows),
    asked: Asked,
    terms: &WriteTerms,
) -> Result<Answered, Fail> {
    let update = Update::new((reader, shows), (asked, 0), shared, Share::of(peer));
    write(shared, name, update, terms).await
}

/// Writes again until there is room for the stored state: only a decision sees how much that needs, and it
/// cannot wait.
async fn write<E: Engine>(
    shared: &Shared<E>,
    name: ObjectName<'_>,
    mut update: Update,
    terms: &WriteTerms,
) -> Result<Answered, Fail> {
    loop {
        update = shared.engine.write(name, update, terms).await?.decide;
        let Some(bytes) = update.lacks() else { break };
        // The operation is held meanwhile, and so is its room.
        shared.budget.extend(update.share(), bytes, bytes, terms.deadline).await?;
    }
    let (content, share) = update.into_answer()?;
    Ok(Answered { content, share })
}

const fn read_terms(terms: &WriteTerms) -> ReadTerms {
    let &WriteTerms { n, deadline, .. } = terms;
    ReadTerms { n, r: 1, pr: 0, node_confirms: 0, notfound_ok: true, basic_quorum: false, deadline }
}
