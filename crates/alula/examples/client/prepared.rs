//! A request that is checked and planned once, then sent often with nothing but what changes: no allocation for any of them.
//!
//! `cargo run -p alula --example prepared -- http://127.0.0.1:8080/ 1000`

use std::{error::Error, time::Instant};

use alula::{Client, Method};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or("which URL?")?;
    let requests: u32 = arguments.next().ok_or("how many?")?.parse()?;

    let client = Client::new()?;
    let mut prepare = client.prepare(Method::Get, &url)?.header("accept", b"application/json");
    // What differs from call to call is a hole. There may be eight, and the path may be given as well.
    let number = prepare.hole("x-request-number")?;
    let request = prepare.build()?;

    let (start, mut bytes) = (Instant::now(), 0);
    for count in 0..requests {
        // Digits on the stack: this loop is here to show that nothing allocates.
        let digits = alula::fields::Decimal::of(count.into());
        let mut response = client.call(&request).set(number, digits.as_bytes()).send().await?;
        if !response.status().is_success() {
            return Err(format!("request {count} was answered {}", response.status()).into());
        }
        while let Some(chunk) = response.body().chunk().await? {
            bytes += chunk.len();
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("{requests} answers of {bytes} bytes in all, {:.0} a second", f64::from(requests) / seconds);
    Ok(())
}
