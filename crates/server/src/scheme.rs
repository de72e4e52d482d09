//! The scheme of a request: that of its connection, or what a trusted proxy says about the connection of its client.
//!
//! Rule: what a peer claims decides nothing. A client may write any `:scheme`, any target and any `x-forwarded-proto`;
//! only a proxy that the application trusts is believed, and only for the field that proxies overwrite.

use std::{net::IpAddr, sync::Arc};

use alula_fields::{FieldSection, KnownName};
use alula_net::Conn;

/// The addresses whose `x-forwarded-proto` is believed; none unless set.
#[derive(Clone, Default)]
pub(crate) struct TrustedProxies(Option<Arc<dyn Fn(IpAddr) -> bool + Send + Sync>>);

/// Where the scheme of the requests of one connection is found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SchemeSource {
    /// The connection is over TLS.
    is_secure: bool,
    /// The peer is a proxy that is believed.
    is_trusted: bool,
}

impl TrustedProxies {
    pub(crate) fn judged_by(trusts: impl Fn(IpAddr) -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(trusts)))
    }

    /// Judges the peer of a connection, once.
    pub(crate) fn source_of(&self, conn: &Conn) -> SchemeSource {
        let trusts = |judge: &Arc<dyn Fn(IpAddr) -> bool + Send + Sync>| {
            conn.peer().is_some_and(|peer| judge(peer.ip().to_canonical()))
        };
        SchemeSource { is_secure: conn.is_secured(), is_trusted: self.0.as_ref().is_some_and(trusts) }
    }
}

impl SchemeSource {
    /// Returns the scheme of a request with these fields.
    pub(crate) fn scheme(self, fields: &FieldSection) -> &'static str {
        let forwarded = if self.is_trusted { forwarded(fields) } else { None };
        forwarded.unwrap_or(if self.is_secure { "https" } else { "http" })
    }
}

/// Returns the one scheme that `x-forwarded-proto` names. A list says nothing: part of it may come from the client.
fn forwarded(fields: &FieldSection) -> Option<&'static str> {
    let mut values = fields.get_all(KnownName::X_FORWARDED_PROTO);
    let (value, None) = (values.next()?, values.next()) else { return None };
    ["https", "http"].into_iter().find(|scheme| value.eq_ignore_ascii_case(scheme.as_bytes()))
}
