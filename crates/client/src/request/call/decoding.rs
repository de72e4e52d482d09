//! The codings that a call asks for, and the decoding of what it is answered with (RFC 9110 §8.4).

use alula_coding::ACCEPTED;
use alula_fields::KnownName;
use alula_net::Error;

use super::Call;
use crate::{
    builder::Decoding,
    request::Request,
    response::{Response, decoding},
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
            decoding::begin(decoding, &mut response);
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
