//! Connections over a simulated network, for tests of the loops on simulated time.
//!
//! A thread that has [`install`]ed a network opens and takes all its connections there; other threads use
//! TCP. The network may delay, cut and lose bytes as it likes, but must keep the contract of tokio's sockets,
//! so that the loops meet nothing here that they could not meet there.

use std::{
    cell::RefCell,
    io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    thread::LocalKey,
};

use crate::transport::link::Link;

/// A network on which connections are opened and accepted.
pub trait Network: Send + Sync {
    /// Opens a connection to this host and port.
    fn connect(&self, host: &str, port: u16) -> Connecting;

    /// Listens on this address.
    ///
    /// # Errors
    /// The address is in use.
    fn bind(&self, address: SocketAddr) -> io::Result<Arc<dyn Listen>>;
}

/// A connection being opened.
pub type Connecting = Pin<Box<dyn Future<Output = io::Result<Arc<dyn Link>>> + Send>>;

/// Accepts connections.
pub trait Listen: Send + Sync {
    /// Returns the address of the listener.
    fn address(&self) -> SocketAddr;

    /// Returns the next connection.
    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<Arc<dyn Link>>>;
}

/// Makes this thread use this network from now on, or TCP again.
pub fn install(network: Option<Arc<dyn Network>>) {
    of_thread().replace(network);
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
