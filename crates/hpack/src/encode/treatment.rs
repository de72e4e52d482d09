//! The treatment of a field by the encoder, from the policy and from the field itself.

use alula_fields::KnownName;

use crate::encode::config::Policy;

/// The treatment of a field.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Treatment {
    /// An index if there is one, else a literal.
    Refer,
    /// The same, but an entry if it was sent before.
    Repeat,
    /// An index if there is one, else an entry.
    Enter,
    /// A literal.
    Without,
    /// A literal that is never indexed.
    Never,
}

impl Treatment {
    /// Returns the treatment of a field that asks for none.
    pub(crate) const fn auto(policy: Policy) -> Self {
        match policy {
            Policy::Static => Self::Refer,
            Policy::Always => Self::Enter,
            Policy::Repeat => Self::Repeat,
            Policy::Never => Self::Never,
        }
    }

    /// Returns the first bits of a literal that does not become an entry.
    pub(crate) const fn pattern(self) -> u8 {
        if matches!(self, Self::Never) { NEVER } else { WITHOUT }
    }
}

/// Returns true if an attacker who shares the table could guess the value byte by byte (RFC 7541 §7.1):
/// credentials, and cookies that are too short to be safe. The same rule is in nghttp2 and Go.
#[inline]
pub(crate) fn is_secret(name: KnownName, value: &[u8]) -> bool {
    match name {
        KnownName::AUTHORIZATION | KnownName::PROXY_AUTHORIZATION => true,
        KnownName::COOKIE => value.len() < COOKIE_BYTES_MIN,
        _ => false,
    }
}

/// The length from which on a cookie is safe: RFC 7541 §7.1.3 names values of low entropy, and nghttp2 and Go
/// draw the line at twenty bytes.
const COOKIE_BYTES_MIN: usize = 20;

/// The first bits of a literal that is never to be indexed (RFC 7541 §6.2.3).
pub(crate) const NEVER: u8 = 0x10;
/// The first bits of a literal that is no entry (RFC 7541 §6.2.2).
pub(crate) const WITHOUT: u8 = 0;
