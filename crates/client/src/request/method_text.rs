//! The types that callers can pass as methods.

use std::borrow::Cow;

use alula_fields::Method;

use crate::url::text::IntoText;

/// A method to send: a [`Method`], its name as [text](IntoText), or an `http::Method` with the feature
/// `http`.
///
/// It is sent as it is spelled (RFC 9110 §9.1). A name that is no token is refused when the call is sent.
/// Allocates nothing, but for an `http::Method` that is given by value and is not a standard one. Sealed.
///
/// ```no_run
/// use alula::{Client, Method};
///
/// # async fn main_() -> Result<(), alula::Error> {
/// let client = Client::new()?;
/// client.request(Method::Patch, "https://example.com/a").send().await?;
/// client.request("PROPFIND", "https://example.com/a").send().await?;
/// # Ok(())
/// # }
/// ```
pub trait IntoMethod<'a>: sealed::MethodText<'a> {}

impl<'a, T: sealed::MethodText<'a>> IntoMethod<'a> for T {}

pub(crate) mod sealed {
    use std::borrow::Cow;

    pub trait MethodText<'a> {
        fn into_method_text(self) -> Cow<'a, str>;
    }
}

impl<'a, T: IntoText<'a>> sealed::MethodText<'a> for T {
    #[inline]
    fn into_method_text(self) -> Cow<'a, str> {
        self.into_text()
    }
}

impl<'a> sealed::MethodText<'a> for Method<'a> {
    #[inline]
    fn into_method_text(self) -> Cow<'a, str> {
        Cow::Borrowed(self.as_str())
    }
}

#[cfg(feature = "http")]
impl<'a> sealed::MethodText<'a> for http::Method {
    fn into_method_text(self) -> Cow<'a, str> {
        match Method::standard(self.as_str()) {
            Some(method) => Cow::Borrowed(method.as_str()),
            None => Cow::Owned(self.as_str().to_owned()),
        }
    }
}
