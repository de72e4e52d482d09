//! A server that greets: `cargo run -p alula --example hello --features server`, then `curl http://127.0.0.1:8080/hello/you`.

use alula::{Answer, Exchange, Router, Sent, Server, Status, routing::get};

async fn hello(exchange: Exchange) -> Result<Sent, Answer> {
    let greeting = format!("Hello, {}!\n", exchange.param("name")?);
    Ok(exchange.respond(Status::OK).text(greeting).await?)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8080".into());
    let server = Server::bind(&address).await?;
    println!("http://{}/hello/world", server.address()?);
    Ok(server.serve(Router::new().route("/hello/{name}", get(hello)).build()?).await?)
}
