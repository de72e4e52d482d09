//! Layers that pass a request on or answer it at once.

use crate::{
    answer::Answer,
    exchange::Exchange,
    router::{Next, Wrap},
};

/// Returns a layer that passes on the requests for which `check` returns no answer.
pub(super) fn gate<S: 'static>(
    check: impl Fn(&mut Exchange<S>) -> Option<Answer> + Send + Sync + 'static,
) -> impl Wrap<S> {
    move |mut exchange: Exchange<S>, next: Next<S>| {
        let refused = check(&mut exchange);
        async move {
            match refused {
                Some(answer) => Err(answer),
                None => next.run(exchange).await,
            }
        }
    }
}
