//! What a call is told to carry, and to ask.

use std::{borrow::Borrow, path::PathBuf};

use alula_net::Error;
use url::form_urlencoded::Serializer;

use super::{Content, Given, Multipart};
use crate::{Call, Response, request::Request};

impl Call<'_> {
    /// Appends these names and values to the query of the URL, as forms have them: a space becomes `+`, and all but letters,
    /// digits and `*-._` is percent-encoded. What the URL has already stays as it is. Allocates.
    ///
    /// A prepared request takes none: its query comes with its [path](Self::path).
    ///
    /// ```no_run
    /// # async fn main_() -> Result<(), alula_client::Error> {
    /// # let client = alula_client::Client::new()?;
    /// let found = client.get("https://example.com/search").query([("q", "a & b"), ("page", "2")]).send().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn query<K, V>(mut self, pairs: impl IntoIterator<Item: Borrow<(K, V)>>) -> Self
    where
        K: AsRef<str>,
        V: AsRef<str>,
    {
        let query = urlencoded(pairs);
        match &mut self.request {
            Request::Plain(plain) if !query.is_empty() => plain.path.push_query(&query),
            Request::Prepared(..) => {
                self.note(Error::usage("a prepared request takes no query: give it a path"));
            }
            Request::Plain(_) | Request::None => {}
        }
        self
    }

    /// Gives the request this content, which [`send`](Self::send) sends. The last content given counts. Allocates.
    ///
    /// The response may come while content is still sent: it is handed over then, and a task sends the rest until the response
    /// is whole or dropped. A prepared request does not take the content's media type: it has its own fields.
    pub fn content(mut self, mut content: Content) -> Self {
        match content.mistake.take() {
            Some(mistake) => self.note(mistake),
            None => self.parts.rare_mut().content = Given::Content(Box::new(content)),
        }
        self
    }

    /// Gives the request a form as content, as browsers send it: `application/x-www-form-urlencoded`. Allocates.
    ///
    /// ```no_run
    /// # async fn main_() -> Result<(), alula_client::Error> {
    /// # let client = alula_client::Client::new()?;
    /// let response = client.post("https://example.com/login").form([("user", "me"), ("word", "pass")]).send().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn form<K, V>(self, pairs: impl IntoIterator<Item: Borrow<(K, V)>>) -> Self
    where
        K: AsRef<str>,
        V: AsRef<str>,
    {
        let form = Content::bytes(urlencoded(pairs)).media_type("application/x-www-form-urlencoded");
        self.content(form)
    }

    /// Gives the request a form of many parts as content (RFC 7578); see [`Multipart`].
    pub fn multipart(self, form: Multipart) -> Self {
        self.content(Content::multipart(form))
    }

    /// Sends the request with a file as its content, and waits for the head of the response; see [`Content::file`].
    ///
    /// # Errors
    /// The file cannot be read; or as [`send`](Self::send).
    pub async fn send_file(self, path: impl Into<PathBuf>) -> Result<Response, Error> {
        self.content(Content::file(path)).send().await
    }
}

fn urlencoded<K: AsRef<str>, V: AsRef<str>>(pairs: impl IntoIterator<Item: Borrow<(K, V)>>) -> String {
    Serializer::new(String::new()).extend_pairs(pairs).finish()
}
