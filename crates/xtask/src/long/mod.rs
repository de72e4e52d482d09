//! Runs that take minutes: fuzzing, soaking, slow peers, a browser, every order of threads.

pub(crate) mod browser;
pub(crate) mod fuzz;
pub(crate) mod loom;
pub(crate) mod slow;
pub(crate) mod soak;
