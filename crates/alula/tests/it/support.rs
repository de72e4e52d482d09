//! What most tests here begin with: a server on loopback, clients of both versions, and a bound on waiting.

use std::{net::SocketAddr, time::Duration};

use alula::{Body, Client, Error, IntoService, Router, Server, ServerBuilder};

/// Serves on a free port until the runtime ends, and returns the address.
pub(crate) async fn listen(builder: ServerBuilder, service: impl IntoService + Send + 'static) -> SocketAddr {
    let server = builder.bind("127.0.0.1:0").await.unwrap();
    let address = server.address().unwrap();
    tokio::spawn(async move { server.serve(service).await });
    address
}

/// Serves on a free port, says nothing about requests that fail, and returns the origin.
pub(crate) async fn serve(service: impl IntoService + Send + 'static) -> String {
    format!("http://{}", listen(Server::builder().on_error(|_| {}), service).await)
}

/// Returns a client of HTTP/1.1 and one of HTTP/2.
pub(crate) fn clients() -> [Client; 2] {
    [false, true].map(client)
}

/// Returns a client of HTTP/2, or of HTTP/1.1.
pub(crate) fn client(http2: bool) -> Client {
    Client::builder().http2_prior_knowledge(http2).build().unwrap()
}

/// Waits for work that comes to an end.
pub(crate) async fn within<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), work).await.expect("it comes to an end")
}

/// Reads content to its end, and returns its length.
pub(crate) async fn count(body: &mut Body) -> Result<usize, Error> {
    let mut bytes = 0;
    while let Some(chunk) = body.chunk().await? {
        bytes += chunk.len();
    }
    Ok(bytes)
}

/// Serves routes on a free port, and returns the origin.
pub(crate) async fn serve_routes(routes: Router) -> String {
    serve(routes.build().unwrap()).await
}
