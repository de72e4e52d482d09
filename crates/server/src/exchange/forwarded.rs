//! The address of the client behind trusted proxies.
//!
//! Rule: addresses are believed from the right, each only because the one to the right of it is a trusted
//! proxy's. The first that is not trusted is the client's; what stands left of it was written by the client.
//! An unreadable element is nobody's address.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use alula_fields::{FieldSection, Head, KnownName, parameters, parameters::Parameter};

/// Tells which addresses are those of proxies that are trusted.
pub(crate) type Judge = Arc<dyn Fn(IpAddr) -> bool + Send + Sync>;

/// The field in which trusted proxies name the address of their client.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ClientAddressField {
    /// `x-forwarded-for`, to which each proxy appends the address of its peer.
    XForwardedFor,
    /// `forwarded`, to which each proxy appends an element with `for` (RFC 7239 §4).
    Forwarded,
}

/// Finds the client of the requests of a connection whose peer is a trusted proxy.
pub(crate) struct ForwardedSource {
    pub(crate) field: ClientAddressField,
    pub(crate) judge: Judge,
}

impl ForwardedSource {
    /// Notes the client of a request. Allocates nothing.
    pub(crate) fn note(&self, head: &mut Head) {
        let client = self.client(&head.fields);
        head.set_client(client);
    }

    /// Returns the client, unless the peer is the last that is known.
    fn client(&self, fields: &FieldSection) -> Option<IpAddr> {
        let mut walk = Walk { judge: &self.judge, client: None };
        match self.field {
            ClientAddressField::XForwardedFor => fields
                .get_all(KnownName::X_FORWARDED_FOR)
                .flat_map(|value| value.split(|byte| *byte == b','))
                .for_each(|hop| walk.pass(address(hop.trim_ascii()))),
            ClientAddressField::Forwarded => fields
                .get_all(KnownName::FORWARDED)
                .flat_map(|value| parameters::split(value, b','))
                .for_each(|element| walk.pass(named_for(element))),
        }
        walk.client
    }
}

/// Finds from left to right what a look from right to left would find.
struct Walk<'a> {
    judge: &'a Judge,
    client: Option<IpAddr>,
}

impl Walk<'_> {
    fn pass(&mut self, hop: Option<IpAddr>) {
        let Some(address) = hop else {
            // Nobody vouches for the hops left of one that cannot be read.
            self.client = None;
            return;
        };
        let is_leftmost = self.client.is_none();
        // If all hops are trusted proxies, the leftmost one has sent the request itself.
        if is_leftmost || !(self.judge)(address) {
            self.client = Some(address);
        }
    }
}

/// Parses an address, with a port or without; one of IPv6 in brackets if it has a port.
fn address(text: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(text).ok()?;
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let address = match bare {
        Some(bare) => IpAddr::V6(bare.parse().ok()?),
        None => text.parse().or_else(|_| text.parse().map(|it: SocketAddr| it.ip())).ok()?,
    };
    Some(address.to_canonical())
}

/// Returns the address in the one `for` of an element (RFC 7239 §4, §6). Quoted pairs are not taken: no
/// address needs one.
fn named_for(element: &[u8]) -> Option<IpAddr> {
    let pairs = parameters::split(element, b';').map(Parameter::parse);
    // A client that opens a quoted string has what the proxy appends in it: nothing of that element is known.
    if !pairs.clone().all(|pair| pair.is_whole()) {
        return None;
    }
    let mut named = pairs.filter(|pair| pair.is("for"));
    let (Some(pair), None) = (named.next(), named.next()) else { return None };
    let node = pair.written?;
    address(node.strip_prefix(b"\"").and_then(|node| node.strip_suffix(b"\"")).unwrap_or(node))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(field: ClientAddressField, values: &[&str]) -> String {
        let name = if field == ClientAddressField::Forwarded { "forwarded" } else { "x-forwarded-for" };
        let fields = FieldSection::from_pairs(values.iter().map(|value| (name, *value))).unwrap();
        let judge: Judge = Arc::new(|address| address.to_string().starts_with("10."));
        let source = ForwardedSource { field, judge };
        source.client(&fields).map_or("peer".into(), |address| address.to_string())
    }

    #[test]
    fn hops_are_believed_from_the_right() {
        for (values, expected) in [
            (&[][..], "peer"),
            (&["192.0.2.1"], "192.0.2.1"),
            (&["192.0.2.1:99"], "192.0.2.1"),
            (&["2001:db8::1"], "2001:db8::1"),
            (&["[2001:db8::1]:99"], "2001:db8::1"),
            (&["::ffff:192.0.2.1"], "192.0.2.1"),
            // The client has written the first.
            (&["198.51.100.1, 192.0.2.1"], "192.0.2.1"),
            (&["198.51.100.1", "192.0.2.1"], "192.0.2.1"),
            (&["192.0.2.1, 10.0.0.1, 10.0.0.2"], "192.0.2.1"),
            (&["10.0.0.9, 192.0.2.1, 10.0.0.2"], "192.0.2.1"),
            // All are proxies: the request came from the first.
            (&["10.0.0.1, 10.0.0.2"], "10.0.0.1"),
            // What cannot be read ends it.
            (&["192.0.2.1, unknown, 10.0.0.2"], "10.0.0.2"),
            (&["unknown, 192.0.2.1"], "192.0.2.1"),
            (&["192.0.2.1, unknown"], "peer"),
            (&["192.0.2.1,"], "peer"),
            (&["192.0.2.1, 10.0.0.1 10.0.0.2"], "peer"),
            (&["\"192.0.2.1\""], "peer"),
        ] {
            assert_eq!(client(ClientAddressField::XForwardedFor, values), expected, "{values:?}");
        }
    }

    #[test]
    fn elements_of_forwarded_are_read_strictly() {
        for (values, expected) in [
            (&["for=192.0.2.1"][..], "192.0.2.1"),
            (&["FOR=192.0.2.1;proto=https;by=10.0.0.1"], "192.0.2.1"),
            (&["proto=https; for=\"192.0.2.1:99\""], "192.0.2.1"),
            (&["for=\"[2001:db8::1]:99\""], "2001:db8::1"),
            (&["for=198.51.100.1, for=192.0.2.1, for=10.0.0.1"], "192.0.2.1"),
            (&["for=198.51.100.1", "for=192.0.2.1"], "192.0.2.1"),
            (&["for=_hidden, for=10.0.0.1"], "10.0.0.1"),
            (&["for=unknown"], "peer"),
            (&["proto=https"], "peer"),
            (&["for=192.0.2.1;for=192.0.2.2"], "peer"),
            // A client that opens a quoted string does not hide what the proxy appends as another field, nor
            // choose an address.
            (&["for=\"198.51.100.1", "for=192.0.2.1"], "192.0.2.1"),
            (&["for=\"198.51.100.1, for=192.0.2.1"], "peer"),
            (&["for=\", for=192.0.2.1\""], "peer"),
            (&["for=198.51.100.1;x=\", for=192.0.2.1"], "peer"),
            (&["for=192.0.2.1;x=\"a;for=198.51.100.1;b\""], "192.0.2.1"),
            (&["x=\"a\\\", for=198.51.100.1\"b, for=192.0.2.1"], "192.0.2.1"),
        ] {
            assert_eq!(client(ClientAddressField::Forwarded, values), expected, "{values:?}");
        }
    }
}
