//! One request through the whole server, in clear text, on one connection.

use std::io;

use alula::{
    Answer, Begun, Ended, Error, Exchange, Hook, KnownName, Router, Routes, Sent, Server, Status,
    routing::get,
};
use alula_testkit::routes::SMALL;
use alula_testkit::traffic::Traffic::{Proxied, Repeated, Varied};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::peers::driver::{Asked, Load};
use crate::peers::{Peer, end_with_input};
use crate::whole::client::one_thread;
use crate::workload::{Run, Workload};

/// All of them. Peers are counted under the very bytes of the same load.
pub(crate) const WORKLOADS: &[Workload] = &[
    one("server-m1", "answer a GET of h2load's with 13 bytes, 1 in flight", || hello_to(HTTP2, 1)),
    many("server-m32", "the same, 32 in flight", || hello_to(HTTP2, 32)).beside("repeated"),
    many("server-m32-indexed", "the same from a client whose block is nothing but indexes", || {
        hello_to(Load { asked: Asked::Indexed, ..HTTP2 }, 32)
    }),
    many("server-m32-varied", "the same, each with another path and request id", || {
        hello_to(Load { asked: Asked::Traffic(Varied), ..HTTP2 }, 32)
    })
    .beside("varied"),
    many("server-m32-proxied", "the same, requests of 50 browsers with 15 fields from a proxy", || {
        hello_to(Load { asked: Asked::Traffic(Proxied), ..HTTP2 }, 32)
    })
    .beside("proxied"),
    many(
        "server-m32-split",
        "answer h2load's GET with its path, by a handler that splits the exchange",
        || echo_to(HTTP2, 32),
    )
    .beside("repeated, read and echoed"),
    many("server-m32-proxied-split", "the same, path and request id of a proxy's requests", || {
        echo_to(Load { asked: Asked::Traffic(Proxied), ..HTTP2 }, 32)
    })
    .beside("proxied, read and echoed"),
    one("server-h1-m1", "answer a GET of h2load's with 13 bytes over HTTP/1.1, 1 in flight", || {
        hello_to(HTTP1, 1)
    }),
    many("server-h1-m32", "the same, 32 sent at once", || hello_to(HTTP1, 32)).beside("repeated"),
    many("server-h1-m32-varied", "the same, each with another path and request id", || {
        hello_to(Load { asked: Asked::Traffic(Varied), ..HTTP1 }, 32)
    })
    .beside("varied"),
    many("server-h1-m32-proxied", "the same, requests of 50 browsers with 15 fields from a proxy", || {
        hello_to(Load { asked: Asked::Traffic(Proxied), ..HTTP1 }, 32)
    })
    .beside("proxied"),
    many(
        "server-h1-m32-split",
        "answer h2load's GET with its path, by a handler that splits the exchange",
        || echo_to(HTTP1, 32),
    )
    .beside("repeated, read and echoed"),
    many("server-h1-m32-proxied-split", "the same, path and request id of a proxy's requests", || {
        echo_to(Load { asked: Asked::Traffic(Proxied), ..HTTP1 }, 32)
    })
    .beside("proxied, read and echoed"),
    many("server-routed-m1", "the same as `server-m1`, by a route of 41 with a capture", || {
        serve(HTTP2, |server| server.serve(routes(Router::new())))
    }),
    many("server-routed-m32", "the same, 32 in flight", || {
        serve(Load { in_flight: 32, ..HTTP2 }, |server| server.serve(routes(Router::new())))
    }),
    many("server-hooked-m32", "the same, seen by a hook that adds a field to each answer", || {
        serve(Load { in_flight: 32, ..HTTP2 }, |server| server.serve(routes(Router::new().hook(Sees))))
    }),
];

const HTTP2: Load = Load { is_http1: false, asked: Asked::Traffic(Repeated), in_flight: 1 };
const HTTP1: Load = Load { is_http1: true, ..HTTP2 };

const fn one(name: &'static str, what: &'static str, prepare: fn() -> Run) -> Workload {
    Workload::new(name, 400, what, prepare).beside("repeated")
}

const fn many(name: &'static str, what: &'static str, prepare: fn() -> Run) -> Workload {
    Workload::new(name, 3200, what, prepare)
}

fn hello_to(load: Load, in_flight: u64) -> Run {
    serve(Load { in_flight, ..load }, |server| server.serve(hello))
}

fn echo_to(load: Load, in_flight: u64) -> Run {
    serve(Load { in_flight, ..load }, |server| server.serve(echo))
}

fn serve<S>(load: Load, serve: impl FnOnce(Server) -> S) -> Run
where
    S: Future<Output = io::Result<()>> + Send + 'static,
{
    let runtime = one_thread();
    let (mut control, peer) = runtime.block_on(start(load, serve));
    Box::new(move |requests| {
        let _peer = &peer;
        runtime.block_on(async {
            control.write_u64(requests).await.expect("the driver listens");
            control.read_u8().await.expect("all answers came");
        });
    })
}

/// Serves alone, for a load from elsewhere: prints the port and goes on until the standard input ends.
pub(crate) fn serve_alone(splits: bool) {
    end_with_input();
    one_thread().block_on(async {
        let server = Server::bind("127.0.0.1:0").await.expect("a port");
        println!("{}", server.address().expect("it is bound").port());
        let served = if splits { server.serve(echo).await } else { server.serve(hello).await };
        served.expect("it serves");
    });
}

/// Serves in a task, and has a driver connected to it.
async fn start<S>(load: Load, serve: impl FnOnce(Server) -> S) -> (TcpStream, Peer)
where
    S: Future<Output = io::Result<()>> + Send + 'static,
{
    let server = Server::bind("127.0.0.1:0").await.expect("a port");
    let port = server.address().expect("it is bound").port().to_string();
    let control = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let control_port = control.local_addr().expect("it is bound").port().to_string();
    tokio::spawn(serve(server));
    let [version, asked, in_flight] = load.args();
    let peer = Peer::start(&["driver", &version, &asked, &in_flight, &port, &control_port]);
    let (control, _) = control.accept().await.expect("the driver connects");
    control.set_nodelay(true).expect("a TCP socket");
    (control, peer)
}

/// Forty routes, and one more for the path that is asked for.
fn routes(router: Router) -> Routes {
    let router = SMALL.iter().fold(router, |router, pattern| router.route(*pattern, get(hello)));
    router.route("/{word}", get(greet)).build().expect("no two match the same paths")
}

async fn greet(exchange: Exchange) -> Result<Sent, Answer> {
    if exchange.param("word")?.is_empty() {
        return Err(Status::NOT_FOUND.into());
    }
    hello(exchange).await.map_err(Answer::from)
}

/// A hook for all three places.
struct Sees;

impl Hook for Sees {
    fn begin(&self, begun: &mut Begun<'_>) -> Option<Answer> {
        begun.add_header("x-seen", "1").err().map(Answer::from)
    }

    fn end(&self, ended: &Ended<'_>) {
        std::hint::black_box((ended.status(), ended.sent(), ended.duration()));
    }
}

pub(crate) async fn hello(exchange: Exchange) -> Result<Sent, Error> {
    let reply = exchange.respond(Status::OK).header(KnownName::CONTENT_TYPE, "text/plain");
    reply.send(b"Hello, World!").await
}

/// Answers with the path of the request, and with its request id if it has one.
async fn echo(exchange: Exchange) -> Result<Sent, Error> {
    let (request, _content, responder) = exchange.split();
    let mut reply = responder.respond(Status::OK).header(KnownName::CONTENT_TYPE, "text/plain");
    if let Some(id) = request.headers().get(KnownName::X_REQUEST_ID) {
        reply = reply.header(KnownName::X_REQUEST_ID, id);
    }
    reply.send(request.path().as_bytes()).await
}
