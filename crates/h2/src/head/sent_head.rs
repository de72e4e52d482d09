//! The last field section that was sent, decoded from its block for an observer; nothing is kept without one.

use alloc::boxed::Box;
use alloc::vec::Vec;

use alula_hpack::{Decoded, Decoder, Encoder};

/// Decodes the sent blocks while there is an observer.
#[derive(Default)]
pub(crate) struct SentHead(Option<Box<Reader>>);

/// Follows the encoder like the peer's decoder.
struct Reader {
    decoder: Decoder,
    lines: Vec<u8>,
}

impl SentHead {
    /// Begins to read the blocks that this encoder writes from here on.
    pub(crate) fn begin(&mut self, encoder: &Encoder) {
        self.0 = Some(Box::new(Reader { decoder: encoder.decoder(), lines: Vec::new() }));
    }

    /// Decodes a block as it was written. All of them come here, in their order.
    pub(crate) fn read(&mut self, block: &[u8]) {
        if let Some(reader) = &mut self.0 {
            reader.read(block);
        }
    }

    /// Ends reading, and returns the lines of the last block.
    pub(crate) fn end(&mut self) -> Vec<u8> {
        self.0.take().map_or_else(Vec::new, |reader| reader.lines)
    }
}

impl Reader {
    fn read(&mut self, block: &[u8]) {
        let Self { decoder, lines } = self;
        lines.clear();
        let decoded = decoder.decode(block, true, &mut |field: Decoded<'_>| {
            for part in [field.name, b": ", field.value, b"\r\n"] {
                lines.extend_from_slice(part);
            }
        });
        debug_assert!(decoded.is_ok(), "an encoder writes valid blocks: {decoded:?}");
    }
}
