//! Takes files into a folder: `cargo run -p alula --example uploads --features server -- 127.0.0.1:8080
//! /tmp/uploads`, then `curl -T picture.png http://127.0.0.1:8080/`, or as a browser does,
//! `curl -F file=@picture.png http://127.0.0.1:8080/`.
//!
//! A file appears under its name when all of it is there. A peer that breaks off drops the handler, and with it what came so far.

use std::{error::Error, path::PathBuf, time::Duration};

use alula::{
    Answer, Exchange, Router, Sent, Server, Status,
    routing::{post, put},
};
use tokio::fs::{self, File};

const BYTES_MAX: u64 = 1 << 30;

/// A file that is removed, unless it was given another name by then.
struct Partial(PathBuf);

impl Drop for Partial {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn check(name: &str) -> Result<(), Answer> {
    match name.is_empty() || name.starts_with('.') || name.contains(['/', '\\', ':', '\0']) {
        true => Err((Status::BAD_REQUEST, "that is no name of a file").into()),
        false => Ok(()),
    }
}

async fn store(mut exchange: Exchange<PathBuf>) -> Result<Sent, Answer> {
    let name = exchange.param("name")?.into_owned();
    check(&name)?;
    let path = exchange.state().join(format!(".{name}.part"));
    let file = File::create_new(&path).await;
    let mut file = file.map_err(|_| (Status::CONFLICT, "another upload of this name is under way"))?;
    let partial = Partial(path);
    let bytes = exchange.body().copy_to_max(&mut file, BYTES_MAX).await?;
    file.sync_all().await?;
    fs::rename(&partial.0, exchange.state().join(&name)).await?;
    Ok(exchange.respond(Status::CREATED).text(format!("{bytes} bytes\n")).await?)
}

/// Takes the files of a form. A part that is no file is passed over.
async fn store_form(mut exchange: Exchange<PathBuf>) -> Result<Sent, Answer> {
    let (folder, mut stored) = (exchange.state().clone(), String::new());
    let mut form = exchange.multipart()?;
    while let Some(mut part) = form.next_part().await? {
        let Some(name) = part.file_name() else { continue };
        check(&name)?;
        let bytes = part.save_to(folder.join(&name)).await?;
        stored += &format!("{name}: {bytes} bytes\n");
    }
    Ok(exchange.respond(Status::CREATED).text(stored).await?)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:8080".into());
    let folder = PathBuf::from(arguments.next().unwrap_or_else(|| "uploads".into()));
    fs::create_dir_all(&folder).await?;

    let uploads = put(store).timeout(Duration::from_secs(3600)).concurrency(20);
    let forms =
        post(store_form).content_max(BYTES_MAX as usize).timeout(Duration::from_secs(3600)).concurrency(20);
    let routes = Router::with_state(folder).route("/{name}", uploads).route("/", forms).build()?;
    let server = Server::bind(&address).await?;
    println!("http://{}/", server.address()?);
    Ok(server.serve(routes).await?)
}
