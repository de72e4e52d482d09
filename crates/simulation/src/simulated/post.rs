//! What is under way on the simulated network, and the task that delivers it in time.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;
use tokio::time::{Duration, Instant, sleep_until};

use super::cable::{Cable, Delivery};
use super::log::lock;

#[derive(Default)]
pub(super) struct Post {
    parcels: Mutex<Parcels>,
    news: Notify,
}

#[derive(Default)]
struct Parcels {
    heap: BinaryHeap<Reverse<Parcel>>,
    count: u64,
}

/// Parcels of one instant are delivered in the order in which they were sent.
struct Parcel {
    at: (Instant, u64),
    cable: Arc<Cable>,
    delivery: Delivery,
}

impl Post {
    pub(super) fn send(&self, at: Instant, cable: &Arc<Cable>, delivery: Delivery) {
        let mut parcels = lock(&self.parcels);
        parcels.count += 1;
        let parcel = Parcel { at: (at, parcels.count), cable: cable.clone(), delivery };
        let is_first = parcels.heap.peek().is_none_or(|first| parcel < first.0);
        parcels.heap.push(Reverse(parcel));
        drop(parcels);
        if is_first {
            self.news.notify_one();
        }
    }

    /// Delivers for ever.
    pub(super) async fn deliver(self: Arc<Self>) {
        loop {
            while let Some(parcel) = self.due() {
                parcel.cable.deliver(&self, parcel.delivery);
            }
            let far = Instant::now() + Duration::from_secs(86_400);
            let next = lock(&self.parcels).heap.peek().map_or(far, |first| first.0.at.0);
            tokio::select! {
                biased;
                () = self.news.notified() => {}
                () = sleep_until(next) => {}
            }
        }
    }

    fn due(&self) -> Option<Parcel> {
        let mut parcels = lock(&self.parcels);
        let is_due = parcels.heap.peek().is_some_and(|first| first.0.at.0 <= Instant::now());
        if is_due { parcels.heap.pop().map(|first| first.0) } else { None }
    }
}

impl PartialEq for Parcel {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl Eq for Parcel {}

impl PartialOrd for Parcel {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Parcel {
    fn cmp(&self, other: &Self) -> Ordering {
        self.at.cmp(&other.at)
    }
}
