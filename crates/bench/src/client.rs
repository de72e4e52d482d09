//! One request through the whole client, in clear text, one at a time on one connection.

use alula::{Client, Method, Prepared, Response};
use alula_testkit::lists::REQUEST;
use tokio::runtime::Runtime;

use crate::peer::Peer;
use crate::workload::{Run, Use, Workload};

/// All of them.
pub(crate) const WORKLOADS: &[Workload] = &[
    Workload::new("client-0", 400, "GET with 10 fields, 200 with 10, no content", || plain(Over::Http2, "0")),
    Workload::new("client-0-prepared", 400, "the same, prepared", || prepared(Over::Http2, "0")),
    Workload::new("client-1k", 400, "the same, 1 KiB of content", || plain(Over::Http2, "1024")),
    Workload::new("client-1k-prepared", 400, "the same, prepared", || prepared(Over::Http2, "1024")),
    Workload::new("client-100k", 100, "the same, 100 KiB of content", || plain(Over::Http2, "102400"))
        .counted(Use::Told, Use::Held),
    Workload::new("client-100k-prepared", 100, "the same, prepared", || prepared(Over::Http2, "102400"))
        .counted(Use::Told, Use::Held),
    Workload::new("client-h1-0", 400, "GET with 10 fields, 200 with 10, no content, over HTTP/1.1", || {
        plain(Over::Http1, "0")
    }),
    Workload::new("client-h1-0-prepared", 400, "the same, prepared", || prepared(Over::Http1, "0")),
    Workload::new("client-h1-1k", 400, "the same, 1 KiB of content", || plain(Over::Http1, "1024")),
    Workload::new("client-h1-1k-prepared", 400, "the same, prepared", || prepared(Over::Http1, "1024")),
];

/// Which version is spoken.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Over {
    Http1,
    Http2,
}

fn plain(over: Over, content: &str) -> Run {
    let (runtime, client, peer, url) = set_up(over, content);
    Box::new(move |requests| {
        let _peer = &peer;
        runtime.block_on(async {
            for _ in 0..requests {
                let mut call = client.get(&url);
                for (name, value) in REQUEST {
                    call = call.field(name, value);
                }
                read(call.send().await.expect("an answer")).await;
            }
        });
    })
}

fn prepared(over: Over, content: &str) -> Run {
    let (runtime, client, peer, url) = set_up(over, content);
    let prepared = prepare(&client, &url);
    Box::new(move |requests| {
        let _peer = &peer;
        runtime.block_on(async {
            for _ in 0..requests {
                read(client.call(&prepared).send().await.expect("an answer")).await;
            }
        });
    })
}

fn prepare(client: &Client, url: &str) -> Prepared {
    let mut prepare = client.prepare(Method::Get, url).expect("a valid URL");
    for (name, value) in REQUEST {
        prepare = prepare.field(name, value.as_bytes()).expect("a valid field");
    }
    prepare.build().expect("the fields may be sent")
}

/// Reads content to its end and lets it go.
pub(crate) async fn read(mut response: Response) {
    assert_eq!(response.status(), alula::Status::OK);
    while let Some(chunk) = response.body().chunk().await.expect("whole content") {
        std::hint::black_box(chunk);
    }
}

fn set_up(over: Over, content: &str) -> (Runtime, Client, Peer, String) {
    let answers = if over == Over::Http1 { "http1-answers" } else { "answers" };
    let mut peer = Peer::start(&[answers, content]);
    let url = format!("http://127.0.0.1:{}/static/app", peer.line());
    // Without this the platform's roots are read, which takes longer than everything else.
    let client = Client::builder().http2_prior_knowledge(over == Over::Http2).trust_anything().build();
    let client = client.expect("a client");
    (one_thread(), client, peer, url)
}

/// A runtime on the calling thread.
pub(crate) fn one_thread() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}
