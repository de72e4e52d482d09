//! An application of axum on Alula's server: routes, extractors, state, a layer, and the address of the peer.
//!
//! `cargo run -p alula --example axum_app --features server,tower -- 127.0.0.1:8080`
//!
//! Beside `axum::serve`: the router is the same, and `from_tower` makes a handler of it. `ConnectInfo` takes the three lines of
//! `connect_info`. HTTP/2 in clear text and limits of time and memory are there without more; `docs/axum.md` lists what differs.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use alula::{PeerAddress, Server, from_tower};
use axum::{
    Router,
    extract::{ConnectInfo, Path, Request, State},
    http::StatusCode,
    middleware,
    routing::{get, post},
};

#[derive(Clone, Default)]
struct Visits(Arc<AtomicU64>);

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8080".into());
    let application = Router::new()
        .route("/hello/{name}", get(hello))
        .route("/echo", post(echo))
        .layer(middleware::map_request(connect_info))
        .with_state(Visits::default());
    let server = Server::bind(&address).await?;
    println!("http://{}/hello/you", server.address()?);
    server.serve(from_tower(application)).await
}

async fn hello(
    State(Visits(visits)): State<Visits>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    Path(name): Path<String>,
) -> String {
    let visit = visits.fetch_add(1, Ordering::Relaxed) + 1;
    format!("Hello, {name} at {}: visit {visit}\n", peer.ip())
}

async fn echo(text: String) -> Result<String, (StatusCode, &'static str)> {
    match text.is_empty() {
        true => Err((StatusCode::UNPROCESSABLE_ENTITY, "nothing to say\n")),
        false => Ok(text),
    }
}

/// The address of the peer where extractors of axum look for it.
async fn connect_info(mut request: Request) -> Request {
    let peer = request.extensions().get::<PeerAddress>().map(|peer| ConnectInfo(peer.address()));
    peer.map(|peer| request.extensions_mut().insert(peer));
    request
}
