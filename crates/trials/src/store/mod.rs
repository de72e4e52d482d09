//! Targets of the store.

mod datatype_change;
mod index_query;
mod object_fields;
mod store_bodies;
mod stored;
mod users_file;
mod walk_steps;

pub use datatype_change::datatype_change;
pub use index_query::index_query;
pub use object_fields::object_fields;
pub use store_bodies::store_bodies;
pub use stored::stored;
pub use users_file::users_file;
pub use walk_steps::walk_steps;
