//! A name for each request.

use std::{cell::RefCell, fmt, net::IpAddr};

use alula_fields::KnownName;

use crate::{
    answer::Answer,
    router::{Begun, Hook},
};

/// The random bytes of a name: no two requests get the same.
const CHANCE_BYTES: usize = 16;

/// The longest name that is accepted from a peer.
const TAKEN_BYTES_MAX: usize = 128;

/// The names that a thread makes with one system call.
const MADE_AT_ONCE: usize = 16;

/// Sets a name in `x-request-id` of each request and its answer, so that logs of several programs can be
/// combined: a [hook](crate::Hook).
///
/// A name that comes with a request is kept if its peer is [trusted](Self::trusted) and it is up to 128 ASCII
/// letters, digits and `-._:/+=@`. All other requests get a new one, 32 hexadecimal digits from the random
/// bytes of the system, in the place of what the peer sent; if the system has none, the request has no name.
/// Handlers find it among the headers of the request, hooks as
/// [`Ended::request_id`](crate::Ended::request_id), and [`AccessLog`](crate::AccessLog) writes it into lines
/// of JSON.
///
/// Allocates nothing once warm, and calls the system once for 16 names.
///
/// ```
/// use alula::{RequestId, Router};
///
/// let ids = RequestId::new().trusted(|peer| peer.is_loopback());
/// let router = Router::<()>::new().hook(ids);
/// # router.build().unwrap();
/// ```
#[doc(alias = "SetRequestIdLayer")]
#[derive(Default)]
pub struct RequestId {
    trusts: Option<Box<dyn Fn(IpAddr) -> bool + Send + Sync>>,
}

impl RequestId {
    /// Makes a hook that trusts no peer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps the names that come from the peers for which `trusts` returns true. It is called for each
    /// request that has one; IPv4 addresses come as such, never mapped into IPv6.
    #[must_use]
    pub fn trusted(mut self, trusts: impl Fn(IpAddr) -> bool + Send + Sync + 'static) -> Self {
        self.trusts = Some(Box::new(trusts));
        self
    }

    /// Returns true if the request has exactly one name, and keeps it.
    fn keeps(&self, begun: &Begun<'_>) -> bool {
        let mut names = begun.request().headers().get_all(KnownName::X_REQUEST_ID);
        let (Some(name), None) = (names.next(), names.next()) else { return false };
        let is_trusted = |trusts: &dyn Fn(IpAddr) -> bool| trusts(begun.peer().ip().to_canonical());
        is_name(name) && self.trusts.as_deref().is_some_and(|trusts| is_trusted(trusts))
    }
}

impl Hook for RequestId {
    fn begin(&self, begun: &mut Begun<'_>) -> Option<Answer> {
        let mut kept = [0; TAKEN_BYTES_MAX];
        let name = if self.keeps(begun) {
            let name = begun.request().headers().get(KnownName::X_REQUEST_ID).unwrap_or_default();
            kept[..name.len()].copy_from_slice(name);
            &kept[..name.len()]
        } else {
            begun.request_mut().remove(KnownName::X_REQUEST_ID);
            &make()?[..]
        };
        // It is a value by its form.
        let _ = begun.request_mut().set(KnownName::X_REQUEST_ID, name);
        let _ = begun.add_header(KnownName::X_REQUEST_ID, name);
        // It is ASCII by its form.
        begun.note_request_id(str::from_utf8(name).unwrap_or_default());
        None
    }
}

impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestId").field("trusts", &self.trusts.is_some()).finish()
    }
}

fn is_name(text: &[u8]) -> bool {
    let is_taken = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._:/+=@".contains(byte);
    (1..=TAKEN_BYTES_MAX).contains(&text.len()) && text.iter().all(is_taken)
}

type Name = [u8; 2 * CHANCE_BYTES];

/// The random bytes of a thread, and the number left.
struct Chance {
    bytes: [u8; CHANCE_BYTES * MADE_AT_ONCE],
    left: usize,
}

thread_local! {
    static CHANCE: RefCell<Chance> = const { RefCell::new(Chance { bytes: [0; CHANCE_BYTES * MADE_AT_ONCE], left: 0 }) };
}

/// Returns a new name; none if the system has no random bytes.
fn make() -> Option<Name> {
    let chance = CHANCE.try_with(|chance| chance.borrow_mut().take()).ok()??;
    let mut name = [0; 2 * CHANCE_BYTES];
    for (digits, byte) in name.chunks_exact_mut(2).zip(chance) {
        digits[0] = HEX[usize::from(byte >> 4)];
        digits[1] = HEX[usize::from(byte & 15)];
    }
    Some(name)
}

const HEX: &[u8; 16] = b"0123456789abcdef";

impl Chance {
    fn take(&mut self) -> Option<[u8; CHANCE_BYTES]> {
        if self.left == 0 {
            getrandom::fill(&mut self.bytes).ok()?;
            self.left = MADE_AT_ONCE;
        }
        self.left -= 1;
        let (bytes, _) = self.bytes[self.left * CHANCE_BYTES..].split_first_chunk()?;
        Some(*bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_and_have_one_form() {
        let mut names: Vec<_> = (0..100).map(|_| make().unwrap()).collect();
        assert!(names.iter().all(|name| is_name(name) && name.iter().all(u8::is_ascii_hexdigit)));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 100);
        for (text, is) in
            [("", false), ("a", true), ("a b", false), ("a,b", false), ("ö", false), ("A-1._:/+=@", true)]
        {
            assert_eq!(is_name(text.as_bytes()), is, "{text}");
        }
    }
}
