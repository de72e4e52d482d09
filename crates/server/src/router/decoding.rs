//! Decoding of content before its handler reads it (RFC 9110 §8.4).
//!
//! Rule: what a request says of its coded content holds no longer for the handler, so those fields are
//! removed.

use std::sync::Arc;

use alula_coding::{Codings, DecoderPool, coded_bytes_max};
use alula_fields::{KnownName, Status};
use alula_net::Sent;

use super::entry::ContentRefusal;
use crate::{answer::Answer, exchange::Exchange};

/// Adds a decoder to the content of a request; returns false if it is not coded. Content that is not there is
/// in none.
pub(super) fn begin(exchange: &mut Exchange, pool: &Arc<DecoderPool>) -> Result<bool, ContentRefusal> {
    // Content that is empty is in no coding, whatever the fields say.
    if exchange.unread_body().is_ended() {
        return Ok(false);
    }
    let codings = Codings::of(exchange.request().headers());
    match codings {
        Codings::None => return Ok(false),
        Codings::Unknown | Codings::TooMany => return Err(ContentRefusal::Coding),
        Codings::Known(..) => {}
    }
    let bytes_max = exchange.unread_body().content_max() as u64;
    if exchange.request().states_more_than(coded_bytes_max(bytes_max)) {
        return Err(ContentRefusal::TooLong);
    }
    exchange.put_decoder(DecoderPool::lend(pool, codings, bytes_max));
    Ok(true)
}

/// Answers content in unknown codings, naming the known ones (RFC 9110 §15.5.16, §12.5.3).
pub(super) async fn unknown_coding<S>(_: Exchange<S>) -> Result<Sent, Answer> {
    let answer = Answer::new(Status::UNSUPPORTED_MEDIA_TYPE)
        .detail("the content is in a coding that is not taken here");
    Err(answer.header(KnownName::ACCEPT_ENCODING, alula_coding::ACCEPTED))
}
