//! The settings of a store, whatever they are read from.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::access::Access;
use crate::engine::Durability;

/// The settings of a store. [`Config::default`] is what Riak has.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// Bucket types, by name, with the properties in which they differ from the defaults of types.
    pub types: Vec<(String, Map<String, Value>)>,
    /// The bytes that all contents of an object may take together, attributes included; default 51 MiB: 50
    /// MiB, with room for attributes.
    pub object_bytes_max: u64,
    /// The contents that an object may have; default 100.
    pub siblings_max: usize,
    /// The bytes of all requests and responses under way together; default 192 MiB. A request waits for its
    /// part.
    pub bytes_in_flight_max: u64,
    /// The longest time that a request may ask for by `timeout`; a longer one, and 0, are taken as this one.
    /// Default 5 minutes.
    pub timeout_max: Duration,
    /// The time after which a deleted object is removed; default 3 s. `None` keeps it.
    pub reap_after: Option<Duration>,
    /// The durability of a write when it is answered, for buckets whose `sync_on_write` is `backend`; default
    /// [`Durability::Flushed`].
    pub durability: Durability,
    /// Lists of keys and of buckets are answered; default true.
    pub lists: bool,
    /// Buckets and types may have hooks (`precommit` and `postcommit`), which are kept and never run; default
    /// false, so that they are refused.
    pub ignore_hooks: bool,
    /// Called with a sentence for a property that is kept and not acted on, such as `expiry_secs`, once for a
    /// store, and for each unknown name in a type of the configuration; default none. It may be called on a
    /// thread of the runtime, and must not block.
    pub warn: Option<fn(&str)>,
    /// The pages of browsers whose requests are taken; default [`Referers::Own`].
    pub referers: Referers,
    /// Tells browsers, in every answer, to run no program of what is stored, and to take it for what its
    /// media type says (`content-security-policy: sandbox`, `x-content-type-options: nosniff`); default true.
    pub sandbox: bool,
    /// The check of users and of what they may do; default none, so that everybody may do everything.
    pub access: Option<Access>,
}

/// The pages whose requests are taken, by the origin of their URL in `referer`, and of those that write also
/// by `sec-fetch-site` and
/// `origin`. Requests without these fields are taken always, and those with `origin: null` never.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Referers {
    /// Pages of the server itself.
    #[default]
    Own,
    /// Pages of the server and of these origins, such as `https://app.example`.
    OwnAnd(Vec<String>),
    /// Pages of any origin.
    Any,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            types: Vec::new(),
            object_bytes_max: 51 * 1024 * 1024,
            siblings_max: 100,
            bytes_in_flight_max: 192 * 1024 * 1024,
            timeout_max: Duration::from_secs(300),
            reap_after: Some(Duration::from_secs(3)),
            durability: Durability::default(),
            lists: true,
            ignore_hooks: false,
            warn: None,
            referers: Referers::default(),
            sandbox: true,
            access: None,
        }
    }
}

impl Config {
    /// Returns the time of a request that asks for this `timeout`. Nothing is the longest, as no limit is.
    pub(crate) fn time(&self, asked: Duration) -> Duration {
        if asked.is_zero() { self.timeout_max } else { asked.min(self.timeout_max) }
    }
}
