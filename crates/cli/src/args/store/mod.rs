//! The flags of `alula store`.

pub(in crate::args) mod store_access;
pub(in crate::args) mod store_config;

use std::{num::NonZeroU64, path::PathBuf, time::Duration};

use alula_store::engine::Durability;
use clap::{Args as ClapArgs, ValueEnum};
use serde_json::{Map, Value};

use super::{
    serve::{
        hosts::HostArgs,
        listen,
        servers::ListenArgs,
        watching::{WatchArgs, own_path},
    },
    store::store_access::AccessArgs,
    values::{
        self,
        durations::{milliseconds, slow, some_time},
    },
};

#[derive(ClapArgs, Debug)]
#[command(mut_arg("listen", |listen| listen.default_value("127.0.0.1:8098").value_parser(listen::address_of_store).long_help(LISTEN)))]
pub(crate) struct StoreArgs {
    /// The folder in which objects are kept; it is made if it is not there.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,

    /// Take settings from FILE, in TOML, with the names of these flags and a table for each bucket type, such
    /// as [types.sets].
    ///
    /// A flag on the command line goes before the same setting of the file. See docs/store.md.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) listen: ListenArgs,

    /// The engine that keeps the objects.
    #[arg(long, value_name = "ENGINE", default_value = "fjall")]
    pub(crate) engine: EngineName,

    /// The bytes that --engine memory may hold; half of the memory of this machine unless it is given.
    ///
    /// Beyond them writes that grow are answered with 507; deletes and smaller values are taken.
    #[arg(long, value_name = "BYTES", value_parser = values::bytes)]
    pub(crate) engine_max: Option<NonZeroU64>,

    /// Make a bucket type, with its properties as a JSON object: 'sets={"datatype":"set"}'.
    ///
    /// Several are made by several flags. The datatype of a type, which is one of counter, set, gset, map and
    /// hll, cannot be another one later.
    #[arg(long = "type", value_name = "NAME=JSON", value_parser = bucket_type)]
    pub(crate) types: Vec<BucketType>,

    /// Answer 413 to a write after which an object would have more bytes than this, all siblings and their
    /// fields together.
    #[arg(long, value_name = "BYTES", default_value = "51M", value_parser = values::bytes)]
    pub(crate) object_max: NonZeroU64,

    /// The siblings that an object may have.
    #[arg(long, value_name = "NUMBER", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) siblings_max: u16,

    /// The bytes of objects that requests and answers under way may hold together, 1M at least; requests wait
    /// for their part.
    #[arg(long, value_name = "BYTES", default_value = "192M", value_parser = values::memory)]
    pub(crate) memory: NonZeroU64,

    /// The longest time that a request may ask for by its parameter `timeout`: a longer one, and 0, mean
    /// this.
    #[arg(long, value_name = "SECONDS", default_value = "5m", value_parser = some_time)]
    pub(crate) timeout_max: Duration,

    /// The time after which what is left of a deleted object is removed, in milliseconds or with its unit
    /// (3s), or `immediate`, or `keep`.
    ///
    /// Until then it keeps an old copy that a client writes back from being taken for a new object.
    #[arg(long, value_name = "MS", default_value = "3000", value_parser = reap_after)]
    pub(crate) reap_after: ReapAfter,

    /// The durability of a write when it is answered, unless its bucket or its request asks for more.
    #[arg(long, value_name = "LEVEL", default_value = "flushed")]
    pub(crate) durability: DurabilityLevel,

    /// Answer 403 to requests for lists of keys and of buckets, which read all of a bucket.
    #[arg(long)]
    pub(crate) no_lists: bool,

    /// Take hooks (`precommit`, `postcommit`) as properties of buckets and types, without ever running them.
    ///
    /// Unless it is given, properties with hooks are answered with 400: a hook may check or change what is
    /// written.
    #[arg(long)]
    pub(crate) ignore_hooks: bool,

    #[command(flatten)]
    pub(crate) access: AccessArgs,

    #[command(flatten)]
    pub(crate) hosts: HostArgs,

    /// Take requests that pages of any other site make in a browser.
    ///
    /// Unless it is given, a request whose referer is a page of another server is answered with 403, and so
    /// is one that writes and of which the browser says that a page of another origin makes it. Pages of the
    /// origins that --cors names are taken; --cors without a name lets pages of any origin read. Requests
    /// with `origin: null` are never taken.
    #[arg(long)]
    pub(crate) no_referer_check: bool,

    /// Leave out the fields by which browsers run no program of what is stored.
    ///
    /// Unless it is given, answers have `content-security-policy: sandbox` and `x-content-type-options:
    /// nosniff`: whoever may write an object could have its page act with the credentials of whoever opens
    /// it.
    #[arg(long)]
    pub(crate) no_sandbox: bool,

    /// Write a line on stderr for each request that took so many seconds or more; 200ms is taken, too.
    #[arg(long, value_name = "SECONDS", value_parser = slow)]
    pub(crate) slow_log: Option<Duration>,

    /// Answer GET of PATH, or /readyz, with 200 while reads and writes are taken, else with 503.
    #[arg(long, value_name = "PATH", num_args = 0..=1, require_equals = true, default_missing_value = "/readyz", value_parser = own_path)]
    pub(crate) ready: Option<String>,

    #[command(flatten)]
    pub(crate) watch: WatchArgs,
}

const LISTEN: &str = "\
The address to listen on, HOST:PORT; either of the two may be left out.

`:8098` or `8098` is 127.0.0.1:8098, `0.0.0.0` is 0.0.0.0:8098, and port 0 is a free one. The address is printed.";

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum EngineName {
    /// Files in the folder of --data
    Fjall,
    /// Memory: objects are gone when the program ends
    Memory,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum DurabilityLevel {
    /// The disk has the write, which outlives a loss of power
    Flushed,
    /// The system has the write, which outlives the program
    Buffered,
}

impl From<DurabilityLevel> for Durability {
    fn from(level: DurabilityLevel) -> Self {
        match level {
            DurabilityLevel::Flushed => Self::Flushed,
            DurabilityLevel::Buffered => Self::Buffered,
        }
    }
}

/// A bucket type, with the properties in which it differs from the defaults.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct BucketType {
    pub(crate) name: String,
    pub(crate) properties: Map<String, Value>,
}

fn bucket_type(text: &str) -> Result<BucketType, String> {
    let written = || "written as NAME={\"property\":value}".to_owned();
    let (name, json) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(written)?;
    let properties = serde_json::from_str(json).map_err(|error| match error.classify() {
        serde_json::error::Category::Data => written(),
        _ => format!("the properties are no JSON: {error}"),
    })?;
    Ok(BucketType { name: name.to_owned(), properties })
}

/// The time after which a deleted object is removed; `None` keeps it for ever.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct ReapAfter(pub(crate) Option<Duration>);

fn reap_after(text: &str) -> Result<ReapAfter, String> {
    Ok(ReapAfter(match text {
        "keep" => None,
        "immediate" => Some(Duration::ZERO),
        time => Some(milliseconds(time).map_err(|_| "written as milliseconds, 3s, `immediate` or `keep`")?),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_has_a_name_and_properties() {
        let made = bucket_type(r#"sets={"datatype":"set","n_val":1}"#).unwrap();
        assert_eq!((&*made.name, &made.properties["datatype"]), ("sets", &"set".into()));
        for wrong in ["", "sets", "={}", "sets=", "sets={", "sets=[]", "sets=1", "sets={} x"] {
            assert!(bucket_type(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn reaping_is_after_a_time_or_at_once_or_never() {
        let millis = |millis| Ok(ReapAfter(Some(Duration::from_millis(millis))));
        assert_eq!(reap_after("3000"), millis(3000));
        assert_eq!(reap_after("immediate"), millis(0));
        assert_eq!(reap_after("keep"), Ok(ReapAfter(None)));
        assert_eq!(reap_after("3s"), millis(3000));
        for wrong in ["", "-1", "1.5", "Keep"] {
            assert!(reap_after(wrong).is_err(), "{wrong}");
        }
    }
}
