//! Alula's client with one connection to each of many origins: addresses of this machine that one server
//! listens on.

use std::io;

use alula::{Client, Error, Status};
use tokio::task::JoinSet;

use crate::{CONTENT, IN_FLIGHT, words};

/// Uses each connection once, and keeps them until the standard input ends.
pub(crate) fn run(is_http2: bool, is_secure: bool, port: u16, count: usize) -> io::Result<()> {
    let words = words();
    let client = client(is_http2, is_secure, count).map_err(io::Error::other)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        println!("0");
        words.recv().map_err(io::Error::other)?;
        ask_all(&client, is_secure, port, count).await.map_err(io::Error::other)?;
        println!("{count}");
        std::future::pending().await
    })
}

/// A client that keeps as many connections as there are origins.
fn client(is_http2: bool, is_secure: bool, origins: usize) -> Result<Client, Error> {
    let client = Client::builder().no_proxy().trust_anything().origins_max(origins + 1);
    let client = if is_http2 { client.http2_prior_knowledge(!is_secure) } else { client.http1_only() };
    client.build()
}

async fn ask_all(client: &Client, is_secure: bool, port: u16, count: usize) -> Result<(), Error> {
    let mut tasks = JoinSet::new();
    for task in 0..IN_FLIGHT {
        let client = client.clone();
        tasks.spawn(async move {
            for number in (task..count).step_by(IN_FLIGHT) {
                ask(&client, &url(is_secure, port, number)).await?;
            }
            Ok(())
        });
    }
    tasks.join_all().await.into_iter().collect()
}

async fn ask(client: &Client, url: &str) -> Result<(), Error> {
    let mut response = client.get(url).send().await?;
    assert_eq!(response.status(), Status::OK);
    let bytes = response.body().copy_to(&mut tokio::io::sink()).await?;
    assert_eq!(bytes, CONTENT as u64);
    Ok(())
}

/// Every address of 127.0.0.0/8 is this machine.
fn url(is_secure: bool, port: u16, number: usize) -> String {
    let scheme = if is_secure { "https" } else { "http" };
    format!("{scheme}://127.0.{}.{}:{port}/memory", number / 250, 1 + number % 250)
}
