//! The credentials that are sent to one origin (RFC 9110 §11.6.2).

use alula_fields::FieldSection;
use alula_net::Error;

use super::ClientBuilder;
use crate::{request::auth::Credentials, url::location::Location};

/// Credentials and their origin.
#[derive(Clone)]
pub(crate) struct Bound {
    /// The origin: scheme and authority, with the zone of an address.
    prefix: String,
    credentials: Credentials,
}

impl Bound {
    fn new(url: &str, credentials: Credentials) -> Result<Self, Error> {
        Ok(Self { prefix: Location::parse(url)?.prefix(), credentials })
    }

    /// Returns the credentials, if their origin has this prefix.
    pub(crate) fn credentials_for(&self, prefix: &str) -> Option<&Credentials> {
        (self.prefix == prefix).then_some(&self.credentials)
    }
}

/// Credentials of requests, by origin.
impl ClientBuilder {
    /// Sends a name and a password (RFC 7617 §2) with every request to the origin of this URL that has no
    /// `authorization` of its own, even after a redirect. [`build`](Self::build) fails when the URL cannot be
    /// used, the user holds a colon, or either a control character.
    ///
    /// ```
    /// # fn main() -> Result<(), alula::Error> {
    /// let client = alula::Client::builder()
    ///     .basic_auth("https://example.com", "anna", "secret")
    ///     .bearer_auth("https://api.example.com", "token")
    ///     .build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn basic_auth(self, origin: &str, user: &str, password: &str) -> Self {
        self.bind(origin, Credentials::basic(user.as_bytes(), password.as_bytes()))
    }

    /// Sends a token (RFC 6750 §2.1); otherwise like [`Self::basic_auth`]. [`build`](Self::build) fails when
    /// the URL cannot be used or the token cannot stand in a field.
    #[must_use]
    pub fn bearer_auth(self, origin: &str, token: &str) -> Self {
        let credentials = Credentials::bearer(token);
        let checked = credentials.set(&mut FieldSection::new());
        self.bind(origin, checked.map(|()| credentials))
    }

    fn bind(mut self, origin: &str, credentials: Result<Credentials, Error>) -> Self {
        match credentials.and_then(|credentials| Bound::new(origin, credentials)) {
            Ok(bound) => {
                self.settings.policy.credentials.push(bound);
                self.settings.policy.has_additions = true;
            }
            Err(mistake) => self.note(mistake),
        }
        self
    }
}
