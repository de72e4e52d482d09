//! reqwest.

use std::hint::black_box;

use alula_testkit::lists::REQUEST;
use reqwest::Client;

use crate::clients::asking::{Asking, spread};
use crate::clients::request::{fields, url};
use crate::measure::{Run, one_thread};

pub(crate) fn run(asking: Asking, port: u16) -> Run {
    let (runtime, fields, url) = (one_thread(), fields(&REQUEST), url(port));
    let client = Client::builder().no_proxy();
    let client = if asking.is_http1 { client.http1_only() } else { client.http2_prior_knowledge() };
    let client = client.build().expect("a client");
    let mut clients = vec![client; asking.in_flight as usize];
    Box::new(move |count| {
        runtime.block_on(spread(&mut clients, count, |client, share| {
            let (url, fields) = (url.clone(), fields.clone());
            async move {
                for _ in 0..share {
                    let mut call = client.get(&url);
                    for (name, value) in &fields {
                        call = call.header(name, value);
                    }
                    let mut answer = call.send().await.expect("an answer");
                    assert_eq!(answer.status(), 200);
                    while let Some(chunk) = answer.chunk().await.expect("whole content") {
                        black_box(chunk);
                    }
                }
                client
            }
        }));
    })
}
