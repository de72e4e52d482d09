//! Content in JSON.

use alula_net::{Error, Sent};
use serde_core::Serialize;

use crate::{connection::scratch::Scratch, exchange::reply::Reply};

impl Reply {
    /// Sends a value in JSON (RFC 8259), of the media type `application/json` unless the reply has a
    /// `content-type`.
    ///
    /// The value is written before the future is made, which does not borrow it. Dropping the future part-way
    /// resets the stream. Allocates nothing once warm for up to 64 KiB, unless the value's `Serialize` does.
    ///
    /// # Errors
    /// The value cannot be written so: a map has keys that are no text, or its `Serialize` fails; or as
    /// [`send`](Self::send).
    ///
    /// ```
    /// # async fn example(exchange: alula::Exchange) -> Result<alula::Sent, alula::Error> {
    /// exchange.respond(alula::Status::OK).json(&[80, 443]).await
    /// # }
    /// ```
    #[doc(alias = "Json")]
    pub fn json<T: Serialize + ?Sized>(
        self,
        value: &T,
    ) -> impl Future<Output = Result<Sent, Error>> + Send + use<T> {
        let mut text = Scratch::lend();
        let written = serde_json::to_writer(&mut *text, value);
        async move {
            written.map_err(Error::other)?;
            self.of_type("application/json").send(&*text).await
        }
    }
}
