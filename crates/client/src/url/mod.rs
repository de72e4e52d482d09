//! URLs from callers, and the parts of them that a request needs.

pub(crate) mod error;
pub(crate) mod location;
pub(crate) mod reference;
pub(crate) mod text;
pub(crate) mod url_text;
pub(crate) mod zone;
