//! The parts of HTTP messages: field names, values and sections, and control data.
//!
//! The centre is [`FieldSection`], an ordered list of fields in two allocations that are used again and
//! again: names are folded and checked once, names that are known become small numbers ([`KnownName`]),
//! values stay bytes. [`Head`] adds the control data of a request or response.
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
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;

mod error;
mod message;
mod name;
mod section;
mod text;
mod value;

pub use error::{FieldError, FieldErrorKind};
pub use message::authority::Authority;
pub use message::captures::{CAPTURES_MAX, Captures};
pub use message::head::Head;
pub use message::method::Method;
pub use message::request_form::RequestForm;
pub use message::scheme::Scheme;
pub use message::status::Status;
pub use message::target::Target;
pub use message::{Hole, RequestHead, ResponseHead};
pub use name::known::KnownName;
pub use name::{Canonical, FieldName, IntoName};
pub use section::{Adopted, FieldSection, Fields, SECTION_KEPT_BYTES_MAX};
pub use text::bytes;
pub use text::decimal::Decimal;
pub use value::field::{Field, FieldFlags};
pub use value::known_value::KnownValue;
pub use value::masked::{MaskedTarget, masked_field, masked_target, masked_url};
pub use value::one_line::{EscapedDebug, OneLine, is_control_or_direction};
pub use value::parameters;
