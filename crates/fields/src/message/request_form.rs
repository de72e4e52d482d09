//! The form in which an HTTP/1 request was written, beyond its control data.

use core::fmt;

/// Facts about the first line and the host of an HTTP/1 request that its control data does not show (RFC 9112
/// §3.2).
///
/// A gateway that hands the request on in the form in which it came asks here. A request of HTTP/2 has none
/// of these.
#[derive(Copy, Clone, Default, Eq, PartialEq)]
pub struct RequestForm(u8);

impl RequestForm {
    /// The usual form: a target in origin form, of HTTP/1.1, without `host`; or a request of HTTP/2.
    pub const NONE: Self = Self(0);
    /// The flag of a target that is a whole URI (RFC 9112 §3.2.2).
    pub const ABSOLUTE: Self = Self(1);
    /// The flag of version 1.0.
    pub const HTTP_10: Self = Self(2);
    /// The flag of a field `host`, whose value is the authority.
    pub const HOST: Self = Self(4);

    /// Returns true if all of these facts hold.
    #[inline]
    pub const fn contains(self, form: Self) -> bool {
        self.0 & form.0 == form.0
    }

    /// Returns the union of two sets of facts.
    #[inline]
    #[must_use]
    pub const fn with(self, form: Self) -> Self {
        Self(self.0 | form.0)
    }

    /// Returns these facts with another one, if that holds.
    #[inline]
    #[must_use]
    pub const fn with_if(self, holds: bool, form: Self) -> Self {
        if holds { self.with(form) } else { self }
    }
}

impl fmt::Debug for RequestForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [(Self::ABSOLUTE, "absolute"), (Self::HTTP_10, "HTTP/1.0"), (Self::HOST, "host")];
        let held = names.into_iter().filter(|(form, _)| self.contains(*form));
        f.debug_set().entries(held.map(|(_, name)| name)).finish()
    }
}
