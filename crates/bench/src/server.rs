//! One request through the whole server, in clear text, on one connection.

use alula::{Error, Exchange, KnownName, Sent, Server, Status};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::client::one_thread;
use crate::peer::{Peer, end_with_input};
use crate::workload::{Run, Workload};

/// All of them.
pub(crate) const WORKLOADS: &[Workload] = &[
    Workload::new("server-m1", 400, "answer a GET with 13 octets, 1 in flight", || serve("driver", 1)),
    Workload::new("server-m32", 3200, "answer a GET with 13 octets, 32 in flight", || serve("driver", 32)),
    Workload::new("server-h1-m1", 400, "the same over HTTP/1.1, 1 in flight", || serve("http1-driver", 1)),
    Workload::new("server-h1-m32", 3200, "the same over HTTP/1.1, 32 sent at once", || {
        serve("http1-driver", 32)
    }),
    Workload::new("server-h1-m32-varied", 3200, "the same, each with another path and request id", || {
        serve("http1-varied-driver", 32)
    }),
];

fn serve(driver: &'static str, in_flight: u64) -> Run {
    let runtime = one_thread();
    let (mut control, peer) = runtime.block_on(start(driver, in_flight));
    Box::new(move |requests| {
        let _peer = &peer;
        runtime.block_on(async {
            control.write_u64(requests).await.expect("the driver listens");
            control.read_u8().await.expect("all answers came");
        });
    })
}

/// Serves alone, for a load from elsewhere: prints the port and goes on until the standard input ends.
pub(crate) fn serve_alone() {
    end_with_input();
    one_thread().block_on(async {
        let server = Server::bind("127.0.0.1:0").await.expect("a port");
        println!("{}", server.address().expect("it is bound").port());
        server.serve(hello).await.expect("it serves");
    });
}

/// Serves in a task, and has a driver connected to it.
async fn start(driver: &str, in_flight: u64) -> (TcpStream, Peer) {
    let server = Server::bind("127.0.0.1:0").await.expect("a port");
    let port = server.address().expect("it is bound").port().to_string();
    let control = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let control_port = control.local_addr().expect("it is bound").port().to_string();
    tokio::spawn(server.serve(hello));
    let peer = Peer::start(&[driver, &port, &control_port, &in_flight.to_string()]);
    let (control, _) = control.accept().await.expect("the driver connects");
    control.set_nodelay(true).expect("a TCP socket");
    (control, peer)
}

async fn hello(exchange: Exchange) -> Result<Sent, Error> {
    let reply = exchange.respond(Status::OK).field(KnownName::CONTENT_TYPE, "text/plain");
    reply.send(b"Hello, World!").await
}
