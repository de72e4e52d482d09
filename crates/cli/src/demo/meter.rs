//! The counters of a run. Nothing here allocates after [`Meter::new`].

use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use alula_tally::Side;
use hdrhistogram::Histogram;

use super::figures::{Figures, Wire};

/// The largest latency that is recorded, in nanoseconds; no request takes so long.
const LATENCY_NANOS_MAX: u64 = 60_000_000_000;
const LATENCY_DIGITS: u8 = 3;

/// Counts of one run, shared by the client and the display.
pub(super) struct Meter {
    requests: AtomicU64,
    stopped: AtomicBool,
    window: Mutex<Window>,
}

/// The time in which figures are taken.
struct Window {
    latencies: Histogram<u64>,
    began: Option<Mark>,
    wire: Option<Wire>,
}

/// The values of all counters at one moment.
#[derive(Clone, Copy)]
struct Mark {
    at: Instant,
    requests: u64,
    client: u64,
    server: u64,
    process: u64,
}

impl Meter {
    pub(super) fn new() -> Self {
        let latencies = Histogram::new_with_bounds(1, LATENCY_NANOS_MAX, LATENCY_DIGITS);
        let latencies = latencies.unwrap_or_else(|_| unreachable!("the bounds are constants that fit"));
        let window = Window { latencies, began: None, wire: None };
        Self { requests: AtomicU64::new(0), stopped: AtomicBool::new(false), window: Mutex::new(window) }
    }

    /// Counts a completely answered request, and records its latency.
    pub(super) fn record(&self, latency: Duration) {
        self.requests.fetch_add(1, Relaxed);
        self.window().latencies.saturating_record(latency.as_nanos() as u64);
    }

    pub(super) fn requests(&self) -> u64 {
        self.requests.load(Relaxed)
    }

    /// Begins to take figures, after the warm-up.
    pub(super) fn begin(&self, wire: Wire) {
        let mut window = self.window();
        window.latencies.reset();
        window.wire = Some(wire);
        window.began = Some(self.mark());
    }

    /// Returns the figures since [`Self::begin`]; nothing before that.
    pub(super) fn so_far(&self) -> Option<Figures> {
        let window = self.window();
        let (began, wire) = (window.began?, window.wire?);
        let now = self.mark();
        let requests = now.requests.saturating_sub(began.requests).max(1) as f64;
        let micros = |quantile| window.latencies.value_at_quantile(quantile) as f64 / 1e3;
        Some(Figures {
            requests_per_second: requests / (now.at - began.at).as_secs_f64().max(1e-9),
            p50_us: micros(0.50),
            p99_us: micros(0.99),
            client_allocations: now.client.wrapping_sub(began.client) as f64 / requests,
            server_allocations: now.server.wrapping_sub(began.server) as f64 / requests,
            process_allocations: now.process.wrapping_sub(began.process) as f64 / requests,
            wire,
        })
    }

    /// Tells the client to send no new requests.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Relaxed);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Relaxed)
    }

    fn mark(&self) -> Mark {
        Mark {
            at: Instant::now(),
            requests: self.requests(),
            client: alula_tally::side(Side::CLIENT).allocations,
            server: alula_tally::side(Side::SERVER).allocations,
            process: alula_tally::process().allocations,
        }
    }

    fn window(&self) -> MutexGuard<'_, Window> {
        self.window.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIRE: Wire = Wire { sent: 60.0, received: 20.0, fields_sent: 400, fields_received: 300 };

    #[test]
    fn figures_are_taken_from_the_beginning_of_the_window() {
        let meter = Meter::new();
        meter.record(Duration::from_secs(5));
        assert!(meter.so_far().is_none());
        meter.begin(WIRE);
        for micros in 1..=100 {
            meter.record(Duration::from_micros(micros));
        }
        let figures = meter.so_far().unwrap();
        assert!((figures.p50_us - 50.0).abs() < 1.0 && (figures.p99_us - 99.0).abs() < 1.0, "{figures:?}");
        assert_eq!((figures.wire.sent, meter.requests()), (60.0, 101));
    }

    #[test]
    fn taking_figures_allocates_nothing() {
        assert!(alula_tally::is_installed());
        let meter = Meter::new();
        let (figures, counts) = alula_tally::counted(|| {
            meter.begin(WIRE);
            meter.record(Duration::from_micros(3));
            meter.so_far()
        });
        assert!(figures.is_some());
        assert_eq!(counts.allocations, 0);
    }
}
