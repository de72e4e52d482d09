//! Users with passwords (RFC 7617).

use std::{fmt, str::from_utf8};

use alula_fields::FieldSection;
use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::{UserHeader, Verdict, credentials, is_equal, quoted, unauthorized};
use crate::{
    answer::Answer, connection::scratch::Scratch, exchange::request::Request, ready::gate::gate, router::Wrap,
};

type Verify = Box<dyn Fn(&str, &str) -> bool + Send + Sync>;

/// Accepts requests with the name and password of a user (Basic, RFC 7617), and answers others 401 with
/// `www-authenticate`: a [layer](crate::Wrap) around a route or a router.
///
/// A password crosses the network as it is: serve it over TLS. The names and passwords that are given here
/// are compared in a time that tells nothing of them but the lengths of those that are expected. Without
/// users and without [`verify`](Self::verify) all requests are refused. Credentials are neither shown nor
/// logged. Allocates nothing once warm, but for the answer 401.
///
/// ```
/// use alula::{BasicAuth, Router};
///
/// let auth = BasicAuth::new("reports").user("ann", "open sesame").user_header("x-user");
/// let router = Router::<()>::new().wrap(auth.layer());
/// # router.build().unwrap();
/// ```
pub struct BasicAuth {
    challenge: String,
    users: Vec<(String, String)>,
    verify: Option<Verify>,
    header: UserHeader,
}

impl BasicAuth {
    /// Makes a layer for a realm, a name that people are shown.
    pub fn new(realm: &str) -> Self {
        let challenge = format!("Basic realm={}, charset=\"UTF-8\"", quoted(realm));
        Self { challenge, users: Vec::new(), verify: None, header: UserHeader::default() }
    }

    /// Adds a user. A name with a colon is never found.
    #[must_use]
    pub fn user(mut self, name: impl Into<String>, password: impl Into<String>) -> Self {
        self.users.push((name.into(), password.into()));
        self
    }

    /// Also accepts names and passwords for which `verify` returns true. It runs in the task of the
    /// connection, so it must not block, as hashes of passwords that are slow by intent do; check those in a
    /// layer of your own. Its time is its own matter.
    #[must_use]
    pub fn verify(mut self, verify: impl Fn(&str, &str) -> bool + Send + Sync + 'static) -> Self {
        self.verify = Some(Box::new(verify));
        self
    }

    /// Sets the name of the user in this field of the request for handlers, replacing what the peer sent.
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
        let mut decoded = Scratch::lend();
        let pair = decode_pair(request.headers(), &mut decoded);
        let verdict = pair.map_or(Verdict::Refused, |(name, password)| self.judge(name, password));
        let passes = self.header.note(request, &verdict) && matches!(verdict, Verdict::Admitted(_));
        // The memory is lent to others.
        decoded.fill(0);
        (!passes).then(|| unauthorized(&self.challenge))
    }

    fn judge<'a>(&self, name: &'a str, password: &str) -> Verdict<'a> {
        let is_user = |(user, expected): &(String, String)| {
            is_equal(user.as_bytes(), name.as_bytes()) & is_equal(expected.as_bytes(), password.as_bytes())
        };
        let is_known = self.users.iter().fold(false, |is_known, user| is_known | is_user(user));
        match is_known || self.verify.as_ref().is_some_and(|verify| verify(name, password)) {
            true => Verdict::Admitted(Some(name)),
            false => Verdict::Refused,
        }
    }
}

impl fmt::Debug for BasicAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BasicAuth").field("challenge", &self.challenge).finish_non_exhaustive()
    }
}

/// Decodes the name and the password (RFC 7617 §2) into lent memory.
pub(crate) fn decode_pair<'d>(
    headers: &FieldSection,
    decoded: &'d mut Vec<u8>,
) -> Option<(&'d str, &'d str)> {
    STANDARD.decode_vec(credentials(headers, "Basic")?, decoded).ok()?;
    from_utf8(decoded).ok()?.split_once(':')
}
