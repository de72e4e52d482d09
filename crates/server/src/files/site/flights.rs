//! The joining of equal lookups: of several requests for one path, one looks, and the others wait for its
//! result.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::OnceCell;

/// Looks that are under way, by path.
pub(super) struct Flights<T> {
    under_way: Mutex<HashMap<String, Arc<OnceCell<T>>>>,
}

/// A request's part in a lookup; when the last one is dropped, or there is a result, the lookup is over.
struct Part<'a, T> {
    flights: &'a Flights<T>,
    key: &'a str,
    result: Arc<OnceCell<T>>,
}

impl<T> Default for Flights<T> {
    fn default() -> Self {
        Self { under_way: Mutex::default() }
    }
}

impl<T: Clone> Flights<T> {
    /// Returns the result of the look that is under way for this key; if there is none, looks. Should the
    /// request that looks be dropped, another one of those that wait looks instead.
    pub(super) async fn share(&self, key: &str, look: impl Future<Output = T>) -> T {
        let part = self.take_part(key);
        part.result.get_or_init(|| look).await.clone()
    }

    fn take_part<'a>(&'a self, key: &'a str) -> Part<'a, T> {
        let mut under_way = self.under_way();
        let result = match under_way.get(key) {
            Some(result) => Arc::clone(result),
            None => Arc::clone(under_way.entry(key.to_owned()).or_default()),
        };
        Part { flights: self, key, result }
    }
}

impl<T> Flights<T> {
    fn under_way(&self) -> MutexGuard<'_, HashMap<String, Arc<OnceCell<T>>>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Drop for Part<'_, T> {
    fn drop(&mut self) {
        let mut under_way = self.flights.under_way();
        // A later look may be under way by the same key.
        let is_mine = under_way.get(self.key).is_some_and(|result| Arc::ptr_eq(result, &self.result));
        // The map and this part hold it, and no other request.
        let is_last = Arc::strong_count(&self.result) <= 2;
        if is_mine && (is_last || self.result.initialized()) {
            under_way.remove(self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        sync::atomic::{AtomicUsize, Ordering},
        task::{Context, Poll, Waker},
    };

    use tokio::sync::Notify;

    use super::*;

    fn poll<T>(future: std::pin::Pin<&mut impl Future<Output = T>>) -> Poll<T> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn one_looks_while_others_wait_and_the_next_looks_again() {
        let (flights, looks, found) = (Flights::default(), AtomicUsize::new(0), Notify::new());
        let look = || async {
            found.notified().await;
            looks.fetch_add(1, Ordering::Relaxed)
        };
        for round in 0..2 {
            let (mut one, mut other) = (pin!(flights.share("/", look())), pin!(flights.share("/", look())));
            let mut elsewhere = pin!(flights.share("/elsewhere", async { 7 }));
            assert!(poll(one.as_mut()).is_pending() && poll(other.as_mut()).is_pending());
            assert_eq!(poll(elsewhere.as_mut()), Poll::Ready(7));
            found.notify_one();
            assert_eq!((poll(one), poll(other)), (Poll::Ready(round), Poll::Ready(round)));
        }
        assert!(flights.under_way().is_empty());
    }

    #[test]
    fn another_looks_when_the_one_that_looked_is_gone() {
        let flights = Flights::default();
        let mut other = pin!(flights.share("/", async { 2 }));
        {
            let mut one = pin!(flights.share("/", std::future::pending()));
            assert!(poll(one.as_mut()).is_pending() && poll(other.as_mut()).is_pending());
        }
        assert_eq!(poll(other), Poll::Ready(2));
        assert!(flights.under_way().is_empty());
    }
}
