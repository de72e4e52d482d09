//! Values of fields as `-v` shows them.

use std::borrow::Cow;

/// The value of a field without the credentials that are in it.
pub(super) fn masked<'a>(name: &[u8], value: &'a [u8]) -> Cow<'a, [u8]> {
    let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
    if is("authorization") || is("proxy-authorization") {
        let scheme = value.split(|octet| *octet == b' ').next().unwrap_or_default();
        return Cow::Owned([scheme, " …".as_bytes()].concat());
    }
    if is("cookie") || is("set-cookie") {
        let name = value.split(|octet| *octet == b'=').next().unwrap_or_default();
        return Cow::Owned([name, "=…".as_bytes()].concat());
    }
    Cow::Borrowed(value)
}
