//! The head of a request, as handlers read it.

use std::net::IpAddr;

use alula_fields::{Captures, FieldError, FieldSection, Head, IntoName, KnownName, bytes};
use alula_net::Version;

use crate::exchange::{accept::takes_json, scheme::SchemeSource};

/// The head of a request.
pub struct Request {
    /// The head; `None` once it was given back.
    head: Option<Box<Head>>,
    /// The number of its route.
    entry: u16,
    version: Version,
    scheme: SchemeSource,
    /// The number of the route's layer that handles the request now.
    layer: u8,
    /// True if the method is HEAD, whose answer has no content (RFC 9110 §9.3.2); `head` is another method
    /// (RFC 9110 §9.1).
    is_head: bool,
    /// True if the route has filters, which see the answer.
    is_filtered: bool,
}

impl Request {
    #[inline]
    pub(crate) fn new(head: Box<Head>, version: Version, scheme: SchemeSource) -> Self {
        let is_head = head.method() == Some("HEAD");
        Self { head: Some(head), entry: 0, version, scheme, layer: 0, is_head, is_filtered: false }
    }

    /// Returns true if the method is HEAD, even after the head of the request was given back.
    #[inline]
    pub(crate) const fn is_head(&self) -> bool {
        self.is_head
    }

    /// Returns the method as it was spelled (RFC 9110 §9).
    pub fn method(&self) -> &str {
        self.head().method().unwrap_or_default()
    }

    /// Returns the version of HTTP of the request.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Returns the path and query of the target, as in `/a?b=c`; for the path alone use
    /// [`path_without_query`](Self::path_without_query). It is `*` for the server as a whole, and empty for
    /// CONNECT (RFC 9113 §8.3.1).
    #[doc(alias("path_and_query", "uri"))]
    pub fn path(&self) -> &str {
        self.head().path().unwrap_or_default()
    }

    /// Returns the path up to its `?`, as it was written. Nothing is decoded: `/%61` is not `/a` here, though
    /// a route may take them for the same.
    pub fn path_without_query(&self) -> &str {
        let path = self.path();
        path.split_once('?').map_or(path, |(path, _)| path)
    }

    /// Returns the path without the query, as bytes.
    #[inline]
    pub(crate) fn path_alone(&self) -> &[u8] {
        let path = self.path_bytes();
        let end = bytes::position(path, b'?').unwrap_or(path.len());
        &path[..end]
    }

    #[inline]
    fn path_bytes(&self) -> &[u8] {
        self.head().path_bytes().unwrap_or_default()
    }

    /// Returns the query of the target as it was written; none without a `?`.
    pub fn query(&self) -> Option<&str> {
        self.path().split_once('?').map(|(_, query)| query)
    }

    /// Sets a field, replacing those of the same name, for the handlers that follow. Nothing is sent of it.
    ///
    /// # Errors
    /// The name or the value is not valid; nothing is changed then.
    pub fn set<'n>(&mut self, name: impl IntoName<'n>, value: impl AsRef<[u8]>) -> Result<(), FieldError> {
        self.head.get_or_insert_default().fields.set(name, value)
    }

    /// Removes the fields of this name, for the handlers that follow. Returns how many there were.
    pub fn remove<'n>(&mut self, name: impl IntoName<'n>) -> usize {
        self.head.as_mut().map_or(0, |head| head.fields.remove(name))
    }

    /// Returns the fields for changes; none after they were given back.
    #[cfg(feature = "decoding")]
    pub(crate) fn headers_mut(&mut self) -> Option<&mut FieldSection> {
        self.head.as_mut().map(|head| &mut head.fields)
    }

    /// Returns the bytes of a capture, as they were written.
    pub(crate) fn capture(&self, number: usize) -> Option<&[u8]> {
        self.path_bytes().get(self.head().captures().span(number)?)
    }

    /// Returns the scheme of the connection: `https` over TLS, `http` in clear text; `None` for CONNECT
    /// without a
    /// [protocol](Self::protocol), which has none.
    ///
    /// Nothing that the peer writes changes it. For a request from a
    /// [trusted proxy](crate::ServerBuilder::trusted_proxies) it is what `x-forwarded-proto` says, if that is exactly one
    /// `https` or `http`.
    pub fn scheme(&self) -> Option<&str> {
        self.head().has_pseudo(KnownName::PSEUDO_SCHEME).then(|| self.scheme.scheme(&self.head().fields))
    }

    /// Returns the scheme that the peer wrote: `:scheme`, or the scheme of a target that is a whole URI;
    /// without either that of the connection. Nothing has checked it: a peer may claim `https` in clear text,
    /// or any other scheme.
    pub fn claimed_scheme(&self) -> Option<&str> {
        self.head().scheme()
    }

    /// Returns the authority the request is for: `:authority` or the authority of the target, else `host`.
    pub fn authority(&self) -> Option<&str> {
        self.head().authority().or_else(|| self.head().fields.text(KnownName::HOST))
    }

    /// Returns the authority that the client asked for, for links to this server. From a [trusted
    /// proxy](crate::ServerBuilder::trusted_proxies) it is what `x-forwarded-host` says, if that is exactly
    /// one host with a port or without; else it is [`authority`](Self::authority), which a proxy may have
    /// written anew.
    pub fn client_authority(&self) -> Option<&str> {
        self.scheme.authority(self.headers()).or_else(|| self.authority())
    }

    /// Returns the protocol of an extended CONNECT (RFC 8441 §4).
    pub fn protocol(&self) -> Option<&str> {
        self.head().protocol()
    }

    /// Returns the fields, in the order of arrival.
    #[doc(alias = "fields")]
    pub fn headers(&self) -> &FieldSection {
        &self.head().fields
    }

    /// Returns the address of the client, if a trusted proxy has reported it.
    pub(crate) fn client(&self) -> Option<IpAddr> {
        self.head().client()
    }

    /// Returns the form of the request line, if it came over HTTP/1.
    #[cfg(feature = "tower")]
    pub(crate) fn form(&self) -> alula_fields::RequestForm {
        self.head().form()
    }

    /// Returns the authority of the control data: over HTTP/1.1 that of the target, or `host`.
    #[cfg(feature = "tower")]
    pub(crate) fn own_authority(&self) -> Option<&str> {
        self.head().authority()
    }

    /// Records the route of the request, and the captures of its path.
    #[inline]
    pub(crate) fn route_to(&mut self, entry: u32, captures: Captures) {
        // A router has no more than that.
        self.entry = entry as u16;
        if let Some(head) = &mut self.head {
            head.set_captures(captures);
        }
    }

    #[inline]
    fn head(&self) -> &Head {
        static NONE: Head = Head::new();
        self.head.as_deref().unwrap_or(&NONE)
    }

    /// Takes the memory of the head, and leaves that of no request.
    #[inline]
    pub(crate) fn take_head(&mut self) -> Option<Box<Head>> {
        self.head.take()
    }

    /// Takes the request, and leaves an empty one.
    #[inline]
    pub(crate) fn take(&mut self) -> Self {
        let Self { entry, version, scheme, layer, is_head, is_filtered, .. } = *self;
        Self { head: self.head.take(), entry, version, scheme, layer, is_head, is_filtered }
    }

    /// Copies the head of another request into reused memory.
    pub(crate) fn copy_head(&mut self, other: &Self) {
        self.head.get_or_insert_with(alula_net::lend_head).copy_from(other.head());
    }

    /// Records the layer that handles the request now.
    #[inline]
    pub(crate) const fn stand_in(&mut self, layer: usize) {
        // A route has no more layers than that.
        self.layer = layer as u8;
    }

    /// Returns the number of the layer.
    pub(crate) const fn layer(&self) -> u8 {
        self.layer
    }

    /// Records that its route has filters.
    pub(crate) const fn filter(&mut self) {
        self.is_filtered = true;
    }

    #[inline]
    pub(crate) const fn is_filtered(&self) -> bool {
        self.is_filtered
    }

    /// Returns the number of the route.
    pub(crate) const fn entry(&self) -> u16 {
        self.entry
    }

    /// Returns true if its stated length is larger than this.
    pub(crate) fn states_more_than(&self, bytes: u64) -> bool {
        let stated =
            self.headers().text(KnownName::CONTENT_LENGTH).and_then(|digits| digits.parse::<u64>().ok());
        stated.is_some_and(|stated| stated > bytes)
    }

    /// Returns true if the peer accepts JSON, by `accept` (RFC 9110 §12.5.1).
    pub(crate) fn takes_json(&self) -> bool {
        takes_json(self.headers())
    }
}

/// Gives the memory of the head to later requests of this thread.
impl Drop for Request {
    fn drop(&mut self) {
        if let Some(head) = self.head.take() {
            alula_net::keep_head(head);
        }
    }
}
