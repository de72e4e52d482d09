//! Authenticates credentials as those of a user.
//!
//! Rule 1: a name that no user has costs the hash that some user costs, always the same for one name, so that
//! time tells nothing of names.
//! Rule 2: nothing is remembered of credentials that are wrong.

#[cfg(test)]
mod tests;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use super::credentials::Credentials;
use super::grant::Place;
use super::hashing::Crowded;
use super::password::Password;
use super::peers::Prefixes;
use super::permission::{Permission, Permissions};
use super::turns::Asker;
use super::users::User;
use super::{Access, Current};

/// The reason for which a request is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The request has no credentials, or wrong ones.
    Unknown,
    /// Too many hashes wait.
    Crowded,
    /// The user sends too many requests, or the peer too many wrong passwords, and has to wait for this time.
    TooMany(Duration),
}

/// A user, as the users file was when the request was let in.
#[derive(Debug)]
pub(crate) struct Identity {
    current: Arc<Current>,
    place: usize,
}

/// The state of a login.
pub(crate) enum Login {
    /// The user is known without a computation: by a password that was verified before, or by a certificate.
    Done(Identity),
    /// A slow hash has to be computed.
    Pending(Box<Pending>),
}

/// A login whose password is not verified yet.
pub(crate) struct Pending {
    access: Access,
    current: Arc<Current>,
    credentials: Credentials,
    peer: Prefixes,
    asker: Asker,
    /// The hash to compute: the one of the user, or another user's if no user has the name.
    password: Arc<Password>,
    /// The user of that name, if it has a password.
    place: Option<usize>,
}

impl Access {
    /// Begins with a name and a password that a peer has sent.
    ///
    /// # Errors
    /// No user has a password, or the peer has sent too many wrong ones.
    pub(crate) fn login(&self, credentials: Credentials, peer: IpAddr) -> Result<Login, Refusal> {
        let current = self.current();
        let tag = current.verified.tag(credentials.name(), credentials.password());
        if let Some(place) = current.verified.user(&tag) {
            return Ok(Login::Done(Identity { current, place }));
        }
        let peer = Prefixes::of(peer);
        let wait = self.0.past.as_ref().and_then(|past| past.failures.wait(peer, self.0.began.elapsed()));
        if let Some(wait) = wait {
            return Err(Refusal::TooMany(wait));
        }
        let (place, password) = current.password_of(credentials.name()).ok_or(Refusal::Unknown)?;
        let access = self.clone();
        let asker = self.asker(credentials.name(), peer);
        Ok(Login::Pending(Box::new(Pending { access, current, credentials, peer, asker, password, place })))
    }
}

impl Access {
    /// Returns true if a user is known by a certificate.
    pub(crate) fn knows_certificates(&self) -> bool {
        self.0.current.load().users.have_certificates()
    }

    /// Returns the asker of the hash. Where all come by one proxy, names alone tell them apart.
    fn asker(&self, name: &str, peer: Prefixes) -> Asker {
        let standing = self.0.past.as_ref().map(|past| past.standing(peer, self.0.began.elapsed()));
        let peer = standing.is_some().then_some(peer);
        self.0.askers.asker(peer, name, standing.unwrap_or_default())
    }

    /// Records whether the password of a peer was right.
    fn note(&self, peer: Prefixes, is_right: bool) {
        if let Some(past) = &self.0.past {
            past.note(peer, is_right, self.0.began.elapsed());
        }
    }

    /// Finds the user of a certificate that was verified.
    ///
    /// # Errors
    /// No user has it.
    pub(crate) fn login_by_certificate(&self, der: &[u8]) -> Result<Login, Refusal> {
        let current = self.current();
        let place = current.users.by_certificate(der).ok_or(Refusal::Unknown)?;
        Ok(Login::Done(Identity { current, place }))
    }
}

impl Current {
    /// Returns the user of a name with the hash to compute: without such a user, or without a password,
    /// another user's hash.
    fn password_of(&self, name: &str) -> Option<(Option<usize>, Arc<Password>)> {
        let password = |place: usize| self.users.users[place].password.clone();
        if let Some(place) = self.users.by_name(name)
            && let Some(password) = password(place)
        {
            return Some((Some(place), password));
        }
        let others = self.users.with_password();
        let other = others.get(self.verified.number(name, others.len().max(1)))?;
        Some((None, password(*other)?))
    }
}

impl Login {
    /// Finds the user.
    ///
    /// # Errors
    /// The credentials are wrong, or too many hashes wait.
    pub(crate) async fn finish(self) -> Result<Identity, Refusal> {
        match self {
            Self::Done(identity) => Ok(identity),
            Self::Pending(pending) => pending.finish().await,
        }
    }
}

impl Pending {
    async fn finish(self) -> Result<Identity, Refusal> {
        let Self { access, current, credentials, peer, asker, password, place } = self;
        let memory_kib = password.memory_kib();
        let work = move || (password.is_of(credentials.password()), credentials);
        let (is_right, credentials) =
            access.0.hashing.run(asker, memory_kib, work).await.map_err(|Crowded| Refusal::Crowded)?;
        let place = place.filter(|_| is_right);
        access.note(peer, place.is_some());
        let place = place.ok_or(Refusal::Unknown)?;
        let tag = current.verified.tag(credentials.name(), credentials.password());
        current.verified.keep(tag, place);
        Ok(Identity { current, place })
    }
}

impl Identity {
    /// Returns the name of the user.
    pub(crate) fn name(&self) -> &Arc<str> {
        &self.user().name
    }

    /// Returns the first of these permissions that the user does not have in a place.
    pub(crate) fn lacks(&self, permissions: Permissions, place: Place<'_>) -> Option<Permission> {
        self.user().lacks(permissions, place)
    }

    /// Counts a request of the user.
    ///
    /// # Errors
    /// There are too many of them.
    pub(crate) fn count(&self, access: &Access) -> Result<(), Refusal> {
        let user = self.user();
        let Some(rate) = user.rate else { return Ok(()) };
        user.used.take(rate, access.0.began.elapsed()).map_err(Refusal::TooMany)
    }

    fn user(&self) -> &User {
        &self.current.users.users[self.place]
    }
}
