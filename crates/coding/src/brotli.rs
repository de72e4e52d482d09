//! The coding `br` (RFC 7932).

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};

use crate::stage::Coder;

type State = BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>;

/// Looks back on 16 MiB at the most, as the format has it; large windows, an extension of it, are refused.
pub(crate) struct Brotli {
    state: Option<State>,
    is_whole: bool,
}

impl Brotli {
    pub(crate) const fn new() -> Self {
        Self { state: None, is_whole: false }
    }
}

fn state() -> State {
    State::new_strict(StandardAlloc::default(), StandardAlloc::default(), StandardAlloc::default())
}

impl Coder for Brotli {
    fn step(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<usize, &'static str> {
        // Unlike gzip, brotli has no members that follow one another (RFC 7932 §9).
        if self.is_whole && !input.is_empty() {
            return Err("bytes follow the end of brotli");
        }
        let from = out.len();
        out.resize(out.capacity(), 0);
        let (mut unread, mut taken, mut room, mut made) = (input.len(), 0, out.len() - from, from);
        let result = BrotliDecompressStream(
            &mut unread,
            &mut taken,
            input,
            &mut room,
            &mut made,
            out,
            &mut 0,
            self.state.get_or_insert_with(state),
        );
        out.truncate(made);
        match result {
            BrotliResult::ResultFailure => return Err("it is not brotli (RFC 7932)"),
            BrotliResult::ResultSuccess => self.is_whole = true,
            BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => {}
        }
        Ok(taken)
    }

    fn is_whole(&self) -> bool {
        self.is_whole
    }

    fn reset(&mut self) -> bool {
        *self = Self::new();
        true
    }
}
