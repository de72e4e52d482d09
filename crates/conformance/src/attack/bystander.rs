//! A client that behaves: one request after the other on a connection of its own while others attack.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use ::alula::Client;

use super::report::Bystood;

/// More than this no request may take.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) struct Bystander {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Bystood>,
}

impl Bystander {
    /// Begins, and returns when its first request was answered.
    pub(super) fn start(port: u16) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (begun, has_begun) = std::sync::mpsc::channel();
        let thread = thread::spawn({
            let stop = Arc::clone(&stop);
            move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                runtime.expect("a runtime can be made").block_on(behave(port, &stop, || {
                    let _ = begun.send(());
                }))
            }
        });
        has_begun.recv().expect("the server answers before anyone attacks");
        Self { stop, thread }
    }

    /// Stops after the request that is under way.
    pub(super) fn stop(self) -> Bystood {
        self.stop.store(true, Ordering::Release);
        self.thread.join().expect("it only asks and counts")
    }
}

async fn behave(port: u16, stop: &AtomicBool, begun: impl FnOnce()) -> Bystood {
    let client = Client::builder().http2_prior_knowledge(true).timeout(PATIENCE).build().expect("a client");
    let url = format!("http://127.0.0.1:{port}/small");
    let mut begun = Some(begun);
    let (mut times, mut failed) = (Vec::new(), 0);
    // At least one request runs while the attack does, however short that is.
    let mut last = false;
    loop {
        let start = Instant::now();
        match served(&client, &url).await {
            Ok(()) => times.push(start.elapsed()),
            Err(_) => failed += 1,
        }
        if let Some(begun) = begun.take() {
            begun();
        }
        if last {
            break;
        }
        last = stop.load(Ordering::Acquire);
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    Bystood::of(times, failed)
}

async fn served(client: &Client, url: &str) -> Result<(), ::alula::Error> {
    let mut response = client.get(url).send().await?;
    while response.body().chunk().await?.is_some() {}
    Ok(())
}
