//! Answers that hold room while they are sent.

use alula::{KnownName, Reply};

use super::fail::Outcome;
use crate::budget::{Budget, Share};

/// The bytes of a piece, after which the pace of an answer is checked.
const PIECE_BYTES: usize = 64 * 1024;

/// The share of an answer, and the budget of the share.
#[derive(Clone, Copy, Debug)]
pub(in crate::http) struct Paced<'a> {
    pub(in crate::http) budget: &'a Budget,
    pub(in crate::http) share: &'a Share,
}

impl Paced<'_> {
    /// Sends several parts as one content, as [`Reply::send_parts`] does. One that holds room goes in pieces,
    /// and is broken off where its peer is slow while others wait. A small one allocates nothing once warm.
    pub(in crate::http) async fn send_parts(&self, reply: Reply, parts: &[&[u8]]) -> Outcome {
        let bytes: usize = parts.iter().map(|part| part.len()).sum();
        if bytes <= PIECE_BYTES {
            let sent = reply.send_parts(parts);
            return Ok(self.budget.paced(self.share.has_room(), bytes as u64, sent).await??);
        }
        if !self.share.has_room() {
            return Ok(reply.send_parts(parts).await?);
        }
        let mut writer = reply.header(KnownName::CONTENT_LENGTH, bytes.to_string()).stream().await?;
        let mut pace = self.budget.pace();
        for piece in parts.iter().flat_map(|part| part.chunks(PIECE_BYTES)) {
            pace.part(writer.write(piece)).await??;
            pace.moved(piece.len());
        }
        Ok(writer.finish().await?)
    }
}
