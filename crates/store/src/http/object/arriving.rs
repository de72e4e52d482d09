//! The content of a write while it arrives, within the bytes in flight.
//!
//! Rule: a content takes room for what has arrived and a step, whatever length is stated for it: one that is
//! stated and does not come keeps nobody out.

use std::time::Duration;

use alula::{Body, FieldSection, KnownName, Scratch, Status};
use tokio::time::Instant;

use crate::budget::{Budget, FREE_OCTETS_MAX, Pace, Peer, SMALL_OCTETS_MAX, Share};
use crate::http::answer::fail::Fail;

/// The room for a large content at first, and the most of it that is taken ahead.
const STEP_OCTETS_MIN: u64 = 2 * SMALL_OCTETS_MAX;
const STEP_OCTETS_MAX: u64 = 8 * 1024 * 1024;

/// The room that a content may take, on whose account, and the time for which it waits for it.
pub(in crate::http) struct Room<'a> {
    pub(in crate::http) budget: &'a Budget,
    pub(in crate::http) peer: &'a Peer,
    pub(in crate::http) octets_max: u64,
    /// The bytes of room that are asked for in the end, for each byte of the content.
    pub(in crate::http) times: u64,
    /// The bytes of room beside these that the request asks for in the end.
    pub(in crate::http) beside: u64,
    pub(in crate::http) time: Duration,
}

/// Returns the length that a request states for its content.
///
/// # Errors
/// 413: it is longer than a content may be.
pub(in crate::http) fn stated_octets(headers: &FieldSection, octets_max: u64) -> Result<Option<u64>, Fail> {
    let stated = headers.text(KnownName::CONTENT_LENGTH).and_then(|text| text.parse().ok());
    match stated {
        Some(stated) if stated > octets_max => Err(too_large(octets_max)),
        stated => Ok(stated),
    }
}

/// Reads a content of a stated length, or of one that is not stated, with its share of the bytes in flight.
pub(in crate::http) async fn content(
    body: &mut Body,
    stated: Option<u64>,
    room: Room<'_>,
) -> Result<(Scratch, Share), Fail> {
    let mut arriving = Arriving::begin(stated, room).await?;
    while let Some(chunk) = arriving.chunk(body).await? {
        arriving.add(chunk).await?;
    }
    Ok(arriving.end())
}

/// A content of which a part is there.
struct Arriving<'a> {
    room: Room<'a>,
    /// The bytes that come at most.
    expected: u64,
    value: Scratch,
    share: Share,
    /// The bytes for which there is room.
    octets: u64,
    /// The pace of one that holds room others wait for.
    pace: Option<Pace<'a>>,
}

impl<'a> Arriving<'a> {
    /// Begins with the room for a small content. One that is known to be large waits for its first step, and
    /// holds nothing meanwhile.
    async fn begin(stated: Option<u64>, room: Room<'a>) -> Result<Self, Fail> {
        let (value, share, octets) = (Scratch::default(), Share::of(room.peer), FREE_OCTETS_MAX);
        let expected = stated.unwrap_or(room.octets_max);
        let mut arriving = Self { room, expected, value, share, octets, pace: None };
        match stated {
            Some(stated) if stated > SMALL_OCTETS_MAX => arriving.extend(STEP_OCTETS_MIN.min(stated)).await?,
            Some(stated) if stated > FREE_OCTETS_MAX => arriving.extend(stated).await?,
            _ => {}
        }
        // One that is longer would be held beyond the room for as long as the content takes.
        arriving.value = Scratch::lend_within(arriving.octets as usize);
        Ok(arriving)
    }

    /// Returns the room to ask for where there is too little for so many bytes.
    fn next_step(&self, octets: u64) -> u64 {
        let step = match octets <= SMALL_OCTETS_MAX {
            true => SMALL_OCTETS_MAX,
            false => self.octets + self.octets.clamp(SMALL_OCTETS_MAX, STEP_OCTETS_MAX),
        };
        step.min(self.expected).max(octets)
    }

    /// Waits for room.
    async fn extend(&mut self, octets: u64) -> Result<(), Fail> {
        let Room { budget, time, .. } = self.room;
        if budget.counts(&mut self.share, octets) {
            self.octets = octets;
            return Ok(());
        }
        let began = Instant::now();
        let claim = self.expected.saturating_mul(self.room.times).saturating_add(self.room.beside);
        budget.extend(&mut self.share, octets, claim, began + time).await?;
        self.octets = octets;
        self.room.time = time.saturating_sub(began.elapsed());
        self.pace.get_or_insert_with(|| budget.pace()).go_on();
        Ok(())
    }

    async fn chunk<'b>(&mut self, body: &'b mut Body) -> Result<Option<&'b [u8]>, Fail> {
        match &mut self.pace {
            Some(pace) => Ok(pace.part(body.chunk()).await??),
            None => Ok(body.chunk().await?),
        }
    }

    async fn add(&mut self, chunk: &[u8]) -> Result<(), Fail> {
        let octets = (self.value.len() + chunk.len()) as u64;
        if octets > self.room.octets_max {
            return Err(too_large(self.room.octets_max));
        }
        if octets > self.octets {
            self.extend(self.next_step(octets)).await?;
        }
        if octets > self.value.capacity() as u64 {
            let wanted = (2 * self.value.capacity() as u64).min(self.octets).min(self.expected).max(octets);
            let more = wanted as usize - self.value.len();
            self.value.reserve_exact(more);
        }
        self.value.extend_from_slice(chunk);
        if let Some(pace) = &mut self.pace {
            pace.moved(chunk.len());
        }
        Ok(())
    }

    fn end(mut self) -> (Scratch, Share) {
        self.share.shrink(self.value.len() as u64);
        (self.value, self.share)
    }
}

fn too_large(octets_max: u64) -> Fail {
    let text = format!("The content is longer than the {octets_max} bytes that are allowed.\n");
    Fail::text(Status::CONTENT_TOO_LARGE, text)
}
