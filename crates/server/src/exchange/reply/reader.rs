//! Content read from somewhere as it is sent.

use std::pin::pin;

use alula_net::{Error, Sent};
use tokio::io::{AsyncRead, AsyncReadExt as _};

use crate::{connection::scratch::Scratch, exchange::reply::Reply};

/// The bytes that are read at once: few enough that many answers may hold a buffer each.
const READ_BYTES: usize = 16 * 1024;

impl Reply {
    /// Sends the content of a reader, to its end. A `content-length` of the reply must be the number of bytes
    /// that come.
    ///
    /// Reads 16 KiB at a time at most, and only when the peer has room: a slow peer slows the reader. To
    /// HEAD, and with 204, 205 and 304, nothing is read. Dropping the future part-way resets the stream.
    /// Allocates nothing once warm, unless the reader does.
    ///
    /// # Errors
    /// The reader fails, which resets the stream; the length is not the one stated; or as
    /// [`send`](Self::send).
    ///
    /// ```
    /// # async fn example(exchange: alula::Exchange, log: tokio::fs::File) -> Result<alula::Sent, alula::Error> {
    /// exchange.respond(alula::Status::OK).header("content-type", "text/plain").reader(log).await
    /// # }
    /// ```
    pub async fn reader(self, reader: impl AsyncRead) -> Result<Sent, Error> {
        let mut writer = self.stream().await?;
        let mut reader = pin!(reader);
        while !writer.is_muted() {
            writer.writable().await?;
            let mut buffer = Scratch::with_capacity(READ_BYTES);
            if reader.read_buf(&mut *buffer).await.map_err(Error::other)? == 0 {
                break;
            }
            writer.write(&buffer).await?;
        }
        writer.finish().await
    }
}
