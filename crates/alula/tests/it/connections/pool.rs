//! The client's connections: how many are opened, how long they are kept, and who waits for them.
//!
//! A door before the server counts the connections that come, and those that are there. Tests wait for its
//! counts and for requests to arrive, never for time to pass.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use alula::{Cause, Client, ClientBuilder, Error, Exchange, Limits, Phase, Sent, Server, Status};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::frames::{CONNECTION, GOAWAY, begin, frame, ok, read_request};

use crate::support::listen;

/// No test takes that long.
const FOREVER: Duration = Duration::from_secs(20);
/// What is to end soon ends after so long.
const SOON: Duration = Duration::from_millis(80);

/// A server that answers `/held` when it is told to, anything else at once; and the door before it.
struct House {
    url: String,
    /// Connections that came.
    came: watch::Receiver<usize>,
    /// Connections that are there.
    there: watch::Receiver<usize>,
    /// Requests for `/held` that arrived.
    arrived: watch::Receiver<usize>,
    /// Lets so many of them go.
    answers: Arc<Semaphore>,
    door: JoinHandle<()>,
}

impl House {
    async fn open(streams: u32) -> Self {
        let server = Server::builder().limits(Limits { streams, ..Limits::default() });
        let (arrives, arrived) = watch::channel(0);
        let answers = Arc::new(Semaphore::new(0));
        let held = answers.clone();
        let inner = listen(server, move |exchange| answer(exchange, arrives.clone(), held.clone())).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (come, came) = watch::channel(0);
        let (stay, there) = watch::channel(0);
        let door = tokio::spawn(keep_door(listener, inner, come, stay));
        Self { url, came, there, arrived, answers, door }
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }
}

async fn answer(
    exchange: Exchange,
    arrives: watch::Sender<usize>,
    held: Arc<Semaphore>,
) -> Result<Sent, Error> {
    if exchange.request().path() == "/held" {
        arrives.send_modify(|arrived| *arrived += 1);
        held.acquire().await.expect("it is never closed").forget();
    }
    exchange.respond(Status::OK).send(b"done").await
}

async fn keep_door(
    listener: TcpListener,
    inner: SocketAddr,
    come: watch::Sender<usize>,
    stay: watch::Sender<usize>,
) {
    loop {
        let (mut from, _) = listener.accept().await.unwrap();
        come.send_modify(|came| *came += 1);
        stay.send_modify(|there| *there += 1);
        let stay = stay.clone();
        tokio::spawn(async move {
            let mut to = TcpStream::connect(inner).await.unwrap();
            // Whoever breaks it, it is over.
            let _ = tokio::io::copy_bidirectional(&mut from, &mut to).await;
            stay.send_modify(|there| *there -= 1);
        });
    }
}

async fn reaches(count: &watch::Receiver<usize>, wanted: usize) {
    let mut count = count.clone();
    let reached =
        timeout(FOREVER, count.wait_for(|count| *count == wanted)).await.map(|reached| reached.is_ok());
    assert_eq!(reached, Ok(true), "{} instead of {wanted}", *count.borrow());
}

async fn get(client: &Client, url: &str) -> Result<(), Error> {
    let mut response = timeout(FOREVER, client.get(url).send()).await.expect("it ends")?;
    assert_eq!(response.status(), Status::OK);
    while response.body().chunk().await?.is_some() {}
    Ok(())
}

/// Requests for `/held` under way.
fn hold(client: &Client, house: &House, requests: usize) -> Vec<JoinHandle<Result<(), Error>>> {
    let request = |_| {
        let (client, url) = (client.clone(), house.url("/held"));
        tokio::spawn(async move { get(&client, &url).await })
    };
    (0..requests).map(request).collect()
}

async fn all_end_well(requests: Vec<JoinHandle<Result<(), Error>>>) {
    for request in requests {
        request.await.unwrap().unwrap();
    }
}

fn over_http2(on: bool) -> ClientBuilder {
    Client::builder().http2_prior_knowledge(on)
}

#[tokio::test]
async fn an_idle_connection_is_closed_in_time() {
    for http2 in [false, true] {
        let house = House::open(100).await;
        let client = over_http2(http2).keep_idle(SOON).build().unwrap();
        get(&client, &house.url("/")).await.unwrap();
        reaches(&house.there, 0).await;
        get(&client, &house.url("/")).await.unwrap();
        reaches(&house.came, 2).await;
        reaches(&house.there, 0).await;
    }
}

#[tokio::test]
async fn a_connection_in_use_is_not_idle() {
    for http2 in [false, true] {
        let house = House::open(100).await;
        let client = over_http2(http2).keep_idle(SOON).build().unwrap();
        let held = hold(&client, &house, 1);
        // Another client's connection idles longer than the first one would.
        let other = over_http2(http2).keep_idle(4 * SOON).build().unwrap();
        get(&other, &house.url("/")).await.unwrap();
        reaches(&house.arrived, 1).await;
        reaches(&house.there, 1).await;
        house.answers.add_permits(1);
        all_end_well(held).await;
        assert_eq!(*house.came.borrow(), 2);
        reaches(&house.there, 0).await;
    }
}

#[tokio::test]
async fn an_old_connection_takes_no_more_requests_and_ends_with_its_last() {
    for http2 in [false, true] {
        let house = House::open(100).await;
        let client = over_http2(http2).lifetime(SOON).build().unwrap();
        let held = hold(&client, &house, 1);
        reaches(&house.arrived, 1).await;
        // HTTP/1.1 has a second connection from the start.
        let enough = if http2 { 2 } else { 3 };
        let renewed = async {
            while *house.came.borrow() < enough {
                get(&client, &house.url("/")).await.unwrap();
            }
        };
        timeout(FOREVER, renewed).await.expect("another connection is opened");
        house.answers.add_permits(1);
        all_end_well(held).await;
        reaches(&house.there, 0).await;
    }
}

#[tokio::test]
async fn no_more_connections_idle_than_may() {
    let house = House::open(100).await;
    let client = over_http2(false).idle_max(1).build().unwrap();
    let held = hold(&client, &house, 4);
    reaches(&house.arrived, 4).await;
    house.answers.add_permits(4);
    all_end_well(held).await;
    reaches(&house.there, 1).await;
    get(&client, &house.url("/")).await.unwrap();
    assert_eq!(*house.came.borrow(), 4);
}

#[tokio::test]
async fn connections_of_http2_are_opened_as_streams_run_out() {
    let house = House::open(2).await;
    let client = over_http2(true).http2_connections_max(3).build().unwrap();
    get(&client, &house.url("/")).await.unwrap();
    let held = hold(&client, &house, 6);
    reaches(&house.arrived, 6).await;
    assert_eq!(*house.came.borrow(), 3);
    let mut more = hold(&client, &house, 2);
    house.answers.add_permits(1);
    reaches(&house.arrived, 7).await;
    house.answers.add_permits(7);
    more.extend(held);
    all_end_well(more).await;
    assert_eq!(*house.came.borrow(), 3);
    drop(client);
    reaches(&house.there, 0).await;
}

#[tokio::test]
async fn one_connection_of_http2_is_all_unless_more_are_allowed() {
    let house = House::open(2).await;
    let client = over_http2(true).queue_timeout(SOON).build().unwrap();
    get(&client, &house.url("/")).await.unwrap();
    let held = hold(&client, &house, 2);
    reaches(&house.arrived, 2).await;
    let error = get(&client, &house.url("/")).await.unwrap_err();
    assert!(error.phase() == Phase::Queue && matches!(error.cause(), Cause::Timeout), "{error}");
    house.answers.add_permits(2);
    all_end_well(held).await;
    assert_eq!(*house.came.borrow(), 1);
}

#[tokio::test]
async fn requests_go_on_where_no_further_connection_can_be_opened() {
    let house = House::open(1).await;
    let client = over_http2(true).http2_connections_max(2).build().unwrap();
    get(&client, &house.url("/")).await.unwrap();
    house.door.abort();
    let held = hold(&client, &house, 3);
    for arrived in 1..=3 {
        reaches(&house.arrived, arrived).await;
        house.answers.add_permits(1);
    }
    all_end_well(held).await;
}

#[tokio::test]
async fn who_waits_for_a_connection_too_long_is_told_so() {
    let house = House::open(100).await;
    let client = over_http2(false).connections_max(1).queue_timeout(SOON).build().unwrap();
    let held = hold(&client, &house, 1);
    reaches(&house.arrived, 1).await;
    let error = get(&client, &house.url("/")).await.unwrap_err();
    assert!(error.phase() == Phase::Queue && matches!(error.cause(), Cause::Timeout), "{error}");
    assert!(error.is_retryable() && error.is_timeout() && error.is_connect(), "{error}");
    let client = over_http2(false).connections_max(1).build().unwrap();
    let other = hold(&client, &house, 1);
    reaches(&house.arrived, 2).await;
    let url = house.url("/");
    let error = client.get(&url).timeout(SOON).send().await.expect_err("it waits too long");
    assert!(error.phase() == Phase::Queue && matches!(error.cause(), Cause::Timeout), "{error}");
    house.answers.add_permits(2);
    all_end_well(held).await;
    all_end_well(other).await;
}

#[tokio::test]
async fn origins_beyond_what_is_remembered_take_their_connections_along() {
    let (first, second) = (House::open(100).await, House::open(100).await);
    let client = over_http2(false).origins_max(1).build().unwrap();
    get(&client, &first.url("/")).await.unwrap();
    get(&client, &second.url("/")).await.unwrap();
    reaches(&first.there, 0).await;
    get(&client, &second.url("/")).await.unwrap();
    assert_eq!(*second.came.borrow(), 1);
}

/// A server that answers the first request on each connection and says nothing of closing it then. It reports
/// once the client has closed its side as well.
async fn serve_once_each(http2: bool, closed: watch::Sender<usize>, listener: TcpListener) {
    loop {
        let (mut socket, _) = listener.accept().await.unwrap();
        if http2 {
            begin(&mut socket).await;
            let stream = read_request(&mut socket).await.unwrap();
            let goaway = frame(GOAWAY, 0, CONNECTION, &[stream, [0; 4]].concat());
            socket.write_all(&[ok(stream), goaway].concat()).await.unwrap();
        } else {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(socket.read_u8().await.unwrap());
            }
            socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        }
        socket.shutdown().await.unwrap();
        socket.read_to_end(&mut Vec::new()).await.unwrap();
        closed.send_modify(|closed| *closed += 1);
    }
}

#[tokio::test]
async fn a_connection_that_the_peer_has_closed_is_not_handed_out() {
    for http2 in [false, true] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let (closes, closed) = watch::channel(0);
        tokio::spawn(serve_once_each(http2, closes, listener));
        let client = over_http2(http2).build().unwrap();
        for round in 0..3 {
            reaches(&closed, round).await;
            // Nobody sends a POST again of which it is not certain that it was not processed.
            let response =
                timeout(FOREVER, client.post(&url).send_body(b"once")).await.expect("it ends").unwrap();
            assert_eq!(response.status(), Status::OK);
        }
    }
}
