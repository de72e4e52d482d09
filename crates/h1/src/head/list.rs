//! Comma-separated lists (RFC 9110 §5.6.1).

use alula_fields::bytes;

/// Returns the members of a list, without white space around them; empty ones are left out.
pub(crate) fn members(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| *byte == b',').map(bytes::trim).filter(|member| !member.is_empty())
}

/// Returns true if a list has this member in any case.
pub(crate) fn has(value: &[u8], wanted: &[u8]) -> bool {
    members(value).any(|member| member.eq_ignore_ascii_case(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_in_any_case_and_only_whole() {
        assert!(
            has(b"close", b"close") && has(b"keep-alive, Close", b"close") && has(b",, CLOSE\t,", b"close")
        );
        assert!(!has(b"closed", b"close") && !has(b"", b"close") && !has(b"clo se", b"close"));
    }
}
