//! Engines, stores and clients that tests share.

pub(crate) mod broken;
pub(crate) mod fjall;
pub(crate) mod resources;
pub(crate) mod seeded;
