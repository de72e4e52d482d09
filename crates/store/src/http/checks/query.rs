//! The query of a request: pairs of names and values, read in one pass.

use std::borrow::Cow;

use alula::Request;

/// Returns the pairs of a query, with percent escapes and `+` decoded. A name without `=` has an empty value.
/// Allocates for what is to be decoded.
pub(in crate::http) fn pairs(request: &Request) -> impl Iterator<Item = (Cow<'_, [u8]>, Cow<'_, [u8]>)> {
    pairs_of(request.query().unwrap_or_default().as_bytes())
}

/// Returns the pairs of the bytes of a query.
pub(in crate::http) fn pairs_of(query: &[u8]) -> impl Iterator<Item = (Cow<'_, [u8]>, Cow<'_, [u8]>)> {
    query.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty()).map(|pair| {
        let mut parts = pair.splitn(2, |byte| *byte == b'=');
        let mut next = || decoded(parts.next().unwrap_or_default());
        (next(), next())
    })
}

/// Returns the value of the first pair of this name.
pub(in crate::http) fn value<'r>(request: &'r Request, name: &str) -> Option<Cow<'r, [u8]>> {
    pairs(request).find(|(other, _)| **other == *name.as_bytes()).map(|(_, value)| value)
}

/// Decodes `+` into a space, and percent escapes; a malformed escape stays as it is.
pub(in crate::http) fn decoded(bytes: &[u8]) -> Cow<'_, [u8]> {
    if !bytes.iter().any(|byte| matches!(byte, b'%' | b'+')) {
        return Cow::Borrowed(bytes);
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        let escape = (*first == b'%').then(|| after.split_first_chunk::<2>()).flatten();
        match escape.and_then(|(digits, after)| Some((byte_of(*digits)?, after))) {
            Some((byte, after)) => {
                out.push(byte);
                rest = after;
            }
            None => {
                out.push(if *first == b'+' { b' ' } else { *first });
                rest = after;
            }
        }
    }
    Cow::Owned(out)
}

fn byte_of(digits: [u8; 2]) -> Option<u8> {
    let [high, low] = digits.map(|digit| char::from(digit).to_digit(16));
    Some((high? * 16 + low?) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_decoded_once() {
        for (text, bytes) in
            [("a", "a"), ("a+b", "a b"), ("%2B%20", "+ "), ("%2541", "%41"), ("%", "%"), ("%zz%4", "%zz%4")]
        {
            assert_eq!(&*decoded(text.as_bytes()), bytes.as_bytes(), "{text}");
        }
    }
}
