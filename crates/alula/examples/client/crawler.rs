//! Asks for many URLs, 32 at once over one client, and says of each what came; one that fails does not stop the others.
//!
//! `cargo run -p alula --example crawler --features gzip -- urls.txt`, with a URL on each line
//!
//! Beside reqwest: a host that has more requests under way than connections is waited for, 30 s by default, and the error then says
//! what is held. Over HTTP/2 all 32 share one connection. Content is decoded when the client is told so, here for all of its calls.

use std::{error::Error, time::Duration};

use alula::Client;
use tokio::task::JoinSet;

const AT_ONCE: usize = 32;
const PAGE_MAX: usize = 4 << 20;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let list = std::fs::read_to_string(std::env::args().nth(1).ok_or("which list of URLs?")?)?;
    let client = Client::builder().decompress(true).timeout(Duration::from_secs(30)).build()?;

    let mut urls = list.lines().map(str::to_owned);
    let mut under_way = JoinSet::new();
    let (mut pages, mut failures) = (0, 0);
    loop {
        while under_way.len() < AT_ONCE
            && let Some(url) = urls.next()
        {
            under_way.spawn(visit(client.clone(), url));
        }
        match under_way.join_next().await {
            None => break,
            Some(visited) => match visited? {
                Ok(line) => {
                    pages += 1;
                    println!("{line}");
                }
                Err(error) => {
                    failures += 1;
                    eprintln!("{error}");
                }
            },
        }
    }
    println!("{pages} pages, {failures} failures");
    Ok(())
}

/// The status, the length and the title of a page.
async fn visit(client: Client, url: String) -> Result<String, alula::Error> {
    let mut response = client.get(&url).send().await?;
    let page = response.text_max(PAGE_MAX).await?;
    Ok(format!("{} {} {} {}", response.status(), page.len(), url, title(&page)))
}

fn title(page: &str) -> &str {
    let after = page.split_once("<title>").map_or("", |(_, after)| after);
    after.split_once("</title>").map_or("", |(title, _)| title.trim())
}
