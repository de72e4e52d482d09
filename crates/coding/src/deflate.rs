//! The coding `deflate`: zlib by the standard (RFC 9110 §8.4.1.2), deflate without zlib from some servers.

use flate2::{Decompress, FlushDecompress, Status};

use crate::stage::Coder;

/// The method in the first byte of zlib (RFC 1950 §2.2). Deflate without zlib cannot begin so: it would be a
/// stored block whose padding is not zero, which nobody makes.
const ZLIB_METHOD: u8 = 8;

pub(crate) struct Deflate {
    inflate: Inflate,
    place: DeflateState,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum DeflateState {
    Start,
    Within,
    /// The rest of the input is dropped.
    End,
}

/// Deflate (RFC 1951), with or without zlib around it.
pub(crate) struct Inflate(Decompress);

impl Deflate {
    pub(crate) fn new() -> Self {
        Self { inflate: Inflate::new(), place: DeflateState::Start }
    }
}

impl Coder for Deflate {
    fn step(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<usize, &'static str> {
        if self.place == DeflateState::End {
            return Ok(input.len());
        }
        if let (DeflateState::Start, Some(first)) = (self.place, input.first()) {
            self.inflate.reset(first & 0x0f == ZLIB_METHOD);
            self.place = DeflateState::Within;
        }
        let (taken, ended) = self.inflate.step(input, out)?;
        if ended {
            self.place = DeflateState::End;
        }
        Ok(taken)
    }

    fn is_whole(&self) -> bool {
        self.place == DeflateState::End
    }

    fn reset(&mut self) -> bool {
        self.place = DeflateState::Start;
        true
    }
}

impl Inflate {
    pub(crate) fn new() -> Self {
        Self(Decompress::new(false))
    }

    pub(crate) fn reset(&mut self, is_zlib: bool) {
        self.0.reset(is_zlib);
    }

    /// Returns the bytes taken, and whether the last block has ended.
    pub(crate) fn step(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(usize, bool), &'static str> {
        let before = self.0.total_in();
        let status = self.0.decompress_vec(input, out, FlushDecompress::None);
        let status = status.map_err(|_| "it is not deflate (RFC 1951)")?;
        Ok(((self.0.total_in() - before) as usize, status == Status::StreamEnd))
    }
}
