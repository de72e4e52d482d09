//! Asks through a proxy, with a name and a password for it, and says how it went.
//!
//! `cargo run -p alula --example proxied -- http://127.0.0.1:3128 http://example.com/`
//!
//! Beside reqwest: the proxies that the environment names are used as well unless the client is told otherwise, and a wrong one is an
//! error when the client is built, not silently left out. What the proxy refuses is an error with its status, never the answer of the
//! origin. `socks5://`, `socks5h://` and `https://` proxies are URLs like these.

use std::error::Error;

use alula::{Client, Proxy};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let proxy = Proxy::all(&arguments.next().ok_or("which proxy?")?)?.credentials("user", "password")?;
    let url = arguments.next().ok_or("which URL?")?;

    let client = Client::builder().proxy(proxy).build()?;
    let mut response = client.get(&url).send().await?;
    eprintln!("{} from {:?}", response.status(), response.remote_address());
    print!("{}", response.text().await?);
    Ok(())
}
