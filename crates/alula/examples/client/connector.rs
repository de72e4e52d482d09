//! A connector of one's own: every connection goes to one address, whatever the URL says, and its bytes are
//! counted.
//!
//! `cargo run -p alula --example connector -- http://example.test/ 127.0.0.1:8080`
//!
//! A connector may as well lead through a tunnel or a pipe in memory: what it returns has to read and to write.

use std::{
    error::Error,
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
};

use alula::{Client, Destination, Transport};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or("which URL?")?;
    let address = arguments.next().ok_or("which address?")?;

    let counts = Arc::<Counts>::default();
    let counted = counts.clone();
    // A function that returns such a future is a connector. TLS, where the URL asks for it, is spoken over what it returns.
    let connector = move |to: &Destination| {
        eprintln!("connecting to {address} for {to}");
        let (address, counts) = (address.clone(), counted.clone());
        async move {
            let socket = TcpStream::connect(address).await?;
            Ok(Box::new(Counted { socket, counts }) as Box<dyn Transport>)
        }
    };
    let client = Client::builder().connector(connector).build()?;
    let mut response = client.get(&url).send().await?;
    response.body().copy_to(&mut tokio::io::stdout()).await?;
    let (sent, received) = (counts.sent.load(Ordering::Relaxed), counts.received.load(Ordering::Relaxed));
    println!("\n{}, {sent} bytes sent, {received} received", response.status());
    Ok(())
}

#[derive(Default)]
struct Counts {
    sent: AtomicU64,
    received: AtomicU64,
}

/// A socket whose bytes are counted.
struct Counted {
    socket: TcpStream,
    counts: Arc<Counts>,
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let read = Pin::new(&mut self.socket).poll_read(cx, into);
        self.counts.received.fetch_add((into.filled().len() - before) as u64, Ordering::Relaxed);
        read
    }
}

impl AsyncWrite for Counted {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write(cx, from);
        if let Poll::Ready(Ok(bytes)) = written {
            self.counts.sent.fetch_add(bytes as u64, Ordering::Relaxed);
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}
