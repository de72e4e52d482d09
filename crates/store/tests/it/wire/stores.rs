//! The stores that are asked: one engine of a kind, with several settings.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use alula::{Limits, Server};
use alula_store::engine::Engine;
use alula_store::{Config, Store};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// The settings of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Tombstones stay.
    Usual,
    /// Tombstones are reaped at once.
    Reaping,
    /// An object may have 1000 bytes and three contents.
    Small,
    /// Lists are not enabled.
    WithoutLists,
    /// Hooks are kept.
    IgnoringHooks,
}

const KINDS: [(Kind, &str); 5] = [
    (Kind::Usual, "usual"),
    (Kind::Reaping, "reaping"),
    (Kind::Small, "small"),
    (Kind::WithoutLists, "without lists"),
    (Kind::IgnoringHooks, "ignoring hooks"),
];

impl Kind {
    /// The kind that cases call by this name.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        KINDS.iter().find(|(_, own)| *own == name).map(|(kind, _)| *kind)
    }

    fn config(self) -> Config {
        let mut config = Config::default();
        config.types = types();
        config.reap_after = None;
        match self {
            Self::Usual => {}
            Self::Reaping => config.reap_after = Some(Duration::from_millis(20)),
            Self::Small => (config.object_bytes_max, config.siblings_max) = (1000, 3),
            Self::WithoutLists => config.lists = false,
            Self::IgnoringHooks => config.ignore_hooks = true,
        }
        config
    }
}

/// The types that tests of clients use, and some that cases change.
fn types() -> Vec<(String, Map<String, Value>)> {
    let types = [
        ("no_siblings", json!({"allow_mult": false})),
        ("maps", json!({"datatype": "map"})),
        ("sets", json!({"datatype": "set"})),
        ("counters", json!({"datatype": "counter"})),
        ("hlls", json!({"datatype": "hll", "hll_precision": 14})),
        ("gsets", json!({"datatype": "gset"})),
        ("write_once", json!({"write_once": true})),
        ("foo", json!({})),
        ("mult", json!({"allow_mult": true})),
        ("changing", json!({})),
        ("shining", json!({})),
        ("shrinking", json!({"datatype": "hll", "hll_precision": 14})),
    ];
    let members = |value: Value| value.as_object().cloned().unwrap_or_default();
    types.into_iter().map(|(name, properties)| (name.to_owned(), members(properties))).collect()
}

/// A server for each kind of store, over real sockets.
pub(crate) struct Stores {
    pub(crate) runtime: Runtime,
    addresses: Vec<(Kind, SocketAddr)>,
    /// The folders of engines that have files.
    _folders: Vec<TempDir>,
}

impl Stores {
    /// Starts them, each with an engine of its own in a new folder.
    pub(crate) fn start<E: Engine>(open: impl Fn(&Path) -> E) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.expect("a runtime");
        let (mut addresses, mut folders) = (Vec::new(), Vec::new());
        for (kind, _) in KINDS {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let engine = {
                let _inside = runtime.enter();
                open(folder.path())
            };
            addresses.push((kind, runtime.block_on(serve(engine, kind.config()))));
            folders.push(folder);
        }
        Self { runtime, addresses, _folders: folders }
    }

    /// The address of a store.
    pub(crate) fn address(&self, kind: Kind) -> SocketAddr {
        let found = self.addresses.iter().find(|(own, _)| *own == kind);
        found.expect("every kind has a store").1
    }
}

async fn serve<E: Engine>(engine: E, config: Config) -> SocketAddr {
    let store = Store::open(engine, config).await.expect("the store opens");
    let routes = store.routes().expect("no two routes are in conflict");
    let server = Server::builder().limits(limits()).bind("127.0.0.1:0").await.expect("a port of loopback");
    let address = server.address().expect("the socket has an address");
    tokio::spawn(server.serve(routes));
    address
}

/// Room for a key of 65 536 bytes with an escape for each.
pub(crate) fn limits() -> Limits {
    Limits {
        field_section_bytes: 300 * 1024,
        string_bytes: 250 * 1024,
        continuation_frames: 32,
        head_bytes: 300 * 1024,
        target_bytes: 250 * 1024,
        ..Limits::default()
    }
}
