//! The rules for redirects: the target of a response, and whether it is followed (RFC 9110 §15.4).
//!
//! Rule: nothing that was meant for one origin reaches another; `fields.rs` holds what that is.

mod fields;

use std::{borrow::Cow, fmt, sync::Arc, time::Duration};

use alula_fields::{KnownName, Status, masked_url};
use alula_net::{Cause, Error, Phase, Retry};
use percent_encoding::{CONTROLS, percent_encode};
use tokio::time::timeout;
use url::Url;

use crate::{
    observe::{event::ExchangeEvent, observer::Watcher},
    response::Response,
    url::{reference::lacks_host, zone::Zone},
};
pub(crate) use fields::{refer, rewrite};

/// The default number of redirects: browsers follow twenty, but more than ten are a loop.
const REDIRECTS_MAX: u16 = 10;

/// The bytes of a redirecting response that are read and dropped to reuse its connection, because opening
/// another costs more.
const DRAINED_BYTES_MAX: usize = 64 * 1024;
/// The time limit for dropping them.
const DRAIN_WAIT: Duration = Duration::from_secs(1);

/// The rules for redirects.
#[derive(Clone)]
pub(crate) struct Redirects {
    pub(crate) max: u16,
    pub(crate) to_clear_text: bool,
    /// Credentials are sent to other origins.
    pub(crate) trusts_all: bool,
    /// Redirected requests carry a `referer` field.
    pub(crate) has_referer: bool,
    pub(crate) decide: Option<Decide>,
}

type Decide = Arc<dyn Fn(&Redirect<'_>) -> Follow + Send + Sync>;

impl Default for Redirects {
    fn default() -> Self {
        Self { max: REDIRECTS_MAX, to_clear_text: false, trusts_all: false, has_referer: false, decide: None }
    }
}

/// A redirect before it is followed; see [`ClientBuilder::on_redirect`](crate::ClientBuilder::on_redirect).
///
/// `Debug` shows the URLs without user information and without the values of their queries.
pub struct Redirect<'r> {
    status: Status,
    method: &'r str,
    from: &'r Url,
    to: &'r Url,
    count: u16,
}

/// The verdict on a redirect.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Follow {
    /// Follows the redirect.
    Yes,
    /// Follows the redirect with the same method, and without content.
    WithMethod,
    /// Follows the redirect with the same method and content.
    WithContent,
    /// Returns the redirecting response to the caller.
    Stop,
    /// Fails the call with [`Cause::Redirect`].
    Error,
}

impl Redirect<'_> {
    /// Returns the status of the redirecting response.
    pub const fn status(&self) -> Status {
        self.status
    }

    /// Returns the method of the next request.
    pub const fn method(&self) -> &str {
        self.method
    }

    /// Returns the redirecting URL.
    pub fn from(&self) -> &str {
        self.from.as_str()
    }

    /// Returns the target URL.
    pub fn to(&self) -> &str {
        self.to.as_str()
    }

    /// Returns the number of redirects of the call, this one included.
    pub const fn count(&self) -> u16 {
        self.count
    }

    /// Returns true if scheme, host or port would change.
    pub fn leaves_origin(&self) -> bool {
        self.from.origin() != self.to.origin()
    }
}

/// The target of the next request.
pub(crate) struct Step {
    pub(crate) to: Url,
    /// The next request has no content.
    pub(crate) drops_content: bool,
    pub(crate) method: Method,
}

/// The method of the next request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Method {
    Same,
    Get,
}

impl Method {
    pub(crate) const fn after(self, method: &str) -> &str {
        match self {
            Self::Same => method,
            Self::Get => "GET",
        }
    }
}

impl Redirects {
    /// Returns the target of this response, if it is to be followed, and tells the observer of the decision.
    /// `followed` redirects were, of `max`.
    ///
    /// # Errors
    /// It is to be followed, and cannot be.
    pub(crate) fn step(
        &self,
        response: &Response,
        method: &str,
        from: &Url,
        (followed, max): (u16, u16),
        watcher: Option<&Watcher>,
    ) -> Result<Option<Step>, Error> {
        let status = response.status();
        let Some(next) = next_method(status.as_u16(), method).filter(|_| max > 0) else { return Ok(None) };
        let Some(location) = location(response)? else { return Ok(None) };
        let to = resolve(from, location)?;
        if followed >= max {
            return Err(refused("there are more of them than may be followed"));
        }
        // A redirect to clear text would show the rest of the exchange to the network.
        if from.scheme() == "https" && to.scheme() == "http" && !self.to_clear_text {
            return Err(refused("it leads from https to http"));
        }
        let redirect = Redirect { status, method: next.after(method), from, to: &to, count: followed + 1 };
        let drops_content = next == Method::Get || status.as_u16() == 303;
        let follow = self.decide.as_ref().map_or(Follow::Yes, |decide| decide(&redirect));
        if let Some(watcher) = watcher {
            watcher.event(&ExchangeEvent::Redirected(&redirect, follow));
        }
        match follow {
            Follow::Yes => Ok(Some(Step { to, drops_content, method: next })),
            Follow::WithMethod => Ok(Some(Step { to, drops_content: true, method: Method::Same })),
            Follow::WithContent => Ok(Some(Step { to, drops_content: false, method: Method::Same })),
            Follow::Stop => Ok(None),
            Follow::Error => Err(refused("the program refuses it")),
        }
    }
}

/// Returns true if a response of this status may lead elsewhere.
pub(crate) const fn may_redirect(status: Status) -> bool {
    matches!(status.as_u16(), 301..=303 | 307 | 308)
}

/// Returns the method of the request after a response of this status; none if it does not redirect.
fn next_method(status: u16, method: &str) -> Option<Method> {
    match (status, method) {
        // A tunnel is not redirected: its target is the authority itself (RFC 9110 §9.3.6).
        (_, "CONNECT") => None,
        // Browsers have always done so, and the RFC allows it for POST alone (RFC 9110 §15.4.2, §15.4.3).
        (301 | 302, "POST") => Some(Method::Get),
        // A HEAD stays one after 303, since its caller wants no content (RFC 9110 §15.4.4).
        (303, "HEAD") | (301 | 302 | 307 | 308, _) => Some(Method::Same),
        (303, _) => Some(Method::Get),
        _ => None,
    }
}

/// Returns the value of `location` (RFC 9110 §10.2.2). An empty one says nothing.
fn location(response: &Response) -> Result<Option<&[u8]>, Error> {
    let mut locations = response.headers().get_all(KnownName::LOCATION);
    match (locations.next(), locations.next()) {
        // Clients that choose one of them disagree on which: an attacker would make use of that.
        (Some(_), Some(_)) => Err(refused("it leads to several places")),
        (location, _) => Ok(location.filter(|location| !location.is_empty())),
    }
}

/// Returns the URL of a `location`, relative to the requested one. It inherits the fragment, and brings no
/// user.
pub(crate) fn resolve(from: &Url, location: &[u8]) -> Result<Url, Error> {
    // Bytes that are no UTF-8 are sent back as they came.
    let text = match std::str::from_utf8(location) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => percent_encode(location, CONTROLS).into(),
    };
    if lacks_host(&text) {
        return Err(refused("where it leads to has no host"));
    }
    // A zone names an interface of this machine, which a server must not choose (RFC 6874 §1).
    if !matches!(Zone::split(&text), Ok((_, None))) {
        return Err(refused(
            "where it leads to has a zone, and a server does not know those of this machine",
        ));
    }
    let mut to = from.join(&text).map_err(|_| refused("where it leads to is no URL"))?;
    if !matches!(to.scheme(), "http" | "https") {
        return Err(refused("it leads neither to http nor to https"));
    }
    // A redirect without a fragment inherits that of the request (RFC 9110 §10.2.2).
    if to.fragment().is_none() {
        to.set_fragment(from.fragment());
    }
    // A server does not choose with what name we log in elsewhere. Both are allowed where there is a host.
    let _ = to.set_username("");
    let _ = to.set_password(None);
    Ok(to)
}

/// Reads and drops the rest of a response if it is short, and reports its trailers to `watcher`; otherwise
/// resets its stream, or closes its connection.
pub(crate) async fn drain(mut response: Response, watcher: Option<&Watcher>) {
    let mut bytes = stated_length(&response);
    let version = response.version();
    let body = response.body();
    let reading = async {
        if bytes > DRAINED_BYTES_MAX {
            return;
        }
        bytes = 0;
        while bytes <= DRAINED_BYTES_MAX
            && let Ok(Some(chunk)) = body.chunk().await
        {
            bytes += chunk.len();
        }
        if let Some(watcher) = watcher.filter(|_| body.is_ended())
            && let Ok(Some(trailers)) = body.trailers().await
        {
            watcher.event(&ExchangeEvent::Trailers(version, trailers));
        }
    };
    // A response that takes longer is dropped.
    let _ = timeout(DRAIN_WAIT, reading).await;
}

fn stated_length(response: &Response) -> usize {
    let length = response.headers().get(KnownName::CONTENT_LENGTH);
    length.and_then(|length| std::str::from_utf8(length).ok()?.parse().ok()).unwrap_or(0)
}

pub(crate) fn refused(why: &'static str) -> Error {
    Error::new(Phase::Head, Cause::Redirect(why), Retry::Pointless)
}

impl fmt::Debug for Redirect<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redirect")
            .field("status", &self.status())
            .field("method", &self.method())
            .field("from", &masked_url(self.from()))
            .field("to", &masked_url(self.to()))
            .field("count", &self.count())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_stay_or_become_get() {
        use Method::{Get, Same};
        for (status, method, next) in [
            (300, "GET", None),
            (301, "GET", Some(Same)),
            (301, "POST", Some(Get)),
            (301, "PUT", Some(Same)),
            (302, "HEAD", Some(Same)),
            (302, "POST", Some(Get)),
            (302, "DELETE", Some(Same)),
            (303, "POST", Some(Get)),
            (303, "PUT", Some(Get)),
            (303, "HEAD", Some(Same)),
            (304, "GET", None),
            (305, "GET", None),
            (307, "POST", Some(Same)),
            (308, "POST", Some(Same)),
            (307, "CONNECT", None),
        ] {
            assert_eq!(next_method(status, method), next, "{status} {method}");
        }
    }

    #[test]
    fn locations_are_resolved() {
        let from = Url::parse("http://a.example/b/c?d#e").unwrap();
        for (location, to) in [
            (&b"/x"[..], "http://a.example/x#e"),
            (b"x", "http://a.example/b/x#e"),
            (b"../x", "http://a.example/x#e"),
            (b"?q", "http://a.example/b/c?q#e"),
            (b"#f", "http://a.example/b/c?d#f"),
            (b"//b.example/x", "http://b.example/x#e"),
            (b"https://b.example:443/x#g", "https://b.example/x#g"),
            (b"http://user:secret@b.example/", "http://b.example/#e"),
            (b"/caf\xc3\xa9", "http://a.example/caf%C3%A9#e"),
            (b"/caf\xe9", "http://a.example/caf%E9#e"),
            (b"/a b", "http://a.example/a%20b#e"),
            (b"/x//[::1%25lo]", "http://a.example/x//[::1%25lo]#e"),
        ] {
            let resolved = resolve(&from, location).unwrap();
            assert_eq!(resolved.as_str(), to, "{}", location.escape_ascii());
        }
        for location in [
            &b"ftp://a/"[..],
            b"javascript:alert(1)",
            b"http://",
            b"http://a:99999/",
            b"///x",
            b"http:///x",
            b"https:x",
            b"http://[::1%25lo]/",
            b"//[::1%lo]/",
            b"//[::1%]/",
        ] {
            assert!(resolve(&from, location).is_err(), "{}", location.escape_ascii());
        }
    }
}
