//! The reports on an exchange, while it runs and at its end.

pub(in crate::fetch) mod all_progress;
pub(in crate::fetch) mod frames;
pub(in crate::fetch) mod hashes;
pub(in crate::fetch) mod progress;
pub(in crate::fetch) mod report;
pub(in crate::fetch) mod seen;
pub(in crate::fetch) mod timing;
pub(in crate::fetch) mod trace;
pub(in crate::fetch) mod verbose;
pub(in crate::fetch) mod watch;
