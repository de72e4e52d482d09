//! Content in chunks (RFC 9112 §7.1): a size line is parsed once it is complete, data at once.

use alula_fields::bytes;

use crate::guard::violation::Violation;
use crate::head::line;

/// The part of the chunked coding that comes next.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum ChunkState {
    Size,
    Data(u64),
    /// The end of the line after the data.
    DataEnd,
}

/// The decoder of one message's chunks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunked {
    place: ChunkState,
    /// The number of checked bytes of an unfinished line.
    seen: usize,
    extension_bytes: usize,
    bare_lf: bool,
}

/// The outcome of a step.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Piece<'i> {
    /// More input is needed.
    More,
    /// Content.
    Data(&'i [u8]),
    /// The last chunk: trailers follow.
    Last,
}

/// The number of used bytes, and their meaning.
pub(crate) type Step<'i> = (usize, Piece<'i>);

impl Chunked {
    /// Creates a decoder for the first chunk, with a bound on the bytes of all extensions together.
    pub(crate) const fn new(extension_bytes: u32, bare_lf: bool) -> Self {
        Self { place: ChunkState::Size, seen: 0, extension_bytes: extension_bytes as usize, bare_lf }
    }

    /// Takes one step.
    pub(crate) fn read<'i>(&mut self, input: &'i [u8]) -> Result<Step<'i>, Violation> {
        let mut consumed = 0;
        loop {
            let rest = &input[consumed..];
            match self.place {
                ChunkState::Size => {
                    let Some((line, size)) = self.size_line(rest)? else {
                        return Ok((consumed, Piece::More));
                    };
                    consumed += line;
                    if size == 0 {
                        return Ok((consumed, Piece::Last));
                    }
                    self.place = ChunkState::Data(size);
                }
                ChunkState::Data(_) if rest.is_empty() => return Ok((consumed, Piece::More)),
                ChunkState::Data(left) => {
                    let here = usize::try_from(left).map_or(rest.len(), |left| left.min(rest.len()));
                    let left = left - here as u64;
                    self.place = if left == 0 { ChunkState::DataEnd } else { ChunkState::Data(left) };
                    return Ok((consumed + here, Piece::Data(&rest[..here])));
                }
                ChunkState::DataEnd => {
                    let Some(end) = self.data_end(rest)? else { return Ok((consumed, Piece::More)) };
                    consumed += end;
                    self.place = ChunkState::Size;
                }
            }
        }
    }

    /// Returns the length of the usual end of a message, if `input` begins with it: the end of the data, the
    /// last chunk, no trailers.
    #[inline]
    pub(crate) fn plain_end(&self, input: &[u8]) -> Option<usize> {
        const END: &[u8] = b"\r\n0\r\n\r\n";
        (self.place == ChunkState::DataEnd && input.starts_with(END)).then_some(END.len())
    }

    fn data_end(&self, input: &[u8]) -> Result<Option<usize>, Violation> {
        match input.first() {
            Some(b'\r' | b'\n') => line::end(input, 0, self.bare_lf),
            // Data that is longer than its chunk says is refused, or it would be read as the next size.
            Some(_) => Err(Violation::CHUNK_END_MISSING),
            None => Ok(None),
        }
    }

    /// Returns the length of a line with its end, and its size.
    fn size_line(&mut self, input: &[u8]) -> Result<Option<(usize, u64)>, Violation> {
        let Some(at) = bytes::position_of_control(&input[self.seen..]) else {
            self.seen = input.len();
            return self.check_unfinished(input).map(|()| None);
        };
        let at = self.seen + at;
        self.seen = at;
        let Ok(Some(end)) = line::end(input, at, self.bare_lf) else {
            // The first fault is reported, wherever the line was cut.
            self.check_unfinished(&input[..at])?;
            return self.end_error(input, at).map_or(Ok(None), Err);
        };
        let (size, extensions) = split(&input[..at])?;
        self.extension_bytes =
            self.extension_bytes.checked_sub(extensions).ok_or(Violation::CHUNK_EXTENSIONS_LONG)?;
        self.seen = 0;
        Ok(Some((at + end, size)))
    }

    /// Returns the rule that the end of a line breaks, if it does.
    #[cold]
    fn end_error(&self, input: &[u8], at: usize) -> Option<Violation> {
        line::end(input, at, self.bare_lf).err().map(|rule| match rule {
            Violation::VALUE_INVALID => Violation::CHUNK_EXTENSION_INVALID,
            other => other,
        })
    }

    /// Checks the bytes of an unfinished line: they have to be valid, and not too many.
    fn check_unfinished(&self, line: &[u8]) -> Result<(), Violation> {
        if line.is_empty() {
            return Ok(());
        }
        let (_, extensions) = split(line)?;
        if extensions > self.extension_bytes { Err(Violation::CHUNK_EXTENSIONS_LONG) } else { Ok(()) }
    }
}

/// Returns the size in a line, and the number of bytes of its extensions.
fn split(line: &[u8]) -> Result<(u64, usize), Violation> {
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let extensions = line.len() - digits;
    // Sixteen digits are all that fit in 64 bits; a longer size would overflow in some recipient.
    if digits > 16 {
        return Err(Violation::CHUNK_SIZE_LARGE);
    }
    if digits == 0 || !matches!(line.get(digits), None | Some(b';')) {
        return Err(Violation::CHUNK_SIZE_INVALID);
    }
    Ok((line[..digits].iter().fold(0, |size, digit| size << 4 | u64::from(value(*digit))), extensions))
}

const fn value(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// Returns the content, and what follows the last chunk's line; read in pieces of so many bytes.
    fn read(input: &[u8], piece: usize) -> Result<(Vec<u8>, usize), Violation> {
        let mut chunked = Chunked::new(32, false);
        let (mut content, mut used, mut here) = (Vec::new(), 0, 0);
        loop {
            let (consumed, piece_of) = chunked.read(&input[used..here])?;
            used += consumed;
            match piece_of {
                Piece::Last => return Ok((content, used)),
                Piece::Data(data) => content.extend_from_slice(data),
                Piece::More if here == input.len() => return Ok((content, usize::MAX)),
                Piece::More => here = input.len().min(here + piece),
            }
        }
    }

    #[test]
    fn chunks_are_put_together_however_they_are_cut() {
        let input = b"5\r\nhello\r\n1;a=\"b;c\"\r\n \r\n0000000005\r\nworld\r\n0;x\r\nafter";
        for piece in 1..input.len() {
            assert_eq!(read(input, piece), Ok((b"hello world".to_vec(), input.len() - 5)), "{piece}");
        }
    }

    #[test]
    fn sizes_of_sixteen_digits_are_taken_and_no_more() {
        let (content, used) = read(b"FFFFFFFFFFFFFFFF\r\nab", 7).unwrap();
        assert_eq!((&content[..], used), (&b"ab"[..], usize::MAX));
        for piece in [1, 40] {
            assert_eq!(read(b"00000000000000001\r\n", piece), Err(Violation::CHUNK_SIZE_LARGE));
        }
    }

    #[test]
    fn what_is_no_chunk_is_refused_however_it_comes() {
        for (input, rule) in [
            (&b"\r\n"[..], Violation::CHUNK_SIZE_INVALID),
            (b";a\r\n", Violation::CHUNK_SIZE_INVALID),
            (b"+1\r\n", Violation::CHUNK_SIZE_INVALID),
            (b"-1\r\n", Violation::CHUNK_SIZE_INVALID),
            (b"0x1\r\n", Violation::CHUNK_SIZE_INVALID),
            (b" 1\r\n", Violation::CHUNK_SIZE_INVALID),
            (b"1 \r\n", Violation::CHUNK_SIZE_INVALID),
            (b"1\n", Violation::BARE_LF),
            (b"1\ra", Violation::BARE_CR),
            (b"1;a\nb\r\n", Violation::BARE_LF),
            (b"1;a\0\r\n", Violation::CHUNK_EXTENSION_INVALID),
            (b"1\r\nab", Violation::CHUNK_END_MISSING),
            (b"1\r\na\n", Violation::BARE_LF),
            (b"1;45678901234567890123456789012345\r\na\r\n", Violation::CHUNK_EXTENSIONS_LONG),
            (b"1;4567890123456789\r\na\r\n1;4567890123456789", Violation::CHUNK_EXTENSIONS_LONG),
        ] {
            for piece in [1, 2, 100] {
                assert_eq!(read(input, piece), Err(rule), "{:?} by {piece}", input.escape_ascii());
            }
        }
    }

    #[test]
    fn the_usual_end_is_seen_at_once() {
        let mut chunked = Chunked::new(0, false);
        let input = b"1\r\na\r\n0\r\n\r\n";
        assert_eq!(chunked.read(input), Ok((4, Piece::Data(b"a"))));
        assert_eq!(chunked.plain_end(&input[4..]), Some(7));
        assert_eq!(chunked.plain_end(&input[4..10]), None);
        assert_eq!(chunked.plain_end(b"\r\n0\r\nx: y"), None);
    }
}
