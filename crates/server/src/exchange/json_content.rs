//! Requests with content in JSON, by their media type.

use alula_fields::{KnownName, parameters};
use alula_net::{Cause, Error, Phase, Retry};
use serde_core::de::DeserializeOwned;

use crate::exchange::{Exchange, accept::is_json, request::Request};

/// The expected media type.
const JSON: &str = "application/json";

impl<S> Exchange<S> {
    /// Reads all that is left of the content as JSON (RFC 8259), up to the `content_max` of the route or of
    /// the server. Its `content-type` has to be `application/json` or another of `application` with the
    /// suffix `+json` (RFC 6839 §3.1), whatever its parameters.
    ///
    /// Another type, none and more than one are refused before anything is read. A page of another site can
    /// have a browser post a form or `text/plain` without asking first, with the cookies of this site; JSON
    /// as such it cannot. To take JSON of any type, read
    /// [`Body::json`](crate::Body::json).
    ///
    /// Dropping the future loses what was read so far. Allocates as [`Body::bytes`](crate::Body::bytes) does
    /// while it reads.
    ///
    /// # Errors
    /// - [`Cause::MediaType`], which is answered 415 with `accept`.
    /// - [`Cause::Unreadable`] if it is not JSON, or not that of a `T`, which is answered 400 with the
    ///   reason.
    /// - As [`Body::bytes`](crate::Body::bytes); [`Cause::TooLong`] is answered 413.
    ///
    /// ```
    /// use alula::{Answer, Exchange, Sent, Status};
    ///
    /// async fn open(mut exchange: Exchange) -> Result<Sent, Answer> {
    ///     let ports: Vec<u16> = exchange.json().await?;
    ///     Ok(exchange.respond(Status::OK).text(format!("{} ports", ports.len())).await?)
    /// }
    /// ```
    #[doc(alias = "Json")]
    pub async fn json<T: DeserializeOwned>(&mut self) -> Result<T, Error> {
        check(self.request())?;
        self.body().json().await
    }

    /// Reads all that is left of the content as JSON, up to `bytes_max` bytes; otherwise like
    /// [`json`](Self::json).
    ///
    /// # Errors
    /// As [`json`](Self::json).
    pub async fn json_max<T: DeserializeOwned>(&mut self, bytes_max: usize) -> Result<T, Error> {
        check(self.request())?;
        self.body().json_max(bytes_max).await
    }
}

/// Checks that the media type of a request is JSON.
fn check(request: &Request) -> Result<(), Error> {
    let mut types = request.headers().get_all(KnownName::CONTENT_TYPE);
    if types.next().is_some_and(|value| is_json(parameters::main(value))) && types.next().is_none() {
        return Ok(());
    }
    Err(Error::new(Phase::Content, Cause::MediaType(JSON), Retry::Pointless))
}
