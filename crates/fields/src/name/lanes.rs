//! Checking short strings while copying them: sixteen bytes at a time in loops that become vector
//! instructions, and fewer as words.

use crate::name::word::{self, HIGH, each};

/// The longest string that is copied by words.
pub const SHORT: usize = 32;

/// The longest value that is checked while it is copied.
pub(crate) const VALUE_SHORT: usize = 64;

/// The longest name that is checked while it is copied.
pub(crate) const NAME_SHORT: usize = 16;

/// Copies up to 32 bytes, as words that may overlap.
#[inline(always)]
pub fn copy_short(room: &mut [u8; SHORT], bytes: &[u8]) {
    let len = bytes.len();
    if let (Some(first), Some(last)) = (bytes.first_chunk::<16>(), bytes.last_chunk::<16>()) {
        room[..16].copy_from_slice(first);
        room[len - 16..][..16].copy_from_slice(last);
    } else if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        room[..8].copy_from_slice(first);
        room[len - 8..][..8].copy_from_slice(last);
    } else {
        copy_few(room, bytes);
    }
}

/// Copies 16 to 64 bytes, and returns true if they are ASCII without control characters. The copy of another
/// length means nothing.
#[inline(always)]
pub(crate) fn copy_value(room: &mut [u8; VALUE_SHORT], value: &[u8]) -> bool {
    let len = value.len();
    if len > VALUE_SHORT {
        return false;
    }
    if let (Some(first), Some(last)) = (value.first_chunk::<32>(), value.last_chunk::<32>()) {
        room[..32].copy_from_slice(first);
        room[len - 32..][..32].copy_from_slice(last);
        return !word::any(first, last, word::may_be_control);
    }
    let (Some(first), Some(last)) = (value.first_chunk::<16>(), value.last_chunk::<16>()) else {
        return false;
    };
    room[..16].copy_from_slice(first);
    room[len - 16..][..16].copy_from_slice(last);
    !word::any(first, last, word::may_be_control)
}

/// Copies up to 15 bytes, and returns true if they have no control characters.
#[inline(always)]
pub(crate) fn copy_small_value(room: &mut [u8; VALUE_SHORT], value: &[u8]) -> bool {
    let len = value.len();
    if len >= 16 {
        return false;
    }
    if let (Some(first), Some(last)) = (word::head(value), word::tail(value)) {
        room[..8].copy_from_slice(&first.to_le_bytes());
        room[len - 8..][..8].copy_from_slice(&last.to_le_bytes());
        return (word::controls(first) | word::controls(last)) & HIGH == 0;
    }
    copy_few(room, value);
    word::controls(word::short(value, b' ')) & HIGH == 0
}

/// Copies 8 to 16 bytes in lower case, and returns true if they are letters, digits and dashes. Else, and of
/// other lengths, what is copied means nothing.
#[inline(always)]
pub(crate) fn copy_name(room: &mut [u8; NAME_SHORT], name: &[u8]) -> bool {
    let len = name.len();
    let (Some(first), Some(last)) = (word::head(name), word::tail(name)) else { return false };
    if len > NAME_SHORT {
        return false;
    }
    // Letters alone, of those three, change by this bit.
    let (lower, lower_last) = (first | each(0x20), last | each(0x20));
    room[..8].copy_from_slice(&lower.to_le_bytes());
    room[len - 8..][..8].copy_from_slice(&lower_last.to_le_bytes());
    // Controls would pass for them by this bit, and have neither it nor the next.
    let visible = (first | first << 1) & (last | last << 1) & each(0x40);
    visible == each(0x40) && (word::unplain(lower) | word::unplain(lower_last)) & HIGH == 0
}

/// Copies a name like [`copy_name`], and a value of up to 64 bytes behind it.
#[inline(always)]
pub(crate) fn copy_field(room: &mut [u8; NAME_SHORT + VALUE_SHORT], name: &[u8], value: &[u8]) -> bool {
    let is_name = room.first_chunk_mut().is_some_and(|room| copy_name(room, name));
    let Some(room) = room.get_mut(name.len()..).and_then(|room| room.first_chunk_mut()) else { return false };
    is_name && if value.len() < 16 { copy_small_value(room, value) } else { copy_value(room, value) }
}

/// Copies up to seven bytes.
#[inline(always)]
fn copy_few<const LEN: usize>(room: &mut [u8; LEN], bytes: &[u8]) {
    let len = bytes.len();
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        room[..4].copy_from_slice(first);
        room[len - 4..][..4].copy_from_slice(last);
    } else if let [first, .., last] = *bytes {
        (room[0], room[len / 2], room[len - 1]) = (first, bytes[len / 2], last);
    } else if let [only] = *bytes {
        room[0] = only;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::bytes;
    use alloc::vec;

    #[test]
    fn values_and_names_are_judged_as_byte_by_byte() {
        for odd in 0..=255u8 {
            for len in 0..=VALUE_SHORT {
                for at in 0..len {
                    let mut text = vec![b'x'; len];
                    text[at] = odd;
                    let mut room = [b'?'; VALUE_SHORT];
                    let is_value = match len {
                        0..16 => copy_small_value(&mut room, &text) != odd.is_ascii_control(),
                        _ => copy_value(&mut room, &text) == matches!(odd, b' '..=b'~'),
                    };
                    assert!(is_value, "{odd:#x} at {at} of {len}");
                    assert_eq!(room[..len], text);
                    assert!(room[len..].iter().all(|byte| *byte == b'?'));
                    let is_plain = odd.is_ascii_alphanumeric() || odd == b'-';
                    let mut room = [b'?'; NAME_SHORT];
                    let is_name = copy_name(&mut room, &text);
                    assert_eq!(is_name, (8..=16).contains(&len) && is_plain, "{odd:#x} at {at} of {len}");
                    if is_name {
                        assert_eq!(room[..len], text.to_ascii_lowercase());
                        assert!(bytes::is_token(&text));
                    }
                }
            }
        }
    }
}
