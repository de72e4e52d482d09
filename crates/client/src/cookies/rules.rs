//! The rules for storing cookies (RFC 6265 §5.3) that the cookie store does not implement: public suffixes,
//! `secure`, name prefixes and limits on the number.

use alula_fields::bytes;
use cookie_store::{Cookie, CookieDomain, CookieStore};
use url::{Host, Url};

use super::{expires, suffixes};

/// The bytes that browsers allow for name and value together.
const COOKIE_BYTES_MAX: usize = 4096;
/// The limits on the number of cookies.
struct Room {
    of_site: usize,
    in_all: usize,
}

/// The limits: RFC 6265 §6.1 asks for 50 of a domain, and 3000 in all, which take about a megabyte; Chromium
/// keeps 180 of a site.
const ROOM: Room = Room { of_site: 180, in_all: 3000 };

/// Stores a `set-cookie` value of a response from this URL, or returns the reason for refusing it.
pub(super) fn insert(store: &mut CookieStore, text: &str, url: &Url) -> Result<(), &'static str> {
    if url.host_str().is_none_or(|host| host.starts_with('.')) {
        // A file has a dot before a domain to say that hosts below it have the cookie too.
        return Err("the host of the cookie begins with a dot");
    }
    let cookie = Cookie::parse(expires::normal(text), url).map_err(|_| "it is no cookie for this URL")?;
    let mut cookie = cookie.into_owned();
    check_bytes(&cookie)?;
    check_domain(&mut cookie, url)?;
    check_secure(store, &cookie, url)?;
    if !cookie.is_expired() {
        make_room(store, &cookie, &ROOM)?;
    }
    match store.insert(cookie, url) {
        Ok(_) | Err(cookie_store::CookieError::Expired) => Ok(()),
        Err(_) => Err("the cookie is not for this URL"),
    }
}

fn check_bytes(cookie: &Cookie<'_>) -> Result<(), &'static str> {
    let (name, value) = cookie.name_value();
    if name.len() + value.len() > COOKIE_BYTES_MAX {
        return Err("the cookie is too long");
    }
    if !bytes::is_field_value(name.as_bytes()) || !bytes::is_field_value(value.as_bytes()) {
        return Err("the cookie holds control characters");
    }
    if cookie.path.chars().any(char::is_control) {
        return Err("the path of the cookie holds control characters");
    }
    // It would begin another column of a file, which could not be read any more.
    if [name, value, cookie.domain().unwrap_or_default()].iter().any(|part| part.contains('\t')) {
        return Err("the cookie holds a tab");
    }
    Ok(())
}

/// Checks the domain: a public suffix has no cookies but its own (RFC 6265 §5.3, step 5).
fn check_domain(cookie: &mut Cookie<'_>, url: &Url) -> Result<(), &'static str> {
    let CookieDomain::Suffix(domain) = &cookie.domain else { return Ok(()) };
    if !suffixes::is_public(domain) {
        return Ok(());
    }
    if !cookie.domain.host_is_identical(url) {
        return Err("the domain of the cookie is a public suffix");
    }
    // The host is the suffix itself, such as a page at `github.io`: it may have cookies, for itself alone.
    cookie.domain = CookieDomain::host_only(url).map_err(|_| "the URL has no host")?;
    Ok(())
}

/// Refuses `secure` cookies from insecure origins, cookies that would replace a secure one from there, and
/// names with the prefix `__Secure-` or `__Host-` whose attributes do not match it.
fn check_secure(store: &CookieStore, cookie: &Cookie<'_>, url: &Url) -> Result<(), &'static str> {
    let is_marked = cookie.secure() == Some(true);
    let is_of_host = matches!(cookie.domain, CookieDomain::HostOnly(_)) && &*cookie.path == "/";
    let keeps_promise = match cookie.name().to_ascii_lowercase() {
        name if name.starts_with("__secure-") => is_marked,
        name if name.starts_with("__host-") => is_marked && is_of_host,
        _ => true,
    };
    if !keeps_promise {
        return Err("the cookie is not what its prefix says");
    }
    if !is_trustworthy(url) && (is_marked || store.iter_any().any(|old| is_left_alone(old, cookie))) {
        return Err("the cookie is secure, and comes in clear text");
    }
    Ok(())
}

/// Returns true if a cookie from clear text must not hide this secure one (RFC 6265bis §5.7): it has the same
/// name, a domain above or below, and the same path or one below.
fn is_left_alone(old: &Cookie<'_>, new: &Cookie<'_>) -> bool {
    let (old_domain, new_domain) = (old.domain.as_cow(), new.domain.as_cow());
    let (old_domain, new_domain) = (old_domain.unwrap_or_default(), new_domain.unwrap_or_default());
    old.secure() == Some(true)
        && !old.is_expired()
        && old.name() == new.name()
        && (matches_domain(&old_domain, &new_domain) || matches_domain(&new_domain, &old_domain))
        && matches_path(&new.path, &old.path)
}

/// Returns true for a domain, or one below it (RFC 6265bis §5.1.3). Addresses have none below them.
fn matches_domain(name: &str, domain: &str) -> bool {
    name.strip_suffix(domain).is_some_and(|below| below.is_empty() || below.ends_with('.'))
}

/// Returns true for a path, or one below it (RFC 6265bis §5.1.4).
fn matches_path(path: &str, above: &str) -> bool {
    path.strip_prefix(above)
        .is_some_and(|rest| rest.is_empty() || above.ends_with('/') || rest.starts_with('/'))
}

/// Returns true for TLS and for loopback hosts.
fn is_trustworthy(url: &Url) -> bool {
    url.scheme() == "https"
        || match url.host() {
            // Browsers trust loopback like TLS: nothing leaves the machine.
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        }
}

/// Makes room for a cookie by removing expired ones; fails if its site or the jar is still full.
fn make_room(store: &mut CookieStore, cookie: &Cookie<'_>, room: &Room) -> Result<(), &'static str> {
    if has_room(store, cookie, room) {
        return Ok(());
    }
    remove_expired(store);
    match has_room(store, cookie, room) {
        true => Ok(()),
        false => Err("the jar is full"),
    }
}

fn has_room(store: &CookieStore, cookie: &Cookie<'_>, room: &Room) -> bool {
    let domain = cookie.domain.as_cow().unwrap_or_default();
    // The registrable domain, or the host where there is none.
    let site = suffixes::site(&domain).unwrap_or(&domain);
    let is_of_site = |old: &Cookie<'_>| {
        let domain = old.domain.as_cow().unwrap_or_default();
        matches_domain(&domain, site)
    };
    let (mut in_all, mut of_site) = (0, 0);
    for old in store.iter_any() {
        if is_replaced(old, cookie) {
            return true;
        }
        in_all += 1;
        of_site += usize::from(is_of_site(old));
    }
    in_all < room.in_all && of_site < room.of_site
}

fn is_replaced(old: &Cookie<'_>, new: &Cookie<'_>) -> bool {
    old.name() == new.name() && old.path == new.path && old.domain == new.domain
}

/// Removes expired cookies, which the store keeps but does not return.
fn remove_expired(store: &mut CookieStore) {
    let expired: Vec<_> = store.iter_any().filter(|cookie| cookie.is_expired()).cloned().collect();
    for cookie in expired {
        store.remove(&cookie.domain.as_cow().unwrap_or_default(), &cookie.path, cookie.name());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_site_has_room_for_so_many_and_all_have_for_so_many() {
        let (mut store, room) = (CookieStore::default(), Room { of_site: 3, in_all: 5 });
        for (host, cookie, has_room) in [
            ("a.example.com", "k=1", true),
            ("b.example.com", "k=1; Max-Age=1000", true),
            ("example.com", "k=1; Domain=example.com", true),
            ("c.example.com", "k=1", false),
            ("notexample.com", "k=1", true),
            ("a.github.io", "k=1", true),
            ("b.github.io", "k=1", false),
            // What is there may change, and what has gone makes room.
            ("a.example.com", "k=2", true),
            ("b.example.com", "k=2; Max-Age=0", true),
            ("b.github.io", "k=1", true),
            ("c.github.io", "k=1", false),
        ] {
            let url = Url::parse(&format!("https://{host}/")).unwrap();
            let cookie = Cookie::parse(cookie, &url).unwrap().into_owned();
            assert_eq!(make_room(&mut store, &cookie, &room).is_ok(), has_room, "{host} {cookie:?}");
            if has_room {
                store.insert(cookie, &url).unwrap();
            }
        }
    }
}
