//! What is told of an exchange while it goes on and in its end.

pub(in crate::fetch) mod all_progress;
pub(in crate::fetch) mod frames;
pub(in crate::fetch) mod hashes;
pub(in crate::fetch) mod progress;
pub(in crate::fetch) mod report;
pub(in crate::fetch) mod timing;
pub(in crate::fetch) mod trace;
pub(in crate::fetch) mod verbose;
pub(in crate::fetch) mod watch;
