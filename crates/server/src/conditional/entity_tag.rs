//! Entity-tags: how they are written, and the two ways in which they are compared (RFC 9110 §8.8.3).

/// Returns true if both are strong and the same (RFC 9110 §8.8.3.2).
pub(super) fn is_strong_match(one: &[u8], other: &[u8]) -> bool {
    one == other && !one.starts_with(b"W/")
}

/// Returns true if both are the same but for weakness (RFC 9110 §8.8.3.2).
pub(super) fn is_weak_match(one: &[u8], other: &[u8]) -> bool {
    one.strip_prefix(b"W/").unwrap_or(one) == other.strip_prefix(b"W/").unwrap_or(other)
}

/// The entity-tags of a list, up to the first thing that is none (RFC 9110 §8.8.3).
pub(super) struct Tags<'a>(pub(super) &'a [u8]);

impl<'a> Iterator for Tags<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let start = self.0.iter().position(|octet| !matches!(octet, b',' | b' ' | b'\t'))?;
        let rest = &self.0[start..];
        let open = if rest.starts_with(b"W/") { 2 } else { 0 };
        let opaque = rest[open..].strip_prefix(b"\"")?;
        let length = opaque.iter().position(|octet| !is_etag_octet(*octet))?;
        if opaque[length] != b'"' {
            return None;
        }
        let (tag, rest) = rest.split_at(open + length + 2);
        self.0 = rest;
        Some(tag)
    }
}

/// Returns true for a byte that may stand between the quotes: `etagc`.
const fn is_etag_octet(octet: u8) -> bool {
    matches!(octet, 0x21 | 0x23..=0x7e | 0x80..=0xff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_octets_have_an_answer() {
        for octet in 0..=255u8 {
            for field in [vec![octet], vec![b'"', octet], vec![b'"', octet, b'"'], vec![b'W', b'/', octet]] {
                let tags: Vec<_> = Tags(&field).collect();
                assert!(tags.iter().all(|tag| tag.ends_with(b"\"") && tag.len() >= 2), "{field:?}: {tags:?}");
            }
        }
    }
}
