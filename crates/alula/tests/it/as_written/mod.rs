//! Requests and replies as people write them: methods by type or name, URLs and paths borrowed or made on the
//! spot, pairs of anything that displays, content of text or bytes. That this compiles is most of the test.

mod guesses;
mod methods;
mod pairs;
mod replies;
mod spawned;
mod urls;
mod zones;

use alula::{Error, Exchange, Response, Sent, Server, Status, blocking};

use crate::support::clients;

/// Says back what was asked: method, path and query, content.
async fn say_back(mut exchange: Exchange) -> Result<Sent, Error> {
    let mut content = Vec::new();
    exchange.body().copy_to(&mut content).await?;
    let request = exchange.request();
    let said = format!("{} {} {}", request.method(), request.path(), String::from_utf8_lossy(&content));
    exchange.respond(Status::OK).send(said.trim_end()).await
}

/// The origin of a server that says back what it is asked, on a thread of its own.
fn start() -> String {
    let (tell, origin) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let server = Server::bind("127.0.0.1:0").await.unwrap();
            tell.send(format!("http://{}", server.address().unwrap())).unwrap();
            server.serve(say_back).await.unwrap();
        });
    });
    origin.recv().unwrap()
}

fn blocking_client() -> blocking::Client {
    blocking::Client::new().unwrap()
}

async fn said(response: Result<Response, Error>) -> String {
    response.unwrap().text().await.unwrap()
}

fn said_at_once(response: Result<blocking::Response, Error>) -> String {
    response.unwrap().text().unwrap()
}
