//! Zones of IPv6 addresses in URLs, as `%25eth0` in `http://[fe80::1%25eth0]/`: the URL parser does not
//! accept them, and they are not sent.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// Removes the zone from a URL and returns it with its percent sign.
pub(in crate::fetch) fn taken_out(url: &str) -> (Cow<'_, str>, Option<String>) {
    let Some((scheme, rest)) = url.split_once("://") else { return (url.into(), None) };
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host_at = authority.rfind('@').map_or(0, |at| at + 1);
    let (user, host) = authority.split_at(host_at);
    match host.split_once(']').and_then(|(host, port)| Some((host.split_once('%')?, port))) {
        Some(((address, zone), port)) if address.starts_with('[') => {
            (format!("{scheme}://{user}{address}]{port}{path}").into(), Some(format!("%{zone}")))
        }
        _ => (url.into(), None),
    }
}

/// Puts a zone into a URL without user information, whose host is an IPv6 address.
pub(in crate::fetch) fn put_into(url: &str, zone: &str) -> String {
    url.replacen(']', &format!("{zone}]"), 1)
}

/// Returns the interface name, or its index, of a zone with its percent sign.
pub(in crate::fetch) fn name(zone: &str) -> String {
    let encoded = zone.strip_prefix("%25").or_else(|| zone.strip_prefix('%')).unwrap_or(zone);
    percent_decode_str(encoded).decode_utf8_lossy().into_owned()
}
