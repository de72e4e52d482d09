//! Failures that want to be waited for, or to be tried again without end.

use std::time::Duration;

use alula::Retries;
use alula_conformance::attack::{ByItself, told};
use tokio::time::timeout;

use super::site::{Answer, Site, block_on, clients, send};

/// As good as without waiting.
fn tries(max: u32) -> Retries {
    Retries::new(max).backoff(Duration::from_micros(10), Duration::from_millis(1))
}

#[test]
fn a_year() {
    /// Longer than an exchange on this machine takes.
    const LONG: Duration = Duration::from_millis(300);
    /// Longer than a test waits for anything.
    const PATIENCE: Duration = Duration::from_secs(20);
    let site = Site::start(|_| Answer::new(503).header("retry-after", "31536000"));
    let url = site.url("/");
    for client in clients(|builder| builder.retries(tries(3))) {
        let outcome = block_on(async { timeout(PATIENCE, send(client.get(&url))).await });
        let outcome = outcome.expect("it does not wait for a year");
        assert_eq!(site.take_seen().len(), 1);
        ByItself::check("`retry-after` of a year", "`retry_after_max`, 60 s", &told(&outcome));
    }
    for client in clients(|builder| builder.retries(tries(3).retry_after_max(Duration::MAX))) {
        let waits = block_on(async { timeout(LONG, client.get(&url).send()).await.is_err() });
        assert!(waits, "it is told to wait");
    }
}

#[test]
fn storms() {
    const CALLS: usize = 100;
    let site = Site::start(|_| Answer::new(503));
    let url = site.url("/");
    for client in clients(|builder| builder.retries(tries(4))) {
        block_on(async {
            for _ in 0..CALLS {
                assert_eq!(send(client.get(&url)).await.expect("a response").status().as_u16(), 503);
            }
        });
        // Ten at once, and a tenth of a retry for each call.
        let requests = site.take_seen().len();
        assert!((CALLS + 10..=CALLS + 10 + CALLS / 10).contains(&requests), "{requests} requests");
        let told = "the response, 503; 100 calls make 120 requests at the most";
        ByItself::check("an origin that always fails", "ten retries, and one for ten calls", told);
    }
}
