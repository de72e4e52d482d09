//! Content in codings, whole and in pieces, by a new decoder and by one that was used: what comes out is the
//! same, and never more than is allowed.

use std::sync::Arc;

use alula_client::Cause;
use alula_coding::{Codings, DecoderPool, coded_bytes_max};
use alula_fields::FieldSection;

use crate::input::Input;

/// The content that came out, or the failure.
type Decoded = Result<Vec<u8>, Cause>;

/// Bytes as the value of `content-encoding`, the length of pieces, a limit, and the content.
pub fn content_coding(data: &[u8]) {
    let mut input = Input::new(data);
    let (names, piece, limit) = (input.string(), input.byte(), input.u16());
    let mut fields = FieldSection::new();
    if fields.append("content-encoding", names).is_err() {
        return;
    }
    let codings = Codings::of(&fields);
    assert_eq!(is_known(codings), naive_is_known(names), "{codings:?} for {names:?}");
    let content = input.take(usize::MAX);
    let pool = Arc::new(DecoderPool::default());
    let whole = decode(&pool, codings, content, content.len().max(1), u64::MAX);
    let again = decode(&pool, codings, content, content.len().max(1), u64::MAX);
    assert!(is_same(&whole, &again), "a used decoder knows of its last content");
    let pieces = decode(&pool, codings, content, usize::from(piece).max(1), u64::MAX);
    assert!(is_same(&whole, &pieces), "pieces of {piece} make a difference");
    let within = decode(&pool, codings, content, usize::from(piece).max(1), limit.into());
    let is_long = whole.as_ref().is_ok_and(|whole| whole.len() as u64 > limit.into());
    let is_long = is_long || content.len() as u64 > coded_bytes_max(limit.into());
    assert!(whole.is_err() || within.is_err() == is_long, "a limit of {limit}");
}

fn decode(pool: &Arc<DecoderPool>, codings: Codings, content: &[u8], piece: usize, max: u64) -> Decoded {
    let mut decoder = DecoderPool::lend(pool, codings, max);
    let (mut pieces, mut decoded, mut is_over) = (content.chunks(piece), Vec::new(), false);
    let result = loop {
        match decoder.decode(is_over) {
            Ok(true) => {
                let bytes = decoder.unread().len();
                assert!(bytes > 0, "content without bytes");
                decoded.extend_from_slice(decoder.take(bytes));
                assert!(decoded.len() as u64 <= max, "more than is allowed");
                continue;
            }
            Ok(false) if is_over => break Ok(()),
            Ok(false) => {}
            Err(error) => break Err(error.cause().clone()),
        }
        let coded = decoder.refill();
        coded.clear();
        match pieces.next() {
            Some(piece) => coded.extend_from_slice(piece),
            None => is_over = true,
        }
    };
    decoder.give_back();
    result.map(|()| decoded)
}

/// Growth is stopped at a place that depends on where it is looked at.
fn is_same(one: &Decoded, other: &Decoded) -> bool {
    match (one, other) {
        (Ok(one), Ok(other)) => one == other,
        (Err(_), Err(_)) => true,
        (Err(cause), Ok(_)) | (Ok(_), Err(cause)) => matches!(cause, Cause::Growth(_)),
    }
}

fn is_known(codings: Codings) -> Option<usize> {
    match codings {
        Codings::None => Some(0),
        Codings::Known(_, None) => Some(1),
        Codings::Known(_, Some(_)) => Some(2),
        Codings::TooMany => Some(3),
        Codings::Unknown => None,
    }
}

/// The number of codings, up to three; none where one is not known.
fn naive_is_known(names: &[u8]) -> Option<usize> {
    let names = String::from_utf8_lossy(names).to_ascii_lowercase();
    let names = names.split(',').map(|name| name.trim_matches([' ', '\t']));
    let mut count = 0;
    for name in names {
        match name {
            "" | "identity" => {}
            "x-gzip" => count += 1,
            // Others may be known as well, by the features of what is built along with this.
            name if alula_coding::ACCEPTED.split(", ").any(|known| known == name) => count += 1,
            _ => return None,
        }
    }
    Some(count.min(3))
}
