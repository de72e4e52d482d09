//! Users, what each of them may do, and how they are known.
//!
//! Rule 1: what a users file says never changes. A reload puts another one in its place, and forgets the
//! credentials that were found right of users whose name or hash is another one.
//! Rule 2: names and passwords are looked up, compared and hashed. None of them becomes a path or part of a
//! query.
//! Rule 3: a peer that has shown no right credentials makes the server hash within bounds of memory, of
//! threads and of requests in wait.

mod certificate;
mod credentials;
mod failures;
mod grant;
mod hashing;
mod known;
mod login;
mod password;
mod peers;
mod permission;
mod rate;
mod turns;
mod users;
mod users_file;
mod verified;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::time::Instant;

use self::failures::Failures;
use self::hashing::Hashing;
use self::known::Known;
use self::peers::Prefixes;
use self::turns::{Askers, Standing};
use self::verified::Verified;

pub(crate) use self::credentials::Credentials;
pub(crate) use self::grant::Place;
pub(crate) use self::login::{Identity, Login, Refusal};
pub use self::permission::Permission;
pub(crate) use self::permission::Permissions;
pub use self::users::Users;
pub use self::users_file::UsersError;

/// Checks who sends a request, and what that user may do. Clones are handles of one, whose users can be
/// replaced while it serves.
#[derive(Clone)]
pub struct Access(Arc<Shared>);

struct Shared {
    current: ArcSwap<Current>,
    hashing: Hashing,
    askers: Askers,
    /// The passwords that peers have sent so far; `None` where all requests come from one proxy, whose
    /// clients are not told apart.
    past: Option<Past>,
    takes_clear_text: bool,
    began: Instant,
}

/// The passwords that peers have sent, right ones and wrong ones.
struct Past {
    failures: Failures,
    known: Known,
}

/// The users of one file, with what was remembered of them.
#[derive(Debug)]
pub(crate) struct Current {
    users: Users,
    verified: Verified,
}

impl Access {
    /// Lets these users in, over TLS alone.
    ///
    /// # Errors
    /// The system gives no random bytes.
    pub fn new(users: Users) -> Result<Self, getrandom::Error> {
        Self::with(users, false)
    }

    /// Lets these users in over TLS and in clear text, in which everybody between them and the server can
    /// read their passwords: for a proxy on the same machine that ends TLS.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn in_clear_text(users: Users) -> Result<Self, getrandom::Error> {
        Self::with(users, true)
    }

    fn with(users: Users, takes_clear_text: bool) -> Result<Self, getrandom::Error> {
        Self::made_of(Hashing::new(), users, (!takes_clear_text).then(Past::new), takes_clear_text)
    }

    fn made_of(
        hashing: Hashing,
        users: Users,
        past: Option<Past>,
        takes_clear_text: bool,
    ) -> Result<Self, getrandom::Error> {
        let current = ArcSwap::from_pointee(Current::new(users)?);
        let (askers, began) = (Askers::default(), Instant::now());
        Ok(Self(Arc::new(Shared { current, hashing, askers, past, takes_clear_text, began })))
    }

    /// Replaces all users. Requests that were let in go on. Users who have the same name as before keep what
    /// they have used of their rate, unless it is another rate. Credentials that were found right are
    /// remembered of users who have the same name and the same hash as before, whatever else of them has
    /// changed; of others they are forgotten, which counts for the next request. Wrong passwords of peers
    /// stay counted.
    ///
    /// # Errors
    /// As [`new`](Self::new): the users stay as they were.
    pub fn replace(&self, users: Users) -> Result<(), getrandom::Error> {
        self.0.current.store(Arc::new(self.current().followed_by(users)));
        Ok(())
    }

    pub(crate) fn takes_clear_text(&self) -> bool {
        self.0.takes_clear_text
    }

    fn current(&self) -> Arc<Current> {
        self.0.current.load_full()
    }

    /// Lets users in as [`new`](Self::new) does, with slow hashes on at most `threads` threads and without a
    /// limit on wrong passwords: for tests.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    #[cfg(feature = "fuzzing")]
    #[doc(hidden)]
    pub fn hashing_on(threads: usize, users: Users) -> Result<Self, getrandom::Error> {
        Self::made_of(Hashing::on(threads), users, None, false)
    }

    /// Lets users in as [`in_clear_text`](Self::in_clear_text) does, without a thread for slow hashes and a
    /// place to wait for one: for tests.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    #[cfg(feature = "fuzzing")]
    #[doc(hidden)]
    pub fn crowded(users: Users) -> Result<Self, getrandom::Error> {
        Self::made_of(Hashing::on(0), users, None, true)
    }

    #[cfg(test)]
    fn on_threads(threads: usize, users: Users) -> Result<Self, getrandom::Error> {
        Self::made_of(Hashing::on(threads), users, Some(Past::new()), false)
    }

    /// Returns the number of slow hashes that were computed so far, and the most of them at once: for tests.
    #[cfg(feature = "fuzzing")]
    #[doc(hidden)]
    pub fn hashes(&self) -> (usize, usize) {
        self.0.hashing.counted()
    }

    /// Returns the number of verified credentials that are kept: for tests.
    #[cfg(feature = "fuzzing")]
    #[doc(hidden)]
    pub fn verified(&self) -> usize {
        self.current().verified.len()
    }
}

impl Past {
    fn new() -> Self {
        Self { failures: Failures::new(), known: Known::new() }
    }

    fn standing(&self, peer: Prefixes, now: Duration) -> Standing {
        let own = self.failures.of_peer(peer, now);
        match self.known.has(peer, now) {
            true => Standing::known(own),
            false => Standing::unknown(self.failures.of_network(peer, now), own),
        }
    }

    fn note(&self, peer: Prefixes, is_right: bool, now: Duration) {
        match is_right {
            true => self.known.add(peer, now),
            false => self.failures.add(peer, now),
        }
    }
}

impl Current {
    fn new(users: Users) -> Result<Self, getrandom::Error> {
        Ok(Self { users, verified: Verified::new()? })
    }

    /// Returns the new users, with what is remembered of the unchanged ones among the present users.
    fn followed_by(&self, mut users: Users) -> Self {
        for user in &mut users.users {
            let before = self.users.by_name(&user.name).map(|place| &self.users.users[place]);
            if let Some(before) = before.filter(|before| before.rate == user.rate) {
                user.used = before.used.clone();
            }
        }
        let verified = self.verified.moved(|place| {
            let before = self.users.users.get(place)?;
            let after = users.by_name(&before.name)?;
            let is_same = before.password.is_some() && before.password == users.users[after].password;
            is_same.then_some(after)
        });
        Self { users, verified }
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let current = self.current();
        f.debug_struct("Access").field("users", &current.users).finish_non_exhaustive()
    }
}

/// Makes a hash of a password for a users file, by argon2id with 19 MiB of memory in two passes. It takes
/// some 20 ms.
///
/// # Errors
/// The system gives no random bytes.
pub fn hash_password(password: &[u8]) -> Result<String, getrandom::Error> {
    password::Password::make(password)
}
