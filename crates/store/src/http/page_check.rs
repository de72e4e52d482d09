//! Requests that pages of other sites make in the browser of somebody: refused before their handlers see them (Riak §1.11).

use alula::{Answer, Begun, Hook, IntoAnswer, KnownName, Request, Status};

use super::fail::Fail;
use crate::config::Referers;

/// Answers 403 to a request with `origin: null`, and to one whose `referer` is a page that is not among those which are taken.
#[derive(Clone, Debug)]
pub(super) struct PageCheck {
    referers: Referers,
}

impl PageCheck {
    pub(super) const fn new(referers: Referers) -> Self {
        Self { referers }
    }

    fn refuses(&self, request: &Request) -> bool {
        let fields = request.headers();
        let mut origins = fields.get_all(KnownName::ORIGIN);
        let mut referers = fields.get_all(KnownName::REFERER);
        origins.any(|origin| origin == b"null")
            || referers.any(|referer| !referer.is_empty() && !self.takes(referer, request))
    }

    fn takes(&self, referer: &[u8], request: &Request) -> bool {
        if matches!(self.referers, Referers::Any) {
            return true;
        }
        let Some(page) = std::str::from_utf8(referer).ok().and_then(Origin::of_url) else { return false };
        let own = request.scheme().zip(request.client_authority());
        own.and_then(|(scheme, authority)| Origin::new(scheme, authority)).is_some_and(|own| own.is(&page))
            || self.others().iter().filter_map(|other| Origin::of_url(other)).any(|other| other.is(&page))
    }

    fn others(&self) -> &[String] {
        match &self.referers {
            Referers::OwnAnd(others) => others,
            Referers::Own | Referers::Any => &[],
        }
    }
}

impl Hook for PageCheck {
    fn begin(&self, begun: &mut Begun<'_>) -> Option<Answer> {
        self.refuses(begun.request()).then(|| Fail::Page(Status::FORBIDDEN).into_answer())
    }
}

/// A scheme, a host and a port.
struct Origin<'a> {
    scheme: &'a str,
    host: &'a str,
    port: u16,
}

impl<'a> Origin<'a> {
    fn of_url(url: &'a str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let authority = rest.split(['/', '?', '#']).next()?;
        Self::new(scheme, authority.rsplit_once('@').map_or(authority, |(_, host)| host))
    }

    fn new(scheme: &'a str, authority: &'a str) -> Option<Self> {
        // The colons of an IPv6 address stand before a bracket.
        let parts = authority.rsplit_once(':').filter(|(_, port)| !port.contains(']'));
        let (host, port) = parts.unwrap_or((authority, ""));
        let port = match port {
            "" if scheme.eq_ignore_ascii_case("https") => 443,
            "" => 80,
            digits => digits.parse().ok()?,
        };
        Some(Self { scheme, host, port })
    }

    fn is(&self, other: &Self) -> bool {
        self.port == other.port
            && self.scheme.eq_ignore_ascii_case(other.scheme)
            && self.host.eq_ignore_ascii_case(other.host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_equal_by_scheme_host_and_port() {
        let is = |scheme, authority, url| {
            let own = Origin::new(scheme, authority).unwrap();
            Origin::of_url(url).is_some_and(|other| own.is(&other))
        };
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
            assert_eq!(is(scheme, authority, url), expected, "{authority} {url}");
        }
    }
}
