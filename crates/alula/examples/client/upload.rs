//! Sends a file of any size with as little memory as a buffer takes: the server's windows say how fast.
//!
//! `cargo run -p alula --example upload -- http://127.0.0.1:8080/ Cargo.lock`
//!
//! Beside reqwest: a request is written to as it goes, instead of wrapped in a stream, and its answer may be read meanwhile. For a file
//! alone, `client.put(url).send_file(path)` is enough.

use std::error::Error;

use alula::{BodyWriter, Client, Sent};
use tokio::{fs::File, io::AsyncReadExt};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or("which URL?")?;
    let file = File::open(arguments.next().ok_or("which file?")?).await?;
    let bytes = file.metadata().await?.len();

    let client = Client::new()?;
    // With its length stated, HTTP/1.1 needs no chunks and the server knows what to expect. Whoever does not know it leaves it out.
    let call = client.put(&url).header("content-length", bytes.to_string());
    let (writer, pending) = call.open().await?;
    // The answer may come before all is sent: a server that refuses says so at once. So both are waited for.
    let (sent, response) = tokio::join!(send(file, writer), pending.response());
    let mut response = response?;
    println!("{} for {bytes} bytes", response.status());
    if response.status().is_success() {
        sent?;
    }
    response.body().copy_to(&mut tokio::io::stdout()).await?;
    Ok(())
}

async fn send(mut file: File, mut writer: BodyWriter) -> Result<Sent, Box<dyn Error>> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match file.read(&mut buffer).await? {
            0 => return Ok(writer.finish().await?),
            // Waits while the server has no room. A writer that is dropped before `finish` resets the stream: half a file is
            // never taken for a whole one.
            bytes => writer.write(&buffer[..bytes]).await?,
        }
    }
}
