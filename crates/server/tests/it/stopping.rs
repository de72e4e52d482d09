//! A server that is told to stop still serves those who had connected before: they wait in the backlog, or
//! have sent a request that was not read yet, and were met with a reset.

use std::{
    io::{ErrorKind, Read, Write},
    net::{SocketAddr, TcpStream},
    sync::mpsc,
    thread::JoinHandle,
    time::{Duration, Instant},
};

use alula_fields::Status;
use alula_server::{Exchange, Server, Stop};

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
/// The preface, SETTINGS, and a request of GET, http and / as the static table has them (RFC 7541 Appendix
/// A).
const REQUEST_OVER_HTTP2: &[u8] =
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0\0\0\x03\x01\x05\0\0\0\x01\x82\x86\x84";
/// Kind and first byte of the HEADERS of an answer of 200.
const HEADERS: u8 = 1;
const STATUS_200: u8 = 0x88;

/// The time that nothing is said where that is the subject; the first request may take a second.
const PAUSE: Duration = Duration::from_millis(300);
/// Well below the grace of ten seconds, which nobody is to need.
const SOON: Duration = Duration::from_secs(5);

#[test]
fn those_who_wait_in_the_backlog_are_served() {
    let answers = stopped_before_it_serves(|address, stop| {
        let mut sockets: Vec<TcpStream> = (0..50).map(|_| connect(address)).collect();
        for (index, socket) in sockets.iter_mut().enumerate() {
            socket.write_all(if index % 2 == 0 { REQUEST } else { REQUEST_OVER_HTTP2 }).unwrap();
        }
        stop.stop();
        move || {
            let answered =
                sockets.iter_mut().enumerate().map(|(index, socket)| is_answered(socket, index % 2 == 0));
            answered.filter(|answered| *answered).count()
        }
    });
    assert_eq!(answers, 50);
}

#[test]
fn the_first_request_is_waited_for() {
    let (is_served, took) = stopped_before_it_serves(|address, stop| {
        let mut socket = connect(address);
        stop.stop();
        move || {
            let begun = Instant::now();
            pause(&socket);
            let is_served = socket.write_all(REQUEST).is_ok() && is_answered(&mut socket, true);
            (is_served, begun.elapsed())
        }
    });
    assert!(is_served, "after {took:?}");
}

#[test]
fn a_connection_without_a_request_holds_the_stop_up_for_a_second() {
    let began = Instant::now();
    let bytes = stopped_before_it_serves(|address, stop| {
        let mut socket = connect(address);
        stop.stop();
        move || socket.read(&mut [0; 1]).unwrap()
    });
    assert_eq!(bytes, 0);
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
}

/// A head that is not whole has no machine yet when the server is told to stop: it gets one then, which lets
/// its peer finish.
#[test]
fn a_request_that_has_begun_is_waited_for() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let server = runtime.block_on(Server::bind("127.0.0.1:0")).unwrap();
    let (address, stop) = (server.address().unwrap(), server.stop_handle());
    let client = std::thread::spawn(move || {
        let (mut begun, mut used) = (connect(address), connect(address));
        let (half, rest) = REQUEST.split_at(REQUEST.len() / 2);
        begun.write_all(half).unwrap();
        used.write_all(REQUEST).unwrap();
        assert!(is_answered(&mut used, true), "the server has read both");
        stop.stop();
        // Longer than a connection without any request is waited for.
        (0..5).for_each(|_| pause(&begun));
        begun.write_all(rest).is_ok() && is_answered(&mut begun, true)
    });
    let answer = |exchange: Exchange| exchange.respond(Status::OK).send(b"");
    runtime.block_on(server.serve(answer)).unwrap();
    assert!(client.join().unwrap());
}

/// Runs a server that was stopped after `prepare`, beside what that returns.
fn stopped_before_it_serves<T: Send + 'static, F: FnOnce() -> T + Send + 'static>(
    prepare: impl FnOnce(SocketAddr, Stop) -> F,
) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let server = runtime.block_on(Server::bind("127.0.0.1:0")).unwrap();
    let then = prepare(server.address().unwrap(), server.stop_handle());
    let client: JoinHandle<T> = std::thread::spawn(then);
    let answer = |exchange: Exchange| exchange.respond(Status::OK).send(b"");
    runtime.block_on(server.serve(answer)).unwrap();
    client.join().unwrap()
}

#[test]
fn a_request_that_has_arrived_is_read_before_a_used_connection_ends() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let server = runtime.block_on(Server::bind("127.0.0.1:0")).unwrap();
    let (address, stop) = (server.address().unwrap(), server.stop_handle());
    let (tell, is_held) = mpsc::channel();
    let (let_go, may_go) = mpsc::channel::<()>();
    let client = std::thread::spawn(move || {
        let (mut used, mut holding) = (connect(address), connect(address));
        used.write_all(REQUEST).unwrap();
        assert!(is_answered(&mut used, true));
        // The one thread of the server is held by this while the next request arrives, and the stop.
        holding.write_all(b"GET /hold HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
        is_held.recv().unwrap();
        used.write_all(REQUEST).unwrap();
        stop.stop();
        let_go.send(()).unwrap();
        [is_answered(&mut used, true), is_answered(&mut holding, true)]
    });
    let may_go = std::sync::Mutex::new(may_go);
    let answer = move |exchange: Exchange| {
        if exchange.request().path() == "/hold" {
            tell.send(()).unwrap();
            may_go.lock().unwrap().recv().unwrap();
        }
        exchange.respond(Status::OK).send(b"")
    };
    runtime.block_on(server.serve(answer)).unwrap();
    assert_eq!(client.join().unwrap(), [true, true]);
}

#[test]
fn requests_that_are_left_after_a_stop_are_counted() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let server = runtime.block_on(Server::bind("127.0.0.1:0")).unwrap();
    let (address, stop) = (server.address().unwrap(), server.stop_handle());
    let (tell, has_begun) = mpsc::channel();
    let (let_go, may_go) = tokio::sync::watch::channel(false);
    let client = std::thread::spawn(move || {
        let (mut one, mut other, _idle) = (connect(address), connect(address), connect(address));
        one.write_all(REQUEST).unwrap();
        other.write_all(REQUEST_OVER_HTTP2).unwrap();
        (0..2).for_each(|_| has_begun.recv().unwrap());
        let before = stop.requests_left();
        stop.stop();
        wait_until(|| stop.requests_left() == 2);
        let_go.send(true).unwrap();
        let answered = [is_answered(&mut one, true), is_answered(&mut other, false)];
        wait_until(|| stop.requests_left() == 0);
        (before, answered)
    });
    let answer = move |exchange: Exchange| {
        tell.send(()).unwrap();
        let mut may_go = may_go.clone();
        async move {
            may_go.wait_for(|may_go| *may_go).await.unwrap();
            exchange.respond(Status::OK).send(b"").await
        }
    };
    runtime.block_on(server.serve(answer)).unwrap();
    assert_eq!(client.join().unwrap(), (0, [true, true]));
}

fn wait_until(is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < SOON);
        std::thread::yield_now();
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    let socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(SOON)).unwrap();
    socket
}

/// Says nothing for a while.
fn pause(socket: &TcpStream) {
    socket.set_read_timeout(Some(PAUSE)).unwrap();
    let read = (&*socket).read(&mut [0; 1]);
    assert!(
        matches!(&read, Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)),
        "{read:?}"
    );
    socket.set_read_timeout(Some(SOON)).unwrap();
}

/// Returns true if the next answer is one of 200, without content.
fn is_answered(socket: &mut TcpStream, over_http1: bool) -> bool {
    let answered = if over_http1 { answer_over_http1(socket) } else { answer_over_http2(socket) };
    answered.unwrap_or(false)
}

fn answer_over_http1(socket: &mut TcpStream) -> std::io::Result<bool> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        socket.read_exact(&mut byte)?;
        head.extend(byte);
    }
    Ok(head.starts_with(b"HTTP/1.1 200"))
}

fn answer_over_http2(socket: &mut TcpStream) -> std::io::Result<bool> {
    loop {
        let mut head = [0; 9];
        socket.read_exact(&mut head)?;
        let mut payload = vec![0; usize::from(head[1]) << 8 | usize::from(head[2])];
        socket.read_exact(&mut payload)?;
        if head[3] == HEADERS {
            return Ok(payload[0] == STATUS_200);
        }
    }
}
