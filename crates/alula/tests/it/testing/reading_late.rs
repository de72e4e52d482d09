//! Servers that read nothing for minutes, on a socket that holds no more: no deadline was set, and the client
//! waits.

use alula::{Client, Identity, Limits};
use tokio::io::{self, AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::time::{Instant, sleep};

use super::*;

/// The length of an upload, in bytes, and the part of it that is read before the pause.
const UPLOAD: usize = 4 << 20;
const AT_FIRST: u64 = 100_000;
const PAUSE: Duration = Duration::from_secs(600);

/// A server that would take the whole upload at once, and of whose clients nothing is read for a long while.
fn server(identity: Option<&Identity>) -> TestServer {
    let window = 2 * UPLOAD as u32;
    let limits = Limits {
        stream_window: window,
        stream_window_max: window,
        connection_window: window,
        connection_window_max: window,
        // It would hold the client to be slow.
        body_rate_min: 0,
        stall_timeout: 2 * PAUSE,
        ..Limits::default()
    };
    let settings = Server::builder().limits(limits);
    let settings = match identity {
        Some(identity) => settings.identity(identity.clone()),
        None => settings,
    };
    TestServer::with(settings, answer)
}

/// Carries what the server says at once, and what the client says as far as it is read.
fn paused(server: &TestServer) -> DuplexStream {
    let (near, far) = duplex(64 << 10);
    let (mut from_client, mut to_client) = io::split(far);
    let (mut from_server, mut to_server) = io::split(server.connect());
    tokio::spawn(async move {
        io::copy(&mut from_server, &mut to_client).await?;
        to_client.shutdown().await
    });
    tokio::spawn(async move {
        io::copy(&mut (&mut from_client).take(AT_FIRST), &mut to_server).await?;
        sleep(PAUSE).await;
        io::copy(&mut from_client, &mut to_server).await?;
        to_server.shutdown().await
    });
    near
}

#[tokio::test(start_paused = true)]
async fn a_client_without_a_deadline_waits_for_a_server_that_reads_late() {
    for (is_http2, is_secure) in [(false, false), (false, true), (true, false), (true, true)] {
        let identity = is_secure.then(|| Identity::self_signed(["localhost"]).unwrap());
        let server = server(identity.as_ref());
        let client = Client::builder().trust_anything();
        let client = if is_http2 { client.http2_only() } else { client.http1_only() };
        let connector = move |_: &alula::Destination| {
            std::future::ready(Ok(Box::new(paused(&server)) as Box<dyn alula::Transport>))
        };
        let client = client.connector(connector).build().unwrap();
        let scheme = if is_secure { "https" } else { "http" };
        let (url, began) = (format!("{scheme}://localhost/count"), Instant::now());
        let content = vec![b'u'; UPLOAD];
        let mut response = client.post(&url).send_body(&content).await.unwrap();
        assert_eq!(response.text().await.unwrap(), UPLOAD.to_string());
        assert!(began.elapsed() >= PAUSE, "the pause was not met");
    }
}
