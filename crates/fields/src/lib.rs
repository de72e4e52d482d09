//! The parts of HTTP messages: field names, values and sections, and control data.
//!
//! The centre is [`FieldSection`], an ordered list of fields in two allocations that are used again and again: names are
//! folded and checked once, names that are known become small numbers ([`KnownName`]), values stay octets. [`Head`] adds
//! the control data of a request or response.
//!
//! Most people want the crate `alula`, which hands on what they need from here.
//!
//! ```
//! use alula::FieldSection;
//!
//! let mut section = FieldSection::new();
//! section.append("Content-Type", "text/plain")?;
//! section.append("Authorization", "Bearer secret")?;
//! assert_eq!(section.get("content-type"), Some(&b"text/plain"[..]));
//! assert_eq!(format!("{section:?}"), r#"[content-type: "text/plain", authorization: "Bearer …"]"#);
//! # Ok::<(), alula::FieldError>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;

mod arena;
mod authority;
mod captures;
mod decimal;
mod error;
mod field;
mod head;
#[cfg(feature = "http")]
mod http_types;
mod inline;
mod known;
mod known_table;
mod known_value;
mod lanes;
mod masked;
mod message;
mod method;
mod name;
pub mod octets;
mod one_line;
mod pairs;
mod request_form;
mod scheme;
mod section;
mod status;
mod target;
mod word;

pub use authority::Authority;
pub use captures::{CAPTURES_MAX, Captures};
pub use decimal::Decimal;
pub use error::{FieldError, FieldErrorKind};
pub use field::{Field, FieldFlags};
pub use head::Head;
pub use known::KnownName;
pub use known_value::KnownValue;
pub use masked::{MaskedTarget, masked_field, masked_target, masked_url};
pub use message::{Hole, RequestHead, ResponseHead};
pub use method::Method;
pub use name::{Canonical, FieldName, IntoName};
pub use one_line::{EscapedDebug, OneLine};
pub use request_form::RequestForm;
pub use scheme::Scheme;
pub use section::{Adopted, FieldSection, Fields, SECTION_KEPT_BYTES_MAX};
pub use status::Status;
pub use target::Target;
