//! The content as text.

use alula_net::{Error, gather};

use super::charset;
use crate::response::Response;

impl Response {
    /// Returns all that is left of the content as text, up to
    /// [`content_max`](crate::ClientBuilder::content_max), which is 64 MiB unless set.
    ///
    /// It is read in the encoding that its byte order mark says, or else the `charset` of its `content-type`,
    /// or else in UTF-8; what is no character there becomes U+FFFD, as in browsers. Other encodings than
    /// UTF-8 need the feature `charset`, which knows those of the WHATWG standard.
    /// [`Body::text`](crate::Body::text) replaces nothing: it takes UTF-8 alone.
    ///
    /// Dropping the future loses what was read so far. Allocates the text.
    ///
    /// ```no_run
    /// # async fn main_() -> Result<(), alula::Error> {
    /// # let client = alula::Client::new()?;
    /// let page = client.get("https://example.com/").send().await?.text().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The `charset` is not known, and named; or as [`bytes`](Self::bytes).
    pub async fn text(&mut self) -> Result<String, Error> {
        let bytes_max = self.body().content_max();
        self.text_max(bytes_max).await
    }

    /// Returns all that is left of the content as text, up to `bytes_max` bytes; otherwise like
    /// [`text`](Self::text).
    ///
    /// # Errors
    /// As [`text`](Self::text).
    pub async fn text_max(&mut self, bytes_max: usize) -> Result<String, Error> {
        let content = gather(self.body(), bytes_max).await?;
        let text = charset::text(content, self.content_type());
        text.map_err(|error| self.body().named(error))
    }
}
