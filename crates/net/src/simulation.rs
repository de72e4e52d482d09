//! Connections over a network that is simulated, for tests of the loops on simulated time.
//!
//! A thread that has [`install`]ed a network opens and takes all its connections there; other threads use TCP. What the
//! network delays, cuts and loses is its own affair: what it must keep to is what tokio's sockets keep to, so that the
//! loops meet nothing here that they could not meet there.

use std::{
    cell::RefCell,
    io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    thread::LocalKey,
};

use crate::conn::Conn;
pub use crate::link::Link;

/// Where connections are opened and taken.
pub trait Network: Send + Sync {
    /// Opens a connection to this host and port.
    fn connect(&self, host: &str, port: u16) -> Connecting;

    /// Listens on this address.
    ///
    /// # Errors
    /// Somebody listens there already.
    fn bind(&self, address: SocketAddr) -> io::Result<Arc<dyn Listen>>;
}

/// A connection being opened.
pub type Connecting = Pin<Box<dyn Future<Output = io::Result<Arc<dyn Link>>> + Send>>;

/// Takes connections.
pub trait Listen: Send + Sync {
    /// The address listened on.
    fn address(&self) -> SocketAddr;

    /// The next connection.
    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<Arc<dyn Link>>>;
}

/// Makes this thread use this network from now on, or TCP again.
pub fn install(network: Option<Arc<dyn Network>>) {
    of_thread().replace(network);
}

/// Makes this thread write one date in all that it answers from now on: the length of a date in Huffman code depends on its digits, and
/// with it the course of a simulation.
pub fn hold_date() {
    crate::date::hold();
}

/// Frees the read buffers and heads that this thread keeps for its connections.
pub fn free_read_buffers() {
    crate::lending::free_kept();
    crate::heads::free_kept();
}

pub(crate) fn network() -> Option<Arc<dyn Network>> {
    of_thread().with_borrow(Clone::clone)
}

fn of_thread() -> &'static LocalKey<RefCell<Option<Arc<dyn Network>>>> {
    thread_local! {
        static NETWORK: RefCell<Option<Arc<dyn Network>>> = const { RefCell::new(None) };
    }
    &NETWORK
}

/// What a connection without calls is like, for tests.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Rest {
    /// It has ended.
    pub has_ended: bool,
    /// The octets that may be sent.
    pub may_send: i64,
    /// The octets that the peer may send.
    pub may_receive: i64,
    /// The streams that are open.
    pub streams: usize,
    /// Handles of streams are held, or callers wait for a stream.
    pub is_used: bool,
    /// Callers that count as woken and have not run.
    pub woken: usize,
    /// The connection's own task reads.
    pub task_reads: bool,
    /// The octets that wait to be written.
    pub unsent: usize,
}

impl Conn {
    /// What it is like now.
    ///
    /// # Panics
    /// When the machine's books do not agree.
    pub fn rest(&self) -> Rest {
        let shared = self.lock();
        shared.machine.check_invariants();
        let [may_send, may_receive] = shared.machine.windows();
        Rest {
            has_ended: shared.ended.is_some(),
            may_send,
            may_receive,
            streams: shared.machine.in_flight(),
            is_used: !shared.is_idle(),
            woken: shared.hand_over.woken(),
            task_reads: shared.hand_over.task_reads(),
            unsent: shared.unsent(),
        }
    }
}
