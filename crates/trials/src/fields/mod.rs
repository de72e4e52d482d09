//! Targets of names, values and other texts of messages.

mod accept;
mod authority;
mod content_disposition;
mod control_data;
mod credentials;
mod field_name;
mod field_section;
mod field_value;
mod forwarded;
mod head;
mod location;
mod priority;
mod query;
mod retry_after;
mod target;

pub use accept::accept;
pub use authority::authority;
pub use content_disposition::content_disposition;
pub use control_data::control_data;
pub use credentials::credentials;
pub use field_name::field_name;
pub use field_section::field_section;
pub use field_value::field_value;
pub use forwarded::forwarded;
pub use head::head;
pub use location::location;
pub use priority::priority;
pub use query::query;
pub use retry_after::retry_after;
pub use target::target;
