//! Over TLS a warm request allocates what rustls does, and nothing beside: client and server are held against
//! two bare rustls sessions that move records as long, in the same order.
//!
//! A relay between the two writes the records down. Requests go one after the other, so that what is in a
//! record does not hang on who was faster.

mod bare;
mod relay;

use std::{net::SocketAddr, sync::mpsc, thread, time::Duration};

use alula::{Client, Error, Exchange, Identity, Sent, Server, Status};
use alula_tally::{Counts, Side};
use alula_testkit::lists;

use self::bare::Bare;
use self::relay::{Record, Relay};
use crate::support::on_a_thread;

const WARM_UP: usize = 2_000;
const REQUESTS: usize = 1_000;
static CONTENT: [u8; 1_024] = [b'c'; 1_024];

/// What goes up and what comes down.
#[derive(Clone, Copy, Debug)]
struct Work {
    up: usize,
    down: usize,
}

const WORK: [Work; 5] = [
    Work { up: 0, down: 0 },
    Work { up: 0, down: 2 },
    Work { up: 0, down: 1_024 },
    Work { up: 2, down: 2 },
    Work { up: 1_024, down: 1_024 },
];

pub(crate) fn a_request_over_tls_allocates_what_rustls_does() {
    assert!(alula_tally::is_installed());
    let (server, certificate) = serve();
    let relay = Relay::start(server);
    let mut bare = Bare::connected();
    on_a_thread(Side::CLIENT, async move {
        let client = Client::builder().add_roots_pem(certificate.as_bytes()).unwrap().build().unwrap();
        for work in WORK {
            make(&client, &relay, work, WARM_UP).await;
            relay.take();
            let alula = make(&client, &relay, work, REQUESTS).await;
            let records = relay.take();
            // Once to be as warm.
            bare.replay(&records);
            let rustls = bare.replay(&records);
            println!("{work:?}, {REQUESTS} requests: {}", in_words(&records));
            for (side, alula, rustls) in [("client", alula[0], rustls[0]), ("server", alula[1], rustls[1])] {
                println!("  {side}: {}, rustls {}", amount(alula), amount(rustls));
                assert_eq!(amount(alula), amount(rustls), "{side}, {work:?}");
            }
        }
    });
}

fn amount(counts: Counts) -> String {
    format!("{} allocations, {} bytes", counts.allocations, counts.bytes)
}

fn in_words(records: &[Record]) -> String {
    let sent = records.iter().filter(|record| record.from_client).count();
    format!("{sent} records sent, {} received", records.len() - sent)
}

/// Makes so many requests, and says what client and server allocated.
async fn make(client: &Client, relay: &Relay, work: Work, requests: usize) -> [Counts; 2] {
    let url = format!("https://localhost:{}/{}", relay.address.port(), work.down);
    let counts = || [Side::CLIENT, Side::SERVER].map(alula_tally::side);
    let before = counts();
    for _ in 0..requests {
        let answered = tokio::time::timeout(Duration::from_secs(60), request(client, &url, work));
        answered.await.expect("an answer in time").unwrap();
    }
    let after = counts();
    [after[0] - before[0], after[1] - before[1]]
}

async fn request(client: &Client, url: &str, work: Work) -> Result<(), Error> {
    let mut call = if work.up > 0 { client.post(url) } else { client.get(url) };
    for (name, value) in lists::REQUEST {
        call = call.header(name, value);
    }
    let mut response =
        if work.up > 0 { call.send_body(&CONTENT[..work.up]).await? } else { call.send().await? };
    assert_eq!(response.status(), Status::OK);
    let received = response.body().copy_to(&mut tokio::io::sink()).await?;
    assert_eq!(received, work.down as u64);
    Ok(())
}

/// Starts the server on a thread of its own; says where it is and what to trust.
fn serve() -> (SocketAddr, String) {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        on_a_thread(Side::SERVER, async move {
            let identity = Identity::self_signed(["localhost"]).unwrap();
            let certificate = identity.certificate_pem().unwrap().to_owned();
            let server = Server::builder().identity(identity).bind("127.0.0.1:0").await.unwrap();
            tell.send((server.address().unwrap(), certificate)).unwrap();
            server.serve(answer).await.unwrap();
        });
    });
    told.recv().unwrap()
}

async fn answer(mut exchange: Exchange) -> Result<Sent, Error> {
    let bytes: usize = exchange.request().path()[1..].parse().unwrap();
    while exchange.body().chunk().await?.is_some() {}
    let mut reply = exchange.respond(Status::OK);
    for (name, value) in lists::RESPONSE {
        reply = reply.header(name, value);
    }
    reply.send(&CONTENT[..bytes]).await
}
