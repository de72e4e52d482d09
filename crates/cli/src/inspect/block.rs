//! Header blocks of one direction, and the dynamic table that they share.

use std::borrow::Cow;

use alula::{
    fields::masked_field,
    hpack::{DecodeError, Decoded, Decoder, DecoderLimits},
};

use super::{
    lines::{Lines, hex, shown},
    representation::Representation,
};
use crate::args::ShowArgs;

/// The largest table that is followed: the SETTINGS of the peer that bound it may not be recorded.
const TABLE_BYTES_MAX: u32 = 16 * 1024 * 1024;
/// The longest string, which is in memory already.
const STRING_BYTES_MAX: u32 = 64 * 1024 * 1024;
/// The bytes of a representation that are shown.
const BYTES_SHOWN: usize = 24;

/// A decoder whose steps are explained.
pub(super) struct Blocks {
    decoder: Decoder,
    show: ShowArgs,
}

impl Blocks {
    pub(super) fn new(show: ShowArgs) -> Self {
        let limits = DecoderLimits { string_bytes: STRING_BYTES_MAX, ..DecoderLimits::default() };
        let mut decoder = Decoder::new(limits);
        decoder.set_table_limit(TABLE_BYTES_MAX);
        Self { decoder, show }
    }

    /// Empties the table, whose entries are unknown after a lost block.
    pub(super) fn forget(&mut self) {
        self.decoder.reset();
        self.decoder.set_table_limit(TABLE_BYTES_MAX);
    }

    /// Appends a line for each representation of a block, and one for the table. A malformed block is a
    /// fault, and empties the table.
    pub(super) fn explain(&mut self, block: &[u8], indent: &str, lines: &mut Lines) {
        if let Err(error) = self.representations(block, indent, lines) {
            lines.push_fault(&format!("the header block is malformed: {}", error.rule()));
            return self.forget();
        }
        let table = self.decoder.table();
        let (count, bytes, bytes_max) = (table.len(), table.bytes(), table.bytes_max());
        let entries = if count == 1 { "entry" } else { "entries" };
        lines.push(&format!("{indent}table: {count} {entries}, {bytes} of {bytes_max} bytes"));
        if self.show.table {
            for (place, (name, value)) in table.entries().enumerate() {
                let (field, _) = self.field(name, value);
                lines.push(&format!("{indent}  {}  {field}", place + 62));
            }
        }
    }

    fn representations(&mut self, block: &[u8], indent: &str, lines: &mut Lines) -> Result<(), DecodeError> {
        let mut rest = block;
        while let Some((representation, length)) = Representation::read(rest) {
            let (bytes, more) = rest.split_at(length);
            let mut field = None;
            let mut visit = |it: Decoded<'_>| field = Some((it.name.to_vec(), it.value.to_vec()));
            self.decoder.decode(bytes, false, &mut visit)?;
            lines.push(&match field {
                Some((name, value)) => {
                    let (field, is_masked) = self.field(&name, &value);
                    let bytes = digits(bytes, is_masked, &representation);
                    format!("{indent}{field}  <- {bytes}: {representation}")
                }
                None => format!("{indent}{representation}  <- {}", hex(bytes)),
            });
            rest = more;
        }
        self.decoder.decode(rest, true, &mut |_: Decoded<'_>| ())
    }

    /// Returns a field for a line, and true if a part of it is masked.
    fn field(&self, name: &[u8], value: &[u8]) -> (String, bool) {
        let masked = match self.show.show_secrets {
            true => Cow::Borrowed(value),
            false => masked_field(&String::from_utf8_lossy(name), value),
        };
        (format!("{}: {}", shown(name), shown(&masked)), *masked != *value)
    }
}

/// Returns the bytes of a representation, without those that would reveal a masked value.
fn digits(bytes: &[u8], is_masked: bool, representation: &Representation) -> String {
    let visible = match representation {
        Representation::Literal { value_at, .. } if is_masked => *value_at,
        _ => bytes.len(),
    };
    let visible = visible.min(BYTES_SHOWN);
    let more = if visible < bytes.len() { " …" } else { "" };
    hex(&bytes[..visible]) + more
}
