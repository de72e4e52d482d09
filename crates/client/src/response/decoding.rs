//! The decoding of content while it comes (RFC 9110 §8.4).
//!
//! A decoder of `alula-coding` stands between the bytes of the connection and the body that the caller
//! reads. Decoders are handed on from response to response, with all their memory.

use alula_coding::{Codings, DecoderPool};
use alula_fields::Status;

use crate::{builder::Decoding, response::Response};

/// Puts a decoder before the content of a response, if it is coded.
pub(crate) fn begin(decoding: &Decoding, response: &mut Response) {
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
    let decoder = DecoderPool::lend(&decoding.pool, codings, decoding.bytes_max.unwrap_or(u64::MAX));
    response.put_decoder(decoder);
}
