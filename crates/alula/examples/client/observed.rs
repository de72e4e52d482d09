//! Counts and a log: `cargo run -p alula --example observed --features server`, then `curl http://127.0.0.1:8080/wait/20` and
//! `curl http://127.0.0.1:8080/metrics`.

use std::{error::Error, time::Duration};

use alula::{
    AccessLog, Answer, Exchange, Health, Metrics, RequestId, Router, Sent, Server, Status, routing::get,
};

async fn wait(exchange: Exchange) -> Result<Sent, Answer> {
    tokio::time::sleep(Duration::from_millis(exchange.param_as("milliseconds")?)).await;
    Ok(exchange.respond(Status::OK).text("waited\n").await?)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8080".into());
    let server = Server::bind(&address).await?;
    println!("http://{}/wait/20", server.address()?);

    let (metrics, health) = (Metrics::new(), Health::new());
    let routes = Router::new()
        .hook(RequestId::new())
        .hook(AccessLog::to_writer(std::io::stdout())?.json())
        .hook(metrics.clone())
        .route("/wait/{milliseconds}", get(wait).timeout(Duration::from_secs(1)))
        .route("/metrics", get(metrics.handler()))
        .route("/livez", get(health.live()))
        .build()?;
    Ok(server.serve(routes).await?)
}
