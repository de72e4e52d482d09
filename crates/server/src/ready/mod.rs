//! Ready-made hooks and layers for routers.

mod access_log;
mod auth;
mod concurrency_limit;
mod cors;
#[cfg(feature = "files")]
mod entity_tags;
mod gate;
mod health;
mod keys;
mod metrics;
mod origin_guard;
mod rate_limit;
mod request_id;
mod shards;

pub use access_log::{AccessLog, LogFormat};
#[cfg(feature = "fuzzing")]
pub(crate) use auth::decode_pair;
pub use auth::{BasicAuth, BearerAuth};
pub use concurrency_limit::ConcurrencyLimit;
pub use cors::Cors;
#[cfg(feature = "files")]
pub use entity_tags::EntityTags;
pub use health::Health;
pub use metrics::Metrics;
pub use origin_guard::OriginGuard;
pub use rate_limit::RateLimit;
pub use request_id::RequestId;
