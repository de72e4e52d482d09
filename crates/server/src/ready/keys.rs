//! The keys by which requests are counted.
//!
//! Rule: tables keep hashes of 64 bits under a secret of the process; a peer cannot choose with whom it
//! shares one.

use std::{
    hash::{BuildHasher as _, RandomState},
    net::IpAddr,
};

use crate::exchange::request::Request;

type KeyOf = Box<dyn for<'r> Fn(&'r Request) -> Option<&'r [u8]> + Send + Sync>;

/// The key of each request: the program's, or the address of the peer.
#[derive(Default)]
pub(super) struct Keys {
    secret: RandomState,
    of: Option<KeyOf>,
}

impl Keys {
    pub(super) fn by(
        &mut self,
        of: impl for<'r> Fn(&'r Request) -> Option<&'r [u8]> + Send + Sync + 'static,
    ) {
        self.of = Some(Box::new(of));
    }

    /// Returns the hash of a request's key.
    pub(super) fn hash(&self, request: &Request, peer: IpAddr) -> u64 {
        match self.of.as_ref().and_then(|of| of(request)) {
            Some(key) => self.secret.hash_one(key),
            None => self.secret.hash_one(host_of(peer)),
        }
    }
}

/// Returns an IPv4 address, or the first 64 bits of an IPv6 address: one host or household has all addresses
/// below (RFC 6177).
fn host_of(peer: IpAddr) -> u128 {
    match peer.to_canonical() {
        IpAddr::V4(address) => u32::from(address).into(),
        IpAddr::V6(address) => u128::from(address) >> 64 << 64,
    }
}

#[cfg(test)]
mod tests {
    use super::host_of;

    #[test]
    fn addresses_of_a_network_are_one() {
        let host = |text: &str| host_of(text.parse().unwrap());
        assert_eq!(host("2001:db8::1"), host("2001:db8::ffff:1:2:3"));
        assert_ne!(host("2001:db8::1"), host("2001:db8:0:1::1"));
        assert_eq!(host("::ffff:192.0.2.1"), host("192.0.2.1"));
        assert_ne!(host("192.0.2.1"), host("192.0.2.2"));
    }
}
