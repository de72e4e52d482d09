//! Requests from pages of other origins in a browser (CSRF), and names that were rebound to this server.
//!
//! Rule: `host` is judged first, for all methods: a page of a name that was bound anew is of the same origin
//! for its browser.

use std::{borrow::Cow, fmt, net::Ipv4Addr};

use alula_fields::{Authority, KnownName, Scheme, Status};

use super::gate::gate;
use crate::{
    answer::Answer,
    exchange::request::Request,
    router::{Begun, Hook, Wrap},
};

const MISDIRECTED: &str = "this server does not answer for that host";

/// Refuses changing requests from pages of other origins: a [hook](crate::Hook) for a router, or a
/// [layer](Self::layer) around a route. It can hold requests to certain hosts as well.
///
/// A browser sends cookies, and reaches servers that only its own machine or network reaches, for any page: a
/// page can post forms to them, though it cannot read the answers. As CrossOriginProtection of Go's net/http
/// does, this judges by what browsers say of a request, so neither tokens nor cookies are needed:
///
/// - GET, HEAD and OPTIONS pass: they must not change anything.
/// - Where there is `sec-fetch-site`, `same-origin` and `none`, which is the user, pass.
/// - Else, where there is `origin`, it passes if scheme, host and port are those of the request. Behind a
///   proxy that ends TLS that takes
///   [`ServerBuilder::trusted_proxies`](crate::ServerBuilder::trusted_proxies); browsers of 2023 and later
///   send `sec-fetch-site` over TLS.
/// - Requests without both pass: no browser has made them.
/// - Pages of [trusted](Self::trust) origins pass. Others are answered 403.
///
/// Cookies and tokens are not looked at; it is no login. [`Cors`](crate::Cors) is the other half: it lets
/// pages read answers.
///
/// With [`local_hosts`](Self::local_hosts) and [`hosts`](Self::hosts), requests of all methods that are for
/// another host are answered 421. That is for servers without credentials on a loopback address or in a
/// private network: a page whose name is bound anew to their address (DNS rebinding) asks them in its own
/// name, and its browser takes that for the same origin.
///
/// Allocates nothing, but for answers that refuse.
///
/// ```
/// use alula::{OriginGuard, Router};
///
/// let guard = OriginGuard::new().trust("https://app.example").local_hosts();
/// let router = Router::<()>::new().hook(guard);
/// # router.build().unwrap();
/// ```
#[derive(Clone)]
#[doc(alias("CrossOriginProtection", "csrf", "CsrfLayer", "AllowedHosts", "ALLOWED_HOSTS"))]
pub struct OriginGuard {
    trusted: Vec<String>,
    judges_origins: bool,
    judges_referers: bool,
    hosts: Option<Hosts>,
    misdirected: Cow<'static, str>,
}

/// The hosts that requests may name.
#[derive(Clone, Default)]
struct Hosts {
    /// The names in lower case; one that begins with `*.` stands for all names with that ending.
    names: Vec<String>,
    /// IP addresses, `localhost` and the names below it are accepted.
    takes_local: bool,
}

impl Default for OriginGuard {
    fn default() -> Self {
        Self::new()
    }
}

impl OriginGuard {
    /// Creates a guard that trusts no other origin and accepts every host.
    pub const fn new() -> Self {
        Self {
            trusted: Vec::new(),
            judges_origins: true,
            judges_referers: false,
            hosts: None,
            misdirected: Cow::Borrowed(MISDIRECTED),
        }
    }

    /// Creates a guard that checks `host` only, by [`hosts`](Self::hosts) and
    /// [`local_hosts`](Self::local_hosts).
    pub fn of_hosts() -> Self {
        Self { judges_origins: false, ..Self::new() }
    }

    /// Accepts requests from pages of an origin such as `https://app.example`. It is compared byte by byte
    /// with what browsers send: scheme and host in lower case, the port unless it is the default, no slash at
    /// the end.
    #[must_use]
    pub fn trust(mut self, origin: impl Into<String>) -> Self {
        self.trusted.push(origin.into());
        self
    }

    /// Refuses requests of all methods, even reads, whose `referer` is a page of another origin that is not
    /// [trusted](Self::trust): links from other pages then lead nowhere. Requests without one pass.
    #[must_use]
    pub fn referers(mut self) -> Self {
        self.judges_referers = true;
        self
    }

    /// Accepts requests for this host only, and for others that are named; `*.example.com` stands for the
    /// names below it. Names are compared without case, without a dot at the end, and without the port of the
    /// request.
    #[must_use]
    pub fn host(mut self, name: &str) -> Self {
        let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
        self.hosts.get_or_insert_default().names.push(name);
        self
    }

    /// Accepts requests for these hosts, like [`host`](Self::host) for one. Without any, all are refused but
    /// [local ones](Self::local_hosts).
    #[must_use]
    pub fn hosts<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Self {
        self.hosts.get_or_insert_default();
        names.into_iter().fold(self, Self::host)
    }

    /// Accepts requests whose host is an IP address, `localhost` or a name below it, which nobody can rebind,
    /// and those of [named](Self::host) hosts only.
    #[must_use]
    pub fn local_hosts(mut self) -> Self {
        self.hosts.get_or_insert_default().takes_local = true;
        self
    }

    /// Sets the sentence in answers of 421, such as advice on naming the host.
    #[must_use]
    pub fn misdirected(mut self, sentence: impl Into<Cow<'static, str>>) -> Self {
        self.misdirected = sentence.into();
        self
    }

    /// Returns the layer, for `Router::wrap` and `Route::wrap`.
    pub fn layer<S: 'static>(self) -> impl Wrap<S> {
        gate(move |exchange| self.check(exchange.request()).err())
    }

    /// Checks a request, for handlers that call it themselves. Allocates nothing for one that passes.
    ///
    /// # Errors
    /// The answer to a request that does not pass: 421 or 403.
    pub fn check(&self, request: &Request) -> Result<(), Answer> {
        if self.hosts.as_ref().is_some_and(|hosts| !hosts.take(request)) {
            return Err(Answer::new(Status::MISDIRECTED_REQUEST).detail(self.misdirected.clone()));
        }
        if self.judges_referers && !self.takes_referers(request) {
            return Err(foreign());
        }
        if !self.judges_origins
            || is_safe(request.method())
            || is_of_own_page(request)
            || self.trusts(request)
        {
            return Ok(());
        }
        Err(foreign())
    }

    /// Returns true unless `referer` names a page of another origin.
    fn takes_referers(&self, request: &Request) -> bool {
        let is_taken = |referer: &[u8]| {
            let page = std::str::from_utf8(referer).ok().and_then(origin_of_url);
            page.is_some_and(|page| {
                is_own(page, request).unwrap_or(false)
                    || self
                        .trusted
                        .iter()
                        .any(|trusted| origin_of_url(trusted).is_some_and(|it| is_same(it, page)))
            })
        };
        request.headers().get_all(KnownName::REFERER).all(|referer| referer.is_empty() || is_taken(referer))
    }

    fn trusts(&self, request: &Request) -> bool {
        only(request, KnownName::ORIGIN).is_ok_and(|origin| {
            origin.is_some_and(|origin| self.trusted.iter().any(|trusted| trusted.as_bytes() == origin))
        })
    }
}

impl Hook for OriginGuard {
    fn begin(&self, begun: &mut Begun<'_>) -> Option<Answer> {
        self.check(begun.request()).err()
    }
}

impl Hosts {
    /// Returns true for a request for one of the hosts. One without a host, which HTTP/1.0 allows, is of no
    /// browser.
    fn take(&self, request: &Request) -> bool {
        // No browser sends a request without an authority.
        let Some(authority) = request.authority() else { return true };
        let Ok(authority) = Authority::parse(authority) else { return false };
        let host = authority.host();
        // A name with the dot of the root at its end is the same host, and of another origin for browsers.
        let name = host.strip_suffix('.').unwrap_or(host);
        let is_local =
            || is_address(host) || is_below(name, "localhost") || name.eq_ignore_ascii_case("localhost");
        self.names.iter().any(|own| is_named(name, own)) || self.takes_local && is_local()
    }
}

fn is_named(name: &str, own: &str) -> bool {
    match own.strip_prefix("*.") {
        Some(end) => is_below(name, end),
        None => name.eq_ignore_ascii_case(own),
    }
}

/// Returns true for a name that ends in a dot and `end`.
fn is_below(name: &str, end: &str) -> bool {
    let start = name.len().checked_sub(end.len() + 1);
    let parts = start.and_then(|start| name.split_at_checked(start));
    parts.is_some_and(|(first, rest)| {
        let rest = rest.strip_prefix('.');
        !first.is_empty() && rest.is_some_and(|rest| rest.eq_ignore_ascii_case(end))
    })
}

fn is_address(host: &str) -> bool {
    host.starts_with('[') || host.parse::<Ipv4Addr>().is_ok()
}

/// Returns true for the methods of navigations and images, which a page may send anywhere (RFC 9110 §9.2.1).
fn is_safe(method: &str) -> bool {
    matches!(method, "GET" | "HEAD" | "OPTIONS")
}

/// Returns true unless a browser marks the request as one from a page of another origin.
fn is_of_own_page(request: &Request) -> bool {
    match (only(request, KnownName::SEC_FETCH_SITE), only(request, KnownName::ORIGIN)) {
        (Ok(Some(site)), Ok(_)) => matches!(site, b"same-origin" | b"none"),
        (Ok(None), Ok(Some(origin))) => {
            let origin = std::str::from_utf8(origin).ok().and_then(|origin| origin.split_once("://"));
            origin.and_then(|origin| is_own(origin, request)).unwrap_or(false)
        }
        // A browser names the origin of every request that may write: this is another program.
        (Ok(None), Ok(None)) => true,
        // No browser sends a field of these twice.
        _ => false,
    }
}

/// A scheme and an authority.
type Origin<'a> = (&'a str, &'a str);

/// Returns the origin of a page.
fn origin_of_url(url: &str) -> Option<Origin<'_>> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    // Before `@` stands who the user is, whatever that looks like.
    Some((scheme, authority.rsplit_once('@').map_or(authority, |(_, host)| host)))
}

/// Returns true if scheme, host and port of an origin equal those of a request.
fn is_own(origin: Origin<'_>, request: &Request) -> Option<bool> {
    Some(is_same(origin, (request.scheme()?, request.client_authority()?)))
}

/// Returns true if scheme, host and port of two origins are equal.
fn is_same((scheme, authority): Origin<'_>, (other_scheme, other_authority): Origin<'_>) -> bool {
    let parsed = |authority| Authority::parse(authority).ok();
    let (Ok(known), Some(one), Some(other)) =
        (Scheme::parse(other_scheme), parsed(authority), parsed(other_authority))
    else {
        return false;
    };
    let port = |authority: Authority<'_>| authority.port_or_default(known);
    scheme.eq_ignore_ascii_case(other_scheme)
        && port(one) == port(other)
        && one.host().eq_ignore_ascii_case(other.host())
}

#[cold]
fn foreign() -> Answer {
    Answer::new(Status::FORBIDDEN).detail("a page of another origin has made the request")
}

/// Returns the value of a field that occurs once.
///
/// # Errors
/// It stands there more than once.
fn only(request: &Request, name: KnownName) -> Result<Option<&[u8]>, ()> {
    let mut values = request.headers().get_all(name);
    let first = values.next();
    if values.next().is_some() { Err(()) } else { Ok(first) }
}

impl fmt::Debug for OriginGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hosts = self.hosts.as_ref().map(|hosts| &hosts.names);
        f.debug_struct("OriginGuard")
            .field("trusted", &self.trusted)
            .field("hosts", &hosts)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_equal_by_scheme_host_and_port() {
        for (scheme, authority, url, expected) in [
            ("http", "a.example:8098", "http://a.example:8098/page?q#f", true),
            ("http", "A.example:80", "HTTP://a.EXAMPLE", true),
            ("https", "a.example", "https://a.example:443/", true),
            ("http", "[::1]", "http://[::1]:80/", true),
            ("http", "[::1]:8098", "http://u:p@[::1]:8098/", true),
            ("http", "a.example", "https://a.example/", false),
            ("http", "a.example", "http://b.example/", false),
            ("http", "a.example", "http://b.example/@a.example", false),
            ("http", "a.example", "http://a.example@b.example/", false),
            ("http", "a.example:8098", "http://a.example/", false),
            ("http", "a.example", "http://a.example:99999/", false),
            ("http", "a.example", "a.example", false),
            ("http", "a.example", "about:blank", false),
        ] {
            let is_equal = origin_of_url(url).is_some_and(|page| is_same(page, (scheme, authority)));
            assert_eq!(is_equal, expected, "{authority} {url}");
        }
    }
}
