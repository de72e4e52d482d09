//! What all who take part in a run share: how it was set up, and what has happened so far.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, Weak};

use alula::{Limits, Version};
use alula_net::ConnectionPool;
use alula_testkit::Rng;
use tokio::time::Duration;

use super::log::{Log, lock};
use super::network::Wires;
use super::script::Script;

/// How a run is set up.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) seed: u64,
    /// The version that all clients speak; the servers take either.
    pub(super) version: Version,
    pub(super) has_blows: bool,
    /// When each server stops, and another takes its place.
    pub(super) stops: Vec<Option<Duration>>,
    pub(super) servers: Vec<Limits>,
    pub(super) clients: Vec<ClientSetting>,
    pub(super) is_small: bool,
}

#[derive(Clone, Debug)]
pub(super) struct ClientSetting {
    pub(super) limits: Limits,
    /// True if it asks silent peers by PING, which HTTP/2 alone has; else each call has a deadline, where the
    /// network may fall silent.
    pub(super) asks: bool,
    pub(super) pool: PoolSetting,
    /// The numbers of the calls that each of its callers makes.
    pub(super) callers: Vec<std::ops::Range<u32>>,
    pub(super) server: usize,
}

/// The bounds of the connections of a client.
#[derive(Clone, Copy, Debug)]
pub(super) struct PoolSetting {
    pub(super) connections_max: usize,
    pub(super) http2_connections_max: usize,
    pub(super) idle_max: usize,
    pub(super) keep_idle: Duration,
}

impl Setting {
    /// The setting that a seed decides, of this version if one is named.
    pub(super) fn of(seed: u64, version: Option<Version>) -> Self {
        let rng = &mut Rng::new(seed);
        let drawn = if rng.one_in(2) { Version::Http1 } else { Version::Http2 };
        let version = version.unwrap_or(drawn);
        let has_blows = !rng.one_in(3);
        let is_small = rng.one_in(2);
        let servers: Vec<_> = (0..rng.range(1..3)).map(|_| limits(rng, is_small)).collect();
        let stops =
            servers.iter().map(|_| rng.one_in(3).then(|| Duration::from_millis(rng.below(800) as u64)));
        let stops = stops.collect();
        let mut number = 0;
        let clients = (0..rng.range(1..4))
            .map(|_| ClientSetting::of(rng, version, is_small, servers.len(), &mut number));
        let clients = clients.collect();
        Self { seed, version, has_blows, stops, servers, clients, is_small }
    }
}

impl ClientSetting {
    fn of(rng: &mut Rng, version: Version, is_small: bool, servers: usize, number: &mut u32) -> Self {
        let callers = (0..rng.range(1..8)).map(|_| {
            let first = *number;
            *number += rng.range(1..6) as u32;
            first..*number
        });
        let callers = callers.collect();
        Self {
            limits: limits(rng, is_small),
            asks: rng.one_in(2) && version == Version::Http2,
            callers,
            server: rng.below(servers),
            pool: PoolSetting::of(rng),
        }
    }
}

impl PoolSetting {
    fn of(rng: &mut Rng) -> Self {
        Self {
            connections_max: *rng.pick(&[1, 2, 3, 100]),
            http2_connections_max: *rng.pick(&[1, 1, 2, 3]),
            idle_max: *rng.pick(&[0, 1, 2, 100, 100, 100]),
            keep_idle: Duration::from_millis(*rng.pick(&[30, 300, 70_000, 70_000, 70_000, 70_000])),
        }
    }
}

/// The times that servers keep connections without requests. Shorter ones end while the next request is on
/// its way.
const IDLE_TIMEOUTS_MS: [u64; 6] = [20, 200, 75_000, 75_000, 75_000, 75_000];

fn limits(rng: &mut Rng, is_small: bool) -> Limits {
    let windows: &[u32] = if is_small { &[100, 1_000, 10_000] } else { &[16_384, 65_536, 262_144] };
    Limits {
        streams: *rng.pick(&[1, 3, 100]),
        stream_window: *rng.pick(windows),
        connection_window: *rng.pick(&[65_535, 100_000, 1_048_576]),
        idle_timeout: Duration::from_millis(*rng.pick(&IDLE_TIMEOUTS_MS)),
        // Callers and the network are slow on purpose here.
        body_rate_min: 0,
        stall_timeout: Duration::from_secs(24 * 3600),
        ..Limits::default()
    }
}

/// A caller that stalls.
pub(super) struct Stall {
    world: Arc<World>,
    client: u32,
}

impl Drop for Stall {
    fn drop(&mut self) {
        if let Some(count) = lock(&self.world.stalled).get_mut(&self.client) {
            *count -= 1;
        }
    }
}

/// What has happened to one call.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CallState {
    pub(super) handled: u32,
    /// Whose call it is.
    pub(super) client: u32,
    /// It failed, and was said to be safe to send again.
    pub(super) is_safe: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) answered: u64,
    pub(super) failed: u64,
    pub(super) given_up: u64,
    pub(super) bytes: u64,
}

pub(super) struct World {
    pub(super) setting: Setting,
    pub(super) log: Arc<Log>,
    pub(super) wires: Arc<Wires>,
    pub(super) calls: Mutex<BTreeMap<u32, CallState>>,
    pub(super) tally: Mutex<Tally>,
    pub(super) pools: Mutex<BTreeMap<u32, Weak<dyn ConnectionPool>>>,
    /// The number of callers of each client that do not run although they may have been called.
    pub(super) stalled: Mutex<BTreeMap<u32, usize>>,
    steps: AtomicU64,
    /// Which servers have been told to stop.
    pub(super) stopped: Mutex<Vec<bool>>,
}

impl World {
    pub(super) fn new(setting: Setting, tells: bool) -> Arc<Self> {
        let log = Arc::new(Log::new(tells));
        let wires = Wires::new(setting.seed, setting.has_blows, log.clone());
        let stopped = Mutex::new(vec![false; setting.servers.len()]);
        Arc::new(Self {
            setting,
            log,
            wires,
            calls: Mutex::default(),
            tally: Mutex::default(),
            pools: Mutex::default(),
            stalled: Mutex::default(),
            steps: AtomicU64::new(0),
            stopped,
        })
    }

    /// Notes that nothing is left to do before the clock goes on.
    pub(super) fn count_step(&self) {
        self.steps.fetch_add(1, Relaxed);
    }

    pub(super) fn steps(&self) -> u64 {
        self.steps.load(Relaxed)
    }

    /// Counts a caller of this client that stalls, until the guard is dropped.
    pub(super) fn stall(self: &Arc<Self>, client: u32) -> Stall {
        *lock(&self.stalled).entry(client).or_default() += 1;
        Stall { world: self.clone(), client }
    }

    pub(super) fn script(&self, number: u32) -> Script {
        Script::of(self.setting.seed, number, self.setting.is_small)
    }

    /// A source of what belongs to one call and one purpose.
    pub(super) fn rng(&self, number: u32, purpose: u64) -> Rng {
        Rng::new(self.setting.seed ^ (u64::from(number) << 8 | purpose) << 20)
    }

    /// Returns true if this server ends connections that are idle while clients still keep them.
    pub(super) fn ends_idle_ones(&self, server: usize) -> bool {
        self.setting.servers[server].idle_timeout < Duration::from_secs(75)
    }

    pub(super) fn has_stopped(&self, server: usize) -> bool {
        lock(&self.stopped)[server]
    }
}
