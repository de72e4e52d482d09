//! The content as JSON.

use alula_net::Error;
use serde_core::de::DeserializeOwned;

use super::unreadable;
use crate::Response;

impl Response {
    /// All that is left of the content as JSON (RFC 8259), if it has no more than `octets_max` octets. What its media type
    /// says is not looked at.
    ///
    /// # Errors
    /// It is not JSON, or not that of a `T`, and the error says where; or as [`read_to_end`](Self::read_to_end).
    ///
    /// ```no_run
    /// # async fn main_() -> Result<(), alula::Error> {
    /// # let client = alula::Client::new()?;
    /// let mut response = client.get("https://example.com/ports").send().await?;
    /// let ports: Vec<u16> = response.json(1 << 20).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn json<T: DeserializeOwned>(&mut self, octets_max: usize) -> Result<T, Error> {
        let content = self.read_to_end(octets_max).await?;
        // A byte order mark may be ignored, and some send it (RFC 8259 §8.1).
        let text = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&content);
        serde_json::from_slice(text)
            .map_err(|error| unreadable(format!("it is not the JSON expected: {error}")))
            .map_err(|error| self.body().named(error))
    }
}
