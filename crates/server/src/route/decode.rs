//! Decoding of captures: percent escapes, and `+` if it is a space.

use std::borrow::Cow;

use alula_fields::bytes;

use super::segments::{PlusSign, Segments};

/// An escape other than `%` and two hexadecimal digits (RFC 3986 §2.1). A request that has one is answered
/// 400.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Malformed {
    /// The byte at which the escape begins.
    pub(crate) position: usize,
}

/// Returns the decoded bytes of a capture; borrows them unless there is something to decode, which allocates
/// once.
///
/// # Errors
/// An escape is malformed.
pub(crate) fn decode(raw: &[u8], options: Segments) -> Result<Cow<'_, [u8]>, Malformed> {
    let is_space = options.plus == PlusSign::Space;
    let plus = if is_space { bytes::position(raw, b'+') } else { None };
    match bytes::position(&raw[..plus.unwrap_or(raw.len())], b'%').or(plus) {
        None => Ok(Cow::Borrowed(raw)),
        Some(first) => decode_from(raw, first, is_space).map(Cow::Owned),
    }
}

fn decode_from(raw: &[u8], first: usize, is_space: bool) -> Result<Vec<u8>, Malformed> {
    let mut decoded = Vec::with_capacity(raw.len());
    decoded.extend_from_slice(&raw[..first]);
    let mut at = first;
    while let Some(&byte) = raw.get(at) {
        match byte {
            b'%' => {
                decoded.push(escaped(&raw[at..]).ok_or(Malformed { position: at })?);
                at += 3;
                continue;
            }
            b'+' if is_space => decoded.push(b' '),
            other => decoded.push(other),
        }
        at += 1;
    }
    Ok(decoded)
}

/// Returns the byte for the escape at the beginning.
fn escaped(bytes: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = bytes else { return None };
    Some(digit(*high)? << 4 | digit(*low)?)
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}
