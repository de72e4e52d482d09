//! Nothing hangs, nothing leaks, client side: servers that die, stall or babble at every point of an answer,
//! a thousand times. Every call ends, and this process is as it was: the same descriptors and tasks. (Threads
//! come and go: the runtime looks up names on some of its own.)
//!
//! It counts what this process holds, so nothing runs beside it.

use std::time::Duration;

use alula::{Client, Error};
use alula_conformance::certificates::Certificates;
use alula_conformance::hostile::answers::{self, Point};
use alula_conformance::hostile::{Ending, HostileServer};
use alula_conformance::poll;
use alula_conformance::process;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// With three endings of twelve points: more than a thousand calls.
const ROUNDS_CLEAR: usize = 28;
/// A handshake costs a thousand times a frame, and past it TLS changes nothing.
const ROUNDS_TLS: usize = 4;

/// The time that a call waits for a server that stalls.
const DEADLINE: Duration = Duration::from_millis(100);
/// The time that a call may take before it hangs.
const HANG: Duration = Duration::from_secs(10);

pub(crate) fn servers_leave_nothing_behind() {
    let certificates = Certificates::new();
    let authority = std::fs::read(certificates.authority()).expect("our own file");
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    // The first calls make what the runtime keeps.
    calls(&runtime, &certificates, &authority, 1, 1);
    let before = Holdings::at_rest(&runtime);
    calls(&runtime, &certificates, &authority, ROUNDS_CLEAR, ROUNDS_TLS);
    let mut now = before;
    let same = poll::within(Duration::from_secs(20), || {
        now = Holdings::of(&runtime);
        (now == before).then_some(())
    });
    assert!(same.is_some(), "there were {before:?} and are {now:?}");
}

/// What must be the same afterwards.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Holdings {
    descriptors: usize,
    tasks: usize,
}

impl Holdings {
    fn of(runtime: &Runtime) -> Self {
        let descriptors = process::held(std::process::id()).descriptors;
        Self { descriptors, tasks: runtime.metrics().num_alive_tasks() }
    }

    /// What is held once the last connections have taken their leave: no task, and the same many times in a
    /// row.
    fn at_rest(runtime: &Runtime) -> Self {
        let (mut last, mut times) = (Self::of(runtime), 0);
        let rest = poll::within(Duration::from_secs(20), || {
            let now = Self::of(runtime);
            times = if now == last && now.tasks == 0 { times + 1 } else { 0 };
            last = now;
            (times == 50).then_some(now)
        });
        rest.expect("what the first calls began ends")
    }
}

/// Calls each kind of server so many times in clear text and over TLS, all kinds at once, with a new client
/// for each round.
fn calls(runtime: &Runtime, certificates: &Certificates, authority: &[u8], clear: usize, tls: usize) {
    let kinds = Point::ALL.into_iter().flat_map(|point| Ending::ALL.map(|ending| (point, ending)));
    let servers: Vec<_> = kinds.map(|kind| (kind, Servers::of(kind, certificates))).collect();
    for round in 0..clear.max(tls) {
        let mut running: Vec<(_, JoinHandle<_>)> = Vec::new();
        if round < clear {
            let client = Client::builder().http2_prior_knowledge(true).trust_anything();
            let client = client.timeout(DEADLINE).build().expect("a client");
            let call = |servers: &Servers| call(client.clone(), servers.clear_url());
            running.extend(servers.iter().map(|(kind, servers)| (*kind, runtime.spawn(call(servers)))));
        }
        if round < tls {
            let client =
                Client::builder().http2_prior_knowledge(true).add_roots_pem(authority).expect("our own file");
            let client = client.timeout(DEADLINE * 5).build().expect("a client");
            let call = |servers: &Servers| call(client.clone(), servers.tls_url());
            running.extend(servers.iter().map(|(kind, servers)| (*kind, runtime.spawn(call(servers)))));
        }
        for (kind, call) in running {
            let ended = runtime.block_on(async { tokio::time::timeout(HANG, call).await });
            let ended = ended.unwrap_or_else(|_| panic!("{kind:?}: the call hangs"));
            let result = ended.unwrap_or_else(|error| panic!("{kind:?}: {error}"));
            assert!(result.is_err(), "{kind:?}: the call cannot have succeeded");
        }
    }
}

struct Servers {
    clear: HostileServer,
    tls: HostileServer,
}

impl Servers {
    fn of((point, ending): (Point, Ending), certificates: &Certificates) -> Self {
        Self {
            clear: HostileServer::clear(move |wire| answers::play(point, ending, wire)),
            tls: HostileServer::tls(certificates, move |wire| answers::play(point, ending, wire)),
        }
    }

    fn clear_url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.clear.port())
    }

    fn tls_url(&self) -> String {
        format!("https://localhost:{}/", self.tls.port())
    }
}

/// One call, to the end of the body.
async fn call(client: Client, url: String) -> Result<(), Error> {
    let mut response = client.get(&url).send().await?;
    while response.body().chunk().await?.is_some() {}
    Ok(())
}
