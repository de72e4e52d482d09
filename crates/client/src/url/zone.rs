//! Zones of IPv6 addresses (RFC 4007 §11): `eth0` in `http://[fe80::1%25eth0]/` (RFC 6874), or in
//! `[fe80::1%eth0]` as curl has it too.
//!
//! Rule: a zone has a meaning on this machine alone. It chooses the interface of a connection, and nobody is
//! sent it; nor does a peer name one.

use std::{
    borrow::Cow,
    fmt, io,
    net::{IpAddr, Ipv6Addr, SocketAddr, ToSocketAddrs as _},
    ops::Range,
};

use alula_net::Error;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::url::error::bad_url;

/// The longest name of an interface, in bytes: Linux and the BSDs have no longer ones, and an index is
/// shorter.
const NAME_MAX: usize = 15;

/// The characters that have to be encoded in a URL: all but the unreserved ones (RFC 6874 §2).
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The name of an interface of this machine, or its index in digits.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Zone(Box<str>);

impl Zone {
    /// Removes the zone from a URL; returns the URL without it, and the zone if there is one. Allocates only
    /// for one.
    ///
    /// # Errors
    /// The text in the place of a zone is none.
    pub(crate) fn taken_out(url: &str) -> Result<(Cow<'_, str>, Option<Self>), Error> {
        Self::split(url).map_err(|why| bad_url(url, why))
    }

    /// Does the same, with the error in words.
    pub(crate) fn split(url: &str) -> Result<(Cow<'_, str>, Option<Self>), &'static str> {
        let Some(place) = place(url) else { return Ok((Cow::Borrowed(url), None)) };
        let zone = Self::parse(&url[place.clone()])?;
        let without = [&url[..place.start], &url[place.end..]].concat();
        Ok((Cow::Owned(without), Some(zone)))
    }

    /// Parses the text after an address: `%25` or `%`, and the name.
    fn parse(text: &str) -> Result<Self, &'static str> {
        // A bare `%` is taken as well, as curl does and RFC 6874 §3 recommends to parsers.
        let encoded = text.strip_prefix("%25").or_else(|| text.strip_prefix('%')).unwrap_or_default();
        let name = percent_decode_str(encoded).decode_utf8().unwrap_or_default();
        match () {
            () if encoded.is_empty() => Err("the zone of its address is empty"),
            () if !name.bytes().all(|byte| byte.is_ascii_graphic() && !b"%/[]".contains(&byte))
                || name.is_empty() =>
            {
                Err("the zone of its address is no name of an interface")
            }
            () if name.len() > NAME_MAX => Err("the zone of its address is longer than 15 bytes"),
            () => Ok(Self(name.into())),
        }
    }

    /// Returns the name or the index.
    pub(crate) fn name(&self) -> &str {
        &self.0
    }

    /// Puts the zone into an authority whose host is an IPv6 address.
    pub(crate) fn put_into(&self, authority: &str) -> String {
        let (address, rest) = authority.split_once(']').unwrap_or((authority, ""));
        format!("{address}{self}]{rest}")
    }

    /// Makes the address of this host use the interface; other hosts stay. Allocates, and asks the system,
    /// for a name, but not for an index.
    ///
    /// # Errors
    /// There is no such interface.
    pub(crate) fn choose_interface(&self, host: &str, addresses: &mut [SocketAddr]) -> io::Result<()> {
        let host: Option<IpAddr> = host.parse().ok();
        for address in addresses.iter_mut().filter(|address| Some(address.ip()) == host) {
            if let SocketAddr::V6(address) = address {
                address.set_scope_id(self.index()?);
            }
        }
        Ok(())
    }

    fn index(&self) -> io::Result<u32> {
        self.0.parse().or_else(|_| index_of(&self.0))
    }
}

/// Writes `%25eth0`, as in a URL.
impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%25{}", utf8_percent_encode(&self.0, ENCODED))
    }
}

/// Returns the index of an interface. The system is asked for an address of the kind that always has a zone:
/// it reads that address without asking any server.
fn index_of(name: &str) -> io::Result<u32> {
    let found = (&*format!("fe80::%{name}"), 0).to_socket_addrs();
    let scope = found.ok().and_then(|mut found| match found.next() {
        Some(SocketAddr::V6(address)) => Some(address.scope_id()),
        _ => None,
    });
    scope.filter(|index| *index != 0).ok_or_else(|| {
        io::Error::new(io::ErrorKind::NotFound, format!("this machine has no interface {name}"))
    })
}

/// Returns the place of the zone in a URL, with its percent sign, if its host is an IPv6 address with one.
fn place(url: &str) -> Option<Range<usize>> {
    let authority_at = url.find("//")? + 2;
    let before = url[..authority_at - 2].trim_start();
    // Two slashes may be in a path or a query, too.
    if before.contains(['/', '?', '#']) || !(before.is_empty() || before.ends_with(':')) {
        return None;
    }
    let authority = &url[authority_at..];
    let authority = &authority[..authority.find(['/', '?', '#', '\\']).unwrap_or(authority.len())];
    let host_at = authority.rfind('@').map_or(0, |at| at + 1);
    let host = authority[host_at..].strip_prefix('[')?;
    let host = &host[..host.find(']')?];
    let zone_at = host.find('%')?;
    // Without an address before it there is no zone, and the `url` crate says what is wrong.
    host[..zone_at].parse::<Ipv6Addr>().ok()?;
    let address_at = authority_at + host_at + 1;
    Some(address_at + zone_at..address_at + host.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_is_taken_out_and_put_back() {
        for (url, without, zone) in [
            ("http://[fe80::1%25eth0]:80/a?b#c", "http://[fe80::1]:80/a?b#c", "eth0"),
            ("http://[fe80::1%eth0]", "http://[fe80::1]", "eth0"),
            ("https://user:%5B@[::1%251]/%25", "https://user:%5B@[::1]/%25", "1"),
            ("http://[::1%1]/", "http://[::1]/", "1"),
            ("http://[::1%2525]/", "http://[::1]/", "25"),
            ("http://[::1%25eth%2D0.7_~]/", "http://[::1]/", "eth-0.7_~"),
            ("http://[::1%25eth0%3A1]/", "http://[::1]/", "eth0:1"),
        ] {
            let (text, found) = Zone::taken_out(url).unwrap();
            assert_eq!((&*text, found.as_ref().map(Zone::name)), (without, Some(zone)), "{url}");
            let put = format!("http://{}/", found.as_ref().unwrap().put_into("[::1]:80"));
            assert_eq!(Zone::taken_out(&put).unwrap(), ("http://[::1]:80/".into(), found), "{put}");
        }
    }

    #[test]
    fn what_has_no_zone_stays_as_it_is() {
        for url in [
            "",
            "a",
            "http://[::1]/",
            "http://a%25b/",
            "http://[::x%25lo]/",
            "http://a/[::1%25lo]",
            "http://a?[::1%25lo]",
            "http://[::1%25lo",
            "http://[::1%25l/o]/",
            "http://[::1%25lo]@a/",
            "http://é[::1%25lo]/",
            "/a//[::1%25lo]/",
            "a?b://[::1%25lo]/",
            "?//[::1%25lo]/",
            "a//[::1%25lo]/",
        ] {
            assert!(matches!(Zone::taken_out(url), Ok((Cow::Borrowed(text), None)) if text == url), "{url}");
        }
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for zone in [
            "%",
            "%25",
            "%25 ",
            "%25a\tb",
            "%25a%0Ab",
            "%25%00",
            "%25a%2Fb",
            "%25a%5Db",
            "%25a%",
            "%25a%zz",
            "%25a%ff",
            "%25é",
            "%abcdefghijklmnop",
        ] {
            let error = Zone::taken_out(&format!("http://[::1{zone}]/")).unwrap_err();
            assert!(error.to_string().contains("the zone of its address"), "{zone:?}: {error}");
        }
    }

    #[test]
    fn an_index_stands_for_itself_and_other_hosts_stay() {
        let zone = Zone("7".into());
        let mut addresses = ["[::1]:80", "[::2]:80", "127.0.0.1:80"].map(|text| text.parse().unwrap());
        zone.choose_interface("::1", &mut addresses).unwrap();
        assert_eq!(addresses.map(|address| address.to_string()), ["[::1%7]:80", "[::2]:80", "127.0.0.1:80"]);
        let unknown = Zone("nosuch0".into());
        let error = unknown.choose_interface("::1", &mut addresses).unwrap_err();
        assert_eq!(error.to_string(), "this machine has no interface nosuch0");
        unknown.choose_interface("192.0.2.1", &mut addresses).unwrap();
    }
}
