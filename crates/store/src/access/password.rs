//! Hashes of passwords: argon2id, within bounds of memory and work.
//!
//! Rule: a hash of the users file is worked with only if its costs are within the bounds of this file, so
//! that no request costs more.

use std::fmt;

use argon2::{ARGON2ID_IDENT, Algorithm, Argon2, Block, Params, PasswordHash, Version, password_hash::phc};

/// The most memory of one hash, in KiB. All that are computed at once share as much.
pub(super) const MEMORY_KIB_MAX: u32 = 256 * 1024;
/// The most work of one hash: KiB of memory times passes. It takes a processor about half a second.
const WORK_MAX: u64 = 1024 * 1024;
/// The least work that is taken: all that the password storage cheat sheet of OWASP takes for equal is above
/// it, such as 7 MiB in five passes.
const WORK_MIN: u64 = 35 * 1024;
/// The most lanes.
const LANES_MAX: u32 = 16;
/// The shortest result, in bytes.
const RESULT_MIN: usize = 16;
/// The bytes of the salts that are made here.
const SALT_BYTES: usize = 16;

/// A hash of a password, with what it takes to compute another one like it.
pub(super) struct Password {
    costs: Params,
    salt: phc::Salt,
    result: phc::Output,
}

impl PartialEq for Password {
    fn eq(&self, other: &Self) -> bool {
        (&self.costs, &self.salt, &self.result) == (&other.costs, &other.salt, &other.result)
    }
}

impl Password {
    /// Reads a hash as `alula store --hash-password` prints it.
    ///
    /// # Errors
    /// The reason for which it is not taken, without any of its text, which may be a password.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        if !text.starts_with('$') {
            return Err(format!("is no hash: make one with {MAKER}"));
        }
        let hash = PasswordHash::new(text)
            .map_err(|_| format!("is no hash that can be read: make one with {MAKER}"))?;
        if hash.algorithm != ARGON2ID_IDENT || hash.version != Some(Version::V0x13.into()) {
            return Err(format!("is no hash by argon2id, version 19: make one with {MAKER}"));
        }
        let (Some(salt), Some(result)) = (hash.salt, hash.hash) else {
            return Err(format!("has no salt or no result: make one with {MAKER}"));
        };
        let costs = Params::try_from(&hash.params)
            .map_err(|_| "has costs that are not those of argon2id, m, t and p".to_owned())?;
        check_costs(&costs)?;
        if result.len() < RESULT_MIN {
            return Err(format!("is too short: its result has at least {RESULT_MIN} bytes"));
        }
        Ok(Self { costs, salt, result })
    }

    /// Makes the hash of a password, with a new salt and the costs that are usual.
    pub(super) fn make(password: &[u8]) -> Result<String, getrandom::Error> {
        let mut salt = [0; SALT_BYTES];
        getrandom::fill(&mut salt)?;
        let salt = phc::Salt::new(&salt).expect("a salt of 16 bytes");
        let (costs, result) = (Params::default(), [0; Params::DEFAULT_OUTPUT_LEN]);
        let result = phc::Output::new(&result).expect("a result of 32 bytes");
        let plan = Self { costs, salt, result };
        let hash = PasswordHash {
            algorithm: ARGON2ID_IDENT,
            version: Some(Version::V0x13.into()),
            params: (&plan.costs).try_into().expect("the usual costs"),
            salt: Some(salt),
            hash: Some(plan.compute(password).expect("the usual costs")),
        };
        Ok(hash.to_string())
    }

    /// Returns true if this is the hash of the password. The time that it takes depends on the costs alone.
    pub(super) fn is_of(&self, password: &[u8]) -> bool {
        // `Output` compares in constant time.
        self.compute(password).is_some_and(|result| result == self.result)
    }

    /// Returns the memory that computing it takes, in KiB.
    pub(super) fn memory_kib(&self) -> u32 {
        self.costs.m_cost()
    }

    fn compute(&self, password: &[u8]) -> Option<phc::Output> {
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, self.costs.clone());
        let mut blocks = memory(self.costs.block_count())?;
        let mut result = [0; phc::Output::MAX_LENGTH];
        let result = &mut result[..self.result.len()];
        argon2.hash_password_into_with_memory(password, &self.salt, result, &mut blocks).ok()?;
        phc::Output::new(result).ok()
    }
}

/// Returns the memory of a hash, which goes back to the system when it is dropped; none if there is none.
///
/// Only what is used of it is in memory, but more is asked for. glibc maps what is above 32 MiB apart, and
/// keeps what is below within the heap of a thread, where the next small thing that is allocated splits it,
/// so that each hash takes new memory.
fn memory(blocks: usize) -> Option<Vec<Block>> {
    const MAPPED_BLOCKS: usize = (32 * 1024 * 1024) / size_of::<Block>() + 1;

    let mut memory = Vec::new();
    memory.try_reserve_exact(blocks.max(MAPPED_BLOCKS)).ok()?;
    memory.resize(blocks, Block::default());
    Some(memory)
}

const MAKER: &str = "`alula store --hash-password`";

fn check_costs(costs: &Params) -> Result<(), String> {
    let (memory, passes, lanes) = (costs.m_cost(), costs.t_cost(), costs.p_cost());
    let work = u64::from(memory) * u64::from(passes);
    if memory > MEMORY_KIB_MAX || work > WORK_MAX || lanes > LANES_MAX {
        return Err(format!(
            "costs too much: m is at most {MEMORY_KIB_MAX}, m times t at most {WORK_MAX}, p at most {LANES_MAX}"
        ));
    }
    if work < WORK_MIN {
        return Err(format!(
            "is too cheap to guess: m times t is at least {WORK_MIN}, such as m=19456,t=2,p=1"
        ));
    }
    Ok(())
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Password").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_of_its_password_alone() {
        let hash = Password::make("open sesame".as_bytes()).unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        let password = Password::read(&hash).unwrap();
        assert!(password.is_of(b"open sesame"));
        for other in ["open sesam", "open sesame ", "", "open sesame\0"] {
            assert!(!password.is_of(other.as_bytes()), "{other:?}");
        }
        assert_ne!(Password::make(b"open sesame").unwrap(), hash, "another salt");
    }

    /// Made by the reference implementation, `echo -n password | argon2 somesalt -id -t 2 -k 65536 -p 1 -e`:
    /// the test vector of its repository.
    #[test]
    fn hashes_of_others_are_read() {
        let hash = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
        assert!(Password::read(hash).unwrap().is_of(b"password"));
    }

    #[test]
    fn hashes_that_are_not_taken_are_explained() {
        const TAIL: &str = "$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
        for (head, expected) in [
            ("$argon2id$v=19$m=262145,t=1,p=1", "costs too much"),
            ("$argon2id$v=19$m=65536,t=17,p=1", "costs too much"),
            ("$argon2id$v=19$m=65536,t=2,p=17", "costs too much"),
            ("$argon2id$v=19$m=4096,t=2,p=1", "too cheap"),
            ("$argon2i$v=19$m=65536,t=2,p=1", "no hash by argon2id"),
            ("$argon2id$v=16$m=65536,t=2,p=1", "no hash by argon2id"),
            ("$argon2id$m=65536,t=2,p=1", "no hash by argon2id"),
            ("$argon2id$v=19$m=4,t=2,p=1", "costs that are not"),
            ("$argon2id$v=19$m=65536,t=2,p=1,x=1", "costs that are not"),
            ("$2b$v=19", "no hash by argon2id"),
            ("$argon2id$v=19$m=65536,t=2,p=1$", "no hash that can be read"),
        ] {
            let error = Password::read(&format!("{head}{TAIL}")).expect_err(head);
            assert!(error.contains(expected), "{head}: {error}");
        }
        for (text, expected) in [
            ("secret", "is no hash:"),
            ("", "is no hash:"),
            ("$argon2id$v=19$m=65536,t=2,p=1", "no salt or no result"),
            ("$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ", "no salt or no result"),
            ("$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaM", "too short"),
        ] {
            let error = Password::read(text).expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
            assert!(!error.contains("secret"));
        }
    }
}
