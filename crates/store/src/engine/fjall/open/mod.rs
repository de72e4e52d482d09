//! Opening a folder, and opening it anew: lock, format, journals, permissions.

pub(in crate::engine::fjall) mod folder;
pub(in crate::engine::fjall) mod journal;
pub(in crate::engine::fjall) mod open_error;
pub(in crate::engine::fjall) mod opening;
pub(in crate::engine::fjall) mod options;
pub(in crate::engine::fjall) mod private_files;
pub(in crate::engine::fjall) mod reopening;
pub(in crate::engine::fjall) mod tail;
