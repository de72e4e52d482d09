//! The content of a write while it arrives, within the bytes in flight.
//!
//! Rule: a content takes room for what has arrived and a step, whatever length is stated for it: one that is
//! stated and does not come keeps nobody out.

use std::time::Duration;

use alula::{Body, FieldSection, KnownName, Scratch, Status};
use tokio::time::Instant;

use crate::budget::{Budget, FREE_BYTES_MAX, Pace, Peer, SMALL_BYTES_MAX, Share};
use crate::http::answer::fail::Fail;

/// The room for a large content at first, and the most that is taken ahead of it.
const STEP_BYTES_MIN: u64 = 2 * SMALL_BYTES_MAX;
const STEP_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// The room that a content may take, on whose account, and the time for which it waits for it.
pub(in crate::http) struct Room<'a> {
    pub(in crate::http) budget: &'a Budget,
    pub(in crate::http) peer: &'a Peer,
    pub(in crate::http) bytes_max: u64,
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
pub(in crate::http) fn stated_bytes(headers: &FieldSection, bytes_max: u64) -> Result<Option<u64>, Fail> {
    let stated = headers.text(KnownName::CONTENT_LENGTH).and_then(|text| text.parse().ok());
    match stated {
        Some(stated) if stated > bytes_max => Err(too_large(bytes_max)),
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

/// A content of which a part has arrived.
struct Arriving<'a> {
    room: Room<'a>,
    /// The most bytes that come.
    expected: u64,
    value: Scratch,
    share: Share,
    /// The bytes for which there is room.
    bytes: u64,
    /// The pace of a transfer that holds room.
    pace: Option<Pace<'a>>,
}

impl<'a> Arriving<'a> {
    /// Begins with the room for a small content. One that is known to be large waits for its first step, and
    /// holds nothing meanwhile.
    async fn begin(stated: Option<u64>, room: Room<'a>) -> Result<Self, Fail> {
        let (value, share, bytes) = (Scratch::default(), Share::of(room.peer), FREE_BYTES_MAX);
        let expected = stated.unwrap_or(room.bytes_max);
        let mut arriving = Self { room, expected, value, share, bytes, pace: None };
        match stated {
            Some(stated) if stated > SMALL_BYTES_MAX => arriving.extend(STEP_BYTES_MIN.min(stated)).await?,
            Some(stated) if stated > FREE_BYTES_MAX => arriving.extend(stated).await?,
            _ => {}
        }
        // One that is longer would be held beyond the room for as long as the content takes.
        arriving.value = Scratch::lend_within(arriving.bytes as usize);
        Ok(arriving)
    }

    /// Returns the room to ask for next, when so many bytes do not fit.
    fn next_step(&self, bytes: u64) -> u64 {
        let step = match bytes <= SMALL_BYTES_MAX {
            true => SMALL_BYTES_MAX,
            false => self.bytes + self.bytes.clamp(SMALL_BYTES_MAX, STEP_BYTES_MAX),
        };
        step.min(self.expected).max(bytes)
    }

    /// Waits for room.
    async fn extend(&mut self, bytes: u64) -> Result<(), Fail> {
        let Room { budget, time, .. } = self.room;
        if budget.counts(&mut self.share, bytes) {
            self.bytes = bytes;
            return Ok(());
        }
        let began = Instant::now();
        let claim = self.expected.saturating_mul(self.room.times).saturating_add(self.room.beside);
        budget.extend(&mut self.share, bytes, claim, began + time).await?;
        self.bytes = bytes;
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
        let bytes = (self.value.len() + chunk.len()) as u64;
        if bytes > self.room.bytes_max {
            return Err(too_large(self.room.bytes_max));
        }
        if bytes > self.bytes {
            self.extend(self.next_step(bytes)).await?;
        }
        if bytes > self.value.capacity() as u64 {
            let wanted = (2 * self.value.capacity() as u64).min(self.bytes).min(self.expected).max(bytes);
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

fn too_large(bytes_max: u64) -> Fail {
    let text = format!("The content is longer than the {bytes_max} bytes that are allowed.\n");
    Fail::text(Status::CONTENT_TOO_LARGE, text)
}
