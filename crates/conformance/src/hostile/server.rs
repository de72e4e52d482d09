//! A listener whose every connection is treated in the same way, on a thread of its own.

use std::io;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use crate::certificates::Certificates;
use crate::tls;
use crate::wire::{self, Wire};

/// A server of the test's own; it stops listening when the value goes away.
pub struct HostileServer {
    port: u16,
    stopped: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

impl HostileServer {
    /// Treats every connection so, in clear text; the connection is closed when `treat` returns.
    ///
    /// # Panics
    /// When no port can be had.
    pub fn clear(treat: impl Fn(&mut dyn Wire) -> io::Result<()> + Send + Sync + 'static) -> Self {
        Self::start(move |mut socket| treat(&mut socket))
    }

    /// As [`clear`](Self::clear), inside TLS.
    ///
    /// # Panics
    /// As [`clear`](Self::clear).
    pub fn tls(
        certificates: &Certificates,
        treat: impl Fn(&mut dyn Wire) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let config = tls::server_config(certificates);
        Self::start(move |socket| treat(&mut tls::server(socket, &config)?))
    }

    fn start(treat: impl Fn(TcpStream) -> io::Result<()> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port can be had");
        let port = listener.local_addr().expect("a listener has an address").port();
        let stopped = Arc::new(AtomicBool::new(false));
        let accepting = thread::spawn({
            let stopped = Arc::clone(&stopped);
            let treat = Arc::new(treat);
            move || accept(&listener, &stopped, &treat)
        });
        Self { port, stopped, accepting: Some(accepting) }
    }

    /// Its port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for HostileServer {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Release);
        // Wakes the accepting thread; when it cannot be reached it has ended.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}

fn accept<F>(listener: &TcpListener, stopped: &AtomicBool, treat: &Arc<F>)
where
    F: Fn(TcpStream) -> io::Result<()> + Send + Sync + 'static,
{
    while let Ok((socket, _)) = listener.accept() {
        if stopped.load(Ordering::Acquire) {
            return;
        }
        let treat = Arc::clone(treat);
        thread::spawn(move || {
            let closing = socket.try_clone();
            wire::prepare(&socket).expect("the socket takes its options");
            // A client that has had enough closes first, which is an error here and a success there.
            let _ = treat(socket);
            drop(closing.map(|socket| socket.shutdown(Shutdown::Both)));
        });
    }
}
