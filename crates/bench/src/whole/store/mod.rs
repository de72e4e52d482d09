//! One request through the whole object store over HTTP/1.1, on one connection, with an engine or without.

mod asking;
mod sunk;

use alula::Server;
use alula_store::engine::{Engine, Fjall, FjallOptions, Memory};
use alula_store::{Config, Store};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::peers::Peer;
use crate::whole::client::one_thread;
use crate::workload::{Run, Use, Workload};
pub(crate) use asking::drive;
use sunk::Sunk;

/// All of them. The work of fjall in its own threads is counted with the rest, and varies.
pub(crate) const WORKLOADS: &[Workload] = &[
    one(
        "store-get",
        "answer a GET of an object of 516 bytes with 16 index entries and 2 fields of metadata, in memory",
        || serve(Memory::new, "GET"),
    ),
    one("store-put", "answer a PUT of such an object, in memory", || serve(Memory::new, "PUT")),
    one("store-put-alone", "the same with an engine that keeps nothing: HTTP alone", || {
        serve(Sunk::default, "PUT")
    }),
    one("store-get-fjall", "the same GET from fjall", || on_disk("GET")).counted(Use::Told, Use::Told),
    one("store-put-fjall", "the same PUT to fjall, flushed", || on_disk("PUT")).counted(Use::Told, Use::Told),
];

const fn one(name: &'static str, what: &'static str, prepare: fn() -> Run) -> Workload {
    Workload::new(name, 800, what, prepare)
}

fn on_disk(method: &'static str) -> Run {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_owned();
    let mut run = serve(|| Fjall::open(path, FjallOptions::default()).expect("a new store"), method);
    Box::new(move |requests| {
        let _folder = &folder;
        run(requests);
    })
}

/// Serves an engine in a task, with a driver that makes requests of one method.
fn serve<E: Engine>(open: impl FnOnce() -> E, method: &'static str) -> Run {
    let runtime = one_thread();
    let (mut control, peer) = runtime.block_on(start(open(), method));
    Box::new(move |requests| {
        let _peer = &peer;
        runtime.block_on(async {
            control.write_u64(requests).await.expect("the driver listens");
            control.read_u8().await.expect("all answers came");
        });
    })
}

async fn start<E: Engine>(engine: E, method: &str) -> (TcpStream, Peer) {
    let server = Server::bind("127.0.0.1:0").await.expect("a port");
    let port = server.address().expect("it is bound").port().to_string();
    let store = Store::open(engine, Config::default()).await.expect("it opens");
    tokio::spawn(server.serve(store.routes().expect("routes without conflict")));
    let control = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let control_port = control.local_addr().expect("it is bound").port().to_string();
    let peer = Peer::start(&["objects", method, &port, &control_port]);
    let (control, _) = control.accept().await.expect("the driver connects");
    control.set_nodelay(true).expect("a TCP socket");
    (control, peer)
}
