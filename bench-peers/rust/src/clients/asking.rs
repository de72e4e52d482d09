//! The manner in which a client asks: over which version, and with how many requests in flight, each kept
//! there by a task or a thread of its own.

use std::sync::mpsc;
use std::{panic, process, thread};

use crate::measure::Run;

/// The work of a client as its name says it: `h1` is HTTP/1.1, `m64` is 64 in flight, `varied` has other ids
/// in each request.
#[derive(Clone, Copy)]
pub(crate) struct Asking {
    pub(crate) is_http1: bool,
    pub(crate) in_flight: u64,
    pub(crate) varies: bool,
}

impl Asking {
    /// From the parts behind `client`; those that say neither tell the content, which the server knows.
    pub(crate) fn parse(case: &str) -> Self {
        let mut parts = case.split('-');
        let is_http1 = parts.clone().any(|part| part == "h1");
        let varies = parts.clone().any(|part| part == "varied");
        let in_flight = parts.find_map(|part| part.strip_prefix('m')?.parse().ok());
        Self { is_http1, in_flight: in_flight.unwrap_or(1), varies }
    }
}

/// So many requests, shared out.
pub(crate) fn shares(requests: u64, among: u64) -> impl Iterator<Item = u64> {
    (0..among).map(move |number| (requests + number) / among)
}

/// So many requests by tasks that each have a client, or a share of one, and give it back. One needs no task.
pub(crate) async fn spread<C, F>(clients: &mut Vec<C>, requests: u64, ask: impl Fn(C, u64) -> F)
where
    C: Send + 'static,
    F: Future<Output = C> + Send + 'static,
{
    if clients.len() == 1 {
        let client = ask(clients.remove(0), requests).await;
        clients.push(client);
        return;
    }
    let shares = shares(requests, clients.len() as u64);
    let tasks: Vec<_> =
        clients.drain(..).zip(shares).map(|(client, share)| tokio::spawn(ask(client, share))).collect();
    for task in tasks {
        clients.push(task.await.expect("all answers came"));
    }
}

/// So many requests by threads that stay from one run to the next. One needs no thread.
pub(crate) fn threads(in_flight: u64, ask: impl Fn(u64) + Clone + Send + 'static) -> Run {
    if in_flight == 1 {
        return Box::new(ask);
    }
    end_with_any_thread();
    let (done, all_done) = mpsc::channel();
    let start = |_| {
        let (start, starts) = mpsc::channel();
        let (ask, done) = (ask.clone(), done.clone());
        thread::spawn(move || {
            for share in starts {
                ask(share);
                done.send(()).expect("they are waited for");
            }
        });
        start
    };
    let threads: Vec<mpsc::Sender<u64>> = (0..in_flight).map(start).collect();
    Box::new(move |requests| {
        for (thread, share) in threads.iter().zip(shares(requests, in_flight)) {
            thread.send(share).expect("the thread runs");
        }
        for _ in &threads {
            all_done.recv().expect("the threads run");
        }
    })
}

/// A thread that panics would be waited for.
fn end_with_any_thread() {
    let tell = panic::take_hook();
    panic::set_hook(Box::new(move |panicked| {
        tell(panicked);
        process::exit(101);
    }));
}
