//! The hosts that are connected to without a proxy (`no_proxy`).
//!
//! No standard defines the syntax. This is what curl, Go and most others have come to agree on, as
//! described by [`Proxy::except`](super::Proxy::except).

use std::net::IpAddr;

use url::Host;

#[derive(Clone, Debug, Default)]
pub(super) struct Exceptions(Vec<Exception>);

#[derive(Clone, Debug, Eq, PartialEq)]
struct Exception {
    hosts: Hosts,
    /// The only port of the exception; all if `None`.
    port: Option<u16>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Hosts {
    All,
    /// A name and those below it: in lower case, internationalised labels as `xn--…`.
    Domain(String),
    /// The addresses that share so many leading bits with this one.
    Network(IpAddr, u32),
}

impl Exceptions {
    pub(super) fn of(list: &str) -> Self {
        let items = list.split([',', ' ', '\t']).filter(|item| !item.is_empty());
        Self(items.filter_map(Exception::of).collect())
    }

    pub(super) fn cover(&self, host: &str, port: u16) -> bool {
        self.0.iter().any(|exception| exception.covers(host, port))
    }
}

impl Exception {
    fn of(item: &str) -> Option<Self> {
        if let Some(hosts) = Hosts::of_addresses(item) {
            return Some(Self { hosts, port: None });
        }
        let (host, port) = match item.rsplit_once(':') {
            Some((host, port)) => (host, Some(port.parse().ok()?)),
            None => (item, None),
        };
        let hosts = Hosts::of_addresses(host).or_else(|| Hosts::of_names(host))?;
        Some(Self { hosts, port })
    }

    fn covers(&self, host: &str, port: u16) -> bool {
        self.port.is_none_or(|only| only == port) && self.hosts.have(host)
    }
}

impl Hosts {
    /// Parses an address, IPv6 with or without brackets, or a network.
    fn of_addresses(item: &str) -> Option<Self> {
        let (address, bits) = match item.split_once('/') {
            Some((address, bits)) => (address, Some(bits.parse().ok()?)),
            None => (item, None),
        };
        let unbracketed = address.strip_prefix('[').and_then(|address| address.strip_suffix(']'));
        let address: IpAddr = unbracketed.unwrap_or(address).parse().ok()?;
        let bits_max = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.unwrap_or(bits_max);
        (bits <= bits_max).then_some(Self::Network(address, bits))
    }

    fn of_names(item: &str) -> Option<Self> {
        if item == "*" {
            return Some(Self::All);
        }
        let name = item.strip_prefix('*').unwrap_or(item);
        let name = name.strip_prefix('.').unwrap_or(name);
        match Host::parse(name.strip_suffix('.').unwrap_or(name)) {
            Ok(Host::Domain(name)) if !name.contains('*') => Some(Self::Domain(name)),
            _ => None,
        }
    }

    fn have(&self, host: &str) -> bool {
        match self {
            Self::All => true,
            Self::Domain(name) => {
                let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
                host.strip_suffix(&**name).is_some_and(|below| below.is_empty() || below.ends_with('.'))
            }
            Self::Network(network, bits) => {
                host.parse().is_ok_and(|address| is_within(address, *network, *bits))
            }
        }
    }
}

/// Returns true if the first bits are equal; an IPv4 address is in no network of IPv6.
fn is_within(address: IpAddr, network: IpAddr, bits: u32) -> bool {
    let differing = match (address, network) {
        (IpAddr::V4(address), IpAddr::V4(network)) => u128::from(address.to_bits() ^ network.to_bits()) << 96,
        (IpAddr::V6(address), IpAddr::V6(network)) => address.to_bits() ^ network.to_bits(),
        _ => return false,
    };
    differing.leading_zeros() >= bits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(list: &str, host: &str) -> bool {
        Exceptions::of(list).cover(host, 443)
    }

    #[test]
    fn domains_stand_for_themselves_and_those_below() {
        for list in
            ["example.com", ".example.com", "*.example.com", "a.test, EXAMPLE.com.", "a.test example.com"]
        {
            for host in ["example.com", "www.example.com", "a.b.Example.com", "example.com."] {
                assert!(covers(list, host), "{list}: {host}");
            }
            for host in ["badexample.com", "example.com.evil", "com", "192.0.2.1", ""] {
                assert!(!covers(list, host), "{list}: {host}");
            }
        }
    }

    #[test]
    fn names_may_be_written_as_people_do() {
        assert!(covers("b\u{fc}cher.example", "xn--bcher-kva.example"));
        assert!(covers("B\u{dc}CHER.example", "www.xn--bcher-kva.example"));
        assert!(covers("my_host", "my_host") && covers("localhost", "localhost"));
    }

    #[test]
    fn the_asterisk_stands_for_all_and_nothing_for_none() {
        assert!(covers("*", "example.com") && covers("a.test,*", "::1"));
        for list in ["", " ,, ", ".", "*.", "*a*", "example.com/8", "example.com:x", ":443", "a]"] {
            assert!(!covers(list, "example.com"), "{list}");
        }
    }

    #[test]
    fn ports_narrow_it_down() {
        assert!(covers("example.com:443", "www.example.com") && covers("*:443", "a"));
        assert!(!covers("example.com:80", "example.com"));
        assert!(covers("[::1]:443", "::1") && !covers("[::1]:80", "::1"));
        assert!(covers("127.0.0.1:443", "127.0.0.1") && !covers("127.0.0.1:80", "127.0.0.1"));
    }

    #[test]
    fn addresses_and_networks_of_both_versions() {
        for (list, host) in [
            ("127.0.0.1", "127.0.0.1"),
            ("::1", "::1"),
            ("[::1]", "0:0:0:0:0:0:0:1"),
            ("10.0.0.0/8", "10.255.0.1"),
            ("10.1.2.3/8", "10.255.0.1"),
            ("0.0.0.0/0", "192.0.2.1"),
            ("192.0.2.128/25", "192.0.2.129"),
            ("fd00::/8", "fdff::1"),
            ("2001:db8::/33", "2001:db8:7fff::1"),
            ("::/0", "2001:db8::1"),
        ] {
            assert!(covers(list, host), "{list}: {host}");
        }
        for (list, host) in [
            ("10.0.0.0/8", "11.0.0.1"),
            ("192.0.2.128/25", "192.0.2.127"),
            ("2001:db8::/33", "2001:db8:8000::1"),
            ("0.0.0.0/0", "::1"),
            ("::/0", "127.0.0.1"),
            ("10.0.0.0/33", "10.0.0.0"),
            ("10.0.0.0/8", "10.example.com"),
            ("127.0.0.1", "1.127.0.0.1"),
        ] {
            assert!(!covers(list, host), "{list}: {host}");
        }
    }
}
