//! Complete content, gathered up to a limit.
//!
//! Rule: a stated length beyond the limit fails before anything is read, and takes no memory.

use bytes::Bytes;

use super::Body;
use crate::{
    error::{Error, Phase, Retry, cause::Cause},
    handle::stream::Stream,
};

/// The most memory that is allocated for content that is only announced.
const ANNOUNCED_BYTES_MAX: u64 = 1 << 20;

/// The byte order mark with which some text of UTF-8 begins.
pub(super) const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";

impl Body {
    /// Sets the bytes that [`bytes`](Self::bytes), [`text`](Self::text) and `json` gather, such as for one
    /// route of a server. The default is the `content_max` of the client or server. More than 4 GiB count as
    /// 4 GiB. It bounds nothing else; see [`bound_content`](Self::bound_content).
    pub fn set_content_max(&mut self, bytes_max: usize) {
        self.content_max = u32::try_from(bytes_max).unwrap_or(u32::MAX);
    }

    /// Bounds all bytes that are still to come, however they are read, and those that are
    /// [gathered](Self::set_content_max). Reading beyond that fails with [`Cause::TooLong`], and the bytes
    /// that came with the first one beyond it are not handed out. Bytes are counted as they come, before a
    /// decoder. Allocates nothing.
    pub fn bound_content(&mut self, bytes_max: usize) {
        self.set_content_max(bytes_max);
        if let Some(stream) = &self.stream {
            stream.bound_content((bytes_max as u64).saturating_sub(self.chunk.left() as u64));
        }
    }

    /// Returns all that is left of the content, up to the `content_max` of the client or server.
    ///
    /// Dropping the future loses what was read so far. Content that came in one piece is not copied if it is
    /// long (see [`Body`]); other content is gathered in one allocation where its length is stated, or in one
    /// that grows.
    ///
    /// ```no_run
    /// # async fn main_() -> Result<(), alula::Error> {
    /// # let client = alula::Client::new()?;
    /// let mut response = client.get("https://example.com/logo.png").send().await?;
    /// let picture: alula::Bytes = response.body().bytes().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Cause::TooLong`] if the content is longer, which is told before any of it is read where its length
    /// is stated and it is not decoded; [`Cause::Usage`] if it was taken already, whole or in part, by this,
    /// `text`, `json` or `copy_to`; or as [`chunk`](Self::chunk).
    #[doc(alias = "read_to_end")]
    pub async fn bytes(&mut self) -> Result<Bytes, Error> {
        self.bytes_max(self.content_max()).await
    }

    /// Returns all that is left of the content, up to `bytes_max` bytes; otherwise like
    /// [`bytes`](Self::bytes).
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes).
    #[doc(alias = "read_to_end")]
    pub async fn bytes_max(&mut self, bytes_max: usize) -> Result<Bytes, Error> {
        let left = self.rest_within(bytes_max as u64)?;
        if self.unread().is_empty() && !self.fill().await? {
            self.is_taken = true;
            return Ok(Bytes::new());
        }
        if left.is_some_and(|left| left > self.chunk.left() as u64) {
            return gather(self, bytes_max).await.map(Bytes::from);
        }
        self.is_taken = true;
        let first = self.take_piece();
        if first.len() > bytes_max {
            return Err(self.too_long(bytes_max as u64));
        }
        if !self.fill().await? {
            return Ok(first);
        }
        let mut all = Vec::with_capacity(first.len() + self.unread().len());
        all.extend_from_slice(&first);
        drop(first);
        self.gather_into(&mut all, bytes_max).await?;
        Ok(all.into())
    }

    /// Returns all that is left of the content as text, up to the `content_max` of the client or server. It
    /// has to be UTF-8; a byte order mark is left out. `Response::text` of a client reads other charsets as
    /// well.
    ///
    /// Dropping the future loses what was read so far. Allocates the text.
    ///
    /// # Errors
    /// [`Cause::Unreadable`] if it is not UTF-8; or as [`bytes`](Self::bytes).
    pub async fn text(&mut self) -> Result<String, Error> {
        self.text_max(self.content_max()).await
    }

    /// Returns all that is left of the content as text, up to `bytes_max` bytes; otherwise like
    /// [`text`](Self::text).
    ///
    /// # Errors
    /// As [`text`](Self::text).
    pub async fn text_max(&mut self, bytes_max: usize) -> Result<String, Error> {
        let mut content = gather(self, bytes_max).await?;
        if content.starts_with(UTF8_MARK) {
            content.drain(..UTF8_MARK.len());
        }
        String::from_utf8(content).map_err(|error| self.unreadable(format!("it is not UTF-8: {error}")))
    }

    /// Returns the bytes that [`bytes`](Self::bytes) gathers.
    pub const fn content_max(&self) -> usize {
        self.content_max as usize
    }

    /// Returns the number of bytes that are left, if the peer has stated the length.
    pub(super) fn left(&self) -> Option<u64> {
        let here = self.chunk.left() as u64;
        match &self.stream {
            _ if self.decoder.is_some() => None,
            Some(stream) if !self.ended => stream.content_left().map(|more| more.saturating_add(here)),
            _ => Some(here),
        }
    }

    /// Returns the number of bytes that are left, if it is stated, for a caller who takes all of them.
    ///
    /// # Errors
    /// They are too many, or a caller before this one took all of them, or lost some.
    pub(super) fn rest_within(&self, bytes_max: u64) -> Result<Option<u64>, Error> {
        self.check_untaken()?;
        match self.left() {
            Some(left) if left > bytes_max => Err(self.too_long(bytes_max)),
            left => Ok(left),
        }
    }

    async fn gather_into(&mut self, all: &mut Vec<u8>, bytes_max: usize) -> Result<(), Error> {
        while self.fill_for_rest().await? {
            let chunk = self.take(self.unread().len());
            if chunk.len() > bytes_max - all.len() {
                return Err(self.too_long(bytes_max as u64));
            }
            all.extend_from_slice(chunk);
        }
        Ok(())
    }

    /// Waits until there is content for a caller who takes all of it; returns false at the end. What it takes
    /// is lost to others even if it fails later.
    pub(super) async fn fill_for_rest(&mut self) -> Result<bool, Error> {
        let is_there = !self.unread().is_empty() || self.fill().await?;
        self.is_taken = true;
        Ok(is_there)
    }

    #[inline]
    pub(super) fn check_untaken(&self) -> Result<(), Error> {
        if self.is_taken { Err(self.taken()) } else { Ok(()) }
    }

    #[cold]
    fn taken(&self) -> Error {
        self.named(Error::usage(
            "the content was taken already, by an earlier bytes, text, json or copy_to: keep what the first one returns",
        ))
    }

    #[cold]
    pub(super) fn too_long(&self, bytes_max: u64) -> Error {
        self.named(Error::too_long(bytes_max))
    }

    /// Returns the error for content in the wrong format.
    #[cold]
    pub(super) fn unreadable(&self, why: String) -> Error {
        self.named(Error::new(Phase::Content, Cause::Unreadable(why.into()), Retry::Pointless))
    }
}

impl Stream {
    /// Begins to take all that is left of the content piece by piece, for a caller that cannot be cancelled
    /// on the way.
    ///
    /// # Errors
    /// A caller before this one took all of it, or lost some.
    pub fn begin_rest(body: &mut Body) -> Result<(), Error> {
        body.check_untaken()?;
        body.is_taken = true;
        Ok(())
    }
}

/// Returns all that is left of the content, up to `bytes_max` bytes, in memory that can grow; otherwise like
/// [`Body::bytes_max`].
///
/// # Errors
/// As [`Body::bytes`].
pub async fn gather(body: &mut Body, bytes_max: usize) -> Result<Vec<u8>, Error> {
    let left = body.rest_within(bytes_max as u64)?;
    let mut all = Vec::with_capacity(left.unwrap_or(0).min(ANNOUNCED_BYTES_MAX) as usize);
    body.gather_into(&mut all, bytes_max).await?;
    Ok(all)
}
