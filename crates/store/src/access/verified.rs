//! Credentials that were found right, so that the next request with them costs no slow hash.
//!
//! Rule 1: what is kept is a keyed hash of a name with its password, never either of them. The key is of this
//! process and of one users file.
//! Rule 2: only credentials that were found right are kept.

use std::fmt;

use aws_lc_rs::hmac::{Context, HMAC_SHA256, Key};
use quick_cache::sync::Cache;

/// The credentials that are kept. Each takes about 100 bytes.
const CREDENTIALS_MAX: usize = 10_000;

/// The bytes of a keyed hash by SHA-256.
const TAG_BYTES: usize = 32;

/// The keyed hash of credentials.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Tag([u8; TAG_BYTES]);

/// A table of credentials that were found right.
pub(super) struct Verified {
    key: Key,
    /// The place of the user among those of the file.
    users: Cache<Tag, usize>,
}

impl Verified {
    /// Makes an empty table with a key of its own.
    ///
    /// # Errors
    /// The system gives no random bytes.
    pub(super) fn new() -> Result<Self, getrandom::Error> {
        Self::of_size(CREDENTIALS_MAX)
    }

    pub(super) fn of_size(credentials_max: usize) -> Result<Self, getrandom::Error> {
        let mut key = [0; TAG_BYTES];
        getrandom::fill(&mut key)?;
        Ok(Self { key: Key::new(HMAC_SHA256, &key), users: Cache::new(credentials_max) })
    }

    /// Returns a table of the same credentials with the places that users have now. Those of whom `place`
    /// knows none
    /// are left out.
    pub(super) fn moved(&self, place: impl Fn(usize) -> Option<usize>) -> Self {
        let moved = Self { key: self.key.clone(), users: Cache::new(CREDENTIALS_MAX) };
        let kept = self.users.iter().filter_map(|(tag, before)| Some((tag, place(before)?)));
        kept.for_each(|(tag, after)| moved.keep(tag, after));
        moved
    }

    /// Returns the keyed hash of a name and a password. The place where one ends and the other begins is part
    /// of it.
    pub(super) fn tag(&self, name: &str, password: &[u8]) -> Tag {
        let mut context = Context::with_key(&self.key);
        context.update(&(name.len() as u64).to_be_bytes());
        context.update(name.as_bytes());
        context.update(password);
        let mut tag = [0; TAG_BYTES];
        tag.copy_from_slice(context.sign().as_ref());
        Tag(tag)
    }

    /// Returns a number below `count` that depends on the name alone, and that nobody can foresee. `count` is
    /// at least 1.
    pub(super) fn number(&self, name: &str, count: usize) -> usize {
        let Tag(tag) = self.tag(name, &[]);
        let number = tag.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes));
        (number % count as u64) as usize
    }

    /// Returns the user of credentials that are kept. Finding them tells nothing of others: a peer cannot
    /// choose their keyed hash.
    pub(super) fn user(&self, tag: &Tag) -> Option<usize> {
        self.users.get(tag)
    }

    pub(super) fn keep(&self, tag: Tag, user: usize) {
        self.users.insert(tag, user);
    }

    #[cfg(any(test, feature = "fuzzing"))]
    pub(super) fn len(&self) -> usize {
        self.users.len()
    }
}

impl fmt::Debug for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verified").field("credentials", &self.users.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_kept_whole_and_within_bounds() {
        let verified = Verified::of_size(100).unwrap();
        let right = verified.tag("ann", b"secret");
        assert_eq!(verified.user(&right), None);
        verified.keep(right, 7);
        assert_eq!(verified.user(&right), Some(7));
        for (name, password) in [("ann", "secre"), ("an", "nsecret"), ("anns", "ecret"), ("", "annsecret")] {
            assert_eq!(verified.user(&verified.tag(name, password.as_bytes())), None, "{name}");
        }
        for number in 0..10_000 {
            verified.keep(verified.tag("bob", format!("{number}").as_bytes()), 1);
        }
        assert!(verified.len() <= 100, "{}", verified.len());
        let other = Verified::of_size(100).unwrap();
        assert!(other.tag("ann", b"secret") != right, "another key");
    }
}
