//! Several parts of a representation as one content: `multipart/byteranges` (RFC 9110 §14.6).

use std::{io::Write as _, ops::Range};

use alula_net::Error;

use super::content_range::ContentRange;
use crate::connection::scratch::Scratch;

/// The heads of the parts and the closing line, written in advance so that the length can be stated.
///
/// The content is each head with its part, then the last line.
///
/// ```
/// use alula::conditional::Multipart;
///
/// let parts = [0..1, 9..10];
/// let multipart = Multipart::new(b"text/plain", &parts, 10)?;
/// assert!(multipart.media_type().starts_with(b"multipart/byteranges; boundary="));
/// assert!(multipart.head(1).ends_with(b"\r\ncontent-range: bytes 9-9/10\r\n\r\n"));
/// let heads: usize = (0..2).map(|index| multipart.head(index).len()).sum();
/// assert_eq!(multipart.content_length(), (heads + multipart.close().len() + 2) as u64);
/// # Ok::<(), alula::Error>(())
/// ```
#[derive(Debug)]
pub struct Multipart {
    boundary: [u8; 32],
    /// The heads of all parts, then the closing line.
    text: Scratch,
    /// The place in the text at which each head ends.
    ends: Vec<usize>,
    content_length: u64,
}

impl Multipart {
    /// Writes the heads of these parts of a representation of this media type and `length` bytes. Allocates.
    ///
    /// # Errors
    /// The system has no random bytes for the line that divides the parts.
    pub fn new(media_type: &[u8], parts: &[Range<u64>], length: u64) -> Result<Self, Error> {
        let boundary = boundary()?;
        let (mut text, mut ends) = (Scratch::lend(), Vec::with_capacity(parts.len()));
        for part in parts {
            push(
                &mut text,
                &[b"\r\n--", &boundary, b"\r\ncontent-type: ", media_type, b"\r\ncontent-range: "],
            );
            push(&mut text, &[ContentRange::of(part.clone(), length).as_bytes(), b"\r\n\r\n"]);
            ends.push(text.len());
        }
        push(&mut text, &[b"\r\n--", &boundary, b"--\r\n"]);
        let bytes: u64 = parts.iter().map(|part| part.end.saturating_sub(part.start)).sum();
        let content_length = bytes.saturating_add(text.len() as u64);
        Ok(Self { boundary, text, ends, content_length })
    }

    /// Returns the `content-type` of the answer.
    pub fn media_type(&self) -> Scratch {
        let mut text = Scratch::lend();
        push(&mut text, &[b"multipart/byteranges; boundary=", &self.boundary]);
        text
    }

    /// Returns the `content-length` of the answer: of heads, parts and last line together.
    pub fn content_length(&self) -> u64 {
        self.content_length
    }

    /// Returns the head of the part at this place; nothing after the last.
    pub fn head(&self, index: usize) -> &[u8] {
        let start = index.checked_sub(1).map_or(Some(&0), |before| self.ends.get(before));
        let place = start.zip(self.ends.get(index));
        place.and_then(|(start, end)| self.text.get(*start..*end)).unwrap_or_default()
    }

    /// Returns the line after the last part.
    pub fn close(&self) -> &[u8] {
        &self.text[self.ends.last().copied().unwrap_or(0)..]
    }
}

fn push(text: &mut Vec<u8>, pieces: &[&[u8]]) {
    pieces.iter().for_each(|piece| text.extend_from_slice(piece));
}

/// Creates a boundary of random digits, which no content can be made to contain.
fn boundary() -> Result<[u8; 32], Error> {
    let (mut chance, mut text) = ([0; 16], [0; 32]);
    getrandom::fill(&mut chance).map_err(|_| Error::usage("the system has no random numbers"))?;
    let mut rest = &mut text[..];
    // Two digits each have room.
    chance.iter().for_each(|byte| drop(write!(rest, "{byte:02x}")));
    Ok(text)
}
