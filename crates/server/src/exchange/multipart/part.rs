//! One part of a form: its head, and its content as it comes.

use std::{borrow::Cow, fmt, path::Path};

use alula_fields::{FieldSection, KnownName, is_control_or_direction, parameters};
use alula_net::{Cause, Error, Phase, Retry};

use super::{MultipartReader, save::Unfinished, unreadable};

/// A part of a form: a value that was typed in, or a file. Dropped before its end, the rest of it is passed
/// over.
pub struct ReceivedPart<'p, 'b> {
    form: &'p mut MultipartReader<'b>,
}

impl<'p, 'b> ReceivedPart<'p, 'b> {
    pub(super) fn new(form: &'p mut MultipartReader<'b>) -> Self {
        Self { form }
    }
}

impl ReceivedPart<'_, '_> {
    /// Returns the name of the input in the form (RFC 7578 §4.2). Several parts may have the same.
    pub fn name(&self) -> Option<Cow<'_, str>> {
        parameters::find(self.disposition(), "name")
    }

    /// Returns the name of the file, if the part is one: the last segment of what the peer wrote, without the
    /// control characters and marks of direction in it, and empty where that is no name (`.`, `..`) or the
    /// input was left empty.
    ///
    /// It is chosen by the peer, and may be the name of a file that is there already. Allocates.
    #[doc(alias = "filename")]
    pub fn file_name(&self) -> Option<String> {
        let name = parameters::filename(self.disposition())?;
        // Some browsers sent the path on their side.
        let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
        let last: String = last.chars().filter(|character| !is_control_or_direction(*character)).collect();
        Some(if matches!(&*last, "." | "..") { String::new() } else { last })
    }

    /// Returns the media type that the peer states, with its parameters. Nothing has checked it.
    #[doc(alias = "content_type")]
    pub fn media_type(&self) -> Option<&str> {
        self.headers().text(KnownName::CONTENT_TYPE)
    }

    /// Returns the fields in the head of the part.
    pub fn headers(&self) -> &FieldSection {
        self.form.reader.fields()
    }

    fn disposition(&self) -> &[u8] {
        self.headers().get(KnownName::CONTENT_DISPOSITION).unwrap_or_default()
    }

    /// Returns more of the content, or `None` once the part is whole. Nothing is copied.
    ///
    /// Dropping the future loses nothing. Allocates nothing.
    ///
    /// # Errors
    /// As [`MultipartReader::next_part`].
    pub async fn chunk(&mut self) -> Result<Option<&[u8]>, Error> {
        self.form.content().await
    }

    /// Returns the rest of the content, up to [`MultipartLimits::gathered_bytes`].
    ///
    /// Dropping the future loses what was read so far. Allocates it.
    ///
    /// # Errors
    /// [`Cause::TooLong`], which is answered 413, if there is more; or as [`chunk`](Self::chunk).
    ///
    /// [`MultipartLimits::gathered_bytes`]: crate::MultipartLimits::gathered_bytes
    pub async fn bytes(&mut self) -> Result<Vec<u8>, Error> {
        let bytes_max = self.form.limits.gathered_bytes;
        let mut all = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            if chunk.len() > bytes_max - all.len() {
                return Err(Error::new(Phase::Content, Cause::TooLong(bytes_max as u64), Retry::Pointless));
            }
            all.extend_from_slice(chunk);
        }
        Ok(all)
    }

    /// Returns the rest of the content as text, which has to be UTF-8; else as [`bytes`](Self::bytes).
    ///
    /// # Errors
    /// [`Cause::Unreadable`], which is answered 400, if it is not UTF-8; or as [`bytes`](Self::bytes).
    pub async fn text(&mut self) -> Result<String, Error> {
        String::from_utf8(self.bytes().await?)
            .map_err(|error| unreadable(format_args!("a part is not UTF-8: {error}")))
    }

    /// Writes the rest of the content to a file, which is there only once it is whole and on the disk; a file
    /// of that name is replaced. Returns its bytes.
    ///
    /// Until then the content is in a hidden file beside it. Dropping the future removes that, and so does an
    /// error.
    ///
    /// # Errors
    /// [`Cause::Sink`], which is answered 500, if the file cannot be written; or as [`chunk`](Self::chunk).
    ///
    /// ```no_run
    /// # async fn example(mut exchange: alula::Exchange) -> Result<(), alula::Error> {
    /// let mut form = exchange.multipart()?;
    /// while let Some(mut part) = form.next_part().await? {
    ///     part.save_to("picture.jpg").await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn save_to(&mut self, path: impl AsRef<Path>) -> Result<u64, Error> {
        let mut file = Unfinished::create(path.as_ref().to_owned()).await.map_err(Error::sink)?;
        let mut bytes = 0;
        while let Some(chunk) = self.chunk().await? {
            bytes += chunk.len() as u64;
            file.write(chunk).await.map_err(Error::sink)?;
        }
        file.finish().await.map_err(Error::sink)?;
        Ok(bytes)
    }
}

/// Shows the length of the head alone: names may be secret.
impl fmt::Debug for ReceivedPart<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReceivedPart").field("headers", &self.headers().len()).finish_non_exhaustive()
    }
}
