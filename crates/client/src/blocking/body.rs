//! The content of a response, for the blocking client.

use std::io::{self, Read, Write};

use alula_fields::FieldSection;
use alula_net::{Error, Stream};

use super::{driver::Driver, to_io};

/// The content of a response, as it arrives. Unread content stays with the server.
///
/// [`Read`] takes what is there, up to the size of the buffer; who reads by few bytes wraps it in a
/// [`BufReader`](std::io::BufReader).
pub struct Body<'a> {
    driver: &'a Driver,
    body: &'a mut alula_net::Body,
}

impl<'a> Body<'a> {
    pub(super) fn new(driver: &'a Driver, body: &'a mut alula_net::Body) -> Self {
        Self { driver, body }
    }

    /// Returns the next bytes, or nothing at the end of the content. The previous chunk is given back.
    /// Allocates nothing once warm.
    ///
    /// # Errors
    /// As [`Body::chunk`](crate::Body::chunk); and [`Cause::Usage`](crate::Cause::Usage) inside of a tokio
    /// runtime.
    pub fn chunk(&mut self) -> Result<Option<&[u8]>, Error> {
        self.driver.wait(self.body.chunk())
    }

    /// Writes the rest of the content to `sink` without copying it; returns the number of bytes.
    ///
    /// Other callers of this client go on while `sink` is busy.
    ///
    /// # Errors
    /// As [`Self::chunk`], what the sink answers, or [`Cause::Usage`](crate::Cause::Usage) if the content was
    /// taken already.
    pub fn copy_to(&mut self, sink: &mut (impl Write + ?Sized)) -> io::Result<u64> {
        Stream::begin_rest(self.body).map_err(to_io)?;
        let mut bytes = 0;
        while let Some(chunk) = self.chunk().map_err(to_io)? {
            bytes += chunk.len() as u64;
            sink.write_all(chunk)?;
        }
        sink.flush()?;
        Ok(bytes)
    }

    /// Returns the trailers (RFC 9110 §6.5), after reading and dropping the rest of the content.
    ///
    /// # Errors
    /// As [`Self::chunk`].
    pub fn trailers(&mut self) -> Result<Option<&FieldSection>, Error> {
        self.driver.wait(self.body.trailers())
    }

    /// Returns true if nothing more will come.
    pub fn is_ended(&self) -> bool {
        self.body.is_ended()
    }
}

impl Read for Body<'_> {
    /// Reads into `out`; 0 once the content is whole or when `out` is empty. Allocates nothing once warm.
    ///
    /// # Errors
    /// As [`Body::chunk`], within an [`io::Error`].
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.driver.wait(self.body.read(out)).map_err(to_io)
    }
}

opaque! {
    Body<'_>: "Body";
}
