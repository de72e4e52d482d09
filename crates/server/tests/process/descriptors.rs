//! A server that runs out of descriptors goes on: idle connections make room for newcomers, and it hears of
//! its stop meanwhile. Newcomers waited until others left by themselves.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsRawFd as _;
use std::time::Duration;

use alula_fields::Status;
use alula_machine::Limits;
use alula_server::{Exchange, Server};
use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// The connections for which there are descriptors.
const ROOM: u64 = 8;
const NEWCOMERS: usize = 20;
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn idle_connections_make_room_when_descriptors_run_out() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let answered = runtime.block_on(async {
        let limits = Limits { connections_max: Some(10_000), ..Limits::default() };
        let server = Server::builder().limits(limits).bind("127.0.0.1:0").await.unwrap();
        let (address, stop) = (server.address().unwrap(), server.stop_handle());
        let mut newcomers: Vec<TcpStream> = (0..2 * NEWCOMERS).map(|_| ask(address)).collect();
        leave_descriptors(ROOM);
        let client = tokio::task::spawn_blocking(move || {
            let (first, last) = newcomers.split_at_mut(NEWCOMERS);
            let first = first.iter_mut().filter_map(answer).count();
            // Those who are left wait in the backlog.
            stop.stop();
            (first, last.iter_mut().filter_map(answer).count())
        });
        server.serve(|exchange: Exchange| exchange.respond(Status::OK).send(b"")).await.unwrap();
        client.await.unwrap()
    });
    assert_eq!(answered, (NEWCOMERS, NEWCOMERS));
}

/// Leaves the process no more than so many descriptors that are free.
fn leave_descriptors(count: u64) {
    let next = File::open("/dev/null").unwrap().as_raw_fd() as u64;
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, next + count, hard).unwrap();
}

fn ask(address: SocketAddr) -> TcpStream {
    let mut socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    socket
}

fn answer(socket: &mut TcpStream) -> Option<()> {
    let mut status = [0; 12];
    socket.read_exact(&mut status).ok()?;
    (status == *b"HTTP/1.1 200").then_some(())
}
