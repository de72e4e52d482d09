//! The decoding of content while it comes (RFC 9110 §8.4).
//!
//! A decoder of `alula-coding` stands between the bytes of the connection and the body that the caller
//! reads. Decoders are handed on from response to response, with all their memory.

use alula_coding::{ACCEPTED, Codings, DecoderPool};
use alula_fields::{KnownName, Status};
use alula_net::Error;

use crate::{
    builder::Decoding,
    request::{Request, call::Call},
    response::Response,
};

impl Call<'_> {
    /// Sets whether content is asked for in codings and decoded, whatever the
    /// [client](crate::ClientBuilder::decompress) does.
    #[inline]
    pub fn decompress(mut self, on: bool) -> Self {
        self.parts.decompress = on;
        self
    }

    /// Returns the decoding of the content of the response, if it is to be decoded.
    #[inline]
    pub(crate) fn decoding(&self) -> Option<&Decoding> {
        self.parts.decompress.then(|| &self.client.settings().decoding)
    }

    /// The response with a decoder before its content, if it is coded and to be decoded.
    #[inline]
    pub(crate) fn decoded(&self, mut response: Response) -> Response {
        if let Some(decoding) = self.decoding() {
            decoding.begin(&mut response);
        }
        response
    }

    /// Says which codings can be decoded, unless the caller has, or wants a range of the content.
    pub(crate) fn accept_codings(&mut self) -> Result<(), Error> {
        if let (true, Request::Plain(plain)) = (self.parts.decompress, &mut self.request) {
            let fields = &mut plain.head.get_or_insert_with(|| self.client.lend_head()).fields;
            // A range of coded content counts coded bytes (RFC 9110 §14.2): no decoder can begin in the
            // middle.
            if !fields.contains(KnownName::ACCEPT_ENCODING) && !fields.contains(KnownName::RANGE) {
                fields.append(KnownName::ACCEPT_ENCODING, ACCEPTED)?;
            }
        }
        Ok(())
    }
}

impl Decoding {
    /// Puts a decoder before the content of a response, if it is coded.
    pub(crate) fn begin(&self, response: &mut Response) {
        // A part of a coded representation begins in the middle of the code; a HEAD has no content to
        // decode.
        if response.status() == Status::PARTIAL_CONTENT || response.body().is_ended() {
            return;
        }
        let codings = Codings::of(response.headers());
        // One unknown coding among known ones hides them all: the content is left as it came.
        if let Codings::None | Codings::Unknown = codings {
            return;
        }
        let decoder = DecoderPool::lend(&self.pool, codings, self.bytes_max.unwrap_or(u64::MAX));
        response.put_decoder(decoder);
    }
}
