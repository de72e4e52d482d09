//! The hooks and layers that are ready, over real sockets and both versions, with hostile input.

mod access_log;
mod auth;
mod cors;
mod limits;
mod log_order;
mod metrics;
mod origin_guard;
mod proxies;
mod request_id;

use alula::{Client, Router, Server};

/// Serves the routes, and hands out the origin.
async fn serve(router: Router) -> String {
    let server = Server::builder().on_error(|_| {}).bind("127.0.0.1:0").await.unwrap();
    let address = server.address().unwrap();
    tokio::spawn(server.serve(router.build().unwrap()));
    format!("http://{address}")
}

/// A client of each version.
fn clients() -> [Client; 2] {
    [false, true]
        .map(|http2| Client::builder().http2_prior_knowledge(http2).user_agent("u/1").build().unwrap())
}
