//! The representations of a header block (RFC 7541 §6), parsed for their form only: the decoder checks them.

use std::fmt;

/// The entries of the static table (RFC 7541 Appendix A).
const STATIC_MAX: u64 = 61;

/// A field representation (RFC 7541 §6) or a change of the table's size.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Representation {
    /// A field by its index (RFC 7541 §6.1).
    Indexed(u64),
    /// A field with its own value (RFC 7541 §6.2), whose text begins at so many bytes.
    Literal { indexing: Indexing, name: Name, value: Text, value_at: usize },
    /// A new size of the dynamic table (RFC 7541 §6.3).
    SizeUpdate(u64),
}

/// The effect of a literal on the dynamic table.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Indexing {
    Entered,
    NotEntered,
    Never,
}

/// The name of a literal.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Name {
    Index(u64),
    Text(Text),
}

/// A string by its bytes on the wire (RFC 7541 §5.2).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Text {
    bytes: u64,
    is_huffman: bool,
}

impl Representation {
    /// Parses the first representation, and returns its length; nothing if it is cut off or has an impossible
    /// number.
    pub(super) fn read(block: &[u8]) -> Option<(Self, usize)> {
        let first = *block.first()?;
        let (indexing, bits) = match first {
            0x80.. => return integer(block, 7).map(|(index, end)| (Self::Indexed(index), end)),
            0x40.. => (Indexing::Entered, 6),
            0x20.. => return integer(block, 5).map(|(bytes, end)| (Self::SizeUpdate(bytes), end)),
            0x10.. => (Indexing::Never, 4),
            _ => (Indexing::NotEntered, 4),
        };
        let (name, end) = match integer(block, bits)? {
            (0, at) => Text::read(block, at).map(|(text, _, end)| (Name::Text(text), end))?,
            (index, end) => (Name::Index(index), end),
        };
        let (value, value_at, end) = Text::read(block, end)?;
        Some((Self::Literal { indexing, name, value, value_at }, end))
    }
}

impl Text {
    /// Parses a string, and returns where its bytes begin and end.
    fn read(block: &[u8], at: usize) -> Option<(Self, usize, usize)> {
        let rest = block.get(at..)?;
        let is_huffman = rest.first()? & 0x80 != 0;
        let (bytes, length) = integer(rest, 7)?;
        let begin = at + length;
        let end = begin.checked_add(usize::try_from(bytes).ok()?)?;
        (end <= block.len()).then_some((Self { bytes, is_huffman }, begin, end))
    }
}

/// Parses an integer with so many bits in its first byte (RFC 7541 §5.1), and returns its length.
fn integer(bytes: &[u8], bits: u32) -> Option<(u64, usize)> {
    let mask = (1 << bits) - 1;
    let mut value = u64::from(*bytes.first()?) & mask;
    if value < mask {
        return Some((value, 1));
    }
    // Five more bytes hold more than any length or index.
    for (place, byte) in bytes.iter().skip(1).take(5).enumerate() {
        value += u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Some((value, place + 2));
        }
    }
    None
}

impl fmt::Display for Representation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Indexed(index) => write!(f, "index {}", Index(*index)),
            Self::Literal { indexing, name, value, .. } => write!(f, "{indexing}, {name}, value of {value}"),
            Self::SizeUpdate(bytes) => write!(f, "the table has {bytes} bytes at most from here on"),
        }
    }
}

impl fmt::Display for Indexing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Entered => "entered into the table",
            Self::NotEntered => "not entered",
            Self::Never => "never to be entered",
        })
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(index) => write!(f, "name of index {}", Index(*index)),
            Self::Text(text) => write!(f, "name of {text}"),
        }
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.bytes == 1 { "" } else { "s" };
        let coding = if self.is_huffman { " in Huffman's code" } else { "" };
        write!(f, "{} byte{plural}{coding}", self.bytes)
    }
}

struct Index(u64);

impl fmt::Display for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.0, if self.0 <= STATIC_MAX { "static" } else { "dynamic" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_those_of_the_rfc() {
        // The examples of RFC 7541 Appendix C.1.
        assert_eq!(integer(&[0b01010], 5), Some((10, 1)));
        assert_eq!(integer(&[0b11111, 0b1001_1010, 0b0000_1010], 5), Some((1337, 3)));
        assert_eq!(integer(&[42], 8), Some((42, 1)));
        for cut in [&[][..], &[0x1f], &[0x1f, 0x80], &[0x1f, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]] {
            assert_eq!(integer(cut, 5), None, "{cut:?}");
        }
    }

    #[test]
    fn each_form_is_known_by_its_first_byte() {
        for (bytes, length, expected) in [
            (&b"\x82"[..], 1, "index 2 (static)"),
            (b"\xbe", 1, "index 62 (dynamic)"),
            (
                b"\x40\x0acustom-key\x0dcustom-header",
                26,
                "entered into the table, name of 10 bytes, value of 13 bytes",
            ),
            (b"\x04\x0c/sample/path", 14, "not entered, name of index 4 (static), value of 12 bytes"),
            (
                b"\x10\x01a\x81\x1f",
                5,
                "never to be entered, name of 1 byte, value of 1 byte in Huffman's code",
            ),
            (b"\x3f\xe1\x1f", 3, "the table has 4096 bytes at most from here on"),
        ] {
            let (read, end) = Representation::read(bytes).unwrap();
            assert_eq!((&*read.to_string(), end), (expected, length));
            for cut in 0..length {
                assert_eq!(Representation::read(&bytes[..cut]), None, "{expected} {cut}");
            }
        }
    }
}
