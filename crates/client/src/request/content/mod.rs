//! The content of requests beyond bytes: forms, JSON, files and readers.

mod given;
mod json;
mod multipart;
mod pairs;
mod piece;
mod requests;
mod sending;
mod urlencoded;

use std::{
    path::PathBuf,
    sync::{Arc, atomic::AtomicU64},
};

use alula_fields::FieldSection;
use alula_net::{Bytes, Error, Phase};
use tokio::io::AsyncRead;

pub(crate) use given::Given;
pub use multipart::{Multipart, Part};
pub use pairs::IntoPairs;
use piece::{Observer, Piece};

/// The content of a request: bytes, text, a file, a reader, or a multipart form.
///
/// Given to [`Call::content`](crate::Call::content). Its length is stated where it is known (RFC 9110 §8.6);
/// else it goes in chunks over HTTP/1.1, and without a length over HTTP/2. All but what has a reader in it
/// can be sent again after a failure or a redirect.
///
/// ```no_run
/// use alula::Content;
///
/// # async fn main_() -> Result<(), alula::Error> {
/// # let client = alula::Client::new()?;
/// let backup = Content::file("backup.tar").media_type("application/x-tar");
/// let response = client.put("https://example.com/backup.tar").content(backup).send().await?;
/// # Ok(())
/// # }
/// ```
pub struct Content {
    pieces: Vec<Piece>,
    media_type: Option<Arc<str>>,
    /// The mistake while building.
    mistake: Option<Error>,
    /// The counter of the bytes that were sent.
    sent: Option<Arc<AtomicU64>>,
    /// The observer of sent bytes.
    observer: Option<Observer>,
}

impl Content {
    /// Creates content from bytes; takes a `Vec` or a `String` without copying, and copies a slice once.
    pub fn bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self::new(vec![Piece::bytes(bytes.into())])
    }

    /// Creates content from shared bytes. They are not copied, however often they are sent.
    ///
    /// ```no_run
    /// # async fn main_() -> Result<(), alula::Error> {
    /// use alula::{Bytes, Client, Content};
    ///
    /// let image = Bytes::from(vec![0; 64 << 20]);
    /// let client = Client::new()?;
    /// for mirror in ["https://a.example/image", "https://b.example/image"] {
    ///     client.put(mirror).content(Content::shared(image.clone())).send().await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn shared(bytes: impl Into<Bytes>) -> Self {
        Self::new(vec![Piece::bytes(bytes)])
    }

    /// Creates text in UTF-8, of the media type `text/plain; charset=utf-8` unless another one is set.
    pub fn text(text: impl Into<String>) -> Self {
        Self::bytes(text.into().into_bytes()).media_type("text/plain; charset=utf-8")
    }

    /// Creates the content of a file, which is opened when the request is sent, and read on blocking threads.
    /// As many bytes are sent as it has then; it is an error when it turns out to have fewer.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self::new(vec![Piece::file(path.into())])
    }

    /// Creates the content of a reader, up to its end. It can be sent once.
    pub fn reader(reader: impl AsyncRead + Send + 'static) -> Self {
        Self::new(vec![Piece::reader(reader, None)])
    }

    /// Creates the content of a reader with a stated length; fewer bytes are an error. It can be sent once.
    pub fn reader_of(reader: impl AsyncRead + Send + 'static, bytes: u64) -> Self {
        Self::new(vec![Piece::reader(reader, Some(bytes))])
    }

    /// Creates a multipart form.
    pub fn multipart(form: Multipart) -> Self {
        form.into_content()
    }

    /// Sets the media type in `content-type`, unless the call has the field.
    #[must_use]
    pub fn media_type(mut self, media_type: impl AsRef<str>) -> Self {
        self.media_type = Some(media_type.as_ref().into());
        self.check_value(media_type.as_ref());
        self
    }

    /// Counts in `sent` the bytes that the connection has taken, for displays of progress. When the content
    /// is sent again, counting begins again at 0.
    #[must_use]
    pub fn counted(mut self, sent: Arc<AtomicU64>) -> Self {
        self.sent = Some(sent);
        self
    }

    /// Shows `observer` the bytes, piece by piece, as the connection takes them; again from the beginning if
    /// the content is sent again. The content waits for it.
    #[must_use]
    pub fn observed(mut self, observer: impl Fn(&[u8]) + Send + Sync + 'static) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    fn new(pieces: Vec<Piece>) -> Self {
        Self { pieces, media_type: None, mistake: None, sent: None, observer: None }
    }

    /// Records a value that is not allowed in a field.
    fn check_value(&mut self, value: &str) {
        if let Err(error) = FieldSection::new().append("content-type", value) {
            self.mistake = Some(Error::from(error).during(Phase::Build));
        }
    }

    /// Returns the same content from its beginning; nothing if it contains a reader.
    pub(crate) fn replay(&self) -> Option<Self> {
        let pieces: Option<Vec<Piece>> = self.pieces.iter().map(Piece::replay).collect();
        let (media_type, sent, observer) =
            (self.media_type.clone(), self.sent.clone(), self.observer.clone());
        Some(Self { pieces: pieces?, media_type, mistake: None, sent, observer })
    }

    /// Returns the length, if it is known.
    fn length(&self) -> Option<u64> {
        self.pieces.iter().try_fold(0_u64, |sum, piece| sum.checked_add(piece.length()?))
    }
}

opaque! {
    Content: "Content";
}
