//! Tokens (RFC 6750).

use std::{fmt, str::from_utf8};

use super::{UserHeader, Verdict, credentials, is_equal, quoted, unauthorized};
use crate::{answer::Answer, exchange::request::Request, ready::gate::gate, router::Wrap};

type Verify = Box<dyn Fn(&str) -> bool + Send + Sync>;

/// Accepts requests with a known token in `authorization` (Bearer, RFC 6750 §2.1), and answers others 401
/// with `www-authenticate`, with `invalid_token` for an unknown token: a [layer](crate::Wrap) around a route
/// or a router.
///
/// A token crosses the network as it is: serve it over TLS. The tokens that are given here are compared in a
/// time that tells nothing of them but their lengths. Without tokens and without [`verify`](Self::verify) all
/// requests are refused. Tokens are neither shown nor logged. Allocates nothing once warm, but for the answer
/// 401.
///
/// ```
/// use alula::{BearerAuth, Router};
///
/// let auth = BearerAuth::new("api").user("backup", "b3a1c0ffee").user_header("x-user");
/// let router = Router::<()>::new().wrap(auth.layer());
/// # router.build().unwrap();
/// ```
pub struct BearerAuth {
    challenge: String,
    users: Vec<(String, String)>,
    verify: Option<Verify>,
    header: UserHeader,
}

impl BearerAuth {
    /// Makes a layer for a realm, a name that people are shown.
    pub fn new(realm: &str) -> Self {
        let challenge = format!("Bearer realm={}", quoted(realm));
        Self { challenge, users: Vec::new(), verify: None, header: UserHeader::default() }
    }

    /// Adds a user with its token. A user may have several tokens.
    #[must_use]
    pub fn user(mut self, name: impl Into<String>, token: impl Into<String>) -> Self {
        self.users.push((name.into(), token.into()));
        self
    }

    /// Also accepts tokens for which `verify` returns true. It runs in the task of the connection, so it must
    /// not block. Its time is its own matter.
    #[must_use]
    pub fn verify(mut self, verify: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.verify = Some(Box::new(verify));
        self
    }

    /// Sets the name of the user in this field of the request for handlers, replacing what the peer sent; the
    /// field is absent for tokens that only [`verify`](Self::verify) knows.
    #[must_use]
    pub fn user_header(mut self, name: &str) -> Self {
        self.header = UserHeader(Some(name.to_ascii_lowercase()));
        self
    }

    /// Returns the layer, for `Router::wrap` and `Route::wrap`.
    pub fn layer<S: 'static>(self) -> impl Wrap<S> {
        gate(move |exchange| self.check(exchange.request_mut()))
    }

    /// Returns the answer to a request that is not accepted.
    fn check(&self, request: &mut Request) -> Option<Answer> {
        let token = credentials(request.headers(), "Bearer");
        let has_token = token.is_some();
        let token = token.and_then(|token| from_utf8(token).ok()).filter(|token| !token.is_empty());
        let verdict = token.map_or(Verdict::Refused, |token| self.judge(token));
        let passes = self.header.note(request, &verdict) && matches!(verdict, Verdict::Admitted(_));
        (!passes).then(|| self.refusal(has_token))
    }

    fn judge(&self, token: &str) -> Verdict<'_> {
        let found = self.users.iter().fold(None, |found, (name, expected)| {
            let is_it = is_equal(expected.as_bytes(), token.as_bytes());
            if is_it { Some(&**name) } else { found }
        });
        match &self.verify {
            Some(verify) if found.is_none() && verify(token) => Verdict::Admitted(None),
            _ => found.map_or(Verdict::Refused, |name| Verdict::Admitted(Some(name))),
        }
    }

    fn refusal(&self, has_token: bool) -> Answer {
        match has_token {
            true => unauthorized(&format!("{}, error=\"invalid_token\"", self.challenge)),
            false => unauthorized(&self.challenge),
        }
    }
}

impl fmt::Debug for BearerAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BearerAuth").field("challenge", &self.challenge).finish_non_exhaustive()
    }
}
