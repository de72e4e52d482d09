//! The types that callers can pass as URLs.

use std::borrow::Cow;

use url::Url;

use crate::url::text::IntoText;

/// A URL for a call: [text](IntoText), a [`url::Url`], or an `http::Uri` with the feature `http`.
///
/// An IPv6 address may have a zone, `http://[fe80::1%25eth0]/` (RFC 6874) or `http://[fe80::1%eth0]/`: the
/// interface of this machine, by its name or index, that connections are opened by. It is part of the origin
/// in this client, for its connections and credentials, and nobody else hears of it: `host`, `referer` and
/// the name in certificates are without, and a jar does not tell the zones of an address apart. A redirect to
/// the same address keeps it, and one that names a zone fails. A request with a zone does not go through a
/// proxy.
///
/// Text is checked when the call is sent. References and `String` allocate nothing, a `Uri` once. Sealed.
///
/// ```no_run
/// use alula::{Call, Client};
///
/// fn item(client: &Client, id: u32) -> Call<'static> {
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
