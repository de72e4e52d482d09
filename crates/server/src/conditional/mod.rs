//! Conditional requests and ranges (RFC 9110 §13, §14) as functions, for files, objects, tables or other
//! resources.
//!
//! [`evaluate`] decides whether a request is carried out at all; it is for every method. [`select`] decides in addition which part
//! of a representation an answer to GET or HEAD carries. Both read the fields of the request and what the
//! handler knows of the present state, the [`Validators`]; neither sends anything or allocates, but for
//! several ranges.
//!
//! | step of RFC 9110 §13.2.2 | field | compared | when it is false |
//! | --- | --- | --- | --- |
//! | 1 | `if-match` | strongly; `*` is any state (RFC 9110 §13.1.1) | 412 |
//! | 2, without 1 | `if-unmodified-since` | no later (RFC 9110 §13.1.4) | 412 |
//! | 3 | `if-none-match` | weakly; `*` is any state (RFC 9110 §13.1.2) | 304 for GET and HEAD, else 412 |
//! | 4, GET and HEAD without 3 | `if-modified-since` | later (RFC 9110 §13.1.3) | 304 |
//! | 5, GET with `range` | `if-range` | strongly, or the very date (RFC 9110 §13.1.5) | the whole |
//! | 6 | `range` | RFC 9110 §14.2 | 416 if nothing of it is there |
//!
//! ```
//! use alula::{FieldSection, conditional::{Validators, Verdict, evaluate}};
//!
//! // Creates an object, but replaces none.
//! let headers = FieldSection::from_pairs([("if-none-match", "*")])?;
//! assert_eq!(evaluate("PUT", &headers, &Validators::absent()), Verdict::Proceed);
//! let there = Validators::present().etag("\"v1\"");
//! assert_eq!(evaluate("PUT", &headers, &there), Verdict::Failed);
//! # Ok::<(), alula::FieldError>(())
//! ```

mod content_range;
mod entity_tag;
mod multipart;
mod preconditions;
mod range;
mod selection;
#[cfg(test)]
mod tests;
mod validators;

pub use content_range::ContentRange;
pub use multipart::Multipart;
pub(crate) use preconditions::is_condition;
pub use preconditions::{Verdict, evaluate};
pub use range::RANGES_MAX;
pub use selection::{Selection, select};
pub use validators::Validators;
