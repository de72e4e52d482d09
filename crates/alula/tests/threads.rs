//! What warm requests allocate on a runtime of many threads, where calls of one connection run beside each other and
//! beside the server's handlers.

use std::time::Duration;

use alula::{Client, Error, Exchange, Sent, Server, Status};
use alula_tally::{Counts, Tally};
use alula_testkit::lists;

#[global_allocator]
static ALLOCATOR: Tally = Tally::system();

const WARM_UP: usize = 10_000;
const REQUESTS: usize = 2_000;
/// A thread may meet what it never met before; what a request costs is seen each time.
const ATTEMPTS: usize = 20;

static CONTENT: [u8; 1_024] = [b'c'; 1_024];

#[test]
fn what_requests_allocate_on_two_threads() {
    assert!(alula_tally::is_installed());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let server = Server::bind("127.0.0.1:0").await.unwrap();
        let address = server.address().unwrap();
        tokio::spawn(server.serve(answer));
        let client = Client::builder().http2_prior_knowledge(true).build().unwrap();
        for in_flight in [1, 100] {
            for octets in [0, CONTENT.len()] {
                expect_none(&client, &format!("http://{address}/{octets}"), in_flight).await;
            }
        }
    });
}

/// Nothing, however the threads meet. What a connection, a queue or a slot needs at most it may come to need only now; what a
/// request costs is seen in every attempt.
async fn expect_none(client: &Client, url: &str, in_flight: usize) {
    measure(client, url, in_flight, WARM_UP).await;
    let mut costs = Vec::new();
    while costs.last().is_none_or(|cost| *cost > 0) {
        assert!(costs.len() < ATTEMPTS, "{in_flight} in flight: {costs:?} for {REQUESTS} requests");
        let one = measure(client, url, in_flight, REQUESTS).await;
        let two = measure(client, url, in_flight, 2 * REQUESTS).await;
        costs.push(two.allocations as i64 - one.allocations as i64);
    }
    println!("{in_flight} in flight, {url}: {costs:?} for {REQUESTS} requests");
}

/// What the whole process does while so many requests are made: the callers themselves are part of it.
async fn measure(client: &Client, url: &str, in_flight: usize, requests: usize) -> Counts {
    let before = alula_tally::process();
    let callers: Vec<_> = (0..in_flight)
        .map(|_| {
            let (client, url) = (client.clone(), url.to_owned());
            tokio::spawn(async move {
                for _ in 0..requests / in_flight {
                    get(&client, &url).await.unwrap();
                }
            })
        })
        .collect();
    for caller in callers {
        tokio::time::timeout(Duration::from_secs(60), caller)
            .await
            .expect("no caller is left waiting")
            .unwrap();
    }
    alula_tally::process() - before
}

async fn get(client: &Client, url: &str) -> Result<(), Error> {
    let mut call = client.get(url);
    for (name, value) in lists::REQUEST {
        call = call.field(name, value);
    }
    let mut response = call.send().await?;
    assert_eq!(response.status(), Status::OK);
    assert_eq!(response.fields().len(), lists::RESPONSE.len() + 1);
    response.body().copy_to(&mut tokio::io::sink()).await?;
    Ok(())
}

async fn answer(exchange: Exchange) -> Result<Sent, Error> {
    let octets: usize = exchange.request().path()[1..].parse().unwrap();
    let mut reply = exchange.respond(Status::OK);
    for (name, value) in lists::RESPONSE {
        reply = reply.field(name, value);
    }
    reply.send(&CONTENT[..octets]).await
}
