//! Entity-tags: their syntax, and their two comparisons (RFC 9110 §8.8.3).

/// Returns true if both are strong and equal (RFC 9110 §8.8.3.2).
pub(super) fn is_strong_match(one: &[u8], other: &[u8]) -> bool {
    one == other && !one.starts_with(b"W/")
}

/// Returns true if both are equal apart from weakness (RFC 9110 §8.8.3.2).
pub(super) fn is_weak_match(one: &[u8], other: &[u8]) -> bool {
    one.strip_prefix(b"W/").unwrap_or(one) == other.strip_prefix(b"W/").unwrap_or(other)
}

/// The entity-tags of a list, up to the first invalid one (RFC 9110 §8.8.3).
pub(super) struct Tags<'a>(pub(super) &'a [u8]);

impl<'a> Iterator for Tags<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let start = self.0.iter().position(|byte| !matches!(byte, b',' | b' ' | b'\t'))?;
        let rest = &self.0[start..];
        let open = if rest.starts_with(b"W/") { 2 } else { 0 };
        let opaque = rest[open..].strip_prefix(b"\"")?;
        let length = opaque.iter().position(|byte| !is_etag_byte(*byte))?;
        if opaque[length] != b'"' {
            return None;
        }
        let (tag, rest) = rest.split_at(open + length + 2);
        self.0 = rest;
        Some(tag)
    }
}

/// Returns true for a byte that is allowed between the quotes: `etagc`.
const fn is_etag_byte(byte: u8) -> bool {
    matches!(byte, 0x21 | 0x23..=0x7e | 0x80..=0xff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_have_an_answer() {
        for byte in 0..=255u8 {
            for field in [vec![byte], vec![b'"', byte], vec![b'"', byte, b'"'], vec![b'W', b'/', byte]] {
                let tags: Vec<_> = Tags(&field).collect();
                assert!(tags.iter().all(|tag| tag.ends_with(b"\"") && tag.len() >= 2), "{field:?}: {tags:?}");
            }
        }
    }
}
