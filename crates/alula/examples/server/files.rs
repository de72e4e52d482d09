//! The files of a folder: `cargo run -p alula --example files --features files -- 127.0.0.1:8080 docs`.
//!
//! Ranges, conditions, HEAD and media types are seen to, and so are folders, `404.html` and files that were
//! compressed beforehand. Names that begin with a dot are not served, and neither `..` nor links lead out.

use std::error::Error;

use alula::{Router, Segments, Server, files::Folder, routing::get};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:8080".into());
    let folder = Folder::new(arguments.next().unwrap_or_else(|| ".".into()));
    let folder = folder.listing().precompressed().not_found("404.html");
    // A mistake in the name shows now, not in the answers.
    folder.open()?;

    // Empty segments are passed over, as file systems do; `%2F` is refused.
    let router = Router::<()>::new().segments(Segments::FILES);
    let routes = router.route("/{*path}", get(folder.handler())).build()?;
    let server = Server::bind(&address).await?;
    println!("http://{}/", server.address()?);
    Ok(server.serve(routes).await?)
}
