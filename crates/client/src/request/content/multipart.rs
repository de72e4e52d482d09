//! Multipart forms: `multipart/form-data` (RFC 7578), as browsers make them.

use std::{
    fmt::Write as _,
    hash::{BuildHasher as _, Hasher as _, RandomState},
    path::PathBuf,
};

use alula_fields::FieldSection;
use alula_net::{Bytes, Error};
use tokio::io::AsyncRead;

use super::{Content, piece::Piece};

/// A multipart form, for [`Call::multipart`](crate::Call::multipart).
///
/// The boundary between the parts is 128 random bits, so that no part holds it. Names and file names are
/// written as the WHATWG standard has it, with a quote, CR and LF as `%22`, `%0D` and `%0A`. Values are
/// sent as they are given. The length is stated when that of all parts is known.
///
/// ```no_run
/// use alula::{Multipart, Part};
///
/// # async fn main_() -> Result<(), alula::Error> {
/// # let client = alula::Client::new()?;
/// let form = Multipart::new()
///     .text("title", "Holidays")
///     .part("picture", Part::file("beach.jpg").media_type("image/jpeg"));
/// let response = client.post("https://example.com/album").multipart(form).send().await?;
/// # Ok(())
/// # }
/// ```
pub struct Multipart {
    boundary: String,
    content: Content,
}

/// A part of a form: its content, file name and fields.
pub struct Part {
    content: Content,
    file_name: Option<String>,
    /// Lines of fields, each behind a line end.
    fields: String,
}

impl Multipart {
    /// Creates a form without parts.
    pub fn new() -> Self {
        let random = || RandomState::new().build_hasher().finish();
        Self::with_boundary(format!("alula-{:016x}{:016x}", random(), random()))
    }

    /// Creates a form without parts, with this boundary, such as another form's [`boundary`](Self::boundary):
    /// 1 to 70 letters, digits, `-`, `_` and `.` (RFC 2046 §5.1.1; the call fails with others). Nobody who
    /// wrote a part may have known it.
    pub fn with_boundary(boundary: impl Into<String>) -> Self {
        let (boundary, mut content) = (boundary.into(), Content::new(Vec::new()));
        let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if !(1..=70).contains(&boundary.len()) || !boundary.bytes().all(is_known) {
            content.mistake = Some(Error::usage(
                "the boundary of the form must be 1 to 70 letters, digits, -, _ and . (RFC 2046 §5.1.1)",
            ));
        }
        Self { boundary, content }
    }

    /// Adds a text part, like a text field of a form.
    #[must_use]
    pub fn text(self, name: impl AsRef<str>, value: impl Into<String>) -> Self {
        self.part(name, Part::bytes(value.into()))
    }

    /// Adds a part.
    #[must_use]
    pub fn part(mut self, name: impl AsRef<str>, part: Part) -> Self {
        let disposition = format!("form-data; name=\"{}\"", escape(name.as_ref()));
        self.add(part, &disposition);
        self
    }

    fn add(&mut self, part: Part, disposition: &str) {
        let head = part.head(&self.boundary, disposition);
        let pieces = &mut self.content.pieces;
        pieces.push(Piece::bytes(head.into_bytes()));
        pieces.extend(part.content.pieces);
        pieces.push(Piece::bytes(&b"\r\n"[..]));
        self.content.mistake = self.content.mistake.take().or(part.content.mistake);
    }

    /// Returns the boundary between the parts, as `content-type` says it.
    pub fn boundary(&self) -> &str {
        &self.boundary
    }

    pub(super) fn into_content(self) -> Content {
        self.into_media_type("multipart/form-data")
    }

    fn into_media_type(mut self, media_type: &str) -> Content {
        let end = format!("--{}--\r\n", self.boundary);
        self.content.pieces.push(Piece::bytes(end.into_bytes()));
        self.content.media_type(format!("{media_type}; boundary={}", self.boundary))
    }
}

impl Default for Multipart {
    fn default() -> Self {
        Self::new()
    }
}

impl Part {
    /// Creates a part of bytes, without a file name unless one is set; takes a `Vec` or a `String` without
    /// copying.
    pub fn bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self { content: Content::bytes(bytes), file_name: None, fields: String::new() }
    }

    /// Creates a part of shared bytes, which are not copied.
    pub fn shared(bytes: impl Into<Bytes>) -> Self {
        Self { content: Content::shared(bytes), file_name: None, fields: String::new() }
    }

    /// Creates the part of a file with its own name, of the media type `application/octet-stream` unless
    /// another one is set. It is read as [`Content::file`] is.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let content = Content::file(path).media_type("application/octet-stream");
        Self { content, file_name: Some(name.unwrap_or_default()), fields: String::new() }
    }

    /// Creates a part of a reader: so many bytes, or up to its end. A form with such a part can be sent once.
    pub fn reader(reader: impl AsyncRead + Send + 'static, bytes: Option<u64>) -> Self {
        let content = Content::new(vec![Piece::reader(reader, bytes)]);
        Self { content, file_name: None, fields: String::new() }
    }

    /// Creates one part from several: `multipart/mixed`, in which each is an attachment. Forms sent the files
    /// of one field so before RFC 7578, whose §4.3 has a part of its own for each file.
    pub fn mixed(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Multipart::new();
        parts.into_iter().for_each(|part| all.add(part, "attachment"));
        Self { content: all.into_media_type("multipart/mixed"), file_name: None, fields: String::new() }
    }

    /// Sets the file name for the server.
    #[must_use]
    pub fn file_name(mut self, name: impl Into<String>) -> Self {
        self.file_name = Some(name.into());
        self
    }

    /// Sets the media type of the part, in its own `content-type`.
    #[must_use]
    pub fn media_type(mut self, media_type: impl AsRef<str>) -> Self {
        self.content = self.content.media_type(media_type);
        self
    }

    /// Adds a field to the head of the part (RFC 7578 §4.8 knows no other than `content-disposition`,
    /// `content-type` and `content-transfer-encoding`, and servers skip them). The call tells of a name or a
    /// value that is none.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        match FieldSection::new().append(name, value) {
            // A String takes any text.
            Ok(()) => drop(write!(self.fields, "\r\n{name}: {value}")),
            Err(mistake) => self.content.mistake = self.content.mistake.or(Some(mistake.into())),
        }
        self
    }

    /// Returns the lines before its content (RFC 7578 §4).
    fn head(&self, boundary: &str, disposition: &str) -> String {
        let mut head = format!("--{boundary}\r\nContent-Disposition: {disposition}");
        if let Some(file_name) = &self.file_name {
            // A String takes any text.
            let _ = write!(head, "; filename=\"{}\"", escape(file_name));
        }
        if let Some(media_type) = &self.content.media_type {
            let _ = write!(head, "\r\nContent-Type: {media_type}");
        }
        head + &self.fields + "\r\n\r\n"
    }
}

/// Escapes a name as the WHATWG standard and all browsers do.
fn escape(name: &str) -> String {
    // The backslash escapes of RFC 2183 are not used: servers that expect browsers do not undo them.
    name.replace('\r', "%0D").replace('\n', "%0A").replace('"', "%22")
}

opaque! {
    Multipart: "Multipart";
    Part: "Part";
}
