//! The content of a request that is being sent, for the blocking client.

use std::{
    io::{self, Write},
    sync::Arc,
};

use alula_fields::FieldSection;
use alula_net::{Error, Sent};

use super::{driver::Driver, to_io};

/// Sends the content of a request piece by piece.
///
/// Dropping it before [`finish`](Self::finish) resets the stream, so that the server never takes half a
/// message for a whole one.
pub struct BodyWriter {
    driver: Arc<Driver>,
    /// The writer, present until the message has ended.
    writer: Option<alula_net::BodyWriter>,
}

impl BodyWriter {
    pub(super) fn new(driver: &Arc<Driver>, writer: alula_net::BodyWriter) -> Self {
        Self { driver: driver.clone(), writer: Some(writer) }
    }

    /// Ends the message.
    ///
    /// # Errors
    /// The stream was reset, the connection broke or a deadline passed; and
    /// [`Cause::Usage`](crate::Cause::Usage) inside of a tokio runtime.
    pub fn finish(self) -> Result<Sent, Error> {
        self.finish_content([])
    }

    /// Sends `data` and ends the message with it.
    ///
    /// # Errors
    /// As [`Self::finish`].
    pub fn finish_content(mut self, data: impl AsRef<[u8]>) -> Result<Sent, Error> {
        let writer = self.writer.take().ok_or_else(|| Error::usage(ENDED))?;
        let may_be_cut = writer.is_answered();
        self.driver.wait_to_end(may_be_cut, writer.finish_content(data))
    }

    /// Ends the message with trailers (RFC 9110 §6.5).
    ///
    /// # Errors
    /// As [`Self::finish`], and when a field may not stand in trailers.
    pub fn finish_with(mut self, trailers: &FieldSection) -> Result<Sent, Error> {
        let writer = self.writer.take().ok_or_else(|| Error::usage(ENDED))?;
        let may_be_cut = writer.is_answered();
        self.driver.wait_to_end(may_be_cut, writer.finish_with(trailers))
    }
}

const ENDED: &str = "the message was ended";

impl Write for BodyWriter {
    /// Sends all of `data`, waiting while the server's windows or the output have no room. Allocates nothing
    /// once warm.
    ///
    /// # Errors
    /// As [`BodyWriter::finish`], within an [`io::Error`].
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let writer = self.writer.as_mut().ok_or_else(|| to_io(Error::usage(ENDED)))?;
        self.driver.wait(writer.write(data)).map_err(to_io)?;
        Ok(data.len())
    }

    /// Does nothing: written bytes leave as soon as the socket takes them.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for BodyWriter {
    fn drop(&mut self) {
        if let Some(writer) = self.writer.take() {
            drop(writer);
            self.driver.settle();
        }
    }
}

opaque! {
    BodyWriter: "BodyWriter";
}
