//! A client without a runtime: asks for several URLs at once, with a thread for each, over one client.
//!
//! `cargo run -p alula --example blocking --features blocking -- http://127.0.0.1:8080/one http://127.0.0.1:8080/two`
//!
//! Beside reqwest: there is no thread behind the client, it may be made and dropped inside of a runtime, and a call there is an error,
//! never a panic.

use std::{error::Error, thread};

use alula::blocking::Client;

fn main() -> Result<(), Box<dyn Error>> {
    let urls: Vec<String> = std::env::args().skip(1).collect();
    let client = Client::new()?;
    // The client has no thread: one of these drives its connections while it waits, for the others as well.
    thread::scope(|scope| {
        let started: Vec<_> = urls.iter().map(|url| scope.spawn(|| ask(&client, url))).collect();
        for (url, thread) in urls.iter().zip(started) {
            match thread.join().map_err(|_| "a thread has panicked")? {
                Ok(line) => println!("{url}: {line}"),
                Err(error) => println!("{url}: {error}"),
            }
        }
        Ok(())
    })
}

fn ask(client: &Client, url: &str) -> Result<String, alula::Error> {
    let mut response = client.get(url).send()?;
    let (mut bytes, status) = (0, response.status());
    // `body()` is a `std::io::Read` as well, for whatever takes one.
    while let Some(chunk) = response.body().chunk()? {
        bytes += chunk.len();
    }
    Ok(format!("{status}, {bytes} bytes"))
}
