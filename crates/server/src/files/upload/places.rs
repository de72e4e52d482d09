//! Places for uploads: how many are taken at once, and whose make room for others.
//!
//! Rule: a peer that has more places than the newcomer would have gives the one up that is slowest, if that
//! is slow. The only upload of a peer is therefore never broken off, however slow it is, and no fast one
//! is.

use std::{
    net::IpAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::{sync::Notify, time::Instant};

/// The bytes a second below which an upload is slow, in the mean since it began: a peer that has several
/// places does better by far.
const SLOW_BELOW: u64 = 32 * 1024;

/// The time for which an upload is not judged.
const JUDGED_AFTER: Duration = Duration::from_secs(2);

/// The places of all uploads, of which there are so many.
#[derive(Debug)]
pub(super) struct Places {
    most: usize,
    held: Mutex<Vec<Arc<Upload>>>,
}

/// An upload that has a place.
#[derive(Debug)]
struct Upload {
    peer: IpAddr,
    began: Instant,
    bytes: AtomicU64,
    is_lost: Notify,
}

/// The place of one upload, given back when it is dropped.
pub(super) struct Place<'p> {
    places: &'p Places,
    upload: Arc<Upload>,
}

impl Places {
    pub(super) const fn new(most: usize) -> Self {
        Self { most, held: Mutex::new(Vec::new()) }
    }

    /// Takes a place for a peer: a free one, or that of another one's upload that has to go. `None` while
    /// there is none.
    pub(super) fn take(&self, peer: IpAddr) -> Option<Place<'_>> {
        let (peer, now) = (network(peer), Instant::now());
        let mut held = self.lock();
        if held.len() >= self.most {
            // All places are taken: only an upload that is slow, of a peer with several, makes room.
            let slow = find_slow(&held, peer, now)?;
            held.swap_remove(slow).is_lost.notify_one();
        }
        let upload = Arc::new(Upload { peer, began: now, bytes: AtomicU64::new(0), is_lost: Notify::new() });
        held.push(Arc::clone(&upload));
        Some(Place { places: self, upload })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Upload>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place<'_> {
    /// Notes that so many bytes of the upload have come.
    pub(super) fn note(&self, bytes: usize) {
        self.upload.bytes.fetch_add(bytes as u64, Relaxed);
    }

    /// Waits until the place is another upload's. Safe to drop and call again.
    pub(super) async fn lost(&self) {
        self.upload.is_lost.notified().await;
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut held = self.places.lock();
        if let Some(place) = held.iter().position(|upload| Arc::ptr_eq(upload, &self.upload)) {
            held.swap_remove(place);
        }
    }
}

impl Upload {
    /// The bytes a second so far; `None` before it is judged.
    fn pace(&self, now: Instant) -> Option<u64> {
        let took = now.saturating_duration_since(self.began);
        let is_judged = took >= JUDGED_AFTER;
        is_judged.then(|| self.bytes.load(Relaxed) / took.as_secs().max(1))
    }
}

/// Finds the slowest upload of the peers that would still have as many places without it as the newcomer has
/// with its own, of those that have most.
fn find_slow(held: &[Arc<Upload>], newcomer: IpAddr, now: Instant) -> Option<usize> {
    let count = |peer| held.iter().filter(|upload| upload.peer == peer).count();
    let its_own = count(newcomer) + 1;
    let slow = held.iter().enumerate().filter_map(|(at, upload)| {
        let pace = upload.pace(now).filter(|pace| *pace < SLOW_BELOW)?;
        let places = count(upload.peer);
        (places > its_own).then_some((std::cmp::Reverse(places), pace, at))
    });
    slow.min().map(|(_, _, at)| at)
}

/// The part of the address space that counts as one peer: an address of IPv4, a /64 of IPv6.
fn network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() >> 64 << 64).into()),
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    /// Fills all places; one peer has taken the first of them, for long enough to be judged.
    async fn full<'p>(places: &'p Places, by: &[&str]) -> Vec<Place<'p>> {
        let taken = by.iter().map(|by| places.take(peer(by)).unwrap()).collect();
        tokio::time::advance(JUDGED_AFTER).await;
        taken
    }

    async fn is_lost(place: &Place<'_>) -> bool {
        tokio::time::timeout(Duration::from_millis(1), place.lost()).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_with_many_slow_uploads_makes_room_by_its_slowest() {
        let places = Places::new(3);
        let taken = full(&places, &["192.0.2.1"; 3]).await;
        taken[0].note(2000);
        taken[2].note(1000);
        assert!(places.take(peer("192.0.2.1")).is_none(), "it has enough");
        let other = places.take(peer("192.0.2.2")).expect("there is room for others");
        assert_eq!(
            [is_lost(&taken[0]).await, is_lost(&taken[1]).await, is_lost(&taken[2]).await],
            [false, true, false]
        );
        assert!(places.take(peer("192.0.2.2")).is_none(), "they have the same then");
        drop((taken, other));
        assert!(places.lock().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn the_only_upload_of_a_peer_is_never_broken_off() {
        let places = Places::new(2);
        let _taken = full(&places, &["192.0.2.1", "192.0.2.2"]).await;
        assert!(places.take(peer("192.0.2.3")).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn no_fast_upload_is_broken_off_and_none_that_has_just_begun() {
        let places = Places::new(2);
        let taken = full(&places, &["192.0.2.1"; 2]).await;
        taken.iter().for_each(|place| place.note(10 << 20));
        assert!(places.take(peer("192.0.2.2")).is_none(), "they are fast");
        drop(taken);
        let _new = [(); 2].map(|()| places.take(peer("192.0.2.1")).unwrap());
        assert!(places.take(peer("192.0.2.2")).is_none(), "they are new");
    }

    #[tokio::test(start_paused = true)]
    async fn addresses_of_one_network_of_ipv6_are_one_peer() {
        let places = Places::new(2);
        let _taken = full(&places, &["2001:db8::1", "2001:db8::ffff:2"]).await;
        assert!(places.take(peer("2001:db8::3")).is_none());
        assert!(places.take(peer("2001:db8:0:1::3")).is_some());
        assert_eq!(network(peer("::ffff:192.0.2.1")), peer("192.0.2.1"));
    }
}
