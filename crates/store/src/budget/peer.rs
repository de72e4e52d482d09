//! The peer on whose account room is taken.

use std::net::IpAddr;
use std::sync::Arc;

/// The peer on whose account room is taken: a user where there are users, else a network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Peer {
    /// No peer in particular.
    #[default]
    Nobody,
    User(Arc<str>),
    Network(u128),
}

impl Peer {
    /// Returns the network of an address: an address of IPv4, or the first 64 bits of one of IPv6, whose
    /// hosts choose the others.
    pub(crate) fn of_address(address: IpAddr) -> Self {
        Self::Network(match address.to_canonical() {
            IpAddr::V4(address) => address.to_bits().into(),
            IpAddr::V6(address) => address.to_bits() >> 64 << 64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_a_network_are_one() {
        let of = |text: &str| Peer::of_address(text.parse().expect("an address"));
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:1:2:3"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }
}
