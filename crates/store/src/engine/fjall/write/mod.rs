//! The way of a write: the queue, the thread that commits, and the decisions beside it.

pub(in crate::engine::fjall) mod apart;
pub(in crate::engine::fjall) mod batch_mark;
pub(in crate::engine::fjall) mod changes;
pub(in crate::engine::fjall) mod committer;
pub(in crate::engine::fjall) mod helpers;
pub(in crate::engine::fjall) mod queue;
pub(in crate::engine::fjall) mod slot;
pub(in crate::engine::fjall) mod work;
