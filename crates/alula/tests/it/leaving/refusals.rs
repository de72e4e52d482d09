//! Requests beyond the streams of a connection from a client whose fault they are not, in any number. They
//! cost it nothing, and the server no more memory than a connection may hold if none of the refusals is read.
//!
//! Frames that waited behind output which nobody read were charged to no account.

use std::{future::pending, io::Write as _, net::TcpStream, sync::mpsc, thread};

use alula::{Error, Exchange, Ledger, Limits, Sent, Server};

use crate::ends::peer::FOREVER;

/// The client's first bytes (RFC 9113 §3.4), with empty SETTINGS.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
/// The requests of one write.
const REQUESTS: u32 = 5000;

/// GET of `/`, in indexes of the static table and a literal `:authority`.
fn request(number: u32) -> Vec<u8> {
    [&[0, 0, 6, 1, 5][..], &(2 * number + 1).to_be_bytes(), &[0x82, 0x86, 0x84, 0x01, 1, b'a']].concat()
}

/// Serves handlers that never end. Returns the port, and the account.
fn serve(limits: Limits) -> (u16, std::sync::Arc<Ledger>) {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let server = Server::builder().limits(limits).bind("127.0.0.1:0").await.unwrap();
            tell.send((server.address().unwrap().port(), server.ledger())).unwrap();
            let never = async |_: Exchange| pending::<Result<Sent, Error>>().await;
            server.serve(never).await.unwrap();
        });
    });
    told.recv().unwrap()
}

#[test]
fn refusals_that_nobody_reads_hold_no_more_than_a_connection_may() {
    let limits = Limits { connection_memory_bytes: 1024 * 1024, streams: 1, ..Limits::default() };
    let (port, ledger) = serve(limits);
    let mut socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
    socket.set_write_timeout(Some(FOREVER)).unwrap();
    // It acknowledges no settings, and so need not know that there is one stream.
    socket.write_all(PREFACE).unwrap();
    let piece = |first| (first..first + REQUESTS).flat_map(request).collect::<Vec<u8>>();
    let all = (0..).step_by(REQUESTS as usize).try_for_each(|first| socket.write_all(&piece(first)));
    assert!(all.is_err(), "the connection ends");
    assert_eq!(ledger.count("CONNECTION_MEMORY"), 1);
    assert_eq!(ledger.count("TOO_MANY_GLITCHES"), 0);
}
