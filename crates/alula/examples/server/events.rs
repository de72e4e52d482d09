//! Events for all who listen: `cargo run -p alula --example events --features server`, then `curl -N http://127.0.0.1:8080/events`
//! and, beside it, `curl -d hello http://127.0.0.1:8080/messages`. A browser listens with `new EventSource("/events")`.

use std::error::Error;

use alula::{
    Answer, Event, Exchange, Router, Sent, Server, Status,
    routing::{get, post},
};
use tokio::sync::broadcast::{self, error::RecvError};

type Messages = broadcast::Sender<String>;

async fn say(mut exchange: Exchange<Messages>) -> Result<Sent, Answer> {
    let message = exchange.body().text().await?;
    // Nobody may be listening.
    let listeners = exchange.state().send(message).unwrap_or(0);
    Ok(exchange.respond(Status::ACCEPTED).text(format!("{listeners} listening\n")).await?)
}

async fn listen(exchange: Exchange<Messages>) -> Result<Sent, Answer> {
    let mut messages = exchange.state().subscribe();
    let mut events = exchange.respond(Status::OK).events().await?;
    loop {
        // While there is no message, a comment goes out now and then. When the peer goes away, this is dropped.
        match events.wait(messages.recv()).await? {
            Ok(message) => events.event(Event::data(&message).name("message")).await?,
            Err(RecvError::Lagged(missed)) => events.comment(&format!("{missed} missed")).await?,
            Err(RecvError::Closed) => return Ok(events.finish().await?),
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8080".into());
    let router = Router::with_state(Messages::new(100));
    let routes = router.route("/messages", post(say).content_max(10_000)).route("/events", get(listen));
    let server = Server::bind(&address).await?;
    println!("http://{}/events", server.address()?);
    Ok(server.serve(routes.build()?).await?)
}
