//! A connection over a socket, of either version: its lock, its facts, and the wakers to call when the lock
//! is released.
//!
//! A *turn* writes what waits, reads once, feeds the machine and notes whom to wake (`turn.rs`). On a client
//! the callers take the turns themselves: the one that was polled last and still waits reads for all (the
//! *reader*). The reader leaves a waker with the reactor; when it has its answer it wakes another waiting
//! caller to read on (`reader.rs`). The standby task (`client_task.rs`) reads whenever no caller does. On a
//! server the connection's task takes every turn (`server_task.rs`).
//!
//! Rule 1: the lock is held for memory work only; system calls happen and wakers wake after it is released.
//! Rule 2: the reader takes the reading half out, so there is no second one; `Output` keeps a second writer
//! out.
//! Rule 3: a handle registers its waker before it takes a turn, so nothing that happens meanwhile is lost.

use std::{
    any::Any,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak, atomic::AtomicBool},
    task::Waker,
};

use alula_h2::FrameSummary;
use alula_machine::Time;
use tokio::time::Instant;

use crate::{
    connection::{
        Connection,
        membership::News,
        memory::ledger::Ledger,
        stream::slot::{Sides, Slot},
    },
    drive::pool::ConnectionPool,
    error::{Error, Phase, Retry, cause::Cause, occupied::Occupied, refused::Refused},
    establish::version::Version,
    machine::Machine,
    message::timing::Opened,
    transport::{Socket, WriteHalf, read_buf::ReadBuf},
};

/// A connection; handles of its streams share it.
pub struct Conn {
    io: WriteHalf,
    peer: Option<SocketAddr>,
    version: Version,
    started: Instant,
    /// The bytes of a content that are gathered unless another limit is given.
    content_max: u32,
    observer: Option<FrameObserver>,
    /// The times of the steps in which a client opened it.
    pub(crate) opened: OnceLock<Opened>,
    /// The origin of a client's connection.
    origin: OnceLock<Arc<str>>,
    /// The program that runs on a server's connection.
    app: OnceLock<Arc<dyn Any + Send + Sync>>,
    /// True if a responder may have been dropped without an answer (`orphaned.rs`).
    pub(crate) has_left: AtomicBool,
    /// The pool of a client that it belongs to.
    pool: OnceLock<(Arc<dyn ConnectionPool>, Weak<Conn>)>,
    connection: Mutex<Connection>,
}

/// The time at which the first bytes of a connection were there.
pub(crate) enum Arrival {
    /// The bytes were there when the connection's clock began.
    AtOnce,
    Now,
    /// The bytes had been there since this time, and more of them were awaited.
    Since(Instant),
}

/// A function that is called with every frame that comes or goes.
pub type FrameObserver = Arc<dyn Fn(&FrameSummary) + Send + Sync>;

pub(crate) type Guard<'a> = MutexGuard<'a, Connection>;

impl Conn {
    /// Creates a connection for its handles and its task; its time begins at `started`.
    pub(crate) fn new(
        io: Socket,
        machine: Machine,
        ledger: &Arc<Ledger>,
        observer: Option<FrameObserver>,
        started: Instant,
        content_max: usize,
    ) -> io::Result<Arc<Self>> {
        io.set_nodelay()?;
        let peer = io.peer()?;
        let (read_half, io) = io.split();
        let version = machine.version();
        let connection = Mutex::new(Connection::new(machine, read_half, ledger.clone()));
        let conn = Arc::new(Self {
            io,
            peer,
            version,
            started,
            content_max: u32::try_from(content_max).unwrap_or(u32::MAX),
            observer,
            opened: OnceLock::new(),
            origin: OnceLock::new(),
            app: OnceLock::new(),
            has_left: AtomicBool::new(false),
            pool: OnceLock::new(),
            connection,
        });
        #[cfg(feature = "simulation")]
        conn.io.is_used_by(Arc::downgrade(&(conn.clone() as Arc<dyn Any + Send + Sync>)));
        Ok(conn)
    }

    /// Uses a TLS session whose handshake is over.
    #[cfg(feature = "tls")]
    pub(crate) fn use_tls(&self, tls: Box<crate::tls::Tls>) {
        let mut connection = self.lock();
        connection.tls = Some(tls);
        // The peer's first bytes may have come with the end of the handshake.
        connection.feed();
        connection.stow_input();
    }

    /// Uses bytes that were read already, in a buffer lent by this thread.
    pub(crate) fn use_input(&self, read: ReadBuf, arrival: Arrival) {
        let mut connection = self.lock();
        match arrival {
            Arrival::AtOnce => {}
            Arrival::Now => connection.now = self.time(),
            Arrival::Since(then) => connection.now = self.time_at(then),
        }
        connection.input.ask_first();
        connection.input.put(read);
        connection.feed();
        if let Arrival::Since(_) = arrival {
            connection.now = self.time();
        }
    }

    fn time_at(&self, instant: Instant) -> Time {
        Time::from_nanos(instant.saturating_duration_since(self.started).as_nanos() as u64)
    }

    /// Returns the peer's address; `None` unless it is over TCP.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.peer
    }

    /// Returns the address of this end; `None` unless it is over TCP. A system call.
    pub fn local(&self) -> Option<SocketAddr> {
        self.io.local()
    }

    /// Sets the origin, such as `https://a.example`, which errors name. Later calls change nothing.
    pub fn leads_to(&self, origin: Arc<str>) {
        let _ = self.origin.set(origin);
    }

    /// Returns the origin of a client's connection.
    pub fn origin(&self) -> Option<&str> {
        self.origin.get().map(|origin| &**origin)
    }

    /// Sets the program that runs on a server's connection, for the handlers of its requests.
    pub fn runs(&self, app: Arc<dyn Any + Send + Sync>) {
        let _ = self.app.set(app);
    }

    /// Returns the program that runs on this connection, if there is one.
    pub fn app(&self) -> Option<&Arc<dyn Any + Send + Sync>> {
        self.app.get()
    }

    /// Makes it a member of a pool, which hears its news from now on; if it has ended already, at once.
    pub fn join(self: &Arc<Self>, pool: Arc<dyn ConnectionPool>) {
        let _ = self.pool.set((pool, Arc::downgrade(self)));
        let mut connection = self.lock();
        let has_ended = connection.life.has_ended();
        connection.membership.begin(has_ended);
        self.unlock_and_wake(connection);
    }

    /// Returns the pool that it belongs to, for simulations.
    #[cfg(feature = "simulation")]
    pub fn pool(&self) -> Option<Arc<dyn ConnectionPool>> {
        self.pool.get().map(|(pool, _)| pool.clone())
    }

    /// Returns the bytes of a content that are gathered unless another limit is given.
    pub(crate) const fn content_max(&self) -> u32 {
        self.content_max
    }

    /// Returns the version of HTTP of the connection.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Returns true if a request would be sent at once.
    pub fn is_free(&self) -> bool {
        self.lock().takes_request()
    }

    /// Gives back a connection that was reserved and not used.
    pub fn give_back(&self) {
        let mut connection = self.lock();
        if connection.life.takes_streams() && connection.machine.is_free() {
            let news = connection.free_news();
            connection.membership.tell(news);
        }
        self.unlock_and_wake(connection);
    }

    /// Allows requests to go over HTTP/1.1 on another connection, should the peer ask for that.
    pub(crate) fn may_fall_back(&self) {
        self.lock().life.may_fall_back();
    }

    /// Returns true if the peer of this connection of HTTP/2 has asked for HTTP/1.1 (HTTP_1_1_REQUIRED, RFC
    /// 9113 §7) and this side speaks it: no more streams are opened here.
    pub fn asks_for_http1(&self) -> bool {
        self.lock().life.asks_for_http1()
    }

    /// Returns true if a new stream may be opened: the connection lives and the peer has not said that it
    /// goes away.
    pub fn is_open(&self) -> bool {
        !self.lock().life.is_closing()
    }

    /// Returns the number of further requests that would be sent at once. When there is no room, callers that
    /// wait for the origin's connections are told as soon as there is.
    pub fn room(&self) -> usize {
        let mut connection = self.lock();
        if connection.life.takes_streams() { connection.machine.await_slot() } else { 0 }
    }

    /// Returns the number of streams that the peer allows at once (SETTINGS_MAX_CONCURRENT_STREAMS), if it
    /// has stated one; `None` over HTTP/1.1.
    pub fn streams_allowed(&self) -> Option<u32> {
        self.lock().machine.streams_allowed()
    }

    /// Returns the bytes of a field section that the peer accepts (SETTINGS_MAX_HEADER_LIST_SIZE), if it has
    /// stated a number; the largest number is no bound. Nothing over HTTP/1.1.
    pub fn field_section_allowed(&self) -> Option<u32> {
        self.lock().machine.field_section_allowed()
    }

    /// Wakes the connection's own task to check whether the peer has sent anything, or closed, while no
    /// caller waited. Allocates nothing.
    pub fn look_in(&self) {
        let mut connection = self.lock();
        connection.wake_task();
        self.unlock_and_wake(connection);
    }

    /// Returns true if the server is known to have taken a request on this connection of HTTP/2.
    pub fn has_taken_requests(&self) -> bool {
        self.lock().machine.has_taken_requests()
    }

    /// Opens no more streams; ends the connection when the last one ends.
    pub fn close(&self) {
        let mut connection = self.lock();
        connection.stop_taking_streams();
        self.unlock_and_wake(connection);
    }

    pub(crate) fn lock(&self) -> Guard<'_> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the writing half of the socket.
    pub(crate) fn io(&self) -> &WriteHalf {
        &self.io
    }

    /// Returns the time of this connection, which starts with it; on a server, when it was accepted.
    #[inline]
    pub fn time(&self) -> Time {
        Time::from_nanos(self.started.elapsed().as_nanos() as u64)
    }

    /// Returns the instant at which this connection's time begins.
    pub(crate) fn started(&self) -> Instant {
        self.started
    }

    /// Releases the lock, and wakes the callers that the work under it has collected.
    #[inline]
    pub(crate) fn unlock_and_wake<'a>(&'a self, connection: Guard<'a>) {
        if !connection.wake.is_empty() || self.observer.is_some() || connection.membership.has_news() {
            self.wake_all(connection);
        }
    }

    fn wake_all<'a>(&'a self, mut connection: Guard<'a>) {
        if let Some(observer) = &self.observer {
            connection = self.tell(observer, connection);
        }
        if connection.wake.is_empty() {
            let news = connection.membership.take_news();
            drop(connection);
            return self.tell_pool(news);
        }
        if let Some(waker) = connection.wake.take_only() {
            let news = connection.membership.take_news();
            drop(connection);
            self.tell_pool(news);
            return waker.wake();
        }
        self.wake_several(connection);
    }

    /// Wakes callers, a few at a time, in the order in which they came.
    #[inline(never)]
    fn wake_several<'a>(&'a self, mut connection: Guard<'a>) {
        loop {
            let few = connection.wake.take_few();
            let are_more = !connection.wake.is_empty();
            let news = connection.membership.take_news();
            drop(connection);
            self.tell_pool(news);
            few.for_each(Waker::wake);
            if !are_more {
                return;
            }
            connection = self.lock();
        }
    }

    #[cold]
    fn tell<'a>(&'a self, observer: &FrameObserver, mut connection: Guard<'a>) -> Guard<'a> {
        let frames: Vec<FrameSummary> = std::iter::from_fn(|| connection.machine.poll_trace()).collect();
        drop(connection);
        frames.iter().for_each(|frame| observer(frame));
        self.lock()
    }

    pub(crate) fn wake_and_lock<'a>(&'a self, connection: Guard<'a>) -> Guard<'a> {
        if connection.wake.is_empty() && self.observer.is_none() && !connection.membership.has_news() {
            return connection;
        }
        self.unlock_and_wake(connection);
        self.lock()
    }
    /// Reports news of the connection to its pool, after the lock was released.
    #[inline]
    fn tell_pool(&self, news: Option<News>) {
        if let (Some(news), Some((pool, conn))) = (news, self.pool.get()) {
            pool.hear(conn, news);
        }
    }
}

/// Facts for error messages and timings.
impl Conn {
    /// Sets the times of its opening; the first call counts. Without TLS there is nothing that was secured.
    pub fn was_opened(&self, opened: Opened) {
        let secured = opened.secured.filter(|_| self.is_secured());
        let _ = self.opened.set(Opened { secured, ..opened });
    }

    /// Returns true if the connection is over TLS.
    pub fn is_secured(&self) -> bool {
        self.lock().is_secure()
    }

    /// Counts the requests that hold this connection: those whose exchange with the peer is not over.
    pub fn occupied(&self) -> Occupied {
        let connection = self.lock();
        connection.slots.iter().filter_map(|slot| occupied_by(&connection.machine, slot)).sum()
    }

    /// Returns the refusal of a request as an error. Allocates.
    #[cold]
    pub fn refusal(&self, refused: &Refused) -> Error {
        let connection = self.lock();
        let limits = connection.machine.limits();
        match (refused.reason(), &connection.machine) {
            (Ok(rule), Machine::Http2(machine)) => {
                Error::new(Phase::Head, Cause::Peer(rule), Retry::Pointless).exceeding(machine.exceeded())
            }
            (Ok(rule), Machine::Http1(_)) => Error::new(Phase::Head, Cause::Peer(rule), Retry::Pointless),
            (Err(limit), _) => Error::overrun(Phase::Head, limit, limits),
        }
    }
}

fn occupied_by(machine: &Machine, slot: &Slot) -> Option<Occupied> {
    let stream = slot.stream.filter(|_| slot.held != Sides::NONE && slot.failed.is_none())?;
    match machine.has_sent_all(stream) {
        Some(false) => Some(Occupied::UNSENT),
        // Over HTTP/1.1 one that is whole may take all the room there is.
        _ if slot.incoming.has_ended() => {
            (!slot.incoming.content().is_empty() && !machine.wants_read()).then_some(Occupied::UNREAD)
        }
        _ if slot.incoming.is_head_taken() => Some(Occupied::UNREAD),
        _ => Some(Occupied::UNANSWERED),
    }
}

impl Drop for Conn {
    /// A connection that goes with its runtime has not ended, but is gone.
    fn drop(&mut self) {
        let connection = self.connection.get_mut().unwrap_or_else(PoisonError::into_inner);
        let is_counted = connection.membership.is_counted(connection.life.has_ended());
        if let (true, Some((pool, conn))) = (is_counted, self.pool.get()) {
            pool.hear(conn, News::Lost);
        }
    }
}
