//! The simplest client: asks for a URL, shows the head of the answer and then its content.
//!
//! `cargo run -p alula --example get -- https://example.com/`

use std::error::Error;

use alula::Client;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().nth(1).ok_or("which URL?")?;
    // One client for the whole program: it keeps connections, and what it knows of origins.
    let client = Client::new()?;
    let mut response = client.get(&url).header("accept", "*/*").send().await?;
    eprintln!("{} {}", response.version(), response.status());
    for field in response.headers() {
        eprintln!("{}: {}", field.name(), String::from_utf8_lossy(field.value()));
    }
    // Content that is not asked for stays with the server. `copy_to` asks as fast as its sink takes it.
    response.body().copy_to(&mut tokio::io::stdout()).await?;
    Ok(())
}
