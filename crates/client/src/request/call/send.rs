//! The ways in which a call is sent; the module `send` does it.

use alula_net::{BodyWriter, Error};

use super::Call;
use crate::{
    response::Response,
    send::{self, pending::PendingResponse},
};

impl Call<'_> {
    /// Sends the request, with the [content](Self::content) it was given if it was given any, and waits for
    /// the head of the response.
    ///
    /// Dropping the future cancels the request (RST_STREAM). Allocates nothing once warm.
    ///
    /// # Errors
    /// The request is wrong, no connection could be opened, the stream ended early, or a redirect cannot be
    /// followed. A request that the peer cannot have acted on has been sent again, up to three times,
    /// before; so has one that is idempotent when a connection that had been used before closed without a
    /// word.
    pub async fn send(mut self) -> Result<Response, Error> {
        send::send(&mut self, None).await
    }

    /// Sends the request with this content, bytes or text, and waits for the head of the response. The
    /// length is stated.
    ///
    /// A response that begins before all of the content was sent is handed over at once. The rest of the
    /// content is copied then, and goes on being sent while the response is read; it is given up with the
    /// response, and when that is whole or of 300 or more.
    ///
    /// Dropping the future cancels the request. Allocates nothing once warm, but for that copy and its task.
    ///
    /// # Errors
    /// As [`Self::send`].
    #[doc(alias = "body")]
    pub async fn send_body(mut self, content: impl AsRef<[u8]>) -> Result<Response, Error> {
        send::send(&mut self, Some(content.as_ref())).await
    }

    /// Sends the head of the request; its content follows through the writer, the response may come before
    /// that ends.
    ///
    /// It is sent once: no redirect is followed, and nothing tried again. Where the server wants it over
    /// HTTP/1.1, that is an error, and the next call goes that way. A request with `expect: 100-continue`
    /// is waited for with [`PendingResponse::go_ahead`] before anything is written.
    ///
    /// GET, HEAD, DELETE and OPTIONS mostly have no content (RFC 9110 §9.3.1). Unless a field says that there
    /// is some, their head is held back until it is known: until the first content is written, the writer is
    /// [finished](BodyWriter::finish), after which the request ends with its head, or the response is waited
    /// for, but not for longer than 200 ms. This allocates, and spawns a task.
    ///
    /// # Errors
    /// As [`Self::send`].
    pub async fn open(mut self) -> Result<(BodyWriter, PendingResponse), Error> {
        send::open(&mut self).await
    }
}
