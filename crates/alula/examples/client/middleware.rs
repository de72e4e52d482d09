//! The client under middleware of `tower`: at most four requests at once, each with a field of its own, and a line about each answer.
//!
//! `cargo run -p alula --example middleware --features tower -- http://127.0.0.1:8080/ 20`
//!
//! Beside reqwest: the client itself is the service, and takes any content of `http-body`; there is no request type of its own to
//! translate.

use std::error::Error;

use alula::Client;
use bytes::Bytes;
use http::{HeaderValue, Request, Response, header::USER_AGENT};
use http_body_util::{BodyExt, Empty};
use tower::{ServiceBuilder, ServiceExt};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or("which URL?")?;
    let requests: usize = arguments.next().ok_or("how many?")?.parse()?;

    // From the outside in. Whatever takes requests of the `http` crate may stand here: authorisation, caches, retries.
    let service = ServiceBuilder::new()
        .concurrency_limit(4)
        .map_request(|mut request: Request<Empty<Bytes>>| {
            request.headers_mut().insert(USER_AGENT, HeaderValue::from_static("alula-with-tower"));
            request
        })
        .map_response(|response: Response<_>| {
            println!("{:?} {}", response.version(), response.status());
            response
        })
        .service(Client::new()?);

    let mut under_way = tokio::task::JoinSet::new();
    for _ in 0..requests {
        let request = Request::get(&url).body(Empty::new())?;
        let answer = service.clone().oneshot(request);
        under_way.spawn(async move {
            Ok::<_, alula::adapters::ExecuteError>(answer.await?.into_body().collect().await?.to_bytes())
        });
    }
    let mut bytes = 0;
    while let Some(content) = under_way.join_next().await {
        bytes += content??.len();
    }
    println!("{bytes} bytes");
    Ok(())
}
