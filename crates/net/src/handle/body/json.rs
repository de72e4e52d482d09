//! Content as JSON.

use serde_core::de::DeserializeOwned;

use super::{Body, gathering::UTF8_MARK};
use crate::error::Error;

impl Body {
    /// Reads all that is left of the content as JSON (RFC 8259), up to the `content_max` of the client or
    /// server. A byte order mark is skipped (RFC 8259 §8.1).
    ///
    /// The media type is not looked at: a body knows nothing of the head. Read requests by `Exchange::json`,
    /// which answers 415 to other types: a page of another site can post JSON as `text/plain` without asking
    /// first.
    ///
    /// Dropping the future loses what was read so far. Allocates as [`bytes`](Self::bytes) does while it
    /// reads.
    ///
    /// # Errors
    /// [`Cause::Unreadable`](crate::Cause::Unreadable) if it is not JSON, or not that of a `T`, and the error
    /// says where; or as [`bytes`](Self::bytes).
    ///
    /// ```no_run
    /// # async fn main_(client: alula::Client) -> Result<(), alula::Error> {
    /// let mut response = client.get("http://localhost/ports").send().await?;
    /// let ports: Vec<u16> = response.body().json().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn json<T: DeserializeOwned>(&mut self) -> Result<T, Error> {
        self.json_max(self.content_max()).await
    }

    /// Reads all that is left of the content as JSON, up to `bytes_max` bytes; otherwise like
    /// [`json`](Self::json).
    ///
    /// # Errors
    /// As [`json`](Self::json).
    pub async fn json_max<T: DeserializeOwned>(&mut self, bytes_max: usize) -> Result<T, Error> {
        let content = self.bytes_max(bytes_max).await?;
        let text = content.strip_prefix(UTF8_MARK).unwrap_or(&content);
        serde_json::from_slice(text)
            .map_err(|error| self.unreadable(format!("it is not the JSON expected: {error}")))
    }
}
