//! The methods of calls for content and queries.

use std::{fmt, path::PathBuf};

use alula_net::Error;

use super::{Content, Given, IntoPairs, Multipart, urlencoded::Encoder};
use crate::{
    request::{Request, call::Call},
    response::Response,
};

impl Call<'_> {
    /// Appends these [names and values](IntoPairs) to the query of the URL, encoded like a form: a space
    /// becomes `+`, and all but letters, digits and `*-._` is percent-encoded. The rest of the URL stays as
    /// it is. Allocates for the URL.
    ///
    /// A prepared request takes none: its query comes with its [path](Self::path).
    ///
    /// ```no_run
    /// # async fn main_() -> Result<(), alula::Error> {
    /// # let client = alula::Client::new()?;
    /// let found = client.get("https://example.com/search").query((("q", "a & b"), ("page", 2))).send().await?;
    /// let listed = client.get("https://example.com/list").query([("page", 2), ("size", 50)]).send().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn query<Kind>(mut self, pairs: impl IntoPairs<Kind>) -> Self {
        let mut shown = Ok(());
        match &mut self.request {
            Request::Plain(plain) => {
                plain.path.change(|path| shown = pairs.encode(&mut Encoder::of_path(path)));
            }
            Request::Prepared(..) => {
                self.note(Error::usage("a prepared request takes no query: give it a path"));
            }
            Request::None => {}
        }
        self.note_unshown(shown);
        self
    }

    /// Sets these bytes, or this text, as content, which [`send`](Self::send) sends. They are taken, or
    /// copied once; no `content-type` is added to what the call says. The last content given counts.
    ///
    /// The bytes can be sent again after a failure or a redirect. [`send_body`](Self::send_body) sends
    /// borrowed bytes, and allocates nothing; [`content`](Self::content) takes files, readers and text with
    /// its media type.
    ///
    /// ```no_run
    /// # async fn main_() -> Result<(), alula::Error> {
    /// # let client = alula::Client::new()?;
    /// let call = client.post("https://example.com/notes").header("content-type", "text/markdown");
    /// let response = call.body("# A note").send().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn body(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.content(Content::bytes(bytes))
    }

    /// Sets the content, which [`send`](Self::send) sends. The last content given counts. Allocates.
    ///
    /// The response may come while content is still sent: it is handed over then, and a task sends the rest
    /// until the response is whole or dropped. A prepared request does not take the content's media type: it
    /// has its own fields.
    pub fn content(mut self, mut content: Content) -> Self {
        match content.mistake.take() {
            Some(mistake) => self.note(mistake),
            None => self.parts.rare_mut().content = Given::Content(Box::new(content)),
        }
        self
    }

    /// Sets a form of [names and values](IntoPairs) as content, encoded as by browsers:
    /// `application/x-www-form-urlencoded`. Allocates.
    ///
    /// ```no_run
    /// # async fn main_() -> Result<(), alula::Error> {
    /// # let client = alula::Client::new()?;
    /// let response = client.post("https://example.com/login").form([("user", "me"), ("word", "pass")]).send().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn form<Kind>(mut self, pairs: impl IntoPairs<Kind>) -> Self {
        let mut form = String::new();
        let shown = pairs.encode(&mut Encoder::of_form(&mut form));
        self.note_unshown(shown);
        self.content(Content::bytes(form).media_type("application/x-www-form-urlencoded"))
    }

    fn note_unshown(&mut self, shown: fmt::Result) {
        if shown.is_err() {
            self.note(Error::usage("a name or a value failed to display itself"));
        }
    }

    /// Sets a multipart form as content (RFC 7578); see [`Multipart`].
    pub fn multipart(self, form: Multipart) -> Self {
        self.content(Content::multipart(form))
    }

    /// Sends the request with a file as its content, and waits for the head of the response; see
    /// [`Content::file`].
    ///
    /// # Errors
    /// The file cannot be read; or as [`send`](Self::send).
    pub async fn send_file(self, path: impl Into<PathBuf>) -> Result<Response, Error> {
        self.content(Content::file(path)).send().await
    }
}
