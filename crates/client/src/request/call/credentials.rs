//! The credentials of one call (RFC 9110 §11.6.2).

use alula_net::Error;

use super::Call;
use crate::request::{Request, auth::Credentials};

/// The credentials of a request.
impl Call<'_> {
    /// Sends a name and a password (RFC 7617 §2), replacing any other `authorization`. HPACK never indexes
    /// it, and a redirect to another origin leaves it out. A prepared request takes its credentials when it
    /// is prepared.
    ///
    /// Allocates. The call fails when the user holds a colon, or either a control character. In clear text
    /// everyone on the way can read both.
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

    /// Sends a token (RFC 6750 §2.1); otherwise like [`Self::basic_auth`].
    ///
    /// Allocates. The call fails when the token cannot stand in a field.
    pub fn bearer_auth(self, token: &str) -> Self {
        self.authorize(Ok(Credentials::bearer(token)))
    }

    fn authorize(mut self, credentials: Result<Credentials, Error>) -> Self {
        let set = credentials.and_then(|credentials| match &mut self.request {
            Request::Plain(plain) => credentials.set(&mut plain.head_mut(&self.client).fields),
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
