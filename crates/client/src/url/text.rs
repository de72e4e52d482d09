//! Text from callers, borrowed or owned: URLs, methods and paths are given so.
//!
//! Rule: text that is given by reference stays borrowed for as long as the call lives, and costs no
//! allocation.

use std::borrow::Cow;

/// Text for a call: a reference to text (`&str`, `&String`, `&Box<str>`), or `String`, `Cow<str>` and
/// `Box<str>`, which move into the call.
///
/// References allocate nothing. Sealed: more types may be accepted later.
pub trait IntoText<'a>: sealed::Text<'a> {}

impl<'a, T: sealed::Text<'a>> IntoText<'a> for T {}

pub(crate) mod sealed {
    use std::borrow::Cow;

    pub trait Text<'a> {
        fn into_text(self) -> Cow<'a, str>;
    }
}

impl<'a, T: AsRef<str> + ?Sized> sealed::Text<'a> for &'a T {
    #[inline]
    fn into_text(self) -> Cow<'a, str> {
        Cow::Borrowed(self.as_ref())
    }
}

impl<'a> sealed::Text<'a> for String {
    #[inline]
    fn into_text(self) -> Cow<'a, str> {
        Cow::Owned(self)
    }
}

impl<'a> sealed::Text<'a> for Cow<'a, str> {
    #[inline]
    fn into_text(self) -> Cow<'a, str> {
        self
    }
}

impl<'a> sealed::Text<'a> for Box<str> {
    #[inline]
    fn into_text(self) -> Cow<'a, str> {
        Cow::Owned(self.into())
    }
}
