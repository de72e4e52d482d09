//! What all who take part in a run share: how it was set up, and what has happened so far.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use alula::Limits;
use alula_testkit::Rng;
use tokio::time::Duration;

use super::{
    log::{Log, lock},
    network::Wires,
    script::Script,
};

/// How a run is set up.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) seed: u64,
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
    /// True if it asks silent peers by PING; else each call has a deadline, where the network may fall silent.
    pub(super) asks: bool,
    /// The numbers of the calls that each of its callers makes.
    pub(super) callers: Vec<std::ops::Range<u32>>,
    pub(super) server: usize,
}

impl Setting {
    pub(super) fn of(seed: u64) -> Self {
        let rng = &mut Rng::new(seed);
        let has_blows = !rng.one_in(3);
        let is_small = rng.one_in(2);
        let servers: Vec<_> = (0..rng.range(1..3)).map(|_| limits(rng, is_small)).collect();
        let stops =
            servers.iter().map(|_| rng.one_in(3).then(|| Duration::from_millis(rng.below(800) as u64)));
        let stops = stops.collect();
        let mut number = 0;
        let clients =
            (0..rng.range(1..4)).map(|_| ClientSetting::of(rng, is_small, servers.len(), &mut number));
        let clients = clients.collect();
        Self { seed, has_blows, stops, servers, clients, is_small }
    }
}

impl ClientSetting {
    fn of(rng: &mut Rng, is_small: bool, servers: usize, number: &mut u32) -> Self {
        let callers = (0..rng.range(1..8)).map(|_| {
            let first = *number;
            *number += rng.range(1..6) as u32;
            first..*number
        });
        let callers = callers.collect();
        Self { limits: limits(rng, is_small), asks: rng.one_in(2), callers, server: rng.below(servers) }
    }
}

fn limits(rng: &mut Rng, is_small: bool) -> Limits {
    let windows: &[u32] = if is_small { &[100, 1_000, 10_000] } else { &[16_384, 65_536, 262_144] };
    Limits {
        streams: *rng.pick(&[1, 3, 100]),
        stream_window: *rng.pick(windows),
        connection_window: *rng.pick(&[65_535, 100_000, 1_048_576]),
        // Callers and the network are slow on purpose here.
        body_rate_min: 0,
        stall_timeout: Duration::from_secs(24 * 3600),
        ..Limits::default()
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
    pub(super) octets: u64,
}

pub(super) struct World {
    pub(super) setting: Setting,
    pub(super) log: Arc<Log>,
    pub(super) wires: Arc<Wires>,
    pub(super) calls: Mutex<BTreeMap<u32, CallState>>,
    pub(super) tally: Mutex<Tally>,
    /// Which servers have been told to stop.
    pub(super) stopped: Mutex<Vec<bool>>,
}

impl World {
    pub(super) fn new(setting: Setting, tells: bool) -> Arc<Self> {
        let log = Arc::new(Log::new(tells));
        let wires = Wires::new(setting.seed, setting.has_blows, log.clone());
        let stopped = Mutex::new(vec![false; setting.servers.len()]);
        Arc::new(Self { setting, log, wires, calls: Mutex::default(), tally: Mutex::default(), stopped })
    }

    pub(super) fn script(&self, number: u32) -> Script {
        Script::of(self.setting.seed, number, self.setting.is_small)
    }

    /// A source of what belongs to one call and one purpose.
    pub(super) fn rng(&self, number: u32, purpose: u64) -> Rng {
        Rng::new(self.setting.seed ^ (u64::from(number) << 8 | purpose) << 20)
    }

    pub(super) fn has_stopped(&self, server: usize) -> bool {
        lock(&self.stopped)[server]
    }
}
