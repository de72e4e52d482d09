//! reqwest, one request at a time.

use std::hint::black_box;

use alula_testkit::lists::REQUEST;
use reqwest::Client;

use crate::measure::{Run, one_thread};
use crate::request::{fields, url};

pub(crate) fn run(port: u16) -> Run {
    let (runtime, fields, url) = (one_thread(), fields(&REQUEST), url(port));
    let client = Client::builder().http2_prior_knowledge().no_proxy().build().expect("a client");
    Box::new(move |count| {
        runtime.block_on(async {
            for _ in 0..count {
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
        });
    })
}
