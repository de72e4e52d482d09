//! One connection of the simulated network: two directions with bytes under way, and what befalls them.
//!
//! Rule 1: a waker is woken once something has changed for it, and it is gone then, as with the reactor of
//! tokio.
//! Rule 2: wakers wake after the lock is released.

use std::any::Any;
use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll, Waker};

use alula::Version;
use alula_net::{Conn, simulation::Link};
use alula_testkit::Rng;
use tokio::time::Instant;

use super::log::{Actor, Log, lock, sum};
use super::post::Post;
use super::weather::{Blow, Weather, milliseconds};

/// One in so many reads finds that its task has had its share, as tokio's budget has it.
const BUDGET_ENDS: usize = 64;
/// One in so many writes is refused although there is room: the reactor has not said so yet.
const ROOM_IS_UNKNOWN: usize = 40;
/// A response that arrives unasked.
const STRAY: &[u8] = b"HTTP/1.1 200 OK\r\nx-call: stray\r\ncontent-length: 5\r\n\r\nstray";

pub(super) struct Cable {
    pub(super) client: u32,
    number: u32,
    weather: Weather,
    log: Arc<Log>,
    state: Mutex<State>,
    /// Who uses it: the client's connection, the server's.
    pub(super) users: Mutex<[Weak<Conn>; 2]>,
}

struct State {
    rng: Rng,
    /// To the server, to the client.
    ways: [Way; 2],
    /// Something has befallen it.
    is_hurt: bool,
    /// The server has taken it.
    is_taken: bool,
    /// Nothing arrives earlier.
    holds_until: Instant,
    /// It has held bytes back for a while.
    has_paused: bool,
}

/// One direction.
struct Way {
    arrived: VecDeque<u8>,
    /// Bytes that were sent, and not read or not known to be.
    used: usize,
    /// Bytes that have arrived.
    total: usize,
    last_arrival: Instant,
    /// The sender has said that nothing more comes.
    is_shut: bool,
    has_ended: bool,
    is_broken: bool,
    is_silent: bool,
    /// A write was refused, and the writer has not been told of room since.
    is_full: bool,
    /// Who would read is gone.
    is_unread: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

/// What is under way.
pub(super) enum Delivery {
    /// Bytes on this way.
    Bytes(usize, Vec<u8>),
    /// The end of this way.
    End(usize),
    /// So many bytes were read from this way, or none: there is room.
    Room(usize, usize),
    /// An end was closed too early.
    Reset,
    Blow(Blow),
    /// A response that nobody asked for.
    Stray,
}

impl Cable {
    pub(super) fn new(client: u32, number: u32, weather: Weather, rng: Rng, log: Arc<Log>) -> Self {
        let state = State {
            rng,
            ways: [Way::new(), Way::new()],
            is_hurt: false,
            is_taken: false,
            holds_until: Instant::now(),
            has_paused: false,
        };
        let (state, users) = (Mutex::new(state), Mutex::default());
        Self { client, number, weather, log, state, users }
    }

    pub(super) fn is_hurt(&self) -> bool {
        lock(&self.state).is_hurt
    }

    /// False while it waits in the listener's queue, and for good when the listener went first.
    pub(super) fn is_taken(&self) -> bool {
        lock(&self.state).is_taken
    }

    /// Returns true if bytes are under way.
    pub(super) fn is_carrying(&self) -> bool {
        lock(&self.state).ways.iter().any(|way| way.used > 0)
    }

    fn note(&self, way: usize, what: &'static str, amount: u64) {
        let actor = Actor::Cable { client: self.client, number: self.number, to_server: way == 0 };
        self.log.note(actor, what, amount);
    }

    pub(super) fn deliver(self: &Arc<Self>, post: &Post, delivery: Delivery) {
        let awaits_nothing = matches!(delivery, Delivery::Stray) && self.client_awaits_nothing();
        let mut state = lock(&self.state);
        let mut woken = Vec::new();
        match delivery {
            Delivery::Bytes(way, mut bytes) => {
                let is_cut = self.cut(&state.ways[way], way, &mut bytes);
                if !self.arrive(&mut state.ways[way], way, bytes, &mut woken) {
                    post.send(Instant::now() + self.weather.delay, self, Delivery::Reset);
                }
                if is_cut {
                    state.is_hurt = true;
                    self.reset(&mut state, &mut woken);
                }
            }
            Delivery::Stray if awaits_nothing => {
                state.ways[1].used += STRAY.len();
                self.arrive(&mut state.ways[1], 1, STRAY.to_vec(), &mut woken);
            }
            Delivery::Stray => {}
            Delivery::End(way) => {
                self.note(way, "ends", 0);
                state.ways[way].has_ended = true;
                woken.extend(state.ways[way].reader.take());
            }
            Delivery::Room(way, bytes) => woken.extend(state.ways[way].make_room(bytes)),
            Delivery::Reset => self.reset(&mut state, &mut woken),
            Delivery::Blow(blow) => self.suffer(post, &mut state, blow, &mut woken),
        }
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }

    /// Returns true if the client's end is open, and a byte that arrives now belongs to no answer.
    fn client_awaits_nothing(&self) -> bool {
        let client = lock(&self.users)[0].upgrade();
        client.is_some_and(|conn| conn.version() == Version::Http1 && conn.is_free())
    }

    /// Shortens bytes that would arrive to those before the cut; true if it is there.
    fn cut(&self, way: &Way, index: usize, bytes: &mut Vec<u8>) -> bool {
        let at = self.weather.cut.filter(|(cut, _)| *cut == index && !way.is_broken);
        let left = at.map(|(_, at)| at.saturating_sub(way.total)).filter(|left| *left <= bytes.len());
        left.is_some_and(|left| {
            bytes.truncate(left);
            true
        })
    }

    /// False when nobody is there to read any more.
    fn arrive(&self, way: &mut Way, index: usize, bytes: Vec<u8>, woken: &mut Vec<Waker>) -> bool {
        if way.is_broken || way.is_silent || way.has_ended {
            return true;
        }
        if way.is_unread {
            return false;
        }
        self.note(index, "arrive", bytes.len() as u64);
        way.total += bytes.len();
        way.arrived.extend(bytes);
        woken.extend(way.reader.take());
        true
    }

    /// Both ends are told that it is broken. Bytes that had arrived may be lost with it; if the network had
    /// held them back until the other end went, the loss is the network's doing.
    fn reset(&self, state: &mut State, woken: &mut Vec<Waker>) {
        let loses = !self.weather.keeps_what_arrived && state.ways.iter().any(|way| !way.arrived.is_empty());
        state.is_hurt |= loses && state.has_paused;
        for (index, way) in state.ways.iter_mut().enumerate() {
            self.note(index, "is reset", 0);
            way.is_broken = true;
            if !self.weather.keeps_what_arrived {
                way.arrived.clear();
            }
            woken.extend(way.reader.take());
            woken.extend(way.writer.take());
        }
    }

    fn suffer(self: &Arc<Self>, post: &Post, state: &mut State, blow: Blow, woken: &mut Vec<Waker>) {
        let now = Instant::now();
        self.note(0, "suffers", 0);
        match blow {
            Blow::Reset => self.reset(state, woken),
            Blow::End => {
                for (index, way) in state.ways.iter_mut().enumerate() {
                    way.is_unread = true;
                    post.send(way.last_arrival.max(now), self, Delivery::End(index));
                }
            }
            Blow::Silence(silent) => {
                for (way, is_silent) in state.ways.iter_mut().zip(silent) {
                    way.is_silent |= is_silent;
                }
            }
            Blow::Pause(length) => {
                state.holds_until = now + length;
                state.has_paused = true;
                return;
            }
        }
        state.is_hurt = true;
    }
}

impl Way {
    fn new() -> Self {
        Self {
            arrived: VecDeque::new(),
            used: 0,
            total: 0,
            last_arrival: Instant::now(),
            is_shut: false,
            has_ended: false,
            is_broken: false,
            is_silent: false,
            is_full: false,
            is_unread: false,
            reader: None,
            writer: None,
        }
    }

    fn make_room(&mut self, bytes: usize) -> Option<Waker> {
        self.used -= bytes;
        self.is_full = false;
        self.writer.take()
    }

    /// Takes what has arrived, up to so many bytes.
    fn take(&mut self, space: &mut [u8]) -> usize {
        let bytes = space.len().min(self.arrived.len());
        let (front, back) = self.arrived.as_slices();
        let of_front = bytes.min(front.len());
        space[..of_front].copy_from_slice(&front[..of_front]);
        space[of_front..bytes].copy_from_slice(&back[..bytes - of_front]);
        self.arrived.drain(..bytes);
        bytes
    }
}

/// One end of a connection: the client's is 0, the server's 1. It writes the way of its number and reads the
/// other.
pub(super) struct End {
    pub(super) cable: Arc<Cable>,
    post: Arc<Post>,
    side: usize,
    peer: SocketAddr,
}

impl End {
    /// Both ends; what is to befall the connection is under way.
    pub(super) fn both(cable: &Arc<Cable>, post: &Arc<Post>, addresses: [SocketAddr; 2]) -> [Arc<Self>; 2] {
        if let Some((after, blow)) = cable.weather.blow {
            post.send(Instant::now() + after, cable, Delivery::Blow(blow));
        }
        if let Some(after) = cable.weather.stray {
            post.send(Instant::now() + after, cable, Delivery::Stray);
        }
        [0, 1].map(|side| {
            Arc::new(Self { cable: cable.clone(), post: post.clone(), side, peer: addresses[1 - side] })
        })
    }

    fn reading(&self) -> usize {
        1 - self.side
    }

    /// Sends bytes on their way, in one piece or some.
    fn dispatch(&self, state: &mut State, bytes: &[u8]) {
        let weather = &self.cable.weather;
        let mut rest = bytes;
        while !rest.is_empty() {
            let cut = if weather.is_choppy { state.rng.range(1..rest.len() + 1) } else { rest.len() };
            let (piece, others) = rest.split_at(cut);
            rest = others;
            let jitter = milliseconds(state.rng.below(weather.jitter_ms + 1));
            let arrives = (Instant::now() + weather.delay + jitter).max(state.holds_until);
            let way = &mut state.ways[self.side];
            way.last_arrival = way.last_arrival.max(arrives);
            self.post.send(way.last_arrival, &self.cable, Delivery::Bytes(self.side, piece.to_vec()));
        }
    }

    fn send_end(&self, way: &mut Way) {
        if !way.is_shut {
            way.is_shut = true;
            let at = way.last_arrival.max(Instant::now() + self.cable.weather.delay);
            way.last_arrival = at;
            if !way.is_silent {
                self.post.send(at, &self.cable, Delivery::End(self.side));
            }
        }
    }
}

impl Link for End {
    fn peer(&self) -> Option<SocketAddr> {
        Some(self.peer)
    }

    fn poll_read(&self, space: &mut [u8], cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let (weather, index) = (&self.cable.weather, self.reading());
        let mut state = lock(&self.cable.state);
        let state = &mut *state;
        // Without a waker it is the system that is asked, which knows. There may be several tables of the
        // functions of a waker that does nothing, so that only its data tells.
        let has_waker = !cx.waker().data().is_null();
        if weather.is_choppy && has_waker && state.rng.one_in(BUDGET_ENDS) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let way = &mut state.ways[index];
        if !way.arrived.is_empty() {
            let all = space.len().min(way.arrived.len());
            let few = weather.is_choppy && state.rng.one_in(4);
            let most = if few { state.rng.range(0..all) + 1 } else { all };
            let bytes = way.take(&mut space[..most]);
            let at = Instant::now() + weather.delay;
            self.post.send(at, &self.cable, Delivery::Room(index, bytes));
            return Poll::Ready(Ok(bytes));
        }
        if way.is_broken {
            return Poll::Ready(Err(ErrorKind::ConnectionReset.into()));
        }
        if way.has_ended {
            return Poll::Ready(Ok(0));
        }
        way.reader = Some(cx.waker().clone());
        Poll::Pending
    }

    fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        let weather = &self.cable.weather;
        let mut state = lock(&self.cable.state);
        let state = &mut *state;
        let way = &mut state.ways[self.side];
        if way.is_shut || way.is_broken {
            return Err(ErrorKind::BrokenPipe.into());
        }
        let room = weather.bytes_max - way.used;
        let is_unknown = weather.is_choppy && state.rng.one_in(ROOM_IS_UNKNOWN);
        if room == 0 || is_unknown {
            way.is_full = true;
            if is_unknown {
                let at = Instant::now() + milliseconds(state.rng.below(4));
                self.post.send(at, &self.cable, Delivery::Room(self.side, 0));
            }
            return Err(ErrorKind::WouldBlock.into());
        }
        let most = room.min(bytes.len());
        let few = weather.is_choppy && state.rng.one_in(4);
        let taken = if few { state.rng.range(0..most) + 1 } else { most };
        way.used += taken;
        self.cable.note(self.side, "write", sum(&bytes[..taken]));
        if !way.is_silent {
            self.dispatch(state, &bytes[..taken]);
        }
        Ok(taken)
    }

    fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = lock(&self.cable.state);
        let way = &mut state.ways[self.side];
        if way.is_full && !way.is_broken && !way.is_shut {
            way.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }

    fn shut(&self) {
        self.send_end(&mut lock(&self.cable.state).ways[self.side]);
    }

    /// Networks that are simulated tell an end from a reset only by what was not sent.
    fn abort(&self) {
        self.shut();
    }

    fn is_used_by(&self, conn: Weak<dyn Any + Send + Sync>) {
        let conn = conn.upgrade().and_then(|conn| conn.downcast::<Conn>().ok());
        lock(&self.cable.users)[self.side] = conn.map_or_else(Weak::new, |conn| Arc::downgrade(&conn));
        lock(&self.cable.state).is_taken |= self.side == 1;
    }
}

/// Who closes a socket without having read everything resets the connection.
impl Drop for End {
    fn drop(&mut self) {
        let mut state = lock(&self.cable.state);
        self.cable.note(self.side, "close", 0);
        let way = &mut state.ways[self.reading()];
        way.is_unread = true;
        if way.arrived.is_empty() {
            self.send_end(&mut state.ways[self.side]);
        } else if !state.ways[self.side].is_silent {
            self.post.send(Instant::now() + self.cable.weather.delay, &self.cable, Delivery::Reset);
        }
    }
}
