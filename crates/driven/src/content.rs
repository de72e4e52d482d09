//! Content that arrives in pieces, put together as long as it is one stream's.

use alula_machine::StreamKey;

/// The content of one stream that was not shown yet.
#[derive(Debug, Default)]
pub struct Content(Option<(StreamKey, Vec<u8>)>);

impl Content {
    /// Adds a piece, and returns what there was of another stream.
    ///
    /// # Panics
    /// When the piece is empty and not the last: it says nothing.
    pub fn add(&mut self, stream: StreamKey, piece: &[u8], end: bool) -> Option<(StreamKey, Vec<u8>)> {
        assert!(end || !piece.is_empty(), "an empty piece says nothing");
        let other = self.0.take_if(|(other, _)| *other != stream);
        self.0.get_or_insert((stream, Vec::new())).1.extend_from_slice(piece);
        other
    }

    /// Takes what there is.
    pub fn take(&mut self) -> Option<(StreamKey, Vec<u8>)> {
        self.0.take()
    }
}
