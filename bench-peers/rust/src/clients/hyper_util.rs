//! hyper-util's client, the one with a pool.

use alula_testkit::lists::REQUEST;
use bytes::Bytes;
use http::Uri;
use http_body_util::Empty;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

use crate::clients::asking::{Asking, spread};
use crate::clients::hyper::read;
use crate::clients::request::{fields, get, url};
use crate::measure::{Run, one_thread};

pub(crate) fn run(asking: Asking, port: u16) -> Run {
    let (runtime, fields) = (one_thread(), fields(&REQUEST));
    let uri: Uri = url(port).parse().expect("a valid URI");
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let client: Client<_, Empty<Bytes>> =
        Client::builder(TokioExecutor::new()).http2_only(!asking.is_http1).build(connector);
    let mut clients = vec![client; asking.in_flight as usize];
    Box::new(move |count| {
        runtime.block_on(spread(&mut clients, count, |client, share| {
            let (uri, fields) = (uri.clone(), fields.clone());
            async move {
                for _ in 0..share {
                    let answer = client.request(get(&uri, &fields, Empty::new())).await.expect("an answer");
                    assert_eq!(answer.status(), 200);
                    read(answer.into_body()).await;
                }
                client
            }
        }));
    })
}
