//! Keys that the store makes for objects and data types.

use super::random::random;
use crate::http::answer::fail::Fail;

/// The letters of keys that are made: they need no escape in a path.
const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// 27 letters are more than 160 random bits.
const KEY_LETTERS: usize = 27;

/// Makes a key that no object has.
///
/// # Errors
/// The system gives no random bytes.
pub(in crate::http) fn new_key() -> Result<[u8; KEY_LETTERS], Fail> {
    let random: [u8; 2 * KEY_LETTERS] = random()?;
    let mut key = [0; KEY_LETTERS];
    // Of 65 536 numbers each letter has the same share but for one in a thousand.
    for (letter, bytes) in key.iter_mut().zip(random.chunks_exact(2)) {
        *letter = LETTERS[usize::from(u16::from_ne_bytes([bytes[0], bytes[1]])) % LETTERS.len()];
    }
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_keys_differ_and_have_letters_and_digits() {
        let (one, other) = (new_key().expect("random bytes"), new_key().expect("random bytes"));
        assert_ne!(one, other);
        assert!(one.iter().all(u8::is_ascii_alphanumeric));
    }
}
