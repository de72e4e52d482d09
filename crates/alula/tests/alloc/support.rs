//! The shape of most tests that count: a server on a thread of its own, and what N requests allocate.
//!
//! A run of N requests is repeated with 2N: what the second allocated more is what N requests cost.

use std::{io, sync::mpsc, thread};

use alula::{Server, ServerBuilder};
use alula_tally::Side;
use alula_testkit::Windows;
use tokio::runtime::Builder;

/// A date for answers: one that changes every second would enter HPACK's table while that fills.
pub(crate) const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";

/// Runs the work on this thread, which counts for the side from now on.
pub(crate) fn on_a_thread<T>(side: Side, work: impl Future<Output = T>) -> T {
    alula_tally::set_side(side);
    Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// Starts a server on a thread of its own, which counts for the server's side, and returns its origin.
pub(crate) fn serve<F>(begin: impl FnOnce(Server) -> F + Send + 'static) -> String
where
    F: Future<Output = io::Result<()>>,
{
    serve_built(Server::builder(), begin)
}

/// As [`serve`], with settings.
pub(crate) fn serve_built<F>(
    builder: ServerBuilder,
    begin: impl FnOnce(Server) -> F + Send + 'static,
) -> String
where
    F: Future<Output = io::Result<()>>,
{
    let (tell, origin) = mpsc::channel();
    thread::spawn(move || {
        on_a_thread(Side::SERVER, async move {
            let server = builder.bind("127.0.0.1:0").await.unwrap();
            tell.send(format!("http://{}", server.address().unwrap())).unwrap();
            begin(server).await.unwrap();
        });
    });
    origin.recv().unwrap()
}

/// Measures what so many requests cost the side until that is nothing often enough, or has not been for too
/// long.
pub(crate) async fn windows(side: Side, requests: usize, mut run: impl AsyncFnMut(usize)) -> Windows<i64> {
    let mut windows = Windows::expecting(0);
    while windows.are_open() {
        windows.add(cost(side, requests, &mut run).await);
    }
    windows
}

/// Returns the allocations of 2N requests less those of N.
pub(crate) async fn cost(side: Side, requests: usize, run: &mut impl AsyncFnMut(usize)) -> i64 {
    let counted = || alula_tally::side(side).allocations as i64;
    let before = counted();
    run(requests).await;
    let between = counted();
    run(2 * requests).await;
    (counted() - between) - (between - before)
}

/// Returns the cost of one request on either side: the least of a few runs, since now and then a buffer
/// grows.
pub(crate) async fn least(requests: usize, mut request: impl AsyncFnMut()) -> [i64; 2] {
    let counts = || [Side::CLIENT, Side::SERVER].map(|side| alula_tally::side(side).allocations as i64);
    for _ in 0..requests {
        request().await;
    }
    let mut least = [i64::MAX; 2];
    for _ in 0..5 {
        let before = counts();
        for _ in 0..requests {
            request().await;
        }
        let after = counts();
        least = std::array::from_fn(|side| least[side].min((after[side] - before[side]) / requests as i64));
    }
    least
}
