//! The hooks of `alula store` allocate nothing once warm, over both versions: an access log, a log of slow
//! requests to which each is slow, and metrics of requests and of the calls of the engine.
//!
//! Client and server have a thread each. A run of N requests is repeated with 2N; what the second made more
//! is what N requests cost.

#[allow(dead_code, reason = "a part of it is used")]
#[path = "../../src/hooks/lines.rs"]
mod lines;
#[allow(unused_imports, reason = "its own tests run in the crate")]
#[path = "../../src/hooks/slow_log.rs"]
mod slow_log;

use std::{future::Future, io, sync::mpsc, thread, time::Duration};

use alula::{AccessLog, Client, FieldSection, Hook, Metrics, Server, Status};
use alula_store::engine::{EngineMetrics, Measured, Memory};
use alula_store::{Config, Store};
use alula_tally::Side;
use alula_testkit::Windows;
use lines::Lines;
use slow_log::SlowLog;

const WARM_UP: usize = 4_000;
const REQUESTS: usize = 200;
/// The bytes of lines that wait at most: more than two runs of requests have.
const LINES_BYTES: usize = 256 * 1024;

pub(crate) fn hooked_reads_of_objects_allocate_nothing() {
    assert!(alula_tally::is_installed());
    let (port, engine) = serve();
    let url = format!("http://127.0.0.1:{port}/buckets/b/keys/k");
    on_a_thread(Side::CLIENT, async move {
        let mut failures = Vec::new();
        for http2 in [false, true] {
            let client = Client::builder().http2_prior_knowledge(http2).user_agent("u/1").build().unwrap();
            let put =
                client.put(&url).header("content-type", "text/plain").header("x-riak-meta-size", "large");
            assert_eq!(put.body("value").send().await.unwrap().status(), 204);
            ask(&client, &url, WARM_UP).await;
            let mut windows = Windows::expecting(0);
            while windows.are_open() {
                let one = cost(&client, &url, REQUESTS).await;
                windows.add(cost(&client, &url, 2 * REQUESTS).await as i64 - one as i64);
            }
            println!("HTTP/2 {http2}: {:?} allocations for {REQUESTS} requests", windows.costs());
            if !windows.are_met() {
                failures.push(http2);
            }
        }
        assert!(failures.is_empty(), "{failures:?}");
    });
    let text = engine.text();
    let reads = text.lines().find_map(|line| line.strip_prefix(READS)).and_then(|it| it.parse().ok());
    assert!(reads >= Some(2 * WARM_UP), "the engine was not measured: {text}");
}

const READS: &str = "store_engine_calls_total{engine=\"memory\",call=\"get\",outcome=\"ok\"} ";

async fn cost(client: &Client, url: &str, requests: usize) -> u64 {
    let before = alula_tally::side(Side::SERVER);
    ask(client, url, requests).await;
    (alula_tally::side(Side::SERVER) - before).allocations
}

async fn ask(client: &Client, url: &str, requests: usize) {
    for _ in 0..requests {
        let mut response = client.get(url).send().await.unwrap();
        assert_eq!(response.status(), 200);
        while response.body().chunk().await.unwrap().is_some() {}
    }
}

/// Starts the server on a thread of its own, and returns its port and the metrics of its engine.
fn serve() -> (u16, EngineMetrics) {
    let (tell, started) = mpsc::channel();
    thread::spawn(move || {
        on_a_thread(Side::SERVER, async move {
            let store = Store::open(Measured::on(Memory::new()), Config::default()).await.unwrap();
            let server = Server::bind("127.0.0.1:0").await.unwrap();
            let engine = store.engine().metrics().unwrap().clone();
            tell.send((server.address().unwrap().port(), engine)).unwrap();
            let (written, is_written) = mpsc::channel();
            let (lines, _writer) = Lines::to(Written(written));
            // One buffer fills while the other is written: both are made as long as a slow writer has them
            // become.
            for _ in 0..2 {
                lines.push(|line| line.resize(LINES_BYTES, b'\n'));
                is_written.recv().unwrap();
            }
            let log = AccessLog::to_writer(io::sink()).unwrap();
            let router = store.router().hook(log).hook(Metrics::new()).hook(Dated);
            let router = router.hook(SlowLog::new(lines, Duration::ZERO));
            server.serve(router.build().unwrap()).await.unwrap();
        });
    });
    started.recv().unwrap()
}

/// Says when lines were written.
struct Written(mpsc::Sender<()>);

impl io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Nobody asks any more once the buffers are warm.
        let _ = self.0.send(());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Gives all answers one date: that of every second would enter HPACK's table.
struct Dated;

impl Hook for Dated {
    fn head(&self, _: Status, headers: &mut FieldSection) {
        headers.set("date", "Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
    }
}

fn on_a_thread(side: Side, work: impl Future<Output = ()>) {
    alula_tally::set_side(side);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(work);
}
