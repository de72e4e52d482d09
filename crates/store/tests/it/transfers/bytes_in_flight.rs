//! Large objects share a bound: they wait for each other, and a slow transfer gives way.

use std::net::SocketAddr;
use std::time::Duration;

use alula::testing::{TestServer, Wire};
use alula::{Client, Content, Routes, TransportFacts};
use alula_store::access::{Access, Users, hash_password};
use alula_store::engine::Memory;
use alula_store::{Config, Store};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const OBJECT_BYTES: u64 = 1024 * 1024;
const PASSWORD: &str = "open sesame";
const URL: &str = "http://store.example/buckets/b/keys/k";

/// A store over one version of HTTP.
struct Site {
    routes: Routes,
    is_http2: bool,
}

impl Site {
    /// A store with so many bytes for all that is under way, over each version.
    async fn both(bytes: u64) -> [Self; 2] {
        Self::both_within(bytes, Duration::from_secs(3_600)).await
    }

    /// As [`both`](Self::both), with a longest time for requests.
    async fn both_within(bytes: u64, timeout_max: Duration) -> [Self; 2] {
        let mut config = Self::config(bytes);
        config.timeout_max = timeout_max;
        Self::of(config).await
    }

    /// A store with two users, over each version.
    async fn with_users(bytes: u64) -> [Self; 2] {
        let hash = hash_password(PASSWORD.as_bytes()).expect("random bytes");
        let grants = |name| format!("[[users.{name}.grants]]\nallow = ['get', 'put']\n");
        let user = |name| format!("[users.{name}]\npassword = '{hash}'\n{}", grants(name));
        let users = Users::parse(&(user("one") + &user("many"))).expect("two users");
        let mut config = Self::config(bytes);
        config.access = Some(Access::in_clear_text(users).expect("random bytes"));
        Self::of(config).await
    }

    fn config(bytes: u64) -> Config {
        let mut config = Config::default();
        config.object_bytes_max = OBJECT_BYTES + 4096;
        config.bytes_in_flight_max = bytes;
        config
    }

    async fn of(config: Config) -> [Self; 2] {
        let store = Store::open(Memory::new(), config).await.expect("a store");
        let routes = store.routes().expect("routes");
        [false, true].map(|is_http2| Self { routes: routes.clone(), is_http2 })
    }

    fn server(&self, address: &str) -> TestServer {
        let peer = SocketAddr::new(address.parse().expect("an address"), 50_000);
        let server = TestServer::new(self.routes.clone()).facts(TransportFacts::new().peer(peer));
        if self.is_http2 { server.http2() } else { server }
    }

    /// A client of an address.
    fn from(&self, address: &str) -> Client {
        self.server(address).client()
    }
}

/// A client for each version, of a store in which one object is under way at a time.
async fn clients() -> [Client; 2] {
    Site::both(OBJECT_BYTES + 4096).await.map(|site| site.from("192.0.2.1"))
}

/// A content that comes in pieces of 64 KiB, with a pause before each.
fn in_pieces(pause: Duration, is_stated: bool) -> Content {
    let (mut end, other) = tokio::io::duplex(64 * 1024);
    tokio::spawn(async move {
        for _ in 0..OBJECT_BYTES / (64 * 1024) {
            tokio::time::sleep(pause).await;
            if end.write_all(&[7; 64 * 1024]).await.is_err() {
                return;
            }
        }
    });
    if is_stated { Content::reader_of(other, OBJECT_BYTES) } else { Content::reader(other) }
}

/// A content of which so many bytes come, and no more.
fn half_sent(bytes: u64, is_stated: bool) -> Content {
    let (mut end, other) = tokio::io::duplex(OBJECT_BYTES as usize);
    tokio::spawn(async move {
        tokio::io::copy(&mut tokio::io::repeat(7).take(bytes), &mut end).await.expect("room");
        std::future::pending::<()>().await;
        drop(end);
    });
    if is_stated { Content::reader_of(other, OBJECT_BYTES) } else { Content::reader(other) }
}

/// A content of which the last byte comes a second after the others.
fn in_two(content: String) -> Content {
    let (mut end, other) = tokio::io::duplex(OBJECT_BYTES as usize);
    let bytes = content.len() as u64;
    tokio::spawn(async move {
        let (last, others) = content.as_bytes().split_last().expect("a content");
        end.write_all(others).await.expect("room");
        tokio::time::sleep(Duration::from_secs(1)).await;
        end.write_all(&[*last]).await.expect("room");
    });
    Content::reader_of(other, bytes)
}

fn whole() -> Content {
    Content::reader_of(tokio::io::repeat(7).take(OBJECT_BYTES), OBJECT_BYTES)
}

/// A content of which half comes, and then a KiB in a second: as much as a server bears when nobody waits.
fn slow(is_stated: bool) -> Content {
    let (mut end, other) = tokio::io::duplex(OBJECT_BYTES as usize);
    tokio::spawn(async move {
        tokio::io::copy(&mut tokio::io::repeat(7).take(OBJECT_BYTES / 2), &mut end).await.expect("room");
        while end.write_all(&[7; 1024]).await.is_ok() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    });
    if is_stated { Content::reader_of(other, OBJECT_BYTES) } else { Content::reader(other) }
}

async fn put(client: &Client, content: Content) -> u16 {
    put_within(client, content, 600_000).await
}

async fn put_within(client: &Client, content: Content, millis: u64) -> u16 {
    let media_type = "application/octet-stream";
    let put = client.put(format!("{URL}?timeout={millis}")).content(content.media_type(media_type));
    put.send().await.expect("an answer").status().as_u16()
}

async fn put_by((client, user): &(Client, String), content: Content) -> u16 {
    let put = client.put(format!("{URL}?timeout=20000")).basic_auth(user, PASSWORD);
    let answer = put.content(content.media_type("application/octet-stream")).send().await;
    answer.map_or(0, |answer| answer.status().as_u16())
}

/// The length of the object, as a user reads it.
async fn get_by((client, user): &(Client, String)) -> Option<usize> {
    let get = client.get(format!("{URL}?timeout=20000")).basic_auth(user, PASSWORD);
    Some(get.send().await.ok()?.bytes().await.ok()?.len())
}

async fn read_or_fail(client: &Client) -> Option<usize> {
    let mut answer = client.get(URL).send().await.ok()?;
    Some(answer.bytes().await.ok()?.len())
}

/// The length of the object.
async fn read(client: &Client) -> u64 {
    let mut answer = client.get(format!("{URL}?timeout=600000")).send().await.expect("an answer");
    answer.bytes().await.expect("it is whole").len() as u64
}

#[tokio::test]
async fn writes_wait_for_each_other() {
    for client in clients().await {
        let unstated = || Content::reader(tokio::io::repeat(7).take(OBJECT_BYTES));
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
        assert!([one, two, three].iter().all(|bytes| bytes.len() as u64 == OBJECT_BYTES));
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
            assert_eq!(read(&client).await, OBJECT_BYTES);
            assert_eq!(slow.await.expect("no panic"), 408);
        }
    }
}

/// Twelve that have sent half and go on by 600 bytes a second hold nobody up for long.
#[tokio::test(start_paused = true)]
async fn slow_writes_keep_nobody_out() {
    for site in Site::both(4 * OBJECT_BYTES).await {
        for is_stated in [true, false] {
            let many = site.from("192.0.2.1");
            let slow: Vec<_> = std::iter::repeat_with(|| {
                let many = many.clone();
                tokio::spawn(async move { put(&many, slow(is_stated)).await })
            })
            .take(12)
            .collect();
            tokio::time::sleep(Duration::from_secs(1)).await;
            let (one, begun) = (site.from("192.0.2.2"), tokio::time::Instant::now());
            for _ in 0..10 {
                assert_eq!(put_within(&one, whole(), 20_000).await, 204);
                let read = one.get(format!("{URL}?timeout=20000")).send().await.expect("an answer");
                assert_eq!(read.status(), 200);
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
            slow.iter().for_each(tokio::task::JoinHandle::abort);
        }
    }
}

/// A length that is stated and does not come takes no room.
#[tokio::test(start_paused = true)]
async fn a_length_that_is_stated_takes_no_room() {
    for site in Site::both(4 * OBJECT_BYTES).await {
        let many = site.from("192.0.2.1");
        let silent: Vec<_> = std::iter::repeat_with(|| {
            let many = many.clone();
            tokio::spawn(async move { put(&many, half_sent(0, true)).await })
        })
        .take(12)
        .collect();
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(put_within(&site.from("192.0.2.2"), whole(), 500).await, 204);
        silent.iter().for_each(tokio::task::JoinHandle::abort);
    }
}

/// Writes of which each has sent half when there is no room for more all end, whether they come from one or
/// from many.
#[tokio::test(start_paused = true)]
async fn writes_that_are_half_sent_all_end() {
    for site in Site::both(4 * OBJECT_BYTES).await {
        for peers in [1, 40] {
            let mut all = tokio::task::JoinSet::new();
            for number in 0..40 {
                let client = site.from(&format!("192.0.2.{}", number % peers));
                all.spawn(async move {
                    put(&client, in_pieces(Duration::from_millis(200), number % 2 == 0)).await
                });
            }
            while let Some(status) = all.join_next().await {
                assert_eq!(status.expect("no panic"), 204);
            }
        }
    }
}

/// Changes of which each has come in whole, and of which one alone has room, all end.
#[tokio::test(start_paused = true)]
async fn changes_of_a_large_map_all_end() {
    const URL: &str = "http://store.example/types/maps/buckets/b/datatypes/k?timeout=600000";
    let change = |from: usize| {
        let fields: Vec<_> =
            (from..from + 5_000).map(|field| format!(r#""{field:08}_register":"12""#)).collect();
        format!(r#"{{"update":{{{}}}}}"#, fields.join(","))
    };
    let mut config = Site::config(9 * OBJECT_BYTES);
    let maps = serde_json::json!({ "datatype": "map" });
    config.types.push(("maps".to_owned(), maps.as_object().expect("an object").clone()));
    for site in Site::of(config).await {
        let client = site.from("192.0.2.1");
        let post = async |content: Content| {
            let post = client.post(URL).header("content-type", "application/json").content(content);
            post.send().await.expect("an answer").status().as_u16()
        };
        assert_eq!(post(in_two(change(0))).await, 204);
        assert_eq!(post(in_two(change(5_000))).await, 204);
        // Half of them let the map grow, so that the others need more room than they did when they came.
        let again = || post(in_two(change(0)));
        let more = |from| post(in_two(change(from)));
        let all = tokio::join!(
            again(),
            more(5_100),
            again(),
            more(5_200),
            again(),
            more(5_300),
            again(),
            more(5_400)
        );
        assert_eq!(all, (204, 204, 204, 204, 204, 204, 204, 204));
    }
}

/// Answers that nobody reads keep nobody out.
#[tokio::test(start_paused = true)]
async fn answers_that_nobody_reads_keep_nobody_out() {
    for site in Site::both(4 * OBJECT_BYTES).await {
        assert_eq!(put(&site.from("192.0.2.1"), whole()).await, 204);
        let mut unread = Vec::new();
        for _ in 0..12 {
            let client = site.server("192.0.2.1").to_client(Wire::new().silent_after(40_000)).client();
            unread.push(tokio::spawn(async move { read_or_fail(&client).await }));
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        let one = site.from("192.0.2.2");
        for _ in 0..10 {
            let mut answer = one.get(format!("{URL}?timeout=20000")).send().await.expect("an answer");
            assert_eq!(answer.status(), 200);
            assert_eq!(answer.bytes().await.expect("it is whole").len() as u64, OBJECT_BYTES);
        }
        unread.iter().for_each(tokio::task::JoinHandle::abort);
    }
}

/// One user who fills his share, with contents that come by halves and with answers that are not read, keeps
/// no other user of the same address out.
#[tokio::test(start_paused = true)]
async fn a_user_who_fills_his_share_keeps_no_other_out() {
    for site in Site::with_users(4 * OBJECT_BYTES).await {
        let of = |server: TestServer, user: &str| (server.client(), user.to_owned());
        let one = of(site.server("192.0.2.1"), "one");
        assert_eq!(put_by(&one, whole()).await, 204);
        let mut held = tokio::task::JoinSet::new();
        for number in 0..12 {
            let wire = Wire::new().silent_after(40_000);
            let unread = of(site.server("192.0.2.1").to_client(wire), "many");
            held.spawn(async move { get_by(&unread).await.is_some() });
            let half = of(site.server("192.0.2.1"), "many");
            held.spawn(async move { put_by(&half, slow(number % 2 == 0)).await == 204 });
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        for _ in 0..5 {
            assert_eq!(put_by(&one, whole()).await, 204);
            assert_eq!(get_by(&one).await, Some(OBJECT_BYTES as usize));
        }
    }
}

/// Small answers that nobody reads hold room as soon as they are many, and keep nobody out either.
#[tokio::test(start_paused = true)]
async fn small_answers_that_nobody_reads_keep_nobody_out() {
    const SMALL_URL: &str = "http://store.example/buckets/b/keys/small";
    // Over HTTP/1.1 the output of a connection takes a small answer at once.
    let [_, site] = Site::both(4 * OBJECT_BYTES).await;
    let one = site.from("192.0.2.1");
    assert_eq!(put(&one, whole()).await, 204);
    let small = one.put(SMALL_URL).header("content-type", "text/plain").body(vec![7; 60_000]);
    assert_eq!(small.send().await.expect("an answer").status(), 204);
    let mut unread = tokio::task::JoinSet::new();
    for number in 0..40 {
        let address = format!("192.0.2.{}", 100 + number);
        let client = site.server(&address).to_client(Wire::new().silent_after(1_000)).client();
        for _ in 0..20 {
            let client = client.clone();
            unread.spawn(async move { client.get(SMALL_URL).send().await?.bytes().await });
        }
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    for _ in 0..10 {
        let mut answer = one.get(format!("{URL}?timeout=20000")).send().await.expect("an answer");
        assert_eq!(answer.status(), 200);
        assert_eq!(answer.bytes().await.expect("it is whole").len() as u64, OBJECT_BYTES);
    }
}

/// Queries with patterns are on the account of who asks: many that nobody reads keep no other query out.
#[tokio::test(start_paused = true)]
async fn queries_that_nobody_reads_keep_no_other_out() {
    const QUERY_URL: &str = "http://store.example/buckets/b/index/x_bin/a/b?term_regex=a&timeout=20000";
    let [_, site] = Site::both(4 * OBJECT_BYTES).await;
    let one = site.from("192.0.2.1");
    for number in 0..400 {
        let url = format!("http://store.example/buckets/b/keys/{number:0>500}");
        let small =
            one.put(url).header("content-type", "text/plain").header("x-riak-index-x_bin", "a").body("v");
        assert_eq!(small.send().await.expect("an answer").status(), 204);
    }
    let many = site.server("192.0.2.2").to_client(Wire::new().silent_after(1_000)).client();
    let mut unread = tokio::task::JoinSet::new();
    for _ in 0..1_000 {
        let many = many.clone();
        unread.spawn(async move { many.get(QUERY_URL).send().await?.bytes().await });
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    for _ in 0..3 {
        let mut answer = one.get(QUERY_URL).send().await.expect("an answer");
        assert_eq!(answer.status(), 200);
        assert!(answer.bytes().await.expect("it is whole").len() > 400 * 500);
    }
}

/// An answer whose peer takes pauses is whole while nobody waits for its room.
#[tokio::test(start_paused = true)]
async fn a_paused_reader_is_whole_while_nobody_waits() {
    for site in Site::both(4 * OBJECT_BYTES).await {
        let client = site.from("192.0.2.1");
        assert_eq!(put(&client, whole()).await, 204);
        let mut answer = client.get(URL).send().await.expect("an answer");
        let mut bytes = 0;
        while bytes < OBJECT_BYTES / 2 {
            bytes += answer.chunk().await.expect("content").map_or(0, |chunk| chunk.len() as u64);
        }
        tokio::time::sleep(Duration::from_secs(20)).await;
        bytes += answer.bytes().await.expect("it is whole").len() as u64;
        assert_eq!(bytes, OBJECT_BYTES);
    }
}

/// A time above the longest, and one without end, are the longest.
#[tokio::test(start_paused = true)]
async fn the_time_of_a_request_has_a_bound() {
    for site in Site::both_within(OBJECT_BYTES + 4096, Duration::from_secs(5)).await {
        assert_eq!(put(&site.from("192.0.2.1"), whole()).await, 204);
        let (slow, late) = (site.from("192.0.2.1"), site.from("192.0.2.2"));
        for timeout in ["0", "9999999", "5000"] {
            let holds = tokio::spawn({
                let slow = slow.clone();
                async move { put(&slow, in_pieces(Duration::from_millis(400), true)).await }
            });
            tokio::time::sleep(Duration::from_secs(1)).await;
            let begun = tokio::time::Instant::now();
            let answer = late.get(format!("{URL}?timeout={timeout}")).send().await.expect("an answer");
            assert_eq!(answer.status(), 503, "{timeout}");
            let waited = begun.elapsed().as_secs_f64();
            assert!((4.9..5.5).contains(&waited), "{timeout}: {waited}");
            holds.abort();
        }
    }
}
