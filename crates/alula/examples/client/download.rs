//! Saves what is at a URL in a file and shows how far it is.
//!
//! `cargo run -p alula --example download -- https://example.com/ page.html`
//!
//! Beside reqwest: a chunk is lent until the next one is asked for, so that a large download copies and allocates nothing; content that
//! is cut is an error whatever frames it.

use std::{error::Error, time::Duration};

use alula::Client;
use tokio::{fs::File, io::AsyncWriteExt};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or("which URL?")?;
    let path = arguments.next().ok_or("which file?")?;

    // A server that does not begin to answer is given up on; how long the whole takes is its own business.
    let client = Client::builder().head_timeout(Duration::from_secs(30)).build()?;
    let mut response = client.get(&url).send().await?;
    if !response.status().is_success() {
        return Err(format!("the server answered {}", response.status()).into());
    }
    let total = response.content_length();
    // Under another name until it is whole: content that is cut is an error, never a short file.
    let part = format!("{path}.part");
    let (mut file, mut bytes, mut shown) = (File::create(&part).await?, 0, None);
    while let Some(chunk) = response.body().chunk().await? {
        file.write_all(chunk).await?;
        bytes += chunk.len() as u64;
        let percent = total.map(|total| bytes * 100 / total.max(1));
        if percent != shown || total.is_none() {
            eprint!("\r{bytes} bytes{}", percent.map_or(String::new(), |percent| format!(", {percent} %")));
            shown = percent;
        }
    }
    file.flush().await?;
    tokio::fs::rename(&part, &path).await?;
    eprintln!();
    println!("{bytes} bytes in {path}");
    Ok(())
}
