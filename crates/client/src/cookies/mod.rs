//! Cookies (RFC 6265): a jar that keeps them between calls.

mod awaited;
mod expires;
mod netscape;
mod rules;
mod suffixes;

use std::{
    cmp::Reverse,
    fmt,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use alula_fields::{FieldError, FieldSection, KnownName};
use alula_net::Error;
use cookie_store::{Cookie, CookieStore};
use url::Url;

use crate::url::reference;
pub(crate) use awaited::Awaited;
pub use netscape::{NetscapeImport, SkippedLine};

/// The usual number of cookies of a request, so that they are listed in one allocation.
const COOKIES_PER_REQUEST: usize = 32;

/// A jar of cookies. Cloning it is cheap; clones, and the clients that are given them, share what is in it.
///
/// Kept is what RFC 6265 §5.3 says, and as browsers do it: a domain that is a public suffix, such as `co.uk`,
/// has no cookies; one marked `Secure` comes over TLS or from this machine only, and what does not cannot
/// replace it or hide it from the server (RFC 6265bis §5.7); the prefixes `__Secure-` and `__Host-` of names
/// are held to. The date of `expires` is read in all forms that RFC 6265 §5.1.1 allows. A cookie has up to
/// 4096 bytes, none of them a tab, a registrable domain up to 180 cookies, and a jar up to 3000: more are
/// not kept.
///
/// ```
/// use alula::{Client, Jar};
///
/// # fn main() -> Result<(), alula::Error> {
/// let jar = Jar::new();
/// jar.add("https://example.com/", "session=1; Secure; Path=/")?;
/// let client = Client::builder().cookies(jar.clone()).build()?;
/// assert_eq!(jar.cookies_for("https://example.com/a")?.as_deref(), Some("session=1"));
/// assert_eq!(jar.cookies_for("http://example.com/a")?, None);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Jar {
    store: Arc<RwLock<CookieStore>>,
}

impl Jar {
    /// Creates an empty jar.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stores a cookie as if it had come in `set-cookie` of a response from this URL; an expired one removes
    /// its equals.
    ///
    /// # Errors
    /// The URL or the cookie cannot be read, or the cookie is none that is kept from there.
    pub fn add(&self, url: &str, cookie: &str) -> Result<(), Error> {
        rules::insert(&mut self.write(), cookie, &reference::parse(url)?).map_err(Error::usage)
    }

    /// Returns the value of `cookie` in a request to this URL, if it has one.
    ///
    /// # Errors
    /// The URL cannot be read.
    pub fn cookies_for(&self, url: &str) -> Result<Option<String>, Error> {
        let mut fields = FieldSection::new();
        self.add_to(&mut fields, &reference::parse(url)?)?;
        let value = fields.get(KnownName::COOKIE);
        Ok(value.map(|value| String::from_utf8_lossy(value).into_owned()))
    }

    /// Returns the number of cookies.
    pub fn len(&self) -> usize {
        self.read().iter_unexpired().count()
    }

    /// Returns true if there is no cookie.
    pub fn is_empty(&self) -> bool {
        self.read().iter_unexpired().next().is_none()
    }

    /// Removes all cookies.
    pub fn clear(&self) {
        self.write().clear();
    }

    /// Returns all cookies in the Netscape file format of curl, wget and browser tools: a line for each,
    /// session cookies with the date 0.
    ///
    /// The text holds secrets: anyone who reads it can act as you.
    pub fn to_netscape(&self) -> String {
        netscape::format(&self.read())
    }

    /// Adds the cookies of a file in the Netscape format, except expired ones. A line that is not of this
    /// format, or whose cookie is none that is kept, is skipped and leaves the others.
    pub fn add_netscape(&self, file: impl AsRef<[u8]>) -> NetscapeImport {
        netscape::read(&mut self.write(), file.as_ref())
    }

    /// Stores the cookies that a response from this URL sets; invalid ones are ignored, as in browsers.
    pub(crate) fn keep(&self, fields: &FieldSection, url: &Url) {
        let mut store = self.write();
        let cookies = fields.get_all(KnownName::SET_COOKIE);
        for cookie in cookies.filter_map(|cookie| std::str::from_utf8(cookie).ok()) {
            let _ = rules::insert(&mut store, cookie, url);
        }
    }

    /// Returns true if a request to this URL has cookies.
    pub(crate) fn has_some_for(&self, url: &Url) -> bool {
        self.read().iter_any().any(|cookie| is_for(cookie, url))
    }

    /// Adds the cookies for this URL to a request: in one field, after the present ones, whose names are not
    /// repeated. Those with longer paths come first (RFC 6265 §5.4). Hands back those that it had, unless
    /// nothing was added.
    pub(crate) fn add_to(&self, fields: &mut FieldSection, url: &Url) -> Result<Option<Vec<u8>>, FieldError> {
        let store = self.read();
        let mut cookies = Vec::with_capacity(COOKIES_PER_REQUEST);
        cookies.extend(store.iter_any().filter(|cookie| is_for(cookie, url)));
        if cookies.is_empty() {
            return Ok(None);
        }
        // Longer paths go first (RFC 6265 §5.4); names make the order the same in every request.
        cookies.sort_unstable_by_key(|cookie| (Reverse(cookie.path.len()), cookie.name()));
        let own = take_own(fields);
        let mut is_first = own.is_empty();
        if !is_first {
            fields.append(KnownName::COOKIE, &own)?;
        }
        for cookie in cookies {
            let (name, value) = cookie.name_value();
            // A cookie that the caller gave wins over one of the same name in the jar.
            if has(&own, name) {
                continue;
            }
            match std::mem::take(&mut is_first) {
                true => fields.append(KnownName::COOKIE, name)?,
                false => [b"; ", name.as_bytes()].iter().for_each(|bytes| fields.extend_last(bytes)),
            }
            fields.extend_last(b"=");
            fields.extend_last(value.as_bytes());
        }
        Ok(Some(own))
    }

    fn read(&self) -> RwLockReadGuard<'_, CookieStore> {
        self.store.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, CookieStore> {
        self.store.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Shows the number of cookies, and no secrets.
impl fmt::Debug for Jar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jar").field("cookies", &self.len()).finish_non_exhaustive()
    }
}

fn is_for(cookie: &Cookie<'_>, url: &Url) -> bool {
    cookie.matches(url) && !cookie.is_expired()
}

/// Takes the caller's `cookie` fields out of the section, in one piece.
fn take_own(fields: &mut FieldSection) -> Vec<u8> {
    let own = fields.get_all(KnownName::COOKIE).collect::<Vec<_>>().join(&b"; "[..]);
    fields.remove(KnownName::COOKIE);
    own
}

/// Returns true if a `cookie` value contains this name.
fn has(own: &[u8], name: &str) -> bool {
    own.split(|byte| *byte == b';').any(|pair| {
        let of_pair = pair.split(|byte| *byte == b'=').next().unwrap_or_default();
        of_pair.trim_ascii() == name.as_bytes()
    })
}

#[cfg(test)]
mod tests;
