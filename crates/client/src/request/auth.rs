//! Credentials: the field `authorization` (RFC 9110 §11.6.2), and the user information of URLs.

use std::fmt;

use alula_fields::{FieldSection, KnownName, masked_field};
use alula_net::Error;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use percent_encoding::percent_decode_str;
use url::Url;

/// The value of the field `authorization`.
#[derive(Clone, Eq, PartialEq)]
pub(crate) struct Credentials(Box<[u8]>);

/// Shows the scheme only.
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
        // Base64 would carry them, but servers decode to text: a line end there could forge a log or a
        // field.
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

    /// Returns the decoded user information of a URL, if it has any (RFC 3986 §3.2.1).
    pub(crate) fn of_url(url: &Url) -> Result<Option<Self>, Error> {
        if url.username().is_empty() && url.password().is_none() {
            return Ok(None);
        }
        let [user, password] = [url.username(), url.password().unwrap_or_default()]
            .map(|part| percent_decode_str(part).collect::<Vec<_>>());
        Self::basic(&user, &password).map(Some)
    }

    /// Sets `authorization` to these credentials, as a secret: HPACK never indexes it.
    pub(crate) fn set(&self, fields: &mut FieldSection) -> Result<(), Error> {
        fields.remove(KnownName::AUTHORIZATION);
        Ok(fields.append_sensitive(KnownName::AUTHORIZATION, &self.0)?)
    }

    /// Does the same as [`Self::set`], unless there are credentials already.
    pub(crate) fn add(&self, fields: &mut FieldSection) -> Result<(), Error> {
        if fields.contains(KnownName::AUTHORIZATION) {
            return Ok(());
        }
        self.set(fields)
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
