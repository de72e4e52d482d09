//! The settings for content codings of responses.

#[cfg(feature = "decoding")]
use std::sync::Arc;

#[cfg(feature = "decoding")]
use alula_coding::DecoderPool;

#[cfg(feature = "decoding")]
use super::ClientBuilder;

/// The settings for decoding responses.
#[derive(Clone, Default)]
pub(crate) struct Decoding {
    #[cfg(feature = "decoding")]
    pub(crate) on: bool,
    /// The most bytes of decoded content.
    #[cfg(feature = "decoding")]
    pub(crate) bytes_max: Option<u64>,
    #[cfg(feature = "decoding")]
    pub(crate) pool: Arc<DecoderPool>,
}

#[cfg(feature = "decoding")]
impl ClientBuilder {
    /// Requests content in the codings of this build, and decodes it while it comes (RFC 9110 §8.4); off
    /// unless switched on, and [overridden by each call](crate::Call::decompress).
    ///
    /// Which codings they are is up to the cargo features: `gzip` (gzip, x-gzip and deflate), `brotli` (br)
    /// and `zstd`. `accept-encoding` is sent unless the call has one, or asks for a `range`: what is a range
    /// of coded content cannot be decoded, and nor is 206 (Partial Content). A
    /// [prepared](crate::Client::prepare) request says itself what it accepts.
    ///
    /// Decoded are up to two codings, one in the other; content with three or more is an error when it is
    /// read. Content with a coding that is not known is left as it came, and
    /// [`is_decoded`](crate::Response::is_decoded) says so. A response that is decoded is without
    /// `content-encoding` and `content-length`, which told of the coded content;
    /// [`received_headers`](crate::Response::received_headers) has both.
    ///
    /// Content that ends before its coding does is an error, whatever its framing says, and so is content
    /// that decodes to more than a hundred times its bytes once that is more than 1 MiB
    /// ([`Cause::Growth`](crate::Cause::Growth)), and zstd with a window over 8 MiB (RFC 9659 §3). What
    /// follows the last member of gzip, or the end of deflate, is dropped, as others do.
    ///
    /// Takes a decoder's memory from the client's earlier responses; gzip allocates nothing once warm.
    ///
    /// ```no_run
    /// # async fn main_() -> Result<(), alula::Error> {
    /// let client = alula::Client::builder().decompress(true).decoded_max(64 << 20).build()?;
    /// let mut response = client.get("https://example.com/").send().await?;
    /// let page = response.bytes().await?;
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias("gzip", "brotli", "zstd", "deflate"))]
    #[must_use]
    pub fn decompress(mut self, on: bool) -> Self {
        self.settings.decoding.on = on;
        self
    }

    /// Sets the most bytes of decoded content; unlimited unless set. More is an error when it is read,
    /// [`Cause::TooLong`](crate::Cause::TooLong), and so is content that comes as more than twice as many
    /// bytes and 64 KiB.
    #[must_use]
    pub fn decoded_max(mut self, bytes: u64) -> Self {
        self.settings.decoding.bytes_max = Some(bytes);
        self
    }
}
