//! Takes files into a folder: `cargo run -p alula --example uploads --features server -- 127.0.0.1:8080 /tmp/uploads`, then
//! `curl -T picture.png http://127.0.0.1:8080/`.
//!
//! A file appears under its name when all of it is there. A peer that breaks off drops the handler, and with it what came so far.

use std::{error::Error, path::PathBuf, time::Duration};

use alula::{Answer, Exchange, Router, Sent, Server, Status, routing::put};
use tokio::fs::{self, File};

const BYTES_MAX: u64 = 1 << 30;

/// A file that is removed, unless it was given another name by then.
struct Partial(PathBuf);

impl Drop for Partial {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

async fn store(mut exchange: Exchange<PathBuf>) -> Result<Sent, Answer> {
    let name = exchange.param("name")?.into_owned();
    if name.starts_with('.') || name.contains(['/', '\\', ':', '\0']) {
        return Err((Status::BAD_REQUEST, "that is no name of a file").into());
    }
    let path = exchange.state().join(format!(".{name}.part"));
    let file = File::create_new(&path).await;
    let mut file = file.map_err(|_| (Status::CONFLICT, "another upload of this name is under way"))?;
    let partial = Partial(path);
    let bytes = exchange.body().copy_to_max(&mut file, BYTES_MAX).await?;
    file.sync_all().await?;
    fs::rename(&partial.0, exchange.state().join(&name)).await?;
    Ok(exchange.respond(Status::CREATED).text(format!("{bytes} bytes\n")).await?)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:8080".into());
    let folder = PathBuf::from(arguments.next().unwrap_or_else(|| "uploads".into()));
    fs::create_dir_all(&folder).await?;

    let uploads = put(store).timeout(Duration::from_secs(3600)).concurrency(20);
    let routes = Router::with_state(folder).route("/{name}", uploads).build()?;
    let server = Server::bind(&address).await?;
    println!("http://{}/", server.address()?);
    Ok(server.serve(routes).await?)
}
