//! Schedules of clients: by themselves, interleaved by a seed, or on threads.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use alula_store::engine::{Engine, Fjall, Memory};
use alula_testkit::Rng;
use tokio::runtime::{Builder, Runtime};

use crate::causality::checker::{Violation, check};
use crate::causality::client::Client;
use crate::causality::history::Call;
use crate::causality::planted::{Fault, Faulty};
use crate::causality::replicas::Replicas;
use crate::causality::rest::Rest;
use crate::causality::world::World;

/// An engine that is tried.
pub(crate) trait Subject: Engine {
    /// The replicas that a read may miss a write on.
    const REPLICAS: u32 = 1;

    /// Waits for what is still on its way.
    fn settle(&self) {}
}

impl Subject for Memory {}

impl Subject for Fjall {}

impl Subject for Faulty {}

impl Subject for Replicas {
    const REPLICAS: u32 = 3;

    fn settle(&self) {
        Self::settle(self);
    }
}

/// A run that has ended.
pub(crate) struct Run {
    pub(crate) history: Vec<Call>,
    pub(crate) rest: Rest,
    replicas: u32,
}

impl Run {
    pub(crate) fn check(&self) -> Result<(), Violation> {
        check(&self.history, &self.rest, self.replicas)
    }
}

/// The clients and their calls in one run.
const CLIENTS: usize = 5;
const CALLS: usize = 60;

/// Runs one client, which waits for every answer.
pub(crate) fn alone<E: Subject>(seed: u64, engine: E) -> Run {
    let world = Arc::new(World::new(engine, None));
    let client = Client::new(0, seed, Arc::clone(&world)).patient();
    current_thread().block_on(client.run(CLIENTS * CALLS));
    end(&world)
}

/// Runs clients in turns that follow from the seed. For engines whose calls wait for no other thread.
pub(crate) fn interleaved<E: Subject>(seed: u64, engine: E, fault: Option<Fault>) -> Run {
    let world = Arc::new(World::new(engine, fault));
    let client = |number| Client::new(number, seed, Arc::clone(&world)).run(CALLS);
    interleave(seed, (0..CLIENTS).map(|number| Box::pin(client(number)) as Turns).collect());
    end(&world)
}

/// Runs each client as a task of a runtime with several threads.
pub(crate) fn on_threads<E: Subject>(seed: u64, engine: E) -> Run {
    let world = Arc::new(World::new(engine, None));
    let runtime = Builder::new_multi_thread().worker_threads(4).enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let client = |number| tokio::spawn(Client::new(number, seed, Arc::clone(&world)).run(CALLS));
        let clients: Vec<_> = (0..CLIENTS).map(client).collect();
        for client in clients {
            client.await.expect("no client panics");
        }
    });
    end(&world)
}

fn end<E: Subject>(world: &World<E>) -> Run {
    world.engine.settle();
    let rest = current_thread().block_on(Rest::read(&world.engine));
    Run { history: world.history(), rest, replicas: E::REPLICAS }
}

fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// A client, of which each poll is a turn.
type Turns = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Polls one client after the other in an order of the seed. They need no waking: nothing that they wait for
/// sleeps.
fn interleave(seed: u64, mut clients: Vec<Turns>) {
    let mut rng = Rng::new(seed);
    let mut context = Context::from_waker(Waker::noop());
    while !clients.is_empty() {
        let next = rng.below(clients.len());
        if let Poll::Ready(()) = clients[next].as_mut().poll(&mut context) {
            drop(clients.swap_remove(next));
        }
    }
}
