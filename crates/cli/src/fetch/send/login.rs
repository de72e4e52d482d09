//! `--digest` and `--anyauth`: credentials that are sent once the server has said how.

use std::cell::RefCell;

use alula::{KnownName, Response};
use url::{Position, Url};

use super::{
    basic::basic,
    digest::{Challenge, Digest, challenges},
};
use crate::args::RequestArgs;
use crate::fetch::plan::target::Target;

/// The way in which credentials are sent.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(in crate::fetch) enum Login {
    /// Credentials go out with the first request, by the scheme Basic.
    #[default]
    Basic,
    /// Credentials go out by the scheme Digest, once the server asks for it.
    Digest,
    /// Credentials go out by the best scheme that the server offers.
    Any,
}

impl Login {
    pub(in crate::fetch) fn of(args: &RequestArgs) -> Self {
        match (args.digest, args.anyauth) {
            (true, _) => Self::Digest,
            (_, true) => Self::Any,
            _ => Self::Basic,
        }
    }
}

/// A request that credentials are for.
pub(in crate::fetch) struct Asked<'a> {
    pub(in crate::fetch) method: &'a str,
    origin: String,
    /// The path and query that are sent.
    path: &'a str,
    pub(in crate::fetch) user: &'a (String, String),
}

impl<'a> Asked<'a> {
    pub(in crate::fetch) fn new(method: &'a str, target: &'a Target, user: &'a (String, String)) -> Self {
        let path =
            target.path_as_is.as_deref().unwrap_or(&target.url[Position::BeforePath..Position::AfterQuery]);
        Self { method, origin: origin(&target.url), path, user }
    }
}

fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// The digests that servers have asked for, each with its origin.
#[derive(Debug, Default)]
pub(in crate::fetch) struct Logins(RefCell<Vec<(String, Digest)>>);

/// The answer to a challenge.
pub(in crate::fetch) struct Answer {
    pub(in crate::fetch) authorization: String,
    /// The challenge says that the credentials of the last request were right.
    pub(in crate::fetch) is_renewed: bool,
}

impl Logins {
    /// The value of `authorization` for a server that has asked for a digest before.
    pub(in crate::fetch) fn known(&self, asked: &Asked<'_>) -> Option<String> {
        let mut all = self.0.borrow_mut();
        let (_, digest) = all.iter_mut().find(|(origin, _)| *origin == asked.origin)?;
        Some(digest.authorization(asked.user, asked.method, asked.path))
    }

    /// The answer to the challenges of this response; nothing if there is none to be given.
    pub(in crate::fetch) fn answer(
        &self,
        response: &Response,
        login: Login,
        asked: &Asked<'_>,
    ) -> Option<Answer> {
        // After a redirect another server asks, which the credentials are not for.
        if response.status().as_u16() != 401 || response.redirects() > 0 {
            return None;
        }
        let fields = response.headers().get_all(KnownName::WWW_AUTHENTICATE);
        let all: Vec<Challenge> =
            fields.filter_map(|field| std::str::from_utf8(field).ok()).flat_map(challenges).collect();
        let Some(mut digest) = Digest::best(&all) else {
            // With --digest a server that offers Basic alone is not given the password in clear text.
            let is_basic = login == Login::Any && all.iter().any(|challenge| challenge.scheme == "basic");
            let (name, password) = asked.user;
            return is_basic.then(|| Answer { authorization: basic(name, password), is_renewed: false });
        };
        let is_renewed = digest.is_stale;
        let authorization = digest.authorization(asked.user, asked.method, asked.path);
        let mut known = self.0.borrow_mut();
        known.retain(|(origin, _)| *origin != asked.origin);
        known.push((asked.origin.clone(), digest));
        Some(Answer { authorization, is_renewed })
    }
}
