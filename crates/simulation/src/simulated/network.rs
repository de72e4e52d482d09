//! The simulated network: who listens, and how connections come about.
//!
//! A host is named for the client that asks for it, `client-3`, so that the network knows whose connection it
//! opens; which server is meant, the port says.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll, Waker};

use alula_net::simulation::{Connecting, Link, Listen, Network};
use alula_testkit::Rng;

use super::cable::{Cable, End};
use super::log::{Log, lock};
use super::post::Post;
use super::weather::{Knock, Weather};

pub(super) struct Wires {
    pub(super) post: Arc<Post>,
    log: Arc<Log>,
    seed: u64,
    has_blows: bool,
    doors: Mutex<BTreeMap<u16, Weak<Door>>>,
    clients: Mutex<BTreeMap<u32, ClientLines>>,
}

/// What one client has opened, or tried to.
#[derive(Default)]
struct ClientLines {
    tries: u32,
    /// A connection could not be opened, by the network's fault.
    was_refused: bool,
    cables: Vec<Arc<Cable>>,
}

/// Where a server takes connections.
struct Door {
    address: SocketAddr,
    state: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    ends: VecDeque<Arc<End>>,
    waker: Option<Waker>,
}

impl Wires {
    pub(super) fn new(seed: u64, has_blows: bool, log: Arc<Log>) -> Arc<Self> {
        Arc::new(Self {
            post: Arc::default(),
            log,
            seed,
            has_blows,
            doors: Mutex::default(),
            clients: Mutex::default(),
        })
    }

    /// Returns true if anything has befallen this client.
    pub(super) fn has_hurt(&self, client: u32) -> bool {
        let clients = lock(&self.clients);
        let Some(lines) = clients.get(&client) else { return false };
        lines.was_refused || lines.cables.iter().any(|cable| cable.is_hurt())
    }

    /// Returns true if a connection of this client was not taken, as happens to those in the queue of a
    /// listener that closes.
    pub(super) fn was_not_taken(&self, client: u32) -> bool {
        lock(&self.clients)
            .get(&client)
            .is_some_and(|lines| lines.cables.iter().any(|cable| !cable.is_taken()))
    }

    /// The connections of this client, the latest first.
    pub(super) fn cables_of(&self, client: u32) -> Vec<Arc<Cable>> {
        let clients = lock(&self.clients);
        clients.get(&client).into_iter().flat_map(|lines| lines.cables.iter().rev().cloned()).collect()
    }

    pub(super) fn cables(&self) -> Vec<Arc<Cable>> {
        lock(&self.clients).values().flat_map(|lines| lines.cables.iter().cloned()).collect()
    }

    /// How many connections nobody could open, by the network's fault.
    pub(super) fn refusals(&self) -> usize {
        lock(&self.clients).values().filter(|lines| lines.was_refused).count()
    }

    /// A connection of this client, as its weather will be.
    fn lay(&self, client: u32, knock: Knock, number: u32, weather: Weather, rng: Rng) -> Arc<Cable> {
        let cable = Arc::new(Cable::new(client, number, weather, rng, self.log.clone()));
        if knock == Knock::Opens {
            lock(&self.clients).entry(client).or_default().cables.push(cable.clone());
        }
        cable
    }
}

/// What `Arc<Wires>` is to the connections that are opened on it.
pub(super) struct Exchange(pub(super) Arc<Wires>);

impl Network for Exchange {
    fn connect(&self, host: &str, port: u16) -> Connecting {
        let wires = self.0.clone();
        let client = host.trim_start_matches("client-").parse().expect("a host is named for its client");
        Box::pin(async move {
            let (mut rng, number) = {
                let mut clients = lock(&wires.clients);
                let lines = clients.entry(client).or_default();
                lines.tries += 1;
                let number = u64::from(lines.tries) << 32 | u64::from(client);
                (Rng::new(wires.seed ^ number), lines.tries)
            };
            let weather = Weather::of(&mut rng, wires.has_blows);
            let knock = Knock::of(&mut rng, wires.has_blows);
            if knock != Knock::Opens {
                lock(&wires.clients).entry(client).or_default().was_refused = true;
            }
            tokio::time::sleep(2 * weather.delay).await;
            match knock {
                Knock::Opens => {}
                Knock::IsRefused => return Err(ErrorKind::ConnectionRefused.into()),
                Knock::IsNotHeard => std::future::pending().await,
            }
            let door = lock(&wires.doors).get(&port).and_then(Weak::upgrade);
            let door = door.ok_or(ErrorKind::ConnectionRefused)?;
            let cable = wires.lay(client, knock, number, weather, rng);
            let here = SocketAddr::from(([10, 0, 1, client as u8], number as u16));
            let [near, far] = End::both(&cable, &wires.post, [here, door.address]);
            door.knock(far);
            Ok(near as Arc<dyn Link>)
        })
    }

    fn bind(&self, address: SocketAddr) -> io::Result<Arc<dyn Listen>> {
        let mut doors = lock(&self.0.doors);
        if doors.get(&address.port()).is_some_and(|door| door.strong_count() > 0) {
            return Err(ErrorKind::AddrInUse.into());
        }
        let door = Arc::new(Door { address, state: Mutex::default() });
        doors.insert(address.port(), Arc::downgrade(&door));
        Ok(door)
    }
}

impl Door {
    fn knock(&self, end: Arc<End>) {
        let mut state = lock(&self.state);
        state.ends.push_back(end);
        let waker = state.waker.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }
}

impl Listen for Door {
    fn address(&self) -> SocketAddr {
        self.address
    }

    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<Arc<dyn Link>>> {
        let mut state = lock(&self.state);
        match state.ends.pop_front() {
            Some(end) => Poll::Ready(Ok(end)),
            None => {
                state.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}
