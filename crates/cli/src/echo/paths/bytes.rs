//! `/bytes`, `/stream-bytes`, `/range` and `/drip`: bytes in numbers, at once and little by little.

use std::time::Duration;

use alula::{
    Answer, KnownName, Status,
    conditional::{ContentRange, Selection, Validators, select},
};

use super::{
    asked::Asked,
    made::{BYTES, Cut, Made, Pace},
    statuses::answered,
    twister::Twister,
};
use crate::random;

/// Bytes that a request can ask for, unless they drip.
const BYTES_MAX: usize = 100 * 1024;
/// Bytes that drip.
const DRIPS_MAX: usize = 10 * 1024 * 1024;
/// Bytes of a piece where nobody says otherwise.
const PIECE: usize = 10 * 1024;
/// The time between two pieces at least: timers are no finer.
const PAUSE_MIN: Duration = Duration::from_millis(2);

/// `/bytes/N?seed=`.
pub(super) fn bytes(asked: &Asked<'_>) -> Result<Made, Answer> {
    Ok(Made::of(BYTES, random_bytes(asked)?))
}

/// `/stream-bytes/N?seed=&chunk_size=`.
pub(super) fn stream_bytes(asked: &Asked<'_>) -> Result<Made, Answer> {
    let cut = Cut::Bytes(asked.number("chunk_size", PIECE)?.max(1));
    let pace = Pace { before: Duration::ZERO, cut, pause: Duration::ZERO, states_length: false };
    Ok(Made::of(BYTES, random_bytes(asked)?).paced(pace))
}

fn random_bytes(asked: &Asked<'_>) -> Result<Vec<u8>, Answer> {
    let bytes = asked.path_number::<usize>("bytes")?.min(BYTES_MAX);
    let mut twister = Twister::seeded(asked.number("seed", random::number().into())?);
    Ok((0..bytes).map(|_| twister.byte()).collect())
}

/// `/range/N?duration=&chunk_size=`: the alphabet again and again, whole or in part.
pub(super) fn range(asked: &Asked<'_>) -> Result<Made, Answer> {
    let bytes: usize = asked.path_number("bytes")?;
    if !(1..=BYTES_MAX).contains(&bytes) {
        let detail = format!("from 1 to {BYTES_MAX} bytes can be asked for");
        return Err(Answer::new(Status::NOT_FOUND).detail(detail));
    }
    let whole: Vec<u8> = (0..bytes).map(|at| b'a' + (at % 26) as u8).collect();
    let etag = format!("\"range{bytes}\"");
    let request = asked.exchange.request();
    let validators = Validators::present().etag(&etag);
    let length = bytes as u64;
    let made = match select(request.method(), request.headers(), &validators, length) {
        Selection::Part(part) => {
            let content = &whole[part.start as usize..part.end as usize];
            let made = Made::of(BYTES, content).status(Status::PARTIAL_CONTENT);
            made.header(KnownName::CONTENT_RANGE, ContentRange::of(part, length))?
        }
        Selection::RangeNotSatisfiable => Made::new(Status::RANGE_NOT_SATISFIABLE)
            .header(KnownName::CONTENT_RANGE, ContentRange::unsatisfied(length))?,
        Selection::NotModified => Made::new(Status::NOT_MODIFIED),
        Selection::PreconditionFailed => Made::new(Status::PRECONDITION_FAILED),
        // Several parts at once may be left out (RFC 9110 §14.2).
        _ => Made::of(BYTES, whole),
    };
    let made = made.header(KnownName::ETAG, etag)?.header(KnownName::ACCEPT_RANGES, "bytes")?;
    let duration = asked.seconds("duration", 0.0)?;
    let piece = asked.number("chunk_size", PIECE)?.clamp(1, bytes);
    Ok(match duration.is_zero() {
        true => made,
        false => made.paced(slow(duration, Duration::ZERO, piece, bytes)),
    })
}

/// `/drip?duration=&numbytes=&delay=&code=`.
pub(super) fn drip(asked: &Asked<'_>) -> Result<Made, Answer> {
    let bytes = asked.number("numbytes", 10_usize)?.min(DRIPS_MAX);
    if bytes == 0 {
        return Err(Answer::new(Status::BAD_REQUEST).detail("the number of bytes is zero"));
    }
    let status = answered(asked.number("code", 200)?)?;
    let (duration, before) = (asked.seconds("duration", 2.0)?, asked.seconds("delay", 0.0)?);
    let made = Made::of(BYTES, vec![b'*'; bytes]).status(status);
    Ok(made.paced(slow(duration, before, 1, bytes)))
}

/// Sends so many bytes in a time, in pieces of so many unless they would follow each other too closely.
fn slow(duration: Duration, before: Duration, piece: usize, bytes: usize) -> Pace {
    let pieces_max = (duration.as_micros() / PAUSE_MIN.as_micros()).max(1) as usize;
    // Smaller pieces would take longer than the time that was asked for, as timers are no finer.
    let piece = piece.max(bytes.div_ceil(pieces_max));
    let pieces = bytes.div_ceil(piece).max(1) as u32;
    Pace { before, cut: Cut::Bytes(piece), pause: duration / pieces, states_length: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pieces_of_a_drip_take_its_time_together() {
        for (milliseconds, bytes, piece) in
            [(2000, 10, 1), (0, 10, 10), (10, 10_000, 2000), (10_000, DRIPS_MAX, 2098)]
        {
            let duration = Duration::from_millis(milliseconds);
            let pace = slow(duration, Duration::ZERO, 1, bytes);
            assert_eq!(pace.cut, Cut::Bytes(piece), "{milliseconds} {bytes}");
            let pieces = bytes.div_ceil(piece) as u32;
            assert!((pace.pause * pieces).abs_diff(duration) < Duration::from_millis(1));
        }
    }
}
