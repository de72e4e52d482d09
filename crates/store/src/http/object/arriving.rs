//! The content of a write while it arrives, within the octets in flight.

use alula::{Body, FieldSection, KnownName, Scratch, Status};
use tokio::time::Instant;

use super::super::fail::Fail;
use crate::budget::{Budget, SMALL_OCTETS_MAX, Share};

/// The room that a content may take, and the time until which it waits for it.
pub(super) struct Room<'a> {
    pub(super) budget: &'a Budget,
    pub(super) octets_max: u64,
    pub(super) deadline: Instant,
}

/// The length that a request states for its content.
///
/// # Errors
/// 413: it is longer than a content may be.
pub(super) fn stated_octets(headers: &FieldSection, octets_max: u64) -> Result<Option<u64>, Fail> {
    let stated = headers.text(KnownName::CONTENT_LENGTH).and_then(|text| text.parse().ok());
    match stated {
        Some(stated) if stated > octets_max => Err(too_large(octets_max)),
        stated => Ok(stated),
    }
}

/// Reads a content of a stated length, or of one that is not stated, with its share of the octets in flight.
pub(super) async fn content(
    body: &mut Body,
    stated: Option<u64>,
    room: Room<'_>,
) -> Result<(Scratch, Share), Fail> {
    match stated {
        Some(octets) => {
            let share = room.budget.share(octets, room.deadline).await?;
            let value = room.budget.paced(octets, all(body, Scratch::lend(), octets, octets)).await??;
            Ok((value, share))
        }
        None => content_without_length(body, room).await,
    }
}

/// Reads a content that may become as long as any. It takes the room for that once it is no small one, and gives back the rest.
async fn content_without_length(body: &mut Body, room: Room<'_>) -> Result<(Scratch, Share), Fail> {
    let mut value = Scratch::lend();
    while let Some(chunk) = body.chunk().await? {
        let octets = value.len() + chunk.len();
        if octets as u64 > SMALL_OCTETS_MAX {
            let mut share = room.budget.share(room.octets_max, room.deadline).await?;
            add(&mut value, chunk, room.octets_max, room.octets_max)?;
            let rest = all(body, value, room.octets_max, room.octets_max);
            let value = room.budget.paced(room.octets_max, rest).await??;
            share.shrink(value.len() as u64);
            return Ok((value, share));
        }
        add(&mut value, chunk, room.octets_max, room.octets_max)?;
    }
    Ok((value, Share::default()))
}

/// Adds the rest of a content, of which so many octets are expected at most.
async fn all(body: &mut Body, mut value: Scratch, expected: u64, octets_max: u64) -> Result<Scratch, Fail> {
    while let Some(chunk) = body.chunk().await? {
        add(&mut value, chunk, expected, octets_max)?;
    }
    Ok(value)
}

/// Adds a part: there is room for twice as much as before, but for no more than is expected to come.
fn add(value: &mut Vec<u8>, chunk: &[u8], expected: u64, octets_max: u64) -> Result<(), Fail> {
    let octets = value.len() + chunk.len();
    if octets as u64 > octets_max {
        return Err(too_large(octets_max));
    }
    if octets > value.capacity() {
        let wanted = (2 * value.capacity() as u64).min(expected).max(octets as u64);
        value.reserve_exact(wanted as usize - value.len());
    }
    value.extend_from_slice(chunk);
    Ok(())
}

fn too_large(octets_max: u64) -> Fail {
    let text = format!("The object is longer than the {octets_max} octets that are allowed.\n");
    Fail::text(Status::CONTENT_TOO_LARGE, text)
}
