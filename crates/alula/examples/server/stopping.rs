//! One router on two ports, in clear text and over TLS, until ctrl-c: `cargo run -p alula --example stopping --features self-signed`,
//! then `curl http://127.0.0.1:8080/` and `curl -k https://127.0.0.1:8443/`. Requests that have begun are answered before it ends.

use std::{error::Error, time::Duration};

use alula::{Exchange, Identity, Router, Sent, Server, Status, routing::get};

async fn slow(exchange: Exchange) -> Result<Sent, alula::Error> {
    println!("a request has begun");
    tokio::time::sleep(Duration::from_secs(1)).await;
    exchange.respond(Status::OK).text("answered, though it took a second\n").await
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let address = |number: usize, usual: &str| arguments.get(number).map_or(usual, String::as_str).to_owned();
    let clear_text = Server::bind(address(0, "127.0.0.1:8080")).await?;
    // In production: `Identity::from_pem(&std::fs::read("chain.pem")?, &std::fs::read("key.pem")?)?`.
    let identity = Identity::self_signed(["localhost"])?;
    let over_tls = Server::builder().identity(identity).bind(address(1, "127.0.0.1:8443")).await?;
    println!("http://{}/", clear_text.address()?);
    println!("https://{}/", over_tls.address()?);

    let stops = [clear_text.stop_handle(), over_tls.stop_handle()];
    tokio::spawn(async move {
        // Where no signal can be heard, the servers run on.
        if tokio::signal::ctrl_c().await.is_ok() {
            stops.iter().for_each(alula::Stop::stop);
        }
    });
    let routes = Router::new().route("/", get(slow)).build()?;
    tokio::try_join!(clear_text.serve(routes.clone()), over_tls.serve(routes))?;
    println!("stopped");
    Ok(())
}
