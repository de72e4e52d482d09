//! The bytes of content that all requests under way may hold together.
//!
//! Rule: small contents are counted and take no lock. Others have a share of the [`Room`], which says whose
//! turn it is.

mod pace;
mod peer;
mod room;
#[cfg(test)]
mod tests;

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

pub(crate) use self::pace::Pace;
pub(crate) use self::peer::Peer;
use self::room::{Room, Ticket, Turn};

/// The bytes below which a request needs no share: a connection takes as much for itself.
pub(crate) const FREE_BYTES_MAX: u64 = 4 * 1024;

/// The bytes below which a request is only counted: it waits for nobody while requests of its size are few.
pub(crate) const SMALL_BYTES_MAX: u64 = 64 * 1024;

/// The part of all bytes that small contents may take beside them, without a lock: a quarter.
const SMALL_PART: u64 = 4;

/// The time after which a waiting request has others refused that hold more than it.
const PATIENCE: Duration = Duration::from_secs(2);

/// A bound on bytes, of which each request takes a share. Clones are handles of one.
#[derive(Clone, Debug)]
pub(crate) struct Budget(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    room: Mutex<Room>,
    is_in_use: AtomicBool,
    waiting: AtomicUsize,
    small: AtomicU64,
    small_max: u64,
}

/// The bytes of one request on the account of a peer, given back when it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Share {
    peer: Peer,
    held: Held,
}

#[derive(Debug, Default)]
enum Held {
    #[default]
    Nothing,
    /// Bytes of a small content, which are counted alone.
    Small(Budget, u64),
    Room(Budget, Ticket),
}

/// The refusal of a share: there is no room, there was none in time, or the room was needed for another
/// request.
#[derive(Debug)]
pub(crate) struct Spent;

/// The end of a transfer that was slow while other requests waited for its room.
#[derive(Debug)]
pub(crate) struct TooSlow;

impl Budget {
    /// Creates a budget of so many bytes, for objects that have so many at most.
    pub(crate) fn new(bytes_max: u64, object_bytes_max: u64) -> Self {
        Self(Arc::new(Shared {
            room: Mutex::new(Room::new(bytes_max.max(1), object_bytes_max)),
            is_in_use: AtomicBool::new(false),
            waiting: AtomicUsize::new(0),
            small: AtomicU64::new(0),
            small_max: bytes_max / SMALL_PART,
        }))
    }

    /// Returns true while a request has a share of the room.
    pub(crate) fn is_in_use(&self) -> bool {
        self.0.is_in_use.load(Ordering::Relaxed)
    }

    fn others_wait(&self) -> bool {
        self.0.waiting.load(Ordering::Relaxed) > 0
    }

    /// Waits for a share as [`share_for`](Self::share_for) does, on the account of no peer.
    #[cfg(test)]
    pub(crate) async fn share(&self, bytes: u64, deadline: Instant) -> Result<Share, Spent> {
        self.share_for(&Peer::Nobody, bytes, deadline).await
    }

    /// Waits for so many bytes on the account of a peer. Allocates only where others have shares.
    pub(crate) async fn share_for(&self, peer: &Peer, bytes: u64, deadline: Instant) -> Result<Share, Spent> {
        let mut share = Share::of(peer);
        self.extend(&mut share, bytes, bytes, deadline).await?;
        Ok(share)
    }

    /// Waits until a share has so many bytes; `claim` is the most that the content may come to. It may get
    /// more than it asked for at once.
    pub(crate) async fn extend(
        &self,
        share: &mut Share,
        bytes: u64,
        claim: u64,
        deadline: Instant,
    ) -> Result<(), Spent> {
        if self.counts(share, bytes) {
            return Ok(());
        }
        let ticket = self.ticket(share);
        let is_ready = self.changed(|room| {
            let is_first = room.waiting() == 0;
            room.wait(ticket, bytes, claim);
            is_first && room.give_at_once(ticket)
        });
        if is_ready {
            return Ok(());
        }
        let _wait = Wait { budget: self, ticket };
        let mut turn = pin!(poll_fn(|cx| self.poll_turn(ticket, cx)));
        let soon = deadline.min(Instant::now() + PATIENCE);
        let turn = match timeout_at(soon, turn.as_mut()).await {
            Ok(turn) => Ok(turn),
            Err(_) => {
                self.changed(|room| room.urge(ticket));
                timeout_at(deadline, turn).await
            }
        };
        match turn {
            Ok(Turn::HasRoom) => Ok(()),
            _ => Err(Spent),
        }
    }

    fn poll_turn(&self, ticket: Ticket, cx: &Context<'_>) -> Poll<Turn> {
        match self.lock().look(ticket, cx.waker()) {
            Turn::Waits => Poll::Pending,
            turn => Poll::Ready(turn),
        }
    }

    /// Grows a share to so many bytes if there is room now: two requests that wait for what the other holds
    /// would wait without end.
    pub(crate) fn grow(&self, share: &mut Share, bytes: u64) -> Result<(), Spent> {
        if self.counts(share, bytes) {
            return Ok(());
        }
        let had_room = share.has_room();
        let ticket = self.ticket(share);
        match self.changed(|room| room.take(ticket, bytes)) {
            true => Ok(()),
            false => {
                if !had_room {
                    share.held = Held::Nothing;
                }
                Err(Spent)
            }
        }
    }

    /// Awaits a transfer whose progress is not seen before it has ended. While others wait for a share, one
    /// that holds room has to keep a pace, however small it is. Allocates nothing.
    pub(crate) async fn paced<F: Future>(
        &self,
        has_room: bool,
        share_bytes: u64,
        transfer: F,
    ) -> Result<F::Output, TooSlow> {
        if !has_room {
            return Ok(transfer.await);
        }
        Pace::of_whole(self, share_bytes).part(transfer).await
    }

    /// Begins the pace of a transfer that holds room.
    pub(crate) fn pace(&self) -> Pace<'_> {
        Pace::begin(self)
    }

    /// Returns true if so many bytes need no room: they are few, or only counted.
    pub(crate) fn counts(&self, share: &mut Share, bytes: u64) -> bool {
        let counted = match share.held {
            Held::Nothing => 0,
            Held::Small(_, bytes) => bytes,
            Held::Room(..) => return false,
        };
        if bytes <= counted || bytes <= FREE_BYTES_MAX {
            return true;
        }
        let (small, more) = (&self.0.small, bytes - counted);
        if bytes > SMALL_BYTES_MAX || small.fetch_add(more, Ordering::Relaxed) + more > self.0.small_max {
            if bytes <= SMALL_BYTES_MAX {
                small.fetch_sub(more, Ordering::Relaxed);
            }
            return false;
        }
        match &mut share.held {
            Held::Small(_, counted) => *counted = bytes,
            held => *held = Held::Small(self.clone(), bytes),
        }
        true
    }

    /// Returns the number of a share in the room, which it enters if it is not there.
    fn ticket(&self, share: &mut Share) -> Ticket {
        if let Held::Room(_, ticket) = share.held {
            return ticket;
        }
        let ticket = self.lock().enter(share.peer.clone());
        share.held = Held::Room(self.clone(), ticket);
        ticket
    }

    /// Changes the room, and gives what has become free to the next requests in wait.
    fn changed<T>(&self, change: impl FnOnce(&mut Room) -> T) -> T {
        let mut room = self.lock();
        let changed = change(&mut room);
        self.note(&room);
        // Wakers may drop tasks, whose shares are given back: they are woken without the lock.
        while let Some(waker) = room.settle() {
            self.note(&room);
            drop(room);
            waker.as_ref().map(Waker::wake_by_ref);
            drop(waker);
            room = self.lock();
        }
        changed
    }

    fn note(&self, room: &Room) {
        self.0.is_in_use.store(room.is_in_use(), Ordering::Relaxed);
        self.0.waiting.store(room.waiting(), Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Room> {
        self.0.room.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The wait of a request for room, until this is dropped.
struct Wait<'b> {
    budget: &'b Budget,
    ticket: Ticket,
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        self.budget.changed(|room| room.stop_waiting(self.ticket));
    }
}

impl Share {
    /// Returns a share of nothing yet, on the account of a peer.
    pub(crate) fn of(peer: &Peer) -> Self {
        Self { peer: peer.clone(), held: Held::Nothing }
    }

    /// Returns true if the share holds room, so that its transfer has to keep a pace.
    pub(crate) fn has_room(&self) -> bool {
        matches!(self.held, Held::Room(..))
    }

    /// Gives back all but so many bytes.
    pub(crate) fn shrink(&mut self, bytes: u64) {
        match &mut self.held {
            _ if bytes <= FREE_BYTES_MAX => self.held = Held::Nothing,
            Held::Small(budget, counted) => {
                let more = counted.saturating_sub(bytes);
                if more > 0 {
                    *counted -= more;
                    budget.0.small.fetch_sub(more, Ordering::Relaxed);
                }
            }
            Held::Room(budget, ticket) => budget.changed(|room| room.shrink(*ticket, bytes)),
            Held::Nothing => {}
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        match self {
            Self::Nothing => {}
            Self::Small(budget, bytes) => {
                budget.0.small.fetch_sub(*bytes, Ordering::Relaxed);
            }
            Self::Room(budget, ticket) => budget.changed(|room| room.leave(*ticket)),
        }
    }
}
