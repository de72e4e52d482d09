//! The content as text.

use alula_net::Error;

use super::charset;
use crate::Response;

impl Response {
    /// All that is left of the content as text, if it has no more than `octets_max` octets.
    ///
    /// It is read in the encoding that its byte order mark says, or else the `charset` of its `content-type`, or else in UTF-8; what is
    /// no character there becomes U+FFFD, as in browsers. Other encodings than UTF-8 need the feature `charset`, which knows
    /// those of the WHATWG standard. Who wants nothing replaced has [`read_to_end`](Self::read_to_end) and
    /// [`String::from_utf8`].
    ///
    /// # Errors
    /// The `charset` is not known, and named; or as [`read_to_end`](Self::read_to_end).
    ///
    /// ```no_run
    /// # async fn main_() -> Result<(), alula::Error> {
    /// # let client = alula::Client::new()?;
    /// let page = client.get("https://example.com/").send().await?.text(1 << 20).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn text(&mut self, octets_max: usize) -> Result<String, Error> {
        let content = self.read_to_end(octets_max).await?;
        let text = charset::text(content, self.content_type());
        text.map_err(|error| self.body().named(error))
    }
}
