//! The header of a member of gzip (RFC 1952 §2.3), parsed byte by byte and dropped.

use flate2::Crc;

const CRC: u8 = 2;
const EXTRA: u8 = 4;
const NAME: u8 = 8;
const COMMENT: u8 = 16;
const RESERVED: u8 = 0xe0;

/// The state of a header that is being read.
#[derive(Default)]
pub(crate) struct Header {
    place: HeaderState,
    /// The parts that are still to come.
    flags: u8,
    crc: Crc,
}

#[derive(Clone, Copy)]
enum HeaderState {
    /// The bytes that every header has.
    Fixed(u8),
    ExtraLength,
    ExtraLengthHigh(u8),
    Extra(u16),
    Text(u8),
    Crc,
    CrcHigh(u8),
}

impl Default for HeaderState {
    fn default() -> Self {
        Self::Fixed(0)
    }
}

/// Returns the length of the header at the beginning, or `None` while it is incomplete.
///
/// # Errors
/// It is none.
#[cfg(feature = "fuzzing")]
pub fn bytes_of(bytes: &[u8]) -> Result<Option<usize>, &'static str> {
    let mut header = Header::default();
    for (before, byte) in bytes.iter().enumerate() {
        if header.take(*byte)? {
            return Ok(Some(before + 1));
        }
    }
    Ok(None)
}

impl Header {
    /// Resets it for another header.
    pub(crate) fn reset(&mut self) {
        (self.place, self.flags) = (HeaderState::default(), 0);
        self.crc.reset();
    }

    /// Takes one byte; returns true once the header is complete.
    pub(crate) fn take(&mut self, byte: u8) -> Result<bool, &'static str> {
        let next = match self.place {
            HeaderState::Fixed(at) => self.fixed(at, byte)?,
            HeaderState::ExtraLength => Some(HeaderState::ExtraLengthHigh(byte)),
            HeaderState::ExtraLengthHigh(low) => self.extra(u16::from_le_bytes([low, byte])),
            HeaderState::Extra(left) => self.extra(left - 1),
            HeaderState::Text(_) if byte != 0 => Some(self.place),
            HeaderState::Text(flag) => self.after(flag),
            HeaderState::Crc => Some(HeaderState::CrcHigh(byte)),
            HeaderState::CrcHigh(low) if u16::from_le_bytes([low, byte]) == self.crc.sum() as u16 => None,
            HeaderState::CrcHigh(_) => return Err("the header of gzip is damaged (RFC 1952 §2.3.1)"),
        };
        if !matches!(self.place, HeaderState::Crc) {
            self.crc.update(&[byte]);
        }
        self.place = next.unwrap_or_default();
        Ok(next.is_none())
    }

    fn fixed(&mut self, at: u8, byte: u8) -> Result<Option<HeaderState>, &'static str> {
        match (at, byte) {
            (0, 0x1f) | (1, 0x8b) | (2, 8) | (4..=8, _) => {}
            (3, flags) if flags & RESERVED == 0 => self.flags = flags,
            (9, _) => return Ok(self.after(0)),
            _ => return Err("it is not gzip (RFC 1952 §2.3.1)"),
        }
        Ok(Some(HeaderState::Fixed(at + 1)))
    }

    fn extra(&mut self, left: u16) -> Option<HeaderState> {
        if left > 0 { Some(HeaderState::Extra(left)) } else { self.after(EXTRA) }
    }

    /// Returns the part after this one.
    fn after(&mut self, part: u8) -> Option<HeaderState> {
        self.flags &= !part;
        match self.flags {
            flags if flags & EXTRA != 0 => Some(HeaderState::ExtraLength),
            flags if flags & NAME != 0 => Some(HeaderState::Text(NAME)),
            flags if flags & COMMENT != 0 => Some(HeaderState::Text(COMMENT)),
            flags if flags & CRC != 0 => Some(HeaderState::Crc),
            _ => None,
        }
    }
}
