//! A failure of the load, in words.

pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;
