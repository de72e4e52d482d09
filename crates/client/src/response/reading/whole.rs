//! The content as one piece, or as JSON.

use alula_net::{Bytes, Error};

use crate::response::Response;

impl Response {
    /// Returns all that is left of the content, up to [`content_max`](crate::ClientBuilder::content_max),
    /// which is 64 MiB unless set.
    ///
    /// Dropping the future loses what was read so far. [`Body`](crate::Body) says what it allocates.
    ///
    /// ```no_run
    /// # async fn main_() -> Result<(), alula::Error> {
    /// # let client = alula::Client::new()?;
    /// let mut response = client.get("https://example.com/logo.png").send().await?;
    /// let picture: alula::Bytes = response.bytes().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Cause::TooLong`](crate::Cause::TooLong) if the content is longer, which is told before any of it is read where its length is
    /// stated and it is not decoded; or as [`Body::chunk`](crate::Body::chunk).
    #[doc(alias = "read_to_end")]
    pub async fn bytes(&mut self) -> Result<Bytes, Error> {
        self.body().bytes().await
    }

    /// Returns all that is left of the content, up to `bytes_max` bytes; otherwise like
    /// [`bytes`](Self::bytes).
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes).
    #[doc(alias = "read_to_end")]
    pub async fn bytes_max(&mut self, bytes_max: usize) -> Result<Bytes, Error> {
        self.body().bytes_max(bytes_max).await
    }

    /// Reads all that is left of the content as JSON (RFC 8259), up to
    /// [`content_max`](crate::ClientBuilder::content_max). The media type is not checked.
    ///
    /// Dropping the future loses what was read so far.
    ///
    /// ```no_run
    /// # async fn main_() -> Result<(), alula::Error> {
    /// # let client = alula::Client::new()?;
    /// let mut response = client.get("https://example.com/ports").send().await?;
    /// let ports: Vec<u16> = response.json().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// It is not JSON, or not that of a `T`, and the error says where; or as [`bytes`](Self::bytes).
    #[cfg(feature = "json")]
    pub async fn json<T: serde_core::de::DeserializeOwned>(&mut self) -> Result<T, Error> {
        self.body().json().await
    }

    /// Reads all that is left of the content as JSON, up to `bytes_max` bytes; otherwise like
    /// [`json`](Self::json).
    ///
    /// # Errors
    /// As [`json`](Self::json).
    #[cfg(feature = "json")]
    pub async fn json_max<T: serde_core::de::DeserializeOwned>(
        &mut self,
        bytes_max: usize,
    ) -> Result<T, Error> {
        self.body().json_max(bytes_max).await
    }
}
