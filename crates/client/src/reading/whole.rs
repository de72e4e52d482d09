//! The content as one piece.

use alula_net::{Cause, Error, Phase, Retry};

use crate::Response;

/// Memory taken for content that is only announced.
const ANNOUNCED_OCTETS_MAX: usize = 1 << 20;

impl Response {
    /// All that is left of the content, if that is no more than `octets_max`.
    ///
    /// Dropping the future loses what was read so far. Allocates the content.
    ///
    /// # Errors
    /// The content is longer, which is told at once where its length is stated and it is not decoded; or as
    /// [`Body::chunk`](crate::Body::chunk).
    ///
    /// ```no_run
    /// # async fn main_() -> Result<(), alula::Error> {
    /// # let client = alula::Client::new()?;
    /// let mut response = client.get("https://example.com/logo.png").send().await?;
    /// let picture: Vec<u8> = response.read_to_end(1 << 20).await?;
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "bytes")]
    pub async fn read_to_end(&mut self, octets_max: usize) -> Result<Vec<u8>, Error> {
        let announced = self.announced(octets_max)?;
        let mut content = Vec::with_capacity(announced.min(ANNOUNCED_OCTETS_MAX));
        while let Some(chunk) = self.body().chunk().await? {
            if chunk.len() > octets_max - content.len() {
                return Err(self.body().named(too_long(octets_max)));
            }
            content.extend_from_slice(chunk);
        }
        Ok(content)
    }

    /// The octets that are said to come.
    fn announced(&mut self, octets_max: usize) -> Result<usize, Error> {
        if self.is_decoded() || self.body().is_ended() {
            return Ok(0);
        }
        match self.content_length() {
            Some(length) if length > octets_max as u64 => Err(self.body().named(too_long(octets_max))),
            length => Ok(length.unwrap_or(0) as usize),
        }
    }
}

fn too_long(octets_max: usize) -> Error {
    Error::new(Phase::Content, Cause::TooLong(octets_max as u64), Retry::Pointless)
}
