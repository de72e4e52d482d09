//! A connection whose opening nobody waited for is closed with its client: it used to stay open for good when
//! the last call that asked for it was given up before it was open. One that could not be opened is no
//! failure of later calls: the next one used to be told of it.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use alula_client::{Client, Destination, Transport};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::time::timeout;

/// No test takes that long.
const FOREVER: Duration = Duration::from_secs(20);
const PREFACE: usize = 24;
const SETTINGS: u8 = 4;
const ACK: u8 = 1;

#[test]
fn a_connection_that_nobody_heard_of_is_closed() {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(give_up());
}

async fn give_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let client = Client::builder().http2_prior_knowledge(true).build().unwrap();
    {
        let call = pin!(client.get(&url).send());
        assert!(matches!(call.poll(&mut Context::from_waker(Waker::noop())), Poll::Pending));
    }
    let (mut socket, _) = listener.accept().await.unwrap();
    timeout(FOREVER, socket.read_exact(&mut [0; PREFACE])).await.expect("the connection is opened").unwrap();
    // A peer that says nothing would be given up in time.
    socket.write_all(&[0, 0, 0, SETTINGS, 0, 0, 0, 0, 0, 0, 0, 0, SETTINGS, ACK, 0, 0, 0, 0]).await.unwrap();
    drop(client);
    let mut rest = Vec::new();
    timeout(FOREVER, socket.read_to_end(&mut rest)).await.expect("the connection is closed").unwrap();
}

#[tokio::test]
async fn a_failure_that_nobody_waited_for_is_not_told_to_the_next_call() {
    let attempts = Arc::new(AtomicUsize::new(0));
    let count = attempts.clone();
    let refuse = move |_: &Destination| {
        let attempt = count.fetch_add(1, SeqCst) + 1;
        async move { Err::<Box<dyn Transport>, _>(io::Error::other(format!("attempt {attempt} is refused"))) }
    };
    let client = Client::builder().connector(refuse).build().unwrap();
    {
        let call = pin!(client.get("http://a.example/").send());
        assert!(matches!(call.poll(&mut Context::from_waker(Waker::noop())), Poll::Pending));
    }
    while attempts.load(SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    let error = client.get("http://a.example/").send().await.expect_err("every attempt is refused");
    assert!(error.to_string().contains("attempt 2 is refused"), "{error}");
}
