//! Cross-origin requests (the CORS protocol of the Fetch standard).
//!
//! Rule: `*` is never sent together with credentials, and credentials are never allowed to any origin
//! whatever it is.

use std::fmt;

use alula_fields::{KnownName, Status};

use crate::{
    answer::Answer,
    connection::scratch::Scratch,
    router::{Begun, Hook},
};

/// The value of `vary` for answers to preflights.
const VARY_OF_PREFLIGHTS: &str = "origin, access-control-request-method, access-control-request-headers";

/// Lets pages of other origins read answers (CORS, Fetch standard §3.2): a [hook](crate::Hook).
///
/// Preflights, OPTIONS with `origin` and `access-control-request-method`, are answered 204 by the hook; no
/// handler sees them. The fields are added to all other answers, errors too. Where the answer depends on the
/// origin, `vary` says so. Origins that are not allowed get the same answers without the fields: a browser
/// keeps them from its page, and nothing else does. It is no access control.
///
/// GET, HEAD and POST are allowed unless methods are named. Allocates nothing once warm, but for answers to
/// preflights.
///
/// ```
/// use alula::{Cors, Router};
/// use std::time::Duration;
///
/// let cors = Cors::origins(["https://app.example"])
///     .methods(["GET", "PUT", "DELETE"])
///     .headers(["content-type", "authorization"])
///     .credentials(true)
///     .max_age(Duration::from_secs(600));
/// let router = Router::<()>::new().hook(cors);
/// # router.build().unwrap();
/// ```
#[doc(alias = "CorsLayer")]
pub struct Cors {
    origins: Origins,
    methods: Allowed,
    headers: Allowed,
    exposed: String,
    credentials: bool,
    max_age: Option<String>,
}

enum Origins {
    Any,
    Listed(Vec<String>),
    Judged(Box<dyn Fn(&str) -> bool + Send + Sync>),
}

enum Allowed {
    /// The given names.
    Listed(String),
    /// The names that the request asks for, which the answer repeats.
    Asked,
}

impl Cors {
    /// Lets all origins read answers. Requests with credentials, such as cookies, are not allowed then,
    /// whatever
    /// [`credentials`](Self::credentials) says.
    pub fn any_origin() -> Self {
        Self::new(Origins::Any)
    }

    /// Lets these origins read answers, such as `https://app.example`. They are compared byte by byte with
    /// what browsers send: scheme and host in lower case, the port unless it is the default, no slash at the
    /// end.
    pub fn origins<O: Into<String>>(origins: impl IntoIterator<Item = O>) -> Self {
        Self::new(Origins::Listed(origins.into_iter().map(Into::into).collect()))
    }

    /// Lets the origins read answers for which `allows` returns true. It runs in the task of the connection,
    /// so it must not block. Compare whole origins: `ends_with("example.com")` is true for
    /// `https://badexample.com` as well.
    pub fn origins_if(allows: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self::new(Origins::Judged(Box::new(allows)))
    }

    fn new(origins: Origins) -> Self {
        Self {
            origins,
            methods: Allowed::Listed("GET, HEAD, POST".into()),
            headers: Allowed::Listed(String::new()),
            exposed: String::new(),
            credentials: false,
            max_age: None,
        }
    }

    /// Allows these methods, in place of GET, HEAD and POST; `*` allows all.
    #[must_use]
    pub fn methods<'n>(mut self, methods: impl IntoIterator<Item = &'n str>) -> Self {
        self.methods = Allowed::of(methods);
        self
    }

    /// Allows these fields in requests; `*` allows all. None beside the safelisted are allowed unless set.
    #[must_use]
    pub fn headers<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Self {
        self.headers = Allowed::of(names);
        self
    }

    /// Lets pages read these fields of answers beside the safelisted; `*` all of them, which is not sent with
    /// credentials.
    #[must_use]
    pub fn expose_headers<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Self {
        self.exposed = joined(names);
        self
    }

    /// Sets whether requests may carry credentials, such as cookies. They may not unless set, nor where
    /// [any origin](Self::any_origin) is allowed.
    #[must_use]
    pub fn credentials(mut self, are_allowed: bool) -> Self {
        self.credentials = are_allowed;
        self
    }

    /// Sets how long a browser may keep the answer to a preflight, in whole seconds; browsers keep it for 5
    /// seconds unless set, and for two hours or a day at most.
    #[must_use]
    pub fn max_age(mut self, age: std::time::Duration) -> Self {
        self.max_age = Some(age.as_secs().to_string());
        self
    }

    fn allows(&self, origin: &str) -> bool {
        match &self.origins {
            Origins::Any => true,
            Origins::Listed(origins) => origins.iter().any(|it| it == origin),
            Origins::Judged(allows) => allows(origin),
        }
    }

    const fn is_any(&self) -> bool {
        matches!(self.origins, Origins::Any)
    }

    fn allows_credentials(&self) -> bool {
        self.credentials && !self.is_any()
    }

    /// Adds the fields for all answers to an allowed origin.
    fn add_origin(&self, begun: &mut Begun<'_>, origin: &str) {
        let origin = if self.is_any() { "*" } else { origin };
        add(begun, KnownName::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        if self.allows_credentials() {
            add(begun, KnownName::ACCESS_CONTROL_ALLOW_CREDENTIALS, "true");
        }
    }

    /// Adds the list of the fields that pages may read.
    fn add_exposed(&self, begun: &mut Begun<'_>) {
        // With credentials browsers take `*` for the name of a field: it would expose nothing.
        let says_all = self.exposed.split(", ").any(|name| name == "*");
        if !(self.exposed.is_empty() || says_all && self.allows_credentials()) {
            add(begun, KnownName::ACCESS_CONTROL_EXPOSE_HEADERS, &self.exposed);
        }
    }

    /// Adds the methods and the fields that an origin may use, and how long that holds.
    fn add_allowed(&self, begun: &mut Begun<'_>) {
        let methods = (KnownName::ACCESS_CONTROL_ALLOW_METHODS, KnownName::ACCESS_CONTROL_REQUEST_METHOD);
        self.methods.add(begun, methods);
        let headers = (KnownName::ACCESS_CONTROL_ALLOW_HEADERS, KnownName::ACCESS_CONTROL_REQUEST_HEADERS);
        self.headers.add(begun, headers);
        if let Some(age) = &self.max_age {
            add(begun, KnownName::ACCESS_CONTROL_MAX_AGE, age);
        }
    }
}

impl Hook for Cors {
    fn begin(&self, begun: &mut Begun<'_>) -> Option<Answer> {
        let is_preflight = is_preflight(begun);
        match (is_preflight, self.is_any()) {
            (true, _) => add(begun, KnownName::VARY, VARY_OF_PREFLIGHTS),
            // `*` is one answer for all origins, which caches may share.
            (false, true) => {}
            (false, false) => add(begun, KnownName::VARY, "origin"),
        }
        let origin = copied(begun, KnownName::ORIGIN);
        let origin = origin.as_deref().and_then(|origin| std::str::from_utf8(origin).ok());
        if let Some(origin) = origin.filter(|origin| self.allows(origin)) {
            self.add_origin(begun, origin);
            if is_preflight { self.add_allowed(begun) } else { self.add_exposed(begun) }
        }
        // A preflight of an origin that is not allowed is answered without permissions: its browser refuses
        // then.
        is_preflight.then(|| Answer::new(Status::NO_CONTENT).content(""))
    }
}

impl fmt::Debug for Cors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cors").field("credentials", &self.allows_credentials()).finish_non_exhaustive()
    }
}

impl Allowed {
    fn of<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let names = joined(names);
        // Browsers take `*` for a name where there are credentials: the names that are asked for work with
        // both.
        if names.split(", ").any(|name| name == "*") { Self::Asked } else { Self::Listed(names) }
    }

    /// Adds the allowed names under the first field; the second has the requested ones.
    fn add(&self, begun: &mut Begun<'_>, (name, asked): (KnownName, KnownName)) {
        match self {
            Self::Listed(names) if names.is_empty() => {}
            Self::Listed(names) => add(begun, name, names),
            Self::Asked => {
                if let Some(asked) = copied(begun, asked) {
                    add(begun, name, &*asked);
                }
            }
        }
    }
}

fn is_preflight(begun: &Begun<'_>) -> bool {
    let (request, headers) = (begun.request(), begun.request().headers());
    let asks =
        headers.contains(KnownName::ORIGIN) && headers.contains(KnownName::ACCESS_CONTROL_REQUEST_METHOD);
    asks && request.method() == "OPTIONS"
}

/// Copies the value of a field that occurs once in the request.
fn copied(begun: &Begun<'_>, name: KnownName) -> Option<Scratch> {
    let mut values = begun.request().headers().get_all(name);
    let (value, None) = (values.next()?, values.next()) else { return None };
    let mut copy = Scratch::lend();
    copy.extend_from_slice(value);
    Some(copy)
}

/// Adds a field. A value of the program that is none is left out, which allows less.
fn add(begun: &mut Begun<'_>, name: KnownName, value: impl AsRef<[u8]>) {
    let _ = begun.add_header(name, value);
}

fn joined<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    names.into_iter().collect::<Vec<_>>().join(", ")
}
