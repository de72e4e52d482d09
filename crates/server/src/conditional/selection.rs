//! Selects the part of a representation that an answer carries, by preconditions and range (RFC 9110
//! §13.2.2).

use std::ops::Range;

use alula_fields::{FieldSection, Status};

use super::{
    preconditions::{Verdict, due_range, evaluate},
    range::{Wanted, wanted},
    validators::Validators,
};

/// The answer to a request for a representation.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Selection {
    /// 200 with all of it.
    Whole,
    /// 206 with one non-empty part (RFC 9110 §15.3.7.1).
    Part(Range<u64>),
    /// 206 with several non-empty parts in the requested order, together shorter than the whole (RFC 9110
    /// §15.3.7.2).
    Parts(Vec<Range<u64>>),
    /// 304 (RFC 9110 §15.4.5).
    NotModified,
    /// 412 (RFC 9110 §15.5.13).
    PreconditionFailed,
    /// 416, with [`ContentRange::unsatisfied`](super::ContentRange::unsatisfied) (RFC 9110 §15.5.17).
    RangeNotSatisfiable,
}

/// Evaluates the conditions and the range of a request against the current representation of `length` bytes.
///
/// The range counts for GET alone (RFC 9110 §14.2), and is ignored when it is malformed, of another unit than
/// `bytes`, or asks for more in pieces than the whole would be, or for more than
/// [`RANGES_MAX`](super::RANGES_MAX) (RFC 9110 §17.15). Allocates for several ranges only.
///
/// ```
/// use alula::{FieldSection, Status, conditional::{Selection, Validators, select}};
///
/// let headers = FieldSection::from_pairs([("range", "bytes=-100"), ("if-range", "\"v1\"")])?;
/// let now = Validators::present().etag("\"v1\"");
/// assert_eq!(select("GET", &headers, &now, 1_000), Selection::Part(900..1_000));
/// let changed = Validators::present().etag("\"v2\"");
/// assert_eq!(select("GET", &headers, &changed, 1_000).status(), Status::OK);
/// # Ok::<(), alula::FieldError>(())
/// ```
pub fn select(method: &str, headers: &FieldSection, now: &Validators<'_>, length: u64) -> Selection {
    match evaluate(method, headers, now) {
        Verdict::NotModified => return Selection::NotModified,
        Verdict::Failed => return Selection::PreconditionFailed,
        Verdict::Proceed => {}
    }
    // Ranges are defined for GET alone (RFC 9110 §14.2).
    let range = if method == "GET" { due_range(headers, now) } else { None };
    match range.map_or(Wanted::Whole, |range| wanted(range, length)) {
        Wanted::Whole => Selection::Whole,
        Wanted::One(part) => Selection::Part(part),
        Wanted::Many(parts) => Selection::Parts(parts),
        Wanted::None => Selection::RangeNotSatisfiable,
    }
}

impl Selection {
    /// Returns the status of the answer.
    pub const fn status(&self) -> Status {
        match self {
            Self::Whole => Status::OK,
            Self::Part(_) | Self::Parts(_) => Status::PARTIAL_CONTENT,
            Self::NotModified => Status::NOT_MODIFIED,
            Self::PreconditionFailed => Status::PRECONDITION_FAILED,
            Self::RangeNotSatisfiable => Status::RANGE_NOT_SATISFIABLE,
        }
    }
}
