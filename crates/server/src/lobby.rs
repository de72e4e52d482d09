//! Connections whose peers have not introduced themselves yet: no more of them than `Limits::handshakes`.
//!
//! Who is late makes room for who comes: a peer that means well is through in a moment, so the one that has waited longest is
//! the one to send away.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use alula_net::{Ledger, Overrun};
use tokio::sync::oneshot;

pub(crate) struct Lobby {
    guests_max: usize,
    ledger: Arc<Ledger>,
    guests: Mutex<Guests>,
}

#[derive(Default)]
struct Guests {
    /// In order of arrival, and so of their numbers.
    waiting: VecDeque<(u64, oneshot::Sender<()>)>,
    numbers: u64,
}

/// A place in the lobby; left by dropping it.
pub(crate) struct Guest {
    number: u64,
    lobby: Arc<Lobby>,
    sent_away: oneshot::Receiver<()>,
}

impl Lobby {
    pub(crate) fn new(guests_max: u32, ledger: Arc<Ledger>) -> Arc<Self> {
        Arc::new(Self { guests_max: guests_max.max(1) as usize, ledger, guests: Mutex::default() })
    }

    /// Takes a place, sending away who has waited longest when there is none.
    pub(crate) fn enter(self: &Arc<Self>) -> Guest {
        let (send_away, sent_away) = oneshot::channel();
        let mut guests = self.guests();
        if guests.waiting.len() >= self.guests_max {
            guests.waiting.pop_front();
            self.ledger.note_overrun(Overrun::HANDSHAKES);
        }
        guests.numbers += 1;
        let number = guests.numbers;
        guests.waiting.push_back((number, send_away));
        Guest { number, lobby: self.clone(), sent_away }
    }

    fn guests(&self) -> MutexGuard<'_, Guests> {
        self.guests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Guest {
    /// Ready when the guest has to go.
    pub(crate) fn poll_sent_away(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        std::pin::Pin::new(&mut self.sent_away).poll(cx).map(drop)
    }

    /// The result of `work`, unless the guest has to go before.
    pub(crate) async fn unless_sent_away<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            done = work => Some(done),
            _ = &mut self.sent_away => None,
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let waiting = &mut self.lobby.guests().waiting;
        if let Ok(place) = waiting.binary_search_by_key(&self.number, |(number, _)| *number) {
            waiting.remove(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alula_fields::Limits;
    use std::task::Waker;

    fn is_sent_away(guest: &mut Guest) -> bool {
        guest.poll_sent_away(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[test]
    fn who_has_waited_longest_goes_first() {
        let ledger = Arc::new(Ledger::new(&Limits::default()));
        let lobby = Lobby::new(2, ledger.clone());
        let (mut first, second) = (lobby.enter(), lobby.enter());
        assert!(!is_sent_away(&mut first));
        drop(second);
        let mut third = lobby.enter();
        assert!(!is_sent_away(&mut first), "the second has left by itself");
        let mut fourth = lobby.enter();
        assert!(is_sent_away(&mut first) && !is_sent_away(&mut third) && !is_sent_away(&mut fourth));
        assert_eq!(ledger.count("HANDSHAKES"), 1);
        drop(first);
        assert_eq!(lobby.guests().waiting.len(), 2);
    }
}
