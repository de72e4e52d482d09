//! The coding `gzip` (RFC 1952): members, one after the other.
//!
//! Inflating and checking are a library's; the frame is ours, since the library makes a decoder anew for each
//! member, and we want to use its memory again.

use flate2::Crc;

use crate::{deflate::Inflate, gzip_header::Header, stage::Coder};

const MAGIC: [u8; 2] = [0x1f, 0x8b];

pub(crate) struct Gzip {
    header: Header,
    inflate: Inflate,
    /// The checksum of the content of the member.
    crc: Crc,
    place: GzipState,
}

#[derive(Clone, Copy)]
enum GzipState {
    Header,
    Content,
    /// The checksum and the length of the content, as far as they have come.
    Trailer([u8; 8], usize),
    /// The end of a member; there may be another.
    Between,
    /// The end of a member, perhaps with the first byte of another.
    Perhaps,
    /// Trailing bytes that begin no member, which are dropped as zlib and browsers do.
    End,
}

impl Gzip {
    pub(crate) fn new() -> Self {
        Self { header: Header::default(), inflate: Inflate::new(), crc: Crc::new(), place: GzipState::Header }
    }

    fn content(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<usize, &'static str> {
        let before = out.len();
        let (taken, ended) = self.inflate.step(input, out)?;
        self.crc.update(&out[before..]);
        if ended {
            self.place = GzipState::Trailer([0; 8], 0);
        }
        Ok(taken)
    }

    /// Takes one byte outside the content.
    fn take(&mut self, byte: u8) -> Result<(), &'static str> {
        self.place = match self.place {
            GzipState::Header if self.header.take(byte)? => self.begin(),
            GzipState::Trailer(mut trailer, at) => {
                trailer[at] = byte;
                if at + 1 == trailer.len() {
                    self.check(trailer)?
                } else {
                    GzipState::Trailer(trailer, at + 1)
                }
            }
            GzipState::Between if byte == MAGIC[0] => GzipState::Perhaps,
            GzipState::Perhaps if byte == MAGIC[1] => {
                self.header.reset();
                for byte in MAGIC {
                    self.header.take(byte)?;
                }
                GzipState::Header
            }
            GzipState::Between | GzipState::Perhaps => GzipState::End,
            place => place,
        };
        Ok(())
    }

    /// Begins with the content of a member.
    fn begin(&mut self) -> GzipState {
        self.inflate.reset(false);
        self.crc.reset();
        GzipState::Content
    }

    /// Compares the content of a member with its trailer (RFC 1952 §2.3.1).
    fn check(&self, trailer: [u8; 8]) -> Result<GzipState, &'static str> {
        let said = u64::from_le_bytes(trailer);
        let is = u64::from(self.crc.sum()) | u64::from(self.crc.amount()) << 32;
        if said == is {
            Ok(GzipState::Between)
        } else {
            Err("the check of gzip does not fit the content (RFC 1952 §2.3.1)")
        }
    }
}

impl Coder for Gzip {
    fn step(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<usize, &'static str> {
        let mut at = 0;
        loop {
            match (self.place, input.get(at)) {
                (GzipState::Content, _) => {
                    let taken = self.content(&input[at..], out)?;
                    at += taken;
                    if matches!(self.place, GzipState::Content) {
                        return Ok(at);
                    }
                }
                (GzipState::End, _) => return Ok(input.len()),
                (_, Some(byte)) => {
                    self.take(*byte)?;
                    at += 1;
                }
                (_, None) => return Ok(at),
            }
        }
    }

    fn is_whole(&self) -> bool {
        matches!(self.place, GzipState::Between | GzipState::Perhaps | GzipState::End)
    }

    fn reset(&mut self) -> bool {
        self.header.reset();
        self.place = GzipState::Header;
        true
    }
}
