//! The table of routes, exposed to the fuzz targets in `crates/trials` and the workloads in `crates/bench`.
//! This is no API: it may change with any version.

use std::{borrow::Cow, ops::Range};

use alula_fields::Captures;

use crate::route::{self, Builder, Found, Outcome, RouteError, Segments, SlashChange, Table};

/// Routes whose values are numbers, before they are compiled.
pub struct Routes(Builder<usize>);

/// The same, compiled.
pub struct CompiledRoutes(Table<usize>);

/// The outcome of a search.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Routed {
    /// The number of the pattern, and its captures.
    Found(usize, Spans),
    /// The number of a pattern that would match with a slash added (`true`) or removed, and its captures.
    Redirect(usize, Spans, bool),
    /// The options refuse the path.
    Refused,
    /// The path matches no pattern.
    Unknown,
}

/// The places of the captures.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Spans(Captures);

impl Routes {
    /// Creates an empty set of routes.
    pub const fn new(options: Segments) -> Self {
        Self(Table::builder(options))
    }

    /// Adds a pattern.
    ///
    /// # Errors
    /// It is malformed, or another matches the same paths.
    pub fn insert(&mut self, pattern: &str, value: usize) -> Result<(), RouteError> {
        self.0.insert(pattern, value)
    }

    /// Adds a pattern below a prefix.
    ///
    /// # Errors
    /// As for [`insert`](Self::insert).
    pub fn insert_below(&mut self, prefix: &str, pattern: &str, value: usize) -> Result<(), RouteError> {
        self.0.insert(&route::below(prefix, pattern), value)
    }

    /// Compiles the routes.
    pub fn build(self) -> CompiledRoutes {
        CompiledRoutes(self.0.build())
    }
}

impl CompiledRoutes {
    /// Searches for a path without its query.
    #[inline]
    pub fn find(&self, path: &[u8]) -> Routed {
        let parts = |found: Found<'_, usize>| (*found.value, Spans(found.captures));
        match self.0.find(path) {
            Outcome::Found(found) => {
                let (value, spans) = parts(found);
                Routed::Found(value, spans)
            }
            Outcome::Redirect(change, found) => {
                let (value, spans) = parts(found);
                Routed::Redirect(value, spans, change == SlashChange::Added)
            }
            Outcome::Refused(..) => Routed::Refused,
            Outcome::Unknown => Routed::Unknown,
        }
    }
}

impl Spans {
    /// Returns the place of each capture.
    pub fn iter(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.0.spans()
    }
}

/// Decodes a capture; `None` if an escape is malformed.
pub fn decoded(raw: &[u8], options: Segments) -> Option<Cow<'_, [u8]>> {
    route::decode(raw, options).ok()
}

/// Returns the target of a redirect: the path with a slash added or removed.
pub fn location(is_added: bool, path: &[u8], query: Option<&[u8]>, options: Segments) -> Vec<u8> {
    let change = if is_added { SlashChange::Added } else { SlashChange::Removed };
    change.location(path, query, options)
}

/// Returns true if a peer whose `accept` has this value gets errors in JSON.
pub fn takes_json(accept: &[u8]) -> bool {
    section("accept", accept).is_some_and(|headers| crate::exchange::accept::takes_json(&headers))
}

/// Reads a form of many parts that comes in pieces. Returns the contents of its parts, and whether it is
/// whole and good.
pub fn multipart_parts(boundary: &str, pieces: &[&[u8]]) -> (Vec<Vec<u8>>, bool) {
    let (parts, end) = crate::exchange::multipart::read_all(boundary, pieces);
    (parts.into_iter().map(|(_, content)| content).collect(), end.is_ok())
}

/// Parses the name and the password in a value of `authorization`.
pub fn basic_credentials(authorization: &[u8]) -> Option<(String, String)> {
    let (headers, mut decoded) = (section("authorization", authorization)?, Vec::new());
    let (name, password) = crate::ready::decode_pair(&headers, &mut decoded)?;
    Some((name.to_owned(), password.to_owned()))
}

/// Returns the pairs of a query.
#[cfg(feature = "query")]
pub fn query_pairs(query: &[u8]) -> Vec<(String, String)> {
    crate::exchange::query::pairs(query)
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect()
}

fn section(name: &str, value: &[u8]) -> Option<alula_fields::FieldSection> {
    let mut headers = alula_fields::FieldSection::new();
    headers.append(name, value).is_ok().then_some(headers)
}

/// Returns the client that a field names behind proxies; `trusts` tells which proxies are trusted.
pub fn client_behind_proxies(
    field: crate::exchange::forwarded::ClientAddressField,
    value: &[u8],
    trusts: fn(std::net::IpAddr) -> bool,
) -> Option<std::net::IpAddr> {
    let mut head = alula_fields::Head::new();
    let name = match field {
        crate::exchange::forwarded::ClientAddressField::XForwardedFor => "x-forwarded-for",
        crate::exchange::forwarded::ClientAddressField::Forwarded => "forwarded",
    };
    head.fields.append(name, value).ok()?;
    crate::exchange::forwarded::ForwardedSource { field, judge: std::sync::Arc::new(trusts) }.note(&mut head);
    head.client()
}
