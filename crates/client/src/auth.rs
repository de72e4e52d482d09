//! Who asks: the field `authorization` (RFC 9110 §11.6.2), and the user information of URLs.

use std::fmt;

use alula_fields::{FieldSection, KnownName, masked_field};
use alula_net::Error;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use percent_encoding::percent_decode_str;
use url::Url;

use crate::{Call, ClientBuilder, location::Location, origin::Origin, request::Request};

/// The value of the field `authorization`.
#[derive(Clone, Eq, PartialEq)]
pub(crate) struct Credentials(Box<[u8]>);

/// Shows the scheme.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&masked_field("authorization", &self.0)))
    }
}

impl Credentials {
    /// Makes credentials of the scheme Basic (RFC 7617 §2).
    pub(crate) fn basic(user: &[u8], password: &[u8]) -> Result<Self, Error> {
        if user.contains(&b':') {
            return Err(Error::usage(
                "the user name contains a colon, which Basic credentials cannot carry (RFC 7617 §2)",
            ));
        }
        if user.iter().chain(password).any(u8::is_ascii_control) {
            return Err(Error::usage(
                "the user name or the password contains a control character (RFC 7617 §2)",
            ));
        }
        let pair = [user, b":", password].concat();
        Ok(Self(format!("Basic {}", STANDARD.encode(pair)).into_bytes().into()))
    }

    /// Makes credentials of the scheme Bearer (RFC 6750 §2.1).
    pub(crate) fn bearer(token: &str) -> Self {
        Self(format!("Bearer {token}").into_bytes().into())
    }

    /// The user information of a URL, decoded (RFC 3986 §3.2.1), if it has some.
    pub(crate) fn of_url(url: &Url) -> Result<Option<Self>, Error> {
        if url.username().is_empty() && url.password().is_none() {
            return Ok(None);
        }
        let [user, password] = [url.username(), url.password().unwrap_or_default()]
            .map(|part| percent_decode_str(part).collect::<Vec<_>>());
        Self::basic(&user, &password).map(Some)
    }

    /// Puts them in the place of what there is, as a secret: HPACK never indexes it.
    pub(crate) fn set(&self, fields: &mut FieldSection) -> Result<(), Error> {
        fields.remove(KnownName::AUTHORIZATION);
        Ok(fields.append_sensitive(KnownName::AUTHORIZATION, &self.0)?)
    }

    /// As [`Self::set`], unless there are some.
    pub(crate) fn add(&self, fields: &mut FieldSection) -> Result<(), Error> {
        if fields.contains(KnownName::AUTHORIZATION) {
            return Ok(());
        }
        self.set(fields)
    }
}

/// Credentials and the origin that they are for.
#[derive(Clone)]
pub(crate) struct Bound {
    scheme: &'static str,
    authority: String,
    credentials: Credentials,
}

impl Bound {
    fn new(url: &str, credentials: Credentials) -> Result<Self, Error> {
        let Location { scheme, authority, .. } = Location::parse(url)?;
        Ok(Self { scheme, authority, credentials })
    }

    pub(crate) fn credentials_for(&self, origin: &Origin) -> Option<&Credentials> {
        let is_for_it = self.scheme == origin.scheme && self.authority == origin.authority;
        is_for_it.then_some(&self.credentials)
    }
}

/// The credentials of a request.
impl Call<'_> {
    /// Says who asks by name and password (RFC 7617 §2), in place of any other `authorization`. HPACK never indexes it, and a
    /// redirect to another origin leaves it out. A prepared request takes its credentials when it is prepared.
    ///
    /// Allocates. The call fails when the user holds a colon, or either a control character. In clear text everyone on the way
    /// can read both.
    ///
    /// ```no_run
    /// # async fn main_() -> Result<(), alula::Error> {
    /// # let client = alula::Client::new()?;
    /// let response = client.get("https://example.com/").basic_auth("anna", "secret").send().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn basic_auth(self, user: &str, password: &str) -> Self {
        self.authorize(Credentials::basic(user.as_bytes(), password.as_bytes()))
    }

    /// Says who asks by a token (RFC 6750 §2.1); else as [`Self::basic_auth`].
    ///
    /// Allocates. The call fails when the token cannot stand in a field.
    pub fn bearer_auth(self, token: &str) -> Self {
        self.authorize(Ok(Credentials::bearer(token)))
    }

    fn authorize(mut self, credentials: Result<Credentials, Error>) -> Self {
        let client = self.client;
        let set = credentials.and_then(|credentials| match &mut self.request {
            Request::Plain(plain) => credentials.set(&mut plain.head_mut(client).fields),
            Request::Prepared(..) => Err(Error::usage(
                "a prepared request takes no credentials with a call: add them when it is prepared",
            )),
            Request::None => Ok(()),
        });
        if let Err(mistake) = set {
            self.note(mistake);
        }
        self
    }
}

/// The credentials of requests, by origin.
impl ClientBuilder {
    /// Says by name and password who asks (RFC 7617 §2) in every request to the origin of this URL that has no `authorization`
    /// of its own, also when a redirect leads there. [`build`](Self::build) fails when the URL cannot be used, the user holds a
    /// colon, or either a control character.
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

    /// Says by a token who asks (RFC 6750 §2.1); else as [`Self::basic_auth`]. [`build`](Self::build) fails when the URL cannot be
    /// used or the token cannot stand in a field.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_of_urls_are_decoded() {
        for (url, value) in [
            ("http://host/", None),
            ("http://@host/", None),
            // The example of RFC 7617 §2.
            ("http://Aladdin:open%20sesame@host/", Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")),
            ("http://user@host/", Some("Basic dXNlcjo=")),
            ("http://:pw@host/", Some("Basic OnB3")),
            // The example of RFC 7617 §2.1.
            ("http://test:123%C2%A3@host/", Some("Basic dGVzdDoxMjPCow==")),
            ("http://a:b:c@host/", Some("Basic YTpiOmM=")),
        ] {
            let credentials = Credentials::of_url(&Url::parse(url).unwrap()).unwrap();
            let expected = value.map(|value| Credentials(value.as_bytes().into()));
            assert_eq!(credentials, expected, "{url}");
        }
        for url in ["http://a%3Ab:c@host/", "http://a%0A:c@host/", "http://a:%00@host/"] {
            assert!(Credentials::of_url(&Url::parse(url).unwrap()).is_err(), "{url}");
        }
    }
}
