//! The flags of `alula get` and the other request commands.

pub(in crate::args) mod agreement;
pub(in crate::args) mod connection;
pub(in crate::args) mod content;
pub(in crate::args) mod layout;
pub(in crate::args) mod output;
pub(in crate::args) mod request;
pub(in crate::args) mod transfer;
