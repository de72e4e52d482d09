//! Sends a form with a text and a file, as a browser does with `enctype="multipart/form-data"`.
//!
//! `cargo run -p alula --example multipart -- http://127.0.0.1:8080/ Cargo.toml`
//!
//! Beside reqwest: no feature is needed for it, a file is opened and read while it is sent, and the length of the whole is known
//! before, so that HTTP/1.1 sends no chunks.

use std::error::Error;

use alula::{Client, Multipart, Part};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or("which URL?")?;
    let path = arguments.next().ok_or("which file?")?;

    let form = Multipart::new()
        .text("about", "a file & its name")
        .part("file", Part::file(&path).file_name("notes.txt").media_type("text/plain"));
    let mut response = Client::new()?.post(&url).multipart(form).send().await?.error_for_status()?;
    println!("{}", response.text().await?);
    Ok(())
}
