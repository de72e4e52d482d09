//! One connection over a socket, of either version: its lock, its turns, and who takes them.
//!
//! A *turn* writes what waits, reads once, feeds the machine and notes whom to wake. On a client the callers
//! take the turns themselves: whoever was polled last and still waits reads for all (the *reader*). It leaves a
//! waker with the reactor; when it has its answer it wakes another waiting caller to read on (`hand_over.rs`). The standby
//! task (`standby.rs`) reads whenever no caller does. On a server the connection's task takes every turn (`owner.rs`).
//!
//! Rule 1: the lock is held for memory work only; system calls happen and wakers wake after it is released.
//! Rule 2: who reads takes the reading half out, so there is no second reader; `writing` keeps a second writer out.
//! Rule 3: a handle registers its waker before it takes a turn, so nothing that happens meanwhile is lost.

use std::{
    any::Any,
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak, atomic::AtomicBool},
    task::{Context, Poll, Waker},
};

use alula_fields::{Head, OutBuf, StreamKey, Time};
use alula_h2::FrameSummary;
use tokio::{io::AsyncRead, time::Instant};

use crate::{
    cause::Refusal,
    content::Content,
    error::{Error, Phase},
    hand_over::{Part, Reader, Side},
    ledger::Ledger,
    machine::Machine,
    open::Open,
    read_buf::ReadBuf,
    shared::Shared,
    slot::{Noted, Sides, SlotKey},
    timing::Opened,
    transport::{Socket, WriteHalf},
    vacancy::{News, Vacancy},
    version::Version,
};

/// The capacity up to which both buffers of the output are kept at any size.
const SMALL_OUTPUT: usize = 16 * 1024;

/// Reads that do not ask the reactor first, after one that asked and found something to read.
const READS_UNASKED: u8 = 16;

/// A connection; handles of its streams share it.
pub struct Conn {
    io: WriteHalf,
    peer: Option<SocketAddr>,
    version: Version,
    started: Instant,
    /// The octets of one content that are gathered unless another limit is named.
    content_max: u32,
    observer: Option<FrameObserver>,
    /// When a client opened it.
    pub(crate) opened: OnceLock<Opened>,
    /// The origin that a client asks here.
    origin: OnceLock<Arc<str>>,
    /// The program that a server runs here.
    app: OnceLock<Arc<dyn Any + Send + Sync>>,
    /// Whether a request may have been let go of unanswered (`left.rs`).
    pub(crate) has_left: AtomicBool,
    shared: Mutex<Shared>,
}

/// Is told of every frame that comes or goes, for those who want to watch.
pub type FrameObserver = Arc<dyn Fn(&FrameSummary) + Send + Sync>;

pub(crate) type Guard<'a> = MutexGuard<'a, Shared>;

impl Conn {
    /// The connection as its handles and its task share it; its time begins at `started`.
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
        let shared = Mutex::new(Shared::new(machine, read_half, ledger.clone()));
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
            shared,
        });
        #[cfg(feature = "simulation")]
        conn.io.is_used_by(Arc::downgrade(&conn));
        Ok(conn)
    }

    /// Goes on with a session whose handshake is over.
    #[cfg(feature = "tls")]
    pub(crate) fn use_tls(&self, tls: Box<crate::tls::Tls>) {
        let mut shared = self.lock();
        shared.tls = Some(tls);
        // The peer's first octets may have come with the end of the handshake.
        shared.feed();
        shared.stow_input();
    }

    /// Takes octets that were read already, in a buffer that this thread has lent. Unless they were waited for, the connection's
    /// time has just begun.
    pub(crate) fn use_input(&self, read: ReadBuf, were_awaited: bool) {
        let mut shared = self.lock();
        if were_awaited {
            shared.now = self.time();
        }
        // The next read asks the reactor first: what was there when the connection was accepted is mostly all there is.
        shared.is_emptied = true;
        shared.input = read;
        shared.feed();
    }

    /// The peer's address, where it has one: over TCP.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.peer
    }

    /// The address of this end, where it has one: over TCP. A system call.
    pub fn local(&self) -> Option<SocketAddr> {
        self.io.local()
    }

    /// Says which origin is asked here, such as `https://a.example`: failures name it. The first word stands.
    pub fn leads_to(&self, origin: Arc<str>) {
        let _ = self.origin.set(origin);
    }

    /// The origin that is asked here, on a client.
    pub fn origin(&self) -> Option<&str> {
        self.origin.get().map(|origin| &**origin)
    }

    /// Notes the program that a server runs on this connection, for the handlers of its requests.
    pub fn runs(&self, app: Arc<dyn Any + Send + Sync>) {
        let _ = self.app.set(app);
    }

    /// The program that a server runs here, if one was noted.
    pub fn app(&self) -> Option<&Arc<dyn Any + Send + Sync>> {
        self.app.get()
    }

    /// Makes it one of an origin's connections, which tells the others' callers what becomes of it.
    pub(crate) fn belongs_to(self: &Arc<Self>, vacancy: Arc<Vacancy>) {
        let mut shared = self.lock();
        shared.vacancy = Some((vacancy, Arc::downgrade(self)));
        if shared.ended.is_some() {
            shared.news = Some(News::Lost);
        }
        self.unlock_and_wake(shared);
    }

    /// The octets of one content that are gathered unless another limit is named.
    pub(crate) const fn content_max(&self) -> u32 {
        self.content_max
    }

    /// What it speaks.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Returns true if a request would be sent at once.
    pub fn is_free(&self) -> bool {
        let shared = self.lock();
        !shared.closing && !shared.is_gated && shared.machine.is_free()
    }

    /// Gives a connection back that was taken and not used.
    pub fn give_back(&self) {
        let mut shared = self.lock();
        if !shared.closing && shared.machine.is_free() {
            shared.news = Some(shared.is_free_news());
        }
        self.unlock_and_wake(shared);
    }

    /// Returns true if a new stream may be opened: the connection lives and the peer has not said that it goes away.
    pub fn is_open(&self) -> bool {
        !self.lock().closing
    }

    /// How many more requests would be sent at once. When there is no room, those who wait for the origin's connections hear
    /// of it as soon as there is.
    pub fn room(&self) -> usize {
        let mut shared = self.lock();
        if shared.closing { 0 } else { shared.machine.await_slot() }
    }

    /// The number of streams that the peer allows at once (SETTINGS_MAX_CONCURRENT_STREAMS), if it has said so; nothing over
    /// HTTP/1.1.
    pub fn streams_allowed(&self) -> Option<u32> {
        self.lock().machine.streams_allowed()
    }

    /// Has the connection's own task look whether the peer has said something, or gone, while nobody waited. Allocates nothing.
    pub fn look_in(&self) {
        let mut shared = self.lock();
        shared.wake_task();
        self.unlock_and_wake(shared);
    }

    /// Opens no more streams; ends the connection when the last one ends.
    pub fn close(&self) {
        let mut shared = self.lock();
        shared.stop_taking_streams();
        self.unlock_and_wake(shared);
    }

    /// Opens a stream as `send` says, waiting in order of arrival while the peer allows no more.
    ///
    /// What is noted is part of the sentences of its failures. Dropping the future before it is ready opens nothing. Allocates nothing
    /// once warm.
    pub fn open<'a, F>(self: &'a Arc<Self>, noted: Noted<'a>, send: F) -> Open<'a, F>
    where
        F: FnMut(&mut Machine, &mut OutBuf) -> Result<StreamKey, Refusal>,
    {
        Open::new(self, noted, send)
    }

    pub(crate) fn lock(&self) -> Guard<'_> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The writing half of the socket.
    pub(crate) fn io(&self) -> &WriteHalf {
        &self.io
    }

    /// The time of this connection, which begins with it; on a server, when it was accepted.
    #[inline]
    pub fn time(&self) -> Time {
        Time::from_nanos(self.started.elapsed().as_nanos() as u64)
    }

    /// The instant at which this connection's time begins.
    pub(crate) fn started(&self) -> Instant {
        self.started
    }

    /// Releases the lock and wakes whom the work under it found.
    #[inline]
    pub(crate) fn unlock_and_wake<'a>(&'a self, shared: Guard<'a>) {
        if !shared.wake.is_empty() || self.observer.is_some() || shared.news.is_some() {
            self.wake_all(shared);
        }
    }

    fn wake_all<'a>(&'a self, mut shared: Guard<'a>) {
        if let Some(observer) = &self.observer {
            shared = self.tell(observer, shared);
        }
        if shared.wake.is_empty() {
            let news = shared.take_news();
            drop(shared);
            return tell_origin(news);
        }
        if let Some(waker) = shared.wake.take_only() {
            let news = shared.take_news();
            drop(shared);
            tell_origin(news);
            return waker.wake();
        }
        self.wake_several(shared);
    }

    /// Wakes a few at a time, in the order in which they came.
    #[inline(never)]
    fn wake_several<'a>(&'a self, mut shared: Guard<'a>) {
        loop {
            let few = shared.wake.take_few();
            let are_more = !shared.wake.is_empty();
            let news = shared.take_news();
            drop(shared);
            tell_origin(news);
            few.for_each(Waker::wake);
            if !are_more {
                return;
            }
            shared = self.lock();
        }
    }

    #[cold]
    fn tell<'a>(&'a self, observer: &FrameObserver, mut shared: Guard<'a>) -> Guard<'a> {
        let frames: Vec<FrameSummary> = std::iter::from_fn(|| shared.machine.poll_trace()).collect();
        drop(shared);
        frames.iter().for_each(|frame| observer(frame));
        self.lock()
    }

    fn wake_and_lock<'a>(&'a self, shared: Guard<'a>) -> Guard<'a> {
        if shared.wake.is_empty() && self.observer.is_none() && shared.news.is_none() {
            return shared;
        }
        self.unlock_and_wake(shared);
        self.lock()
    }

    /// Waits on a slot until `check` has an answer, reading for everybody where that is this side's part.
    pub(crate) fn poll_wait<T>(
        &self,
        at: SlotKey,
        side: Side,
        cx: &mut Context<'_>,
        mut check: impl FnMut(&mut Shared) -> Option<T>,
    ) -> Poll<T> {
        let me = Reader::Caller(at.index, side);
        let mut shared = self.lock();
        if shared.slot(at).is_some_and(|slot| slot.arrive(side)) {
            shared.hand_over.count_arrived(1);
        }
        loop {
            if let Some(value) = check(&mut shared) {
                self.leave(shared, me);
                return Poll::Ready(value);
            }
            if let Some(slot) = shared.slot(at) {
                slot.waits[side as usize].begin(cx.waker());
            }
            if !shared.machine.is_client() {
                shared.wake_task();
                self.unlock_and_wake(shared);
                return Poll::Pending;
            }
            if shared.part(me, cx.waker()) == Part::Rests {
                self.unlock_and_wake(shared);
                return Poll::Pending;
            }
            let progress;
            (shared, progress) = self.turn(shared, cx, me);
            if !progress {
                self.unlock_and_wake(shared);
                return Poll::Pending;
            }
        }
    }

    /// A caller has what it waited for: what it wrote goes out, and another one reads on.
    fn leave<'a>(&'a self, mut shared: Guard<'a>, me: Reader) {
        shared.give_way(|who| who == me);
        if let Reader::Caller(_, Side::Write) = me {
            shared = self.push_out(shared);
        }
        self.unlock_and_wake(shared);
    }

    /// Makes sure that what was written leaves: at once on a client, with the owner's turn on a server.
    pub(crate) fn push_out<'a>(&'a self, mut shared: Guard<'a>) -> Guard<'a> {
        if !shared.machine.is_client() {
            shared.wake_task();
            return shared;
        }
        self.flush(shared)
    }

    /// Gives handles of a stream back, and the memory that its user had.
    pub(crate) fn release(&self, at: SlotKey, sides: Sides, head: Option<Box<Head>>, content: Content) {
        let mut shared = self.lock();
        shared.give_back(at, content.len());
        shared.release(at, sides);
        if let Some(head) = head {
            shared.heads.give(head);
        }
        shared.give_content(content);
        shared.take_notices();
        shared.give_way(|who| who.is_of(at.index, sides));
        if shared.machine.wants_write() || shared.closing {
            shared.wake_task();
        }
        self.unlock_and_wake(shared);
    }

    /// One turn: write, read once, feed. True when there was something to feed or the connection ended.
    pub(crate) fn turn<'a>(
        &'a self,
        mut shared: Guard<'a>,
        cx: &mut Context<'_>,
        me: Reader,
    ) -> (Guard<'a>, bool) {
        shared.hand_over.count_turn();
        if shared.goes_on() {
            // Answers to what came at once leave at once.
            shared.feed();
            if shared.machine.is_client() {
                shared.stow_input();
            }
            return (self.wake_and_lock(shared), true);
        }
        shared = self.flush(shared);
        if shared.blocked {
            shared.settle_memory();
        }
        if shared.ended.is_some() {
            return (shared, true);
        }
        if !shared.wants_read() {
            shared.is_read_stopped = true;
            shared.stow_input();
            return (shared, false);
        }
        shared.is_read_stopped = false;
        let locked = &mut *shared;
        let Some(mut half) = locked.hand_over.begin_to_read(me, &mut locked.wake) else {
            return (shared, false);
        };
        if std::mem::take(&mut locked.is_emptied) {
            drop(shared);
            let is_awaited = half.is_awaited(cx);
            shared = self.lock();
            if is_awaited {
                shared.hand_over.end_to_read(half);
                shared.stow_input();
                return (self.flush(shared), false);
            }
            shared.reads_unasked = READS_UNASKED;
        }
        let (mut input, step) = (shared.take_input(), shared.read_step());
        drop(shared);
        let space = input.space(step);
        let room = space.len();
        let read = poll_read(&mut half, space, cx);
        let mut is_emptied = false;
        if let Poll::Ready(Ok(octets)) = read {
            input.filled(octets);
            is_emptied = octets < room;
        }
        shared = self.lock();
        shared.hand_over.end_to_read(half);
        match shared.reads_unasked {
            0 => shared.is_emptied = is_emptied,
            _ => shared.reads_unasked -= 1,
        }
        if read.is_pending() {
            shared.put_input_back(input);
            return (self.flush(shared), false);
        }
        shared.input = input;
        match read {
            Poll::Pending => {}
            Poll::Ready(Ok(0)) => {
                shared.now = self.time();
                shared.input_ended();
            }
            Poll::Ready(Ok(_)) => {
                shared.now = self.time();
                let locked = &mut *shared;
                locked.hand_over.arrive(me, &mut locked.slots);
                locked.feed();
            }
            Poll::Ready(Err(error)) => shared.input_failed(Error::io(Phase::Content, error)),
        }
        if shared.machine.is_client() || shared.ended.is_some() {
            // Who reads next may be on another thread; a server's task goes on until there is nothing to read.
            shared.stow_usual_input();
        }
        (self.wake_and_lock(shared), true)
    }

    /// Writes what waits, until there is nothing more or the socket takes no more.
    #[inline(always)]
    pub(crate) fn flush<'a>(&'a self, shared: Guard<'a>) -> Guard<'a> {
        let shared = if shared.may_have_output() { self.write_all(shared) } else { shared };
        if shared.machine.wants_shutdown() { self.shut(shared) } else { shared }
    }

    /// Our direction of a tunnel has ended: nothing more will be written.
    #[cold]
    fn shut<'a>(&'a self, mut shared: Guard<'a>) -> Guard<'a> {
        if shared.unsent() == 0 && !std::mem::replace(&mut shared.is_shut, true) {
            #[cfg(feature = "tls")]
            if let Some(tls) = &mut shared.tls {
                tls.close();
                shared = self.write_all(shared);
            }
            // The peer may be gone already; there is nobody left to tell.
            let _ = self.io.shut();
        }
        shared
    }

    fn write_all<'a>(&'a self, mut shared: Guard<'a>) -> Guard<'a> {
        loop {
            if shared.writing || shared.blocked || !shared.stage() {
                return shared;
            }
            let mut pending = std::mem::take(&mut shared.pending);
            shared.writing = true;
            drop(shared);
            let written = self.io.try_write(pending.unsent());
            shared = self.lock();
            shared.writing = false;
            if let Ok(octets) = written {
                pending.consume(octets);
                shared.written += octets as u64;
            }
            shared.pending = pending;
            match written {
                Ok(_) => shared.output_drained(),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    shared.blocked = true;
                    shared.look_soon();
                    shared.wake_task();
                }
                Err(error) => shared.write_failed(error),
            }
        }
    }

    /// The connection's task waits here for room in the socket, when the output is blocked.
    pub(crate) fn poll_unblock(&self, cx: &mut Context<'_>) {
        let mut shared = self.lock();
        while shared.blocked {
            drop(shared);
            if self.io.poll_write_ready(cx).is_pending() {
                return;
            }
            shared = self.lock();
            shared.blocked = false;
            shared = self.flush(shared);
        }
        self.unlock_and_wake(shared);
    }

    /// Says to the peer that nothing more will come, after what was written: the end of TLS, then FIN.
    pub(crate) fn say_goodbye<'a>(&'a self, mut shared: Guard<'a>) -> Guard<'a> {
        let is_cut = shared.machine.is_cut_unseen();
        shared = self.flush(shared);
        #[cfg(feature = "tls")]
        if let Some(tls) = shared.tls.as_mut().filter(|_| !is_cut) {
            // Nothing goes out after this.
            tls.close();
            shared = self.flush(shared);
        }
        // The peer may be gone already; there is nobody left to tell.
        let _ = if is_cut { self.io.abort() } else { self.io.shut() };
        shared
    }
}

/// Reads once. A short read tells tokio that the socket is empty, which spares the call that would find out.
pub(crate) fn poll_read(
    half: &mut (impl AsyncRead + Unpin),
    space: &mut [u8],
    cx: &mut Context<'_>,
) -> Poll<io::Result<usize>> {
    let mut space = tokio::io::ReadBuf::new(space);
    Pin::new(half).poll_read(cx, &mut space).map_ok(|()| space.filled().len())
}

/// Tells the origin's other connections what has become of this one, once its lock is released.
#[inline]
fn tell_origin(news: Option<(Arc<Vacancy>, Weak<Conn>, News)>) {
    if let Some((vacancy, conn, news)) = news {
        vacancy.hear(&conn, news);
    }
}

impl Reader {
    fn is_of(self, index: u32, sides: Sides) -> bool {
        match self {
            Self::Task | Self::Nobody => false,
            Self::Caller(slot, Side::Read) => slot == index && sides.has(Sides::READ),
            Self::Caller(slot, Side::Write) => slot == index && sides.has(Sides::WRITE),
        }
    }
}

impl Shared {
    /// What the origin's other connections are to be told.
    #[inline]
    fn take_news(&mut self) -> Option<(Arc<Vacancy>, Weak<Conn>, News)> {
        let news = self.news.take()?;
        let (vacancy, conn) = self.vacancy.clone()?;
        Some((vacancy, conn, news))
    }

    /// False when there is certainly nothing to write: most turns only read. What TLS has to say is not looked into.
    #[inline]
    fn may_have_output(&self) -> bool {
        #[cfg(feature = "tls")]
        if self.tls.is_some() {
            return true;
        }
        self.unsent() > 0 || self.machine.wants_write()
    }

    /// Moves what is to be written into `pending`. False when there is nothing.
    fn stage(&mut self) -> bool {
        self.machine.poll_transmit(self.now, &mut self.out);
        if self.output_failure.is_some() {
            self.out.clear();
            self.pending.clear();
            return false;
        }
        #[cfg(feature = "tls")]
        if let Some(tls) = &mut self.tls {
            self.room.prepare(self.out.len(), &mut self.pending);
            if let Err(error) = tls.encrypt(&mut self.out, &mut self.pending) {
                self.end(error);
            }
            return !self.pending.is_empty();
        }
        if self.pending.is_empty() && !self.out.is_empty() {
            std::mem::swap(&mut self.pending, &mut self.out);
        }
        !self.pending.is_empty()
    }

    /// Does what is due by now: deadlines, the machine's timeouts, giving back what an idle connection does not need.
    pub(crate) fn keep_time(&mut self) {
        let now = self.now;
        if self.next_deadline.is_some_and(|deadline| deadline <= now) {
            self.expire(now);
        }
        if self.machine.poll_timeout().is_some_and(|timeout| timeout <= now) {
            self.machine.handle_timeout(now);
            self.take_notices();
        }
        self.call_again();
        self.look_around(now);
    }

    fn output_drained(&mut self) {
        if !self.pending.is_empty() || !self.out.is_empty() {
            return;
        }
        if self.out.capacity() < self.pending.capacity() && self.pending.capacity() > SMALL_OUTPUT {
            // The next output goes into the larger buffer, so that the other one need not grow as well. Small ones take turns: the
            // other one is needed whenever a thread adds to the output while another one writes, and is warm by then.
            std::mem::swap(&mut self.out, &mut self.pending);
        }
        self.share_room();
        if self.machine.give_room(self.room.bound() as u32) {
            self.take_notices();
        }
    }

    /// What the peer sent before it closed is still worth reading, and reading will tell that it closed: only the output
    /// is given up.
    fn write_failed(&mut self, error: io::Error) {
        self.output_failure = Some(Error::io(Phase::Send, error));
        self.end_if_cut();
    }

    /// A peer of HTTP/1.1 may close its side and go on to read (RFC 9112 §9.6). One that takes no more either is gone.
    pub(crate) fn end_if_cut(&mut self) {
        if let (Some(error), true) = (&self.output_failure, self.is_input_over) {
            self.end(error.clone());
        }
    }

    /// Returns true if a writer has to wait until the output has drained.
    pub(crate) fn output_is_full(&self) -> bool {
        self.unsent() >= self.room.bound()
    }

    /// What a caller does that has noted that it waits.
    fn part(&mut self, me: Reader, waker: &Waker) -> Part {
        self.hand_over.part(me, waker, &mut self.wake)
    }

    /// A caller leaves, on a client.
    pub(crate) fn give_way(&mut self, leaves: impl Fn(Reader) -> bool) {
        if self.machine.is_client() {
            self.hand_over.give_way(leaves, &mut self.slots, &mut self.wake);
        }
    }
}
