//! Tokens, and limits by address and by user: `cargo run -p alula --example guarded --features server`, then
//! `curl -H 'authorization: Bearer s3cret' http://127.0.0.1:8080/me`.

use std::{error::Error, time::Duration};

use alula::{BearerAuth, Exchange, RateLimit, Router, Sent, Server, Status, routing::get};

async fn home(exchange: Exchange) -> Result<Sent, alula::Error> {
    exchange.respond(Status::OK).text("for everybody\n").await
}

async fn me(exchange: Exchange) -> Result<Sent, alula::Error> {
    let text = format!("for {}\n", exchange.request().headers().text("x-user").unwrap_or("nobody"));
    exchange.respond(Status::OK).text(text).await
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8080".into());
    let auth =
        BearerAuth::new("example").user("ann", "s3cret").user("ben", "t0psecret").user_header("x-user");
    // What the layer of tokens has written there, and no peer.
    let by_user = RateLimit::new(3, Duration::from_secs(60)).by(|request| request.headers().get("x-user"));
    let by_address = RateLimit::new(100, Duration::from_secs(1)).burst(200);

    // A hook comes before all routes. The first layer sees a request first: who it is, then how often.
    let me = get(me).wrap(auth.layer()).wrap(by_user.layer());
    let routes = Router::new().hook(by_address).route("/", get(home)).route("/me", me).build()?;
    let server = Server::bind(&address).await?;
    println!("http://{}/", server.address()?);
    Ok(server.serve(routes).await?)
}
