//! Shows the steps of one call, and how long each took.
//!
//! `cargo run -p alula --example observer -- https://example.com/`
//!
//! Beside reqwest: an observer sees the addresses that are tried, the connection, the head as it is on the
//! wire, redirects and retries, for one call; other calls of the client cost nothing more for it.

use std::{error::Error, time::Instant};

use alula::{Client, ExchangeEvent, Observer};

struct Steps {
    began: Instant,
}

impl Observer for Steps {
    fn event(&self, event: &ExchangeEvent<'_>) {
        let step = match event {
            ExchangeEvent::Connecting(address) => format!("trying {address}"),
            ExchangeEvent::Connected(to) if to.is_reused() => {
                format!("the connection to {} again", to.origin())
            }
            ExchangeEvent::Connected(to) => format!("connected to {} by {}", to.origin(), to.version()),
            ExchangeEvent::Request(head) => format!("sent a head of {} lines", head.lines().count()),
            ExchangeEvent::Response(head) => format!("the head of the answer: {}", head.status()),
            ExchangeEvent::Redirected(redirect, _) => format!("leads to {}", redirect.to()),
            ExchangeEvent::Retrying(setback, wait) => format!("again in {wait:?}: {setback}"),
            ExchangeEvent::Failed(error) => format!("failed: {error}"),
            _ => return,
        };
        eprintln!("{:>9.3?} {step}", self.began.elapsed());
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().nth(1).ok_or("which URL?")?;
    let client = Client::new()?;
    let call = client.get(&url).observe(Steps { began: Instant::now() });
    let mut response = call.send().await?;
    println!("{} bytes", response.bytes().await?.len());
    Ok(())
}
