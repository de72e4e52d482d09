//! Content that is text.

use alula_fields::{FieldFlags, KnownName};
use alula_net::{Error, Sent};

use crate::exchange::reply::Reply;

impl Reply {
    /// Sends text, of the media type `text/plain; charset=utf-8` unless the reply has a `content-type`.
    ///
    /// Dropping the future part-way resets the stream. Allocates nothing once warm.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    ///
    /// ```
    /// # async fn example(exchange: alula::Exchange) -> Result<alula::Sent, alula::Error> {
    /// exchange.respond(alula::Status::OK).text("Grüße\n").await
    /// # }
    /// ```
    pub async fn text(self, text: impl AsRef<str>) -> Result<Sent, Error> {
        self.of_type("text/plain; charset=utf-8").send(text.as_ref()).await
    }

    /// Sends a page, of the media type `text/html; charset=utf-8` unless the reply has a `content-type`.
    /// Nothing is escaped.
    ///
    /// Dropping the future part-way resets the stream. Allocates nothing once warm.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    ///
    /// ```
    /// # async fn example(exchange: alula::Exchange) -> Result<alula::Sent, alula::Error> {
    /// exchange.respond(alula::Status::OK).html("<!doctype html><title>Hello</title><p>Hello!").await
    /// # }
    /// ```
    #[doc(alias = "Html")]
    pub async fn html(self, page: impl AsRef<str>) -> Result<Sent, Error> {
        self.of_type("text/html; charset=utf-8").send(page.as_ref()).await
    }

    /// Sets this media type, unless there is one.
    pub(super) fn of_type(mut self, media_type: &'static str) -> Self {
        let headers = self.headers_mut();
        if !headers.contains_known(KnownName::CONTENT_TYPE) {
            headers.push_known(KnownName::CONTENT_TYPE, media_type.as_bytes(), FieldFlags::NONE);
        }
        self
    }
}
