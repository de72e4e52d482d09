//! The scheme of a request: of its connection, or of the client's connection as a trusted proxy reports it;
//! likewise the authority that the client asked for.
//!
//! Rule: what a peer claims decides nothing. A client may write any `:scheme`, any target and any
//! `x-forwarded-proto`; only a proxy that the application trusts is believed, and only for the fields that
//! proxies overwrite.

use std::net::IpAddr;
use std::sync::Arc;

use alula_fields::{Authority, FieldSection, KnownName};
use alula_net::Conn;

use crate::exchange::forwarded::{ClientAddressField, ForwardedSource, Judge};

/// The trusted proxies; none unless set.
#[derive(Clone, Default)]
pub(crate) struct TrustedProxies {
    judge: Option<Judge>,
    /// The field in which they report their client.
    field: Option<ClientAddressField>,
}

/// The source of the scheme of the requests of one connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SchemeSource {
    /// The connection is over TLS.
    is_secure: bool,
    /// The peer is a trusted proxy.
    is_trusted: bool,
}

impl TrustedProxies {
    pub(crate) fn judge_by(&mut self, trusts: impl Fn(IpAddr) -> bool + Send + Sync + 'static) {
        self.judge = Some(Arc::new(trusts));
    }

    pub(crate) fn name_clients_in(&mut self, field: ClientAddressField) {
        self.field = Some(field);
    }

    /// Returns the finder of a connection's clients, if its peer is a trusted proxy.
    pub(crate) fn clients_of(&self, source: SchemeSource) -> Option<ForwardedSource> {
        let (judge, field) = (self.judge.clone()?, self.field?);
        source.is_trusted.then_some(ForwardedSource { field, judge })
    }

    /// Checks once whether the peer of a connection is trusted. It is secure by itself, or because its
    /// transport is.
    pub(crate) fn source_of(&self, conn: &Conn, is_secure: bool) -> SchemeSource {
        // A socket of both families shows peers of IPv4 mapped into IPv6; the program names them as IPv4.
        let trusts = |judge: &Judge| conn.peer().is_some_and(|peer| judge(peer.ip().to_canonical()));
        SchemeSource {
            is_secure: is_secure || conn.is_secured(),
            is_trusted: self.judge.as_ref().is_some_and(trusts),
        }
    }
}

impl SchemeSource {
    /// Returns the scheme of a request with these fields.
    pub(crate) fn scheme(self, fields: &FieldSection) -> &'static str {
        let forwarded = if self.is_trusted { forwarded(fields) } else { None };
        forwarded.unwrap_or(if self.is_secure { "https" } else { "http" })
    }

    /// Returns the authority that a trusted proxy reports.
    pub(crate) fn authority(self, fields: &FieldSection) -> Option<&str> {
        let value = the_one(fields, KnownName::X_FORWARDED_HOST).filter(|_| self.is_trusted)?;
        let authority = std::str::from_utf8(value).ok()?;
        Authority::parse(authority).is_ok().then_some(authority)
    }
}

/// Returns the scheme in a single `x-forwarded-proto`.
fn forwarded(fields: &FieldSection) -> Option<&'static str> {
    let value = the_one(fields, KnownName::X_FORWARDED_PROTO)?;
    ["https", "http"].into_iter().find(|scheme| value.eq_ignore_ascii_case(scheme.as_bytes()))
}

/// Returns the value of a field that occurs once. A list says nothing: part of it may come from the client.
fn the_one(fields: &FieldSection, name: KnownName) -> Option<&[u8]> {
    let mut values = fields.get_all(name);
    // A proxy overwrites the field: a second one shows that it did not, and then a client may have written
    // either.
    let (value, None) = (values.next()?, values.next()) else { return None };
    Some(value)
}
