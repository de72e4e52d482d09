//! A relay between client and server that counts the bytes of both directions.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    task::{AbortHandle, spawn},
};

/// A relay for one connection; it ends when this is dropped.
pub(super) struct Relay {
    pub(super) address: SocketAddr,
    counted: Arc<Counted>,
    task: AbortHandle,
}

#[derive(Default)]
struct Counted {
    sent: AtomicU64,
    received: AtomicU64,
}

/// Bytes so far, as the client sees the directions.
#[derive(Clone, Copy)]
pub(super) struct Bytes {
    pub(super) sent: u64,
    pub(super) received: u64,
}

impl Relay {
    /// Listens on a free port of loopback and passes one connection on to `server`.
    pub(super) async fn start(server: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let counted = Arc::new(Counted::default());
        // A connection that breaks is the client's news, not ours.
        let task = spawn(pass_on(listener, server, counted.clone())).abort_handle();
        Ok(Self { address, counted, task })
    }

    /// Returns the bytes that have passed; all that the client has received is counted.
    pub(super) fn bytes(&self) -> Bytes {
        Bytes { sent: self.counted.sent.load(SeqCst), received: self.counted.received.load(SeqCst) }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn pass_on(listener: TcpListener, server: SocketAddr, counted: Arc<Counted>) -> io::Result<()> {
    let (client, _) = listener.accept().await?;
    let server = TcpStream::connect(server).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    tokio::try_join!(
        copy(from_client, to_server, &counted.sent),
        copy(from_server, to_client, &counted.received),
    )?;
    Ok(())
}

async fn copy(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, count: &AtomicU64) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let bytes = from.read(&mut buffer).await?;
        if bytes == 0 {
            return to.shutdown().await;
        }
        // Counted before it is passed on, so that an answer received has been counted.
        count.fetch_add(bytes as u64, SeqCst);
        to.write_all(&buffer[..bytes]).await?;
    }
}
