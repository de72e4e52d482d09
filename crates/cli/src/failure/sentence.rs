//! The library's error messages in the words of the command: flags replace the names of Rust fields.

use alula::Error;

/// The limits of [`alula::Limits`] that `--max-header-size` changes.
const OF_HEADS: [&str; 5] =
    ["head_bytes", "field_section_bytes", "fields", "string_bytes", "continuation_frames"];

/// Returns the message of an error without the fields of `Limits` in it.
pub(crate) fn of(error: &Error) -> String {
    let sentence = error.to_string();
    match error.exceeded() {
        Some(exceeded) => {
            let path = format!("; Limits::{} is {}", exceeded.limit(), exceeded.bound);
            let flag =
                if OF_HEADS.contains(&exceeded.limit()) { " (--max-header-size takes more)" } else { "" };
            sentence.replace(&path, &format!("; {} are taken{flag}", exceeded.bound))
        }
        None => without_path(sentence),
    }
}

/// Removes a remark in brackets about a field of `Limits` that no flag sets.
fn without_path(mut sentence: String) -> String {
    if let Some(start) = sentence.find(" (Limits::")
        && let Some(len) = sentence[start..].find(')')
    {
        sentence.replace_range(start..=start + len, "");
    }
    sentence
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_limits_is_left_out_wherever_it_stands() {
        let stalled = "the peer has sent no content for too long (Limits::stall_timeout is 30 s); tried once";
        let left = "the peer has sent no content for too long; tried once";
        assert_eq!(without_path(stalled.to_owned()), left);
        assert_eq!(without_path(left.to_owned()), left);
    }
}
