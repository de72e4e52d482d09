//! Forms of many parts, `multipart/form-data` (RFC 7578), read while they come.
//!
//! Rule 1: a part ends when the line of the delimiter behind it has come and is good: a file that is cut is
//! never taken for a whole one.
//!
//! Rule 2: nothing is held but the head of one part. Content is lent out of the buffer of the connection.
//!
//! Rule 3: lines end in CRLF (RFC 2046 §5.1.1). A form whose lines end in LF alone is refused: readers that
//! differ in the end of a line differ in the parts that they see.

mod limits;
mod part;
mod reader;
mod save;

pub use limits::MultipartLimits;
pub use part::ReceivedPart;
#[cfg(feature = "fuzzing")]
pub(crate) use reader::read_all;

use std::fmt;

use alula_fields::{KnownName, parameters};
use alula_net::{Body, Cause, Error, Phase, Retry};

use self::reader::{Read, Reader};
use crate::exchange::{Exchange, request::Request};

/// The media type that is asked for.
const MULTIPART: &str = "multipart/form-data";

impl<S> Exchange<S> {
    /// Begins to read the content as a form of many parts, as browsers and curl upload files (RFC 7578).
    ///
    /// All of its bytes together are bounded by the `content_max` of the route or of the server, 2 MiB unless
    /// set; [`MultipartLimits`] bounds what a part may have. Allocates the boundary.
    ///
    /// # Errors
    /// [`Cause::MediaType`], which is answered 415, unless `content-type` is there once, is
    /// `multipart/form-data` and has a boundary of 1 to 70 bytes.
    ///
    /// ```
    /// use alula::{Answer, Exchange, Sent, Status};
    ///
    /// async fn upload(mut exchange: Exchange) -> Result<Sent, Answer> {
    ///     let (mut title, mut files) = (String::new(), 0);
    ///     let mut form = exchange.multipart()?;
    ///     while let Some(mut part) = form.next_part().await? {
    ///         match (part.name().as_deref(), part.file_name()) {
    ///             (Some("title"), None) => title = part.text().await?,
    ///             (Some("picture"), Some(_)) => {
    ///                 part.save_to(format!("pictures/{files}")).await?;
    ///                 files += 1;
    ///             }
    ///             // A part that is not read is passed over.
    ///             _ => {}
    ///         }
    ///     }
    ///     Ok(exchange.respond(Status::OK).text(format!("{title}: {files} pictures")).await?)
    /// }
    /// ```
    #[doc(alias = "Multipart")]
    pub fn multipart(&mut self) -> Result<MultipartReader<'_>, Error> {
        let boundary = boundary(self.request())
            .ok_or_else(|| Error::new(Phase::Content, Cause::MediaType(MULTIPART), Retry::Pointless))?;
        let body = self.body();
        body.bound_content(body.content_max());
        Ok(MultipartReader { body, reader: Reader::new(&boundary), limits: MultipartLimits::default() })
    }
}

/// Returns the boundary between the parts, if the content is said to be a form of them.
fn boundary(request: &Request) -> Option<String> {
    let mut types = request.headers().get_all(KnownName::CONTENT_TYPE);
    let (media_type, None) = (types.next()?, types.next()) else { return None };
    let is_form = parameters::main(media_type).eq_ignore_ascii_case(MULTIPART.as_bytes());
    let boundary = parameters::find(media_type, "boundary").filter(|_| is_form)?;
    (1..=70).contains(&boundary.len()).then(|| boundary.into_owned())
}

/// Reads a form of many parts, one after the other; see [`Exchange::multipart`].
pub struct MultipartReader<'b> {
    body: &'b mut Body,
    reader: Reader,
    limits: MultipartLimits,
}

impl<'b> MultipartReader<'b> {
    /// Sets the limits.
    #[must_use]
    pub fn limits(mut self, limits: MultipartLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Returns the next part, or `None` once the form is whole. What was not read of the part before it, the
    /// preamble and the epilogue are passed over.
    ///
    /// Dropping the future loses nothing. Allocates nothing once a head as long has come.
    ///
    /// # Errors
    /// - [`Cause::Unreadable`], which is answered 400: the form is malformed or cut, or has more parts than
    ///   [`MultipartLimits::parts`] or longer heads than [`MultipartLimits::head_bytes`].
    /// - [`Cause::TooLong`], which is answered 413: all parts together are beyond the `content_max`.
    /// - As [`Body::chunk`].
    pub async fn next_part(&mut self) -> Result<Option<ReceivedPart<'_, 'b>>, Error> {
        while self.content().await?.is_some() {}
        while self.reader.is_in_head() {
            let buffer = self.body.peek().await?;
            let bytes = self.reader.read_head(buffer, &self.limits)?;
            self.body.take_peeked(bytes);
        }
        if self.reader.is_in_content() {
            return Ok(Some(ReceivedPart::new(self)));
        }
        while self.body.chunk().await?.is_some() {}
        Ok(None)
    }

    /// Returns more of the content before the next delimiter, or `None` once the line of that has come.
    async fn content(&mut self) -> Result<Option<&[u8]>, Error> {
        while self.reader.is_in_content() {
            let buffer = self.body.peek().await?;
            match self.reader.read_content(buffer)? {
                Read::Content(bytes) => return Ok(Some(self.body.take_peeked(bytes))),
                Read::Delimiter(bytes) => return Ok(Some(self.reader.delimiter(bytes))),
                Read::Nothing(bytes) => drop(self.body.take_peeked(bytes)),
            }
        }
        Ok(None)
    }
}

/// Shows nothing that the peer has written.
impl fmt::Debug for MultipartReader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MultipartReader").field("limits", &self.limits).finish_non_exhaustive()
    }
}

#[cold]
fn unreadable(reason: impl fmt::Display) -> Error {
    Error::new(Phase::Content, Cause::Unreadable(reason.to_string().into()), Retry::Pointless)
}
