//! Fields of proxies: what is appended decides before what was there.

use std::net::IpAddr;

use alula_server::ClientAddressField::{self, Forwarded, XForwardedFor};
use alula_server::fuzzing::client_behind_proxies;

/// The first byte chooses the field, the others are its value.
pub fn forwarded(data: &[u8]) {
    let Some((choice, value)) = data.split_first() else { return };
    let field = if choice % 2 == 0 { XForwardedFor } else { Forwarded };
    let before = client_behind_proxies(field, value, is_proxy);
    // A quoted string that is open takes what follows.
    let is_open = field == Forwarded && is_open(value);
    // Such a value is sent by no field.
    let is_field = value.iter().all(|byte| !matches!(byte, 0..=8 | 10..=31 | 127));
    if is_open || !is_field {
        return;
    }
    let stranger = IpAddr::from([192, 0, 2, 77]);
    assert_eq!(after(field, value, stranger), Some(stranger), "{value:?}");
    let proxy = IpAddr::from([10, 0, 0, 1]);
    assert_eq!(after(field, value, proxy), before.or(Some(proxy)), "{value:?}");
}

/// Returns true if a quoted string is open at the end.
fn is_open(value: &[u8]) -> bool {
    let (mut bytes, mut is_open) = (value.iter(), false);
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' if is_open => drop(bytes.next()),
            b'"' => is_open = !is_open,
            _ => {}
        }
    }
    is_open
}

/// The client once a proxy has appended an address.
fn after(field: ClientAddressField, value: &[u8], address: IpAddr) -> Option<IpAddr> {
    let prefix = if field == Forwarded { ", for=" } else { ", " };
    let appended = [value, prefix.as_bytes(), address.to_string().as_bytes()].concat();
    client_behind_proxies(field, &appended, is_proxy)
}

fn is_proxy(address: IpAddr) -> bool {
    matches!(address, IpAddr::V4(address) if address.octets()[0] == 10)
}
