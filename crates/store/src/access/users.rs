//! The users of a file, with what each may do.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use aws_lc_rs::digest::{SHA256, digest};

use super::certificate::{self, CertificateName};
use super::grant::{Grant, Place};
use super::password::Password;
use super::permission::{Permission, Permissions};
use super::rate::{Rate, Used};

/// The users of a users file, with what each of them may do. They never change.
///
/// ```
/// use alula_store::access::Users;
///
/// let hash = alula_store::access::hash_password(b"open sesame").unwrap();
/// let text = format!(
///     r#"
///     [users.ann]
///     password = "{hash}"
///     [[users.ann.grants]]
///     allow = ["get", "put"]
///     type = "default"
///     bucket = "orders"
///     "#
/// );
/// assert_eq!(Users::parse(&text).unwrap().count(), 1);
/// ```
#[derive(Default)]
pub struct Users {
    pub(super) users: Vec<User>,
    names: HashMap<Arc<str>, usize>,
    /// The users of certificates, by the SHA-256 of each.
    digests: HashMap<[u8; 32], usize>,
    /// The users of the DNS names in certificates, in lower case.
    dns_names: HashMap<Box<str>, usize>,
    /// The places of the users who have a password.
    with_password: Vec<usize>,
}

/// A user.
#[derive(Debug)]
pub(super) struct User {
    pub(super) name: Arc<str>,
    pub(super) password: Option<Arc<Password>>,
    pub(super) certificates: Vec<CertificateName>,
    /// The grants of the user, and those of each group, which its users share.
    pub(super) grants: Vec<Arc<[Grant]>>,
    pub(super) rate: Option<Rate>,
    /// Shared with the same user of a file that was read before, if the rate is the same.
    pub(super) used: Arc<Used>,
}

impl Users {
    /// Returns the number of users.
    pub fn count(&self) -> usize {
        self.users.len()
    }

    /// Adds a user whose name and certificates no other has.
    pub(super) fn add(&mut self, user: User) {
        let place = self.users.len();
        self.names.insert(user.name.clone(), place);
        for name in &user.certificates {
            match name {
                CertificateName::Sha256(digest) => self.digests.insert(*digest, place),
                CertificateName::Dns(name) => self.dns_names.insert(name.clone(), place),
            };
        }
        self.with_password.extend(user.password.is_some().then_some(place));
        self.users.push(user);
    }

    pub(super) fn has_certificate(&self, name: &CertificateName) -> bool {
        match name {
            CertificateName::Sha256(digest) => self.digests.contains_key(digest),
            CertificateName::Dns(name) => self.dns_names.contains_key(name),
        }
    }

    pub(super) fn by_name(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    pub(super) fn have_certificates(&self) -> bool {
        !self.digests.is_empty() || !self.dns_names.is_empty()
    }

    /// Returns the user of a certificate in DER that was verified: by its digest, else by the first of its
    /// DNS names that is a user's.
    pub(super) fn by_certificate(&self, der: &[u8]) -> Option<usize> {
        let by_digest = self.digests.get(digest(&SHA256, der).as_ref());
        by_digest.copied().or_else(|| certificate::dns_name(der, |name| self.dns_names.get(name).copied()))
    }

    /// Returns the places of the users who have a password.
    pub(super) fn with_password(&self) -> &[usize] {
        &self.with_password
    }
}

impl User {
    /// Returns the first of these permissions that the user does not have in a place.
    pub(super) fn lacks(&self, permissions: Permissions, place: Place<'_>) -> Option<Permission> {
        let has = |permission| {
            self.grants.iter().flat_map(|grants| &**grants).any(|grant| grant.gives(permission, place))
        };
        permissions.iter().find(|permission| !has(*permission))
    }
}

impl fmt::Debug for Users {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.users.iter().map(|user| &user.name)).finish()
    }
}
