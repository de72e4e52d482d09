//! The last field section that was sent, decoded from its block for observers; nothing is kept without one.

use alloc::boxed::Box;
use alloc::vec::Vec;

use alula_hpack::{Decoded, Decoder, DecoderLimits};

/// Decodes the sent blocks, if there is an observer.
pub(crate) struct SentHead(Option<Box<Reader>>);

/// Follows the encoder like the peer's decoder.
struct Reader {
    decoder: Decoder,
    lines: Vec<u8>,
}

impl SentHead {
    pub(crate) fn new(is_kept: bool) -> Self {
        Self(is_kept.then(|| Box::new(Reader::new())))
    }

    /// Decodes a block as it was written. All of them come here, in their order.
    pub(crate) fn read(&mut self, block: &[u8]) {
        if let Some(reader) = &mut self.0 {
            reader.read(block);
        }
    }

    /// Returns the lines of the last block.
    pub(crate) fn lines(&self) -> &[u8] {
        self.0.as_ref().map_or(&[], |reader| &reader.lines)
    }
}

impl Reader {
    fn new() -> Self {
        let limits = DecoderLimits { string_bytes: u32::MAX, ..DecoderLimits::default() };
        let mut decoder = Decoder::new(limits);
        // The peer said how large the encoder's table may be, and the encoder repeats it in its blocks.
        decoder.set_table_limit(u32::MAX);
        Self { decoder, lines: Vec::new() }
    }

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
