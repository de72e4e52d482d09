//! Ten thousand requests of 64 tasks, to servers that close idle connections, say goodbye, refuse streams,
//! reset, stall and delay at random. Every request ends in success or in an error that says what it was, no
//! POST is processed twice, and nothing is left behind.
//!
//! It counts what this process holds, so nothing runs beside it. What servers and callers draw follows from
//! the seed, which is printed; `ALULA_CHAOS_SEED` gives one. The order in which tasks meet does not.

use std::{
    env,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use alula::{Client, ClientBuilder, Error, Status};
use alula_conformance::{
    chaos::{Books, serve_http1, serve_http2},
    poll, process,
};
use alula_testkit::Rng;
use tokio::{
    net::TcpListener,
    runtime::{Builder, Runtime},
    task::JoinHandle,
    time::timeout,
};

const REQUESTS: u64 = 10_000;
const TASKS: u64 = 64;
/// Requests until the runtime has made what it keeps.
const FIRST_REQUESTS: u64 = 200;
/// How often a request is tried by its task. Its client tries as well.
const TRIES: usize = 30;
/// The time that a call waits for servers that stall.
const DEADLINE: Duration = Duration::from_millis(400);
/// The time that a call may take before it hangs.
const HANG: Duration = Duration::from_secs(10);
/// The time that it may take in all.
const LONGEST: Duration = Duration::from_secs(55);

pub(crate) fn every_request_ends_and_no_post_is_processed_twice() {
    let seed =
        env::var("ALULA_CHAOS_SEED").ok().map_or_else(fresh_seed, |text| text.parse().expect("a number"));
    println!("ALULA_CHAOS_SEED={seed}");
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    run(&runtime, seed, FIRST_REQUESTS);
    let before = at_rest(&runtime).expect("what the first requests began ends");
    let tally = run(&runtime, seed, REQUESTS);
    println!("{tally:?}");
    let after = at_rest(&runtime);
    assert_eq!(after, Some(before), "descriptors, with no task left, before and after");
    let [gets, posts, failed] = [&tally.gets, &tally.posts, &tally.failed].map(|count| count.load(Relaxed));
    assert_eq!((gets + posts + failed) as u64, REQUESTS);
    assert!(posts > 2 * failed, "most POSTs succeed");
}

/// What has become of requests.
#[derive(Debug, Default)]
struct Tally {
    gets: AtomicUsize,
    posts: AtomicUsize,
    /// POSTs that may have been processed, and were not answered.
    failed: AtomicUsize,
    /// Tries that failed and were followed by another.
    tries: AtomicUsize,
}

fn run(runtime: &Runtime, seed: u64, requests: u64) -> Arc<Tally> {
    let outcome = runtime.block_on(async { timeout(LONGEST, chaos(seed, requests)).await });
    outcome.expect("something hangs")
}

async fn chaos(seed: u64, requests: u64) -> Arc<Tally> {
    let (books, tally, next) =
        (Arc::<Books>::default(), Arc::<Tally>::default(), Arc::<AtomicU64>::default());
    let listeners = [TcpListener::bind("127.0.0.1:0").await, TcpListener::bind("127.0.0.1:0").await];
    let [http1, http2] = listeners.map(|listener| listener.expect("a port can be had"));
    let urls = [&http1, &http2].map(|it| format!("http://{}", it.local_addr().expect("it is bound")));
    let servers = [
        tokio::spawn(serve_http1(http1, books.clone(), seed)),
        tokio::spawn(serve_http2(http2, books.clone(), seed)),
    ];
    let clients = [client(Client::builder()), client(Client::builder().http2_prior_knowledge(true))];
    let tasks: Vec<JoinHandle<()>> = (0..TASKS)
        .map(|number| {
            let which = (number % 2) as usize;
            let task = Task {
                client: clients[which].clone(),
                url: urls[which].clone(),
                books: books.clone(),
                tally: tally.clone(),
                rng: Rng::new(seed ^ (number << 32)),
            };
            tokio::spawn(task.work(next.clone(), requests))
        })
        .collect();
    for task in tasks {
        task.await.expect("every task finds what it has to find");
    }
    servers.iter().for_each(JoinHandle::abort);
    let fates: Vec<_> = books.fates().collect();
    println!("{fates:?}");
    assert_eq!(books.twice(), Vec::<String>::new(), "POSTs that were processed twice");
    assert!(requests < REQUESTS || fates.iter().all(|(_, times)| *times > 0), "each fate had its turn");
    tally
}

/// Few connections that live shortly, so that there is a queue, and connections end in all ways there are.
fn client(builder: ClientBuilder) -> Client {
    let builder = builder.connections_max(12).idle_max(6).http2_connections_max(3);
    let builder = builder.keep_idle(Duration::from_millis(30)).lifetime(Duration::from_millis(200));
    builder.timeout(DEADLINE).build().expect("a client")
}

struct Task {
    client: Client,
    url: String,
    books: Arc<Books>,
    tally: Arc<Tally>,
    rng: Rng,
}

impl Task {
    async fn work(mut self, next: Arc<AtomicU64>, requests: u64) {
        loop {
            let id = next.fetch_add(1, Relaxed);
            if id >= requests {
                return;
            }
            let id = format!("{id}");
            match self.rng.one_in(2) {
                true => self.get(&id).await,
                false => self.post(&id).await,
            }
        }
    }

    /// A GET may be sent as often as one likes, and succeeds in the end.
    async fn get(&mut self, id: &str) {
        let url = format!("{}/{id}", self.url);
        for _ in 0..TRIES {
            let answer = async { content(self.client.get(&url).send().await?).await };
            match timeout(HANG, answer).await.expect("a GET hangs") {
                Ok(answer) => {
                    assert_eq!(answer, id);
                    self.tally.gets.fetch_add(1, Relaxed);
                    return;
                }
                Err(_) => self.tally.tries.fetch_add(1, Relaxed),
            };
        }
        panic!("a GET failed {TRIES} times");
    }

    /// A POST is sent again only where its error says that this is safe.
    async fn post(&mut self, id: &str) {
        let mut sent = format!("{id}\n").into_bytes();
        if self.rng.one_in(4) {
            let more = self.rng.below(50_000);
            sent.resize(sent.len() + more, b'x');
        }
        for _ in 0..TRIES {
            let answer = async { content(self.client.post(&self.url).send_body(&sent).await?).await };
            match timeout(HANG, answer).await.expect("a POST hangs") {
                Ok(answer) => {
                    assert_eq!(answer, id);
                    assert!(self.books.has(id), "{id} was answered and not processed");
                    self.tally.posts.fetch_add(1, Relaxed);
                    return;
                }
                Err(error) if error.is_retryable() => {
                    assert!(!self.books.has(id), "{id} was processed, and yet: {error}");
                    self.tally.tries.fetch_add(1, Relaxed);
                }
                Err(_) => {
                    self.tally.failed.fetch_add(1, Relaxed);
                    return;
                }
            }
        }
        panic!("a POST was not processed {TRIES} times");
    }
}

async fn content(mut response: alula::Response) -> Result<String, Error> {
    assert_eq!(response.status(), Status::OK);
    let mut content = Vec::new();
    while let Some(chunk) = response.body().chunk().await? {
        content.extend_from_slice(chunk);
    }
    Ok(String::from_utf8(content).expect("it is a number"))
}

/// The descriptors held once no task is left and they stay the same; none when that does not come.
fn at_rest(runtime: &Runtime) -> Option<usize> {
    let (mut last, mut times) = (0, 0);
    poll::within(Duration::from_secs(20), || {
        let now = process::held(std::process::id()).descriptors;
        let is_at_rest = runtime.metrics().num_alive_tasks() == 0;
        times = if is_at_rest && now == last { times + 1 } else { 0 };
        last = now;
        (times == 20).then_some(now)
    })
}

fn fresh_seed() -> u64 {
    u64::from(std::process::id()) ^ std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos() as u64)
}
