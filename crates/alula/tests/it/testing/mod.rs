//! Client and server joined in memory (`alula::testing`), and connections that are handed to a server
//! (`serve_connection`).
//!
//! Nothing here has a socket: the clock is paused, so that limits of time are met at once, and the runtime
//! has one thread.

mod breaking;
mod exchanges;
mod facts;
mod keeping;
mod lasting;
mod pausing;
mod reading_late;

use std::time::Duration;

use alula::testing::{TestServer, Wire};
use alula::{Error, Exchange, FieldSection, Sent, Server, Status};

use crate::support::count;

/// One server for each version.
fn both() -> [TestServer; 2] {
    let server = || TestServer::with(Server::builder().extended_connect(true), answer);
    [server(), server().http2()]
}

/// The ways in which what is written can be cut.
fn wires() -> [Wire; 4] {
    [
        Wire::new(),
        Wire::new().pieces_of(1),
        Wire::new().random_pieces(3),
        Wire::new().random_pieces(4).capacity(100),
    ]
}

async fn answer(mut exchange: Exchange) -> Result<Sent, Error> {
    let path = exchange.request().path().to_owned();
    match path.as_str() {
        "/count" => {
            let bytes = count(exchange.body()).await?;
            exchange.respond(Status::OK).send(bytes.to_string()).await
        }
        "/peer" => {
            let (peer, request) = (exchange.peer(), exchange.request());
            let said = format!("{peer} {} {}", request.version(), request.scheme().unwrap_or_default());
            exchange.respond(Status::OK).send(said).await
        }
        "/stream" => {
            let mut writer = exchange.respond(Status::OK).header("trailer", "x-sum").stream().await?;
            for _ in 0..100 {
                writer.write(&[b's'; 1000]).await?;
            }
            let mut trailers = FieldSection::new();
            trailers.append("x-sum", "100000").map_err(Error::other)?;
            writer.finish_with(&trailers).await
        }
        "/slow" => {
            tokio::time::sleep(Duration::from_secs(5)).await;
            exchange.respond(Status::OK).send("slowly").await
        }
        "/panic" => panic!("the handler of /panic"),
        "/tunnel" => tunnel(exchange).await,
        _ => exchange.respond(Status::OK).header("x-path", &path).send("Hello, World!").await,
    }
}

/// Sends back what it gets.
async fn tunnel(exchange: Exchange) -> Result<Sent, Error> {
    let (_, mut body, responder) = exchange.split();
    let mut writer = responder.respond(Status::OK).stream().await?;
    while let Some(chunk) = body.chunk().await? {
        writer.write(chunk).await?;
    }
    writer.finish().await
}
