//! A service and its test, without a network: client and server are joined in memory.
//!
//! `cargo run -p alula --example testing --features server`
//!
//! In a program of your own, `counts_visits` and the others are `#[tokio::test]`s.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use alula::{
    Error, Exchange, Sent, Status,
    testing::{self, TestServer, Wire},
};

/// The service under test.
#[derive(Default)]
struct Visits(AtomicU64);

impl Visits {
    fn handler(self) -> impl alula::Handler {
        let visits = std::sync::Arc::new(self);
        move |exchange| {
            let visits = visits.clone();
            async move { visits.answer(exchange).await }
        }
    }

    async fn answer(&self, exchange: Exchange) -> Result<Sent, Error> {
        match exchange.request().path() {
            "/visits" => {
                let visit = self.0.fetch_add(1, Ordering::Relaxed) + 1;
                exchange.respond(Status::OK).send(format!("visit {visit}")).await
            }
            _ => exchange.respond(Status::NOT_FOUND).send("").await,
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    counts_visits().await?;
    answers_however_bytes_arrive().await?;
    fails_when_the_connection_breaks().await;
    println!("3 tests passed");
    Ok(())
}

async fn counts_visits() -> Result<(), Error> {
    let client = testing::client(Visits::default().handler());
    for visit in 1..=3 {
        let mut response = client.get("http://test/visits").send().await?;
        assert_eq!(response.status(), 200);
        assert_eq!(response.text().await?, format!("visit {visit}"));
    }
    assert_eq!(client.get("http://test/nowhere").send().await?.status(), 404);
    Ok(())
}

async fn answers_however_bytes_arrive() -> Result<(), Error> {
    let one_by_one = || Wire::new().pieces_of(1);
    let server = TestServer::new(Visits::default().handler()).http2();
    let server = server.to_server(one_by_one()).to_client(one_by_one());
    let mut response = server.client().get("http://test/visits").send().await?;
    assert_eq!(response.text().await?, "visit 1");
    Ok(())
}

async fn fails_when_the_connection_breaks() {
    let server = TestServer::new(Visits::default().handler()).to_client(Wire::new().reset_after(30));
    let call = server.client();
    let failed = call.get("http://test/visits").timeout(Duration::from_secs(5)).send().await;
    assert!(failed.is_err_and(|error| error.to_string().contains("reset")));
}
