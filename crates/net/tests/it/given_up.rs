//! Calls that are given up part-way hold up nobody who shares their connection.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use alula_fields::{FieldSection, Status};
use alula_machine::Limits;
use alula_net::h2::{RequestHead, ResponseHead};
use alula_net::{Accept, Conn, Connect, Ledger, Requests, Turn};
use tokio::net::{TcpListener, TcpStream};
use tokio::task;

const CALLERS: usize = 10;
const CALLS: usize = 8_000;
/// One in so many calls is given up.
const GIVEN_UP: usize = 10;
/// A hand-over that is lost lasts two ticks of 50 ms, until the standby task takes over; then all callers are
/// late.
const LATE: Duration = Duration::from_millis(90);
/// A busy machine stops them all now and then as well.
const LATE_MAX: usize = 3 * CALLERS;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_that_are_given_up_hold_nobody_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    task::spawn(answer_all(listener));
    let connect = Connect {
        #[cfg(feature = "tls")]
        tls: None,
        speaks: alula_net::Speaks::HTTP2,
        http1: Default::default(),
        ledger: Arc::new(Ledger::new(&Limits::default())),
        content_max: 1 << 20,
        config: Default::default(),
        streams_expected: 100,
        field_section_expected: u32::MAX,
        observer: None,
        at_end: None,
    };
    let conn = connect.over(TcpStream::connect(address).await.unwrap()).await.unwrap();
    let callers: Vec<_> = (0..CALLERS).map(|_| task::spawn(call_often(conn.clone()))).collect();
    let mut late = 0;
    for caller in callers {
        late += caller.await.unwrap();
    }
    assert!(late <= LATE_MAX, "{late} of {} calls were late", CALLERS * CALLS);
    conn.close();
}

/// The number of calls that took too long.
async fn call_often(conn: Arc<Conn>) -> usize {
    let mut late = 0;
    for number in 0..CALLS {
        let began = Instant::now();
        tokio::select! {
            biased;
            () = call(&conn) => late += usize::from(began.elapsed() > LATE),
            () = task::yield_now(), if number % GIVEN_UP == 5 => {}
        }
    }
    late
}

async fn call(conn: &Arc<Conn>) {
    let fields = FieldSection::new();
    let head = RequestHead {
        method: "GET",
        scheme: "http",
        authority: "127.0.0.1",
        path: "/",
        protocol: None,
        fields: &fields,
    };
    let stream = conn
        .open(alula_net::Noted { method: "GET", path: "/" }, |machine, out| {
            machine.send_request(&head, true, out)
        })
        .await
        .unwrap();
    let answer = stream.head().await.unwrap();
    assert!(answer.ended);
}

/// Takes one connection and answers every request with 204.
async fn answer_all(listener: TcpListener) {
    let (socket, _) = listener.accept().await.unwrap();
    let accept = Accept {
        #[cfg(feature = "tls")]
        tls: None,
        #[cfg(feature = "tls")]
        clear_text: true,
        speaks: alula_net::Speaks::HTTP2,
        http1: Default::default(),
        config: Default::default(),
        ledger: Arc::new(Ledger::new(&Limits::default())),
        content_max: 1 << 20,
    };
    let conn = accept.open(socket).await.unwrap();
    let (mut incoming, mut cancelled) = (Requests::default(), Vec::new());
    poll_fn(|cx| {
        loop {
            let turn = conn.turn_of_server(&mut incoming, &mut cancelled, cx);
            cancelled.clear();
            for request in incoming.drain(&conn) {
                let fields = FieldSection::new();
                let head = ResponseHead { status: Status::NO_CONTENT, fields: &fields };
                // Who gave up needs no answer.
                let _ =
                    request.stream.command(|machine, key, out| machine.send_response(key, &head, true, out));
            }
            if turn != Turn::Progress {
                conn.settle(cx);
                return if turn == Turn::Ended { Poll::Ready(()) } else { Poll::Pending };
            }
        }
    })
    .await;
}
