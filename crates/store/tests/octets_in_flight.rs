//! Large objects share a bound: they wait for each other, and a slow transfer gives way.
#![forbid(unsafe_code)]

use std::time::Duration;

use alula::testing::TestServer;
use alula::{Client, Content};
use alula_store::engine::Memory;
use alula_store::{Config, Store};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const OBJECT_OCTETS: u64 = 1024 * 1024;
const URL: &str = "http://store.example/buckets/b/keys/k";

/// A client for each version, of a store in which one object is under way at a time.
async fn clients() -> [Client; 2] {
    let mut config = Config::default();
    config.object_octets_max = OBJECT_OCTETS + 4096;
    config.octets_in_flight_max = OBJECT_OCTETS + 4096;
    let store = Store::open(Memory::new(), config).await.expect("a store");
    let routes = store.routes().expect("routes");
    [TestServer::new(routes.clone()).client(), TestServer::new(routes).http2().client()]
}

fn whole() -> Content {
    Content::reader_of(tokio::io::repeat(7).take(OBJECT_OCTETS), OBJECT_OCTETS)
}

/// A content of which half comes, and then a KiB in a second: as much as a server bears when nobody waits.
fn slow(is_stated: bool) -> Content {
    let (mut end, other) = tokio::io::duplex(OBJECT_OCTETS as usize);
    tokio::spawn(async move {
        tokio::io::copy(&mut tokio::io::repeat(7).take(OBJECT_OCTETS / 2), &mut end).await.expect("room");
        while end.write_all(&[7; 1024]).await.is_ok() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    });
    if is_stated { Content::reader_of(other, OBJECT_OCTETS) } else { Content::reader(other) }
}

async fn put(client: &Client, content: Content) -> u16 {
    let media_type = "application/octet-stream";
    let put = client.put(format!("{URL}?timeout=600000")).content(content.media_type(media_type));
    put.send().await.expect("an answer").status().as_u16()
}

/// The length of the object.
async fn read(client: &Client) -> u64 {
    let mut answer = client.get(format!("{URL}?timeout=600000")).send().await.expect("an answer");
    answer.bytes().await.expect("it is whole").len() as u64
}

#[tokio::test]
async fn writes_wait_for_each_other() {
    for client in clients().await {
        let unstated = || Content::reader(tokio::io::repeat(7).take(OBJECT_OCTETS));
        let answers = tokio::join!(
            put(&client, whole()),
            put(&client, unstated()),
            put(&client, whole()),
            put(&client, unstated()),
        );
        assert_eq!(answers, (204, 204, 204, 204));
        let read =
            async || client.get(URL).send().await.expect("an answer").bytes().await.expect("it is whole");
        let (one, two, three) = tokio::join!(read(), read(), read());
        assert!([one, two, three].iter().all(|octets| octets.len() as u64 == OBJECT_OCTETS));
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_that_dribbles_gives_way() {
    for client in clients().await {
        assert_eq!(put(&client, whole()).await, 204);
        for is_stated in [true, false] {
            let slow = tokio::spawn({
                let client = client.clone();
                async move { put(&client, slow(is_stated)).await }
            });
            // It has its share by then.
            tokio::time::sleep(Duration::from_secs(1)).await;
            let late = client.get(format!("{URL}?timeout=1000")).send().await.expect("an answer");
            assert_eq!((late.status().as_u16(), late.headers().text("retry-after")), (503, Some("1")));
            assert_eq!(read(&client).await, OBJECT_OCTETS);
            assert_eq!(slow.await.expect("no panic"), 408);
        }
    }
}
