//! The request builder of the blocking client.

use std::{fmt, sync::Arc, time::Duration};

use alula_fields::{FieldSection, IntoName};
use alula_net::Error;

use super::{
    driver::Driver,
    response::{PendingResponse, Response},
    writer::BodyWriter,
};
use crate::{
    follow::retries::Retries,
    observe::observer::Observer,
    request::{
        content::{Content, IntoPairs, Multipart},
        prepared::Hole,
    },
    url::text::IntoText,
};

/// A request being built. The first mistake made on the way is kept and reported when it is sent.
///
/// It owns what it needs, as [`Call`](crate::Call) does: it may be sent from another thread.
#[must_use = "a call does nothing until it is sent"]
pub struct Call<'a> {
    call: crate::request::call::Call<'a>,
    driver: Arc<Driver>,
}

impl<'a> Call<'a> {
    pub(super) fn new(driver: &Arc<Driver>, call: crate::request::call::Call<'a>) -> Self {
        Self { call, driver: driver.clone() }
    }

    /// Makes it the call that `change` makes of it: for every setting of the [async call](crate::Call) that
    /// has no name here.
    pub fn with(
        mut self,
        change: impl FnOnce(crate::request::call::Call<'a>) -> crate::request::call::Call<'a>,
    ) -> Self {
        self.call = change(self.call);
        self
    }

    /// Asks for another path (and query) of the same origin.
    pub fn path(self, path: impl IntoText<'a>) -> Self {
        self.with(|call| call.path(path))
    }

    /// Makes a CONNECT an extended one, for this protocol (RFC 8441 §4); see
    /// [`Call::protocol`](crate::Call::protocol).
    pub fn protocol(self, protocol: &'a str) -> Self {
        self.with(|call| call.protocol(protocol))
    }

    /// Fills a hole of a prepared request, with bytes or text.
    pub fn set(self, hole: Hole, value: &'a (impl AsRef<[u8]> + ?Sized)) -> Self {
        self.with(|call| call.set(hole, value))
    }

    /// Adds a field, its value bytes or text. A prepared request takes none: its fields are in the plan.
    #[doc(alias = "field")]
    pub fn header<'n>(self, name: impl IntoName<'n>, value: impl AsRef<[u8]>) -> Self {
        self.with(|call| call.header(name, value))
    }

    /// Adds these fields, in place of those of the same names.
    pub fn headers(self, headers: &FieldSection) -> Self {
        self.with(|call| call.headers(headers))
    }

    /// Adds a field whose name HTTP/1.1 sends just as it is spelled here; see
    /// [`Call::header_spelled`](crate::Call::header_spelled).
    pub fn header_spelled(self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.with(|call| call.header_spelled(name, value))
    }

    /// The time that the call may take in all, to the last byte of the response.
    pub fn timeout(self, after: Duration) -> Self {
        self.with(|call| call.timeout(after))
    }

    /// The time that the head of the response may take once that of the request was sent.
    pub fn head_timeout(self, after: Duration) -> Self {
        self.with(|call| call.head_timeout(after))
    }

    /// Sets the longest time without progress on content.
    pub fn read_timeout(self, after: Duration) -> Self {
        self.with(|call| call.read_timeout(after))
    }

    /// Adds pairs to the query of the URL.
    pub fn query<Kind>(self, pairs: impl IntoPairs<Kind>) -> Self {
        self.with(|call| call.query(pairs))
    }

    /// Gives the request a form of pairs as content.
    pub fn form<Kind>(self, pairs: impl IntoPairs<Kind>) -> Self {
        self.with(|call| call.form(pairs))
    }

    /// Gives the request a form of many parts as content (RFC 7578).
    pub fn multipart(self, form: Multipart) -> Self {
        self.with(|call| call.multipart(form))
    }

    /// Gives the request these bytes, or this text, as content; see [`Call::body`](crate::Call::body).
    pub fn body(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.with(|call| call.body(bytes))
    }

    /// Gives the request content that is made or read while it is sent.
    pub fn content(self, content: Content) -> Self {
        self.with(|call| call.content(content))
    }

    /// Gives the request this value as content, in JSON.
    #[cfg(feature = "json")]
    pub fn json(self, value: &(impl serde_core::Serialize + ?Sized)) -> Self {
        self.with(|call| call.json(value))
    }

    /// Has the response know [how long what took](Response::timing).
    pub fn timed(self) -> Self {
        self.with(crate::request::call::Call::timed)
    }

    /// Tells `observer` of each step of this call; see [`Call::observe`](crate::Call::observe).
    pub fn observe(self, observer: impl Observer + 'static) -> Self {
        self.with(|call| call.observe(observer))
    }

    /// The number of redirects that this call follows before it fails, 0 for none, in place of what its
    /// client says.
    pub fn redirects(self, max: u16) -> Self {
        self.with(|call| call.redirects(max))
    }

    /// Sets the rules by which this call is sent again when it fails, in place of those of its client.
    pub fn retries(self, retries: Retries) -> Self {
        self.with(|call| call.retries(retries))
    }

    /// Says who asks, by name and password (RFC 7617).
    pub fn basic_auth(self, user: &str, password: &str) -> Self {
        self.with(|call| call.basic_auth(user, password))
    }

    /// Says who asks, by a token (RFC 6750 §2.1).
    pub fn bearer_auth(self, token: &str) -> Self {
        self.with(|call| call.bearer_auth(token))
    }

    /// Sends the request without content and waits for the head of the response. Allocates nothing once warm.
    ///
    /// # Errors
    /// As [`Call::send`](crate::Call::send); and [`Cause::Usage`](crate::Cause::Usage) inside of a tokio
    /// runtime.
    pub fn send(self) -> Result<Response, Error> {
        let response = self.driver.wait_for_call(self.call.send())?;
        Ok(Response::new(self.driver, response))
    }

    /// Sends the request with this content, bytes or text, and waits for the head of the response. Allocates
    /// nothing once warm.
    ///
    /// # Errors
    /// As [`Self::send`].
    #[doc(alias = "body")]
    pub fn send_body(self, content: impl AsRef<[u8]>) -> Result<Response, Error> {
        let response = self.driver.wait_for_call(self.call.send_body(content))?;
        Ok(Response::new(self.driver, response))
    }

    /// Sends the head of the request; its content follows through the writer.
    ///
    /// A server that sends back more than a window while it still reads waits for its reader: give the
    /// pending response to another thread then. The head of GET, HEAD, DELETE and OPTIONS is held back until
    /// it is known whether content follows; see
    /// [`Call::open`](crate::Call::open).
    ///
    /// ```no_run
    /// use std::{fs::File, io};
    ///
    /// # let client = alula::blocking::Client::new()?;
    /// let (mut up, pending) = client.put("https://example.com/file").open()?;
    /// io::copy(&mut File::open("file")?, &mut up)?;
    /// up.finish()?;
    /// println!("{}", pending.response()?.status());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Self::send`].
    pub fn open(self) -> Result<(BodyWriter, PendingResponse), Error> {
        let (writer, pending) = self.driver.wait_for_call(self.call.open())?;
        Ok((BodyWriter::new(&self.driver, writer), PendingResponse::new(&self.driver, pending)))
    }
}

impl fmt::Debug for Call<'_> {
    /// Shows what the [`Debug`](fmt::Debug) of [the async call](crate::Call) shows.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.call.fmt(f)
    }
}
