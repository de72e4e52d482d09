//! The request builder. The module `send` sends the request.

#[cfg(feature = "cookies")]
mod cookies;
mod credentials;
#[cfg_attr(not(feature = "decoding"), path = "call/undecoded.rs")]
mod decoding;
mod defaults;
mod facts;
mod send;

use std::{borrow::Cow, fmt, sync::Arc, time::Duration};

use alula_fields::{FieldError, FieldSection, IntoName, Status, masked_url};
use alula_net::Error;
use tokio::time::Instant;

use crate::{
    client::Client,
    follow::retries::Retries,
    observe::observer::{self, Observer, Watcher},
    pool::origin::Origin,
    request::{
        Plain, Request,
        parts::Parts,
        path::Path,
        prepared::{Given, Hole, Prepared},
    },
    send::{interim, time_limit::TimeLimit},
    url::text::IntoText,
};

/// A request being built. The first mistake made on the way is kept and reported when it is sent.
///
/// It owns what it needs, the client included: a `Call<'static>` and the future that sends it may go to
/// another task. The lifetime is that of a URL, path, method or value that it was given by reference; text
/// that is handed over ([`IntoText`]), and what is in a prepared request, bounds no lifetime.
///
/// ```no_run
/// # async fn main_() -> Result<(), Box<dyn std::error::Error>> {
/// # let client = alula::Client::new()?;
/// fn item(client: &alula::Client, id: u32) -> alula::Call<'static> {
///     client.get(format!("https://example.com/items/{id}")).header("accept", "text/plain")
/// }
///
/// let response = tokio::spawn(item(&client, 17).send());
/// println!("{}", response.await??.status());
/// # Ok(())
/// # }
/// ```
///
/// # Hosts
/// A field `host` says whom the request is for, in place of the authority of its URL (RFC 9110 §7.2):
/// HTTP/1.1 sends it first, HTTP/2 as `:authority`. All else stays the URL's: the connection, the name that
/// TLS is for and checks, cookies and credentials. A redirect to another origin drops it. Refused are what is
/// no host and port, several hosts, another host for CONNECT, and one for `http://` URLs that a proxy is
/// asked for, which takes the host from the URL (RFC 9112 §3.2.2).
#[must_use = "a call does nothing until it is sent"]
pub struct Call<'a> {
    pub(crate) client: Client,
    pub(crate) request: Request<'a>,
    pub(crate) deadline: TimeLimit,
    pub(crate) parts: Parts,
    pub(crate) head_timeout: TimeLimit,
    pub(crate) read_timeout: TimeLimit,
}

/// The times of a call that is being sent.
#[derive(Clone, Copy)]
pub(crate) struct CallTimes {
    /// The time at which the call has to end, if there is one.
    pub(crate) ends_at: Option<Instant>,
    /// The time at which it was sent, if its phases are timed.
    pub(crate) began: Option<Instant>,
}

impl<'a> Call<'a> {
    pub(crate) fn plain(client: Client, origin: Arc<Origin>, method: Cow<'a, str>, path: Path<'a>) -> Self {
        let has_user = path.has_user();
        let mut call = Self::new(client, Request::Plain(Plain::new(origin, method, path)));
        call.parts.is_incomplete |= has_user;
        call
    }

    pub(crate) fn prepared(client: Client, prepared: Prepared) -> Self {
        Self::new(client, Request::Prepared(prepared, Given::default()))
    }

    pub(crate) fn failed(client: Client, error: Error) -> Self {
        let mut call = Self::new(client, Request::None);
        call.note(error);
        call
    }

    pub(crate) fn new(client: Client, request: Request<'a>) -> Self {
        let settings = client.settings();
        Self {
            request,
            deadline: settings.deadlines.total.into(),
            head_timeout: settings.deadlines.head.into(),
            read_timeout: settings.deadlines.idle.into(),
            parts: Parts::new(settings),
            client,
        }
    }

    /// Sets another path (and query) of the same origin. Text by reference allocates nothing.
    #[inline]
    pub fn path(mut self, path: impl IntoText<'a>) -> Self {
        let path = path.into_text();
        match &mut self.request {
            Request::Plain(plain) => plain.path.replace(path),
            Request::Prepared(_, given) => given.path(path),
            Request::None => {}
        }
        self
    }

    /// Makes a CONNECT an extended one, for this protocol (RFC 8441 §4): [`open`](Self::open) it, and once
    /// the response is 2xx the writer and the body are the two directions of a tunnel. Either side ends its
    /// own direction; a tunnel that is dropped is reset.
    ///
    /// Sending it fails when the method is not CONNECT, and when the server has not said that it takes
    /// extended CONNECT; its SETTINGS are waited for.
    ///
    /// ```no_run
    /// # async fn main_() -> Result<(), Box<dyn std::error::Error>> {
    /// # let client = alula::Client::new()?;
    /// let call = client.request("CONNECT", "https://example.com/chat").protocol("websocket");
    /// let (mut up, pending) = call.open().await?;
    /// let mut response = pending.response().await?;
    /// if response.status().is_success() {
    ///     up.write(b"bytes of the protocol").await?;
    ///     let _answer = response.body().chunk().await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn protocol(mut self, protocol: &'a str) -> Self {
        match &mut self.request {
            Request::Plain(plain) => plain.rare_mut().protocol = Some(protocol),
            Request::Prepared(..) => self.note(Error::usage("a prepared request takes no protocol")),
            Request::None => {}
        }
        self
    }

    /// Fills a hole of a prepared request, with bytes or text.
    #[inline]
    pub fn set(mut self, hole: Hole, value: &'a (impl AsRef<[u8]> + ?Sized)) -> Self {
        match &mut self.request {
            Request::Prepared(_, given) => given.set(&self.client, hole, value.as_ref()),
            Request::Plain(_) => {
                self.note(Error::usage("this request has no holes: only a prepared request has"))
            }
            Request::None => {}
        }
        self
    }

    /// Adds a field, its value bytes or text. A prepared request takes none: its fields are in the plan.
    ///
    /// A `host` takes the place of the URL's, in HTTP/2 as `:authority`; see [the type](Self#hosts).
    #[doc(alias = "field")]
    #[inline]
    pub fn header<'n>(mut self, name: impl IntoName<'n>, value: impl AsRef<[u8]>) -> Self {
        self.add(name, value);
        self
    }

    /// Adds these fields, replacing those of the same names; otherwise like [`Self::header`].
    pub fn headers(mut self, headers: &FieldSection) -> Self {
        self.add_with(|fields| {
            fields.merge(headers);
            Ok(())
        });
        self
    }

    /// Adds a field with this exact spelling of its name in HTTP/1.1, for servers that depend on it; other
    /// names are sent in their usual spelling, `Content-Type`. HTTP/2 has no capitals in names (RFC 9113
    /// §8.2.1).
    ///
    /// ```no_run
    /// # async fn main_() -> Result<(), alula::Error> {
    /// # let client = alula::Client::new()?;
    /// let response = client.get("http://example.com/").header_spelled("X_kEy", "1").send().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn header_spelled(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.add_with(|fields| fields.append_spelled(name, value));
        self
    }

    #[inline]
    fn add<'n>(&mut self, name: impl IntoName<'n>, value: impl AsRef<[u8]>) {
        self.add_with(|fields| fields.append(name, value));
    }

    #[inline]
    fn add_with(&mut self, add: impl FnOnce(&mut FieldSection) -> Result<(), FieldError>) {
        let added = match &mut self.request {
            Request::Plain(plain) => add(&mut plain.head_mut(&self.client).fields).map_err(Error::from),
            Request::Prepared(..) => {
                Err(Error::usage("a prepared request takes no further fields: make a hole"))
            }
            Request::None => Ok(()),
        };
        if let Err(error) = added {
            self.note(error);
        }
    }

    /// Returns the observer of each step, if there is one: that of the call tells that of the client.
    #[inline]
    pub(crate) fn watcher(&self) -> Option<&Watcher> {
        let of_client = || self.client.settings().policy.watcher.as_ref();
        if self.parts.is_watched { self.parts.watcher().or_else(of_client) } else { None }
    }

    #[cold]
    pub(crate) fn note(&mut self, mistake: Error) {
        self.parts.rare_mut().mistake.get_or_insert(mistake);
    }

    /// Sets the time that the call may take in all, to the last byte of the response.
    #[inline]
    pub fn timeout(mut self, after: Duration) -> Self {
        self.deadline = TimeLimit::of(after);
        self
    }

    /// Sets the time that the head of the response may take after the head of the request was sent, in place
    /// of [the client's](crate::ClientBuilder::head_timeout).
    #[inline]
    pub fn head_timeout(mut self, after: Duration) -> Self {
        self.head_timeout = TimeLimit::of(after);
        self
    }

    /// Sets the longest time without progress on content, of the request or of the response, in place of [the
    /// client's](crate::ClientBuilder::read_timeout).
    #[inline]
    pub fn read_timeout(mut self, after: Duration) -> Self {
        self.read_timeout = TimeLimit::of(after);
        self
    }

    /// Records the times of the call's steps, for [`Response::timing`](crate::Response::timing). It reads the
    /// clock a few times and allocates nothing.
    #[inline]
    pub fn timed(mut self) -> Self {
        self.parts.is_timed = true;
        self
    }

    /// Sets the number of redirects to follow before the call fails, 0 for none, in place of [the
    /// client's](crate::ClientBuilder::redirects).
    ///
    /// ```no_run
    /// # async fn main_() -> Result<(), alula::Error> {
    /// # let client = alula::Client::new()?;
    /// let response = client.get("https://example.com/old").redirects(0).send().await?;
    /// println!("leads to {}", response.headers().text("location").unwrap_or("nowhere"));
    /// # Ok(())
    /// # }
    /// ```
    #[inline]
    pub fn redirects(mut self, max: u16) -> Self {
        self.parts.redirects_max = max;
        self
    }

    /// Sets the rules for retries of this call, in place of [the client's](crate::ClientBuilder::retries).
    /// The deadline of the call is for all tries and the waits between them: a wait that would reach it is
    /// not begun, and the failure told.
    ///
    /// Allocates.
    ///
    /// ```no_run
    /// # async fn main_() -> Result<(), alula::Error> {
    /// # let client = alula::Client::new()?;
    /// use alula::Retries;
    ///
    /// let response = client.get("https://example.com/").retries(Retries::new(4)).send().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn retries(mut self, retries: Retries) -> Self {
        self.parts.rare_mut().retries = Some(retries);
        self.parts.is_incomplete = true;
        self
    }
}

impl Call<'_> {
    /// Calls `hook` with each interim response (1xx, RFC 9110 §15.2) and its fields, such as 103 (Early
    /// Hints, RFC 8297), before the final head comes. Without it they are dropped. Allocates.
    ///
    /// ```no_run
    /// # async fn main_() -> Result<(), alula::Error> {
    /// # let client = alula::Client::new()?;
    /// let call = client.get("https://example.com/").on_interim(|status, fields| {
    ///     println!("{status}: {}", fields.text("link").unwrap_or_default());
    /// });
    /// let response = call.send().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_interim(mut self, hook: impl FnMut(Status, &FieldSection) + Send + 'static) -> Self {
        self.parts.rare_mut().on_interim = Some(interim::hook(hook));
        self
    }

    /// Tells `observer` of each step of this call, its redirects and retries included, after the observer of
    /// the [client](crate::ClientBuilder::observe); see [`Observer`](crate::Observer). Allocates.
    ///
    /// ```no_run
    /// use alula::ExchangeEvent;
    ///
    /// # async fn main_() -> Result<(), alula::Error> {
    /// # let client = alula::Client::new()?;
    /// let call = client.get("https://example.com/").observe(|event: &ExchangeEvent<'_>| {
    ///     if let ExchangeEvent::Connected(to) = event {
    ///         println!("{:?}, {}", to.remote_address(), if to.is_reused() { "again" } else { "anew" });
    ///     }
    /// });
    /// let response = call.send().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn observe(mut self, observer: impl Observer + 'static) -> Self {
        let watcher = observer::after(self.watcher(), observer);
        self.parts.watch(watcher);
        self
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        match &mut self.request {
            Request::Plain(plain) => plain.give_back(&self.client),
            Request::Prepared(_, given) => given.give_back(&self.client),
            Request::None => {}
        }
    }
}

impl fmt::Debug for Call<'_> {
    /// Shows the method, the URL without secrets, and the fields.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut call = f.debug_struct("Call");
        call.field("method", &self.request.method());
        if let Ok(origin) = self.request.origin() {
            let url = format!("{}{}", origin.prefix, self.request.noted().path);
            call.field("url", &masked_url(&url));
        }
        if let Request::Plain(plain) = &self.request {
            call.field("fields", &plain.head.as_ref().map(|head| &head.fields));
        }
        call.field("timeout", &self.deadline.get()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::Call;

    #[test]
    fn a_call_is_moved_without_a_loop() {
        let bytes = size_of::<Call<'_>>();
        let of_cookies = if cfg!(feature = "cookies") { 16 } else { 0 };
        assert!(bytes <= 128 + of_cookies, "it has {bytes} bytes");
    }
}
