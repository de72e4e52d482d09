//! URLs as callers have them.

use std::borrow::Cow;

use url::Url;

use crate::text::IntoText;

/// A URL to call: [text](IntoText), a [`url::Url`], or an `http::Uri` with the feature `http`.
///
/// Text is checked when the call is sent. References and `String` allocate nothing, a `Uri` once. Sealed.
///
/// ```no_run
/// use alula::{Call, Client};
///
/// fn item(client: &Client, id: u32) -> Call<'_> {
///     client.get(format!("https://example.com/items/{id}"))
/// }
///
/// # async fn main_() -> Result<(), alula::Error> {
/// let client = Client::new()?;
/// let response = item(&client, 17).send().await?;
/// # Ok(())
/// # }
/// ```
pub trait IntoUrl<'a>: sealed::UrlText<'a> {}

impl<'a, T: sealed::UrlText<'a>> IntoUrl<'a> for T {}

pub(crate) mod sealed {
    use std::borrow::Cow;

    pub trait UrlText<'a> {
        fn into_url_text(self) -> Cow<'a, str>;
    }
}

impl<'a, T: IntoText<'a>> sealed::UrlText<'a> for T {
    #[inline]
    fn into_url_text(self) -> Cow<'a, str> {
        self.into_text()
    }
}

impl<'a> sealed::UrlText<'a> for Url {
    fn into_url_text(self) -> Cow<'a, str> {
        Cow::Owned(self.into())
    }
}

#[cfg(feature = "http")]
impl<'a> sealed::UrlText<'a> for http::Uri {
    fn into_url_text(self) -> Cow<'a, str> {
        Cow::Owned(self.to_string())
    }
}
