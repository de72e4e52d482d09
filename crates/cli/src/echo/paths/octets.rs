//! `/bytes`, `/stream-bytes`, `/range` and `/drip`: bytes in numbers, at once and little by little.

use std::time::Duration;

use alula::{
    Answer, KnownName, Status,
    conditional::{ContentRange, Selection, Validators, select},
};

use super::{
    asked::Asked,
    made::{Cut, Made, OCTETS, Pace},
    statuses::answered,
    twister::Twister,
};
use crate::random;

/// Bytes that a request can ask for, unless they drip.
const OCTETS_MAX: usize = 100 * 1024;
/// Bytes that drip.
const DRIPS_MAX: usize = 10 * 1024 * 1024;
/// Bytes of a piece where nobody says otherwise.
const PIECE: usize = 10 * 1024;
/// The time between two pieces at least: timers are no finer.
const PAUSE_MIN: Duration = Duration::from_millis(2);

/// `/bytes/N?seed=`.
pub(super) fn bytes(asked: &Asked<'_>) -> Result<Made, Answer> {
    Ok(Made::of(OCTETS, random_octets(asked)?))
}

/// `/stream-bytes/N?seed=&chunk_size=`.
pub(super) fn stream_bytes(asked: &Asked<'_>) -> Result<Made, Answer> {
    let cut = Cut::Octets(asked.number("chunk_size", PIECE)?.max(1));
    let pace = Pace { before: Duration::ZERO, cut, pause: Duration::ZERO, states_length: false };
    Ok(Made::of(OCTETS, random_octets(asked)?).paced(pace))
}

fn random_octets(asked: &Asked<'_>) -> Result<Vec<u8>, Answer> {
    let octets = asked.path_number::<usize>("octets")?.min(OCTETS_MAX);
    let mut twister = Twister::seeded(asked.number("seed", random::number().into())?);
    Ok((0..octets).map(|_| twister.octet()).collect())
}

/// `/range/N?duration=&chunk_size=`: the alphabet again and again, whole or in part.
pub(super) fn range(asked: &Asked<'_>) -> Result<Made, Answer> {
    let octets: usize = asked.path_number("octets")?;
    if !(1..=OCTETS_MAX).contains(&octets) {
        let detail = format!("from 1 to {OCTETS_MAX} octets can be asked for");
        return Err(Answer::new(Status::NOT_FOUND).detail(detail));
    }
    let whole: Vec<u8> = (0..octets).map(|at| b'a' + (at % 26) as u8).collect();
    let etag = format!("\"range{octets}\"");
    let request = asked.exchange.request();
    let validators = Validators::present().etag(&etag);
    let length = octets as u64;
    let made = match select(request.method(), request.headers(), &validators, length) {
        Selection::Part(part) => {
            let content = &whole[part.start as usize..part.end as usize];
            let made = Made::of(OCTETS, content).status(Status::PARTIAL_CONTENT);
            made.header(KnownName::CONTENT_RANGE, ContentRange::of(part, length))?
        }
        Selection::RangeNotSatisfiable => Made::new(Status::RANGE_NOT_SATISFIABLE)
            .header(KnownName::CONTENT_RANGE, ContentRange::unsatisfied(length))?,
        Selection::NotModified => Made::new(Status::NOT_MODIFIED),
        Selection::PreconditionFailed => Made::new(Status::PRECONDITION_FAILED),
        // Several parts at once may be left out (RFC 9110 §14.2).
        _ => Made::of(OCTETS, whole),
    };
    let made = made.header(KnownName::ETAG, etag)?.header(KnownName::ACCEPT_RANGES, "bytes")?;
    let duration = asked.seconds("duration", 0.0)?;
    let piece = asked.number("chunk_size", PIECE)?.clamp(1, octets);
    Ok(match duration.is_zero() {
        true => made,
        false => made.paced(slow(duration, Duration::ZERO, piece, octets)),
    })
}

/// `/drip?duration=&numbytes=&delay=&code=`.
pub(super) fn drip(asked: &Asked<'_>) -> Result<Made, Answer> {
    let octets = asked.number("numbytes", 10_usize)?.min(DRIPS_MAX);
    if octets == 0 {
        return Err(Answer::new(Status::BAD_REQUEST).detail("the number of octets is zero"));
    }
    let status = answered(asked.number("code", 200)?)?;
    let (duration, before) = (asked.seconds("duration", 2.0)?, asked.seconds("delay", 0.0)?);
    let made = Made::of(OCTETS, vec![b'*'; octets]).status(status);
    Ok(made.paced(slow(duration, before, 1, octets)))
}

/// Sends so many bytes in a time, in pieces of so many unless they would follow each other too closely.
fn slow(duration: Duration, before: Duration, piece: usize, octets: usize) -> Pace {
    let pieces_max = (duration.as_micros() / PAUSE_MIN.as_micros()).max(1) as usize;
    // Smaller pieces would take longer than the time that was asked for, as timers are no finer.
    let piece = piece.max(octets.div_ceil(pieces_max));
    let pieces = octets.div_ceil(piece).max(1) as u32;
    Pace { before, cut: Cut::Octets(piece), pause: duration / pieces, states_length: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pieces_of_a_drip_take_its_time_together() {
        for (milliseconds, octets, piece) in
            [(2000, 10, 1), (0, 10, 10), (10, 10_000, 2000), (10_000, DRIPS_MAX, 2098)]
        {
            let duration = Duration::from_millis(milliseconds);
            let pace = slow(duration, Duration::ZERO, 1, octets);
            assert_eq!(pace.cut, Cut::Octets(piece), "{milliseconds} {octets}");
            let pieces = octets.div_ceil(piece) as u32;
            assert!((pace.pause * pieces).abs_diff(duration) < Duration::from_millis(1));
        }
    }
}
