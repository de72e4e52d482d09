//! The running of several exchanges at once.

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    task::Poll,
};

/// Runs all of the work, so much of it at a time, and hands each outcome to `then` as it comes. Dropping the
/// future drops the work.
pub(in crate::fetch) async fn run<F: Future>(
    work: impl IntoIterator<Item = F>,
    at_once: usize,
    mut then: impl FnMut(F::Output),
) {
    let mut waiting = work.into_iter().fuse();
    let mut running: Vec<Pin<Box<F>>> = Vec::new();
    poll_fn(|cx| {
        loop {
            let free = at_once - running.len();
            running.extend(waiting.by_ref().take(free).map(Box::pin));
            let before = running.len();
            running.retain_mut(|work| match work.as_mut().poll(cx) {
                Poll::Ready(outcome) => {
                    then(outcome);
                    false
                }
                Poll::Pending => true,
            });
            match running.len() {
                0 if before == 0 => return Poll::Ready(()),
                left if left == before => return Poll::Pending,
                // There is room for more.
                _ => {}
            }
        }
    })
    .await;
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test]
    async fn no_more_runs_at_once_than_may_and_all_of_it_ends() {
        for at_once in [1, 3, 50] {
            let (now, most) = (Cell::new(0), Cell::new(0));
            let work = (0..10).map(|number| {
                let (now, most) = (&now, &most);
                async move {
                    now.set(now.get() + 1);
                    most.set(most.get().max(now.get()));
                    tokio::task::yield_now().await;
                    now.set(now.get() - 1);
                    number
                }
            });
            let mut ended = Vec::new();
            run(work, at_once, |number| ended.push(number)).await;
            ended.sort_unstable();
            assert_eq!((ended.len(), most.get()), (10, at_once.min(10)));
        }
    }
}
