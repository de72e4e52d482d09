//! A server whose content has trailers behind it, in both versions.

use std::{sync::mpsc, thread};

use alula::{Error, Exchange, FieldSection, Sent, Server, Status};

use super::PATIENCE;

/// Starts it and returns its origin. `/redirect` leads to `/`, and has trailers too.
pub(crate) fn trailing() -> String {
    let (started, origin) = mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let server = Server::bind("127.0.0.1:0").await.expect("a free port");
            let address = server.address().expect("it has an address");
            started.send(format!("http://{address}")).expect("the test waits");
            server.serve(answer).await
        })
    });
    origin.recv_timeout(PATIENCE).expect("it starts in time")
}

async fn answer(exchange: Exchange) -> Result<Sent, Error> {
    let is_redirect = exchange.request().path() == "/redirect";
    let mut trailers = FieldSection::new();
    let reply = match is_redirect {
        true => exchange.respond(Status::FOUND).header("location", "/"),
        false => exchange.respond(Status::OK).header("content-type", "text/plain"),
    };
    let mut writer = reply.stream().await?;
    writer.write(if is_redirect { b"gone" } else { b"here" }).await?;
    match is_redirect {
        true => trailers.append("x-hop", "1")?,
        false => {
            trailers.append("x-sum", "7")?;
            trailers.append("set-cookie", "a=s3cret")?;
        }
    }
    writer.finish_with(&trailers).await
}
