//! Calls that a server leaves out when it goes away, or wants sent in another way, are sent again.

use std::io::Read as _;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;

use alula::{Cause, Client, Error, Retry, h2::ErrorCode};
use tokio::time::timeout;

use super::goaway::{goaway, no_content};
use super::peer::{FOREVER, Wire, listen};

const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];
const SETTINGS_ACK: [u8; 9] = [0, 0, 0, 4, 1, 0, 0, 0, 0];

/// Reads frames to the end of the connection; `ended` is told of each stream that ends, and gives what to
/// say.
fn talk(mut wire: Wire, mut ended: impl FnMut(u32) -> Vec<u8>) -> Option<()> {
    wire.read_exact(&mut [0; 24]).ok()?;
    wire.say(&SETTINGS);
    loop {
        let mut head = [0; 9];
        wire.read_exact(&mut head).ok()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        wire.read_exact(&mut vec![0; length]).ok()?;
        let said = match (head[3], head[4]) {
            (4, 0) => SETTINGS_ACK.to_vec(),
            (0 | 1, flags) if flags & 1 == 1 => {
                ended(u32::from_be_bytes([head[5], head[6], head[7], head[8]]))
            }
            _ => continue,
        };
        std::io::Write::write_all(&mut wire, &said).ok()?;
    }
}

fn client() -> Client {
    Client::builder().no_proxy().trust_anything().http2_only().build().unwrap()
}

/// As nginx does with `keepalive_requests 10`: the tenth request of a connection is its last. Of 50 calls at
/// once, 20 failed.
#[tokio::test]
async fn calls_that_goaway_left_out_do_not_use_up_their_tries() {
    const LAST: u32 = 19;
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = connections.clone();
    let url = listen(false, b"h2", move |_, wire| {
        counted.fetch_add(1, SeqCst);
        thread::spawn(move || {
            talk(wire, |stream| match stream {
                LAST => [no_content(LAST), goaway(LAST, 0, b"")].concat(),
                stream if stream < LAST => no_content(stream),
                _ => vec![],
            });
        });
    });
    let client = client();
    let calls = (0..150).map(|number| {
        let (client, url) = (client.clone(), url.clone());
        tokio::spawn(async move {
            let call = if number % 2 == 0 { client.get(&url) } else { client.post(&url) };
            timeout(FOREVER, call.send_body("1")).await.expect("it ends").map(|response| response.status())
        })
    });
    let mut failed = Vec::new();
    for call in calls.collect::<Vec<_>>() {
        failed.extend(call.await.unwrap().err().map(|error| error.to_string()));
    }
    assert_eq!(failed, Vec::<String>::new(), "{} of 150 calls failed", failed.len());
    assert!(connections.load(SeqCst) >= 15);
}

/// A peer that takes no request on any connection is not asked for ever.
#[tokio::test]
async fn a_server_that_takes_no_call_at_all_uses_them_up() {
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = connections.clone();
    let url = listen(false, b"h2", move |_, wire| {
        counted.fetch_add(1, SeqCst);
        thread::spawn(move || talk(wire, |_| goaway(0, 0, b"")));
    });
    let call = timeout(FOREVER, client().get(&url).send()).await.expect("it ends");
    let error = call.expect_err("it was never taken");
    assert_eq!(error.retry(), Retry::Safe, "{error}");
    assert_eq!(connections.load(SeqCst), 3);
}

/// After the head of a response nobody can say that the request was not carried out.
#[tokio::test]
async fn goaway_after_the_head_does_not_make_it_safe_to_send_again() {
    let url = listen(false, b"h2", move |_, wire| {
        thread::spawn(move || {
            talk(wire, |stream| {
                let head = [&[0, 0, 1, 1, 4][..], &stream.to_be_bytes(), &[0x88]].concat();
                [head, goaway(0, 0, b"")].concat()
            });
        });
    });
    let (client, work) = (client(), async |client: &Client| -> Result<(), Error> {
        let mut response = client.post(&url).send_body("1").await?;
        response.body().chunk().await.map(drop)
    });
    let error = timeout(FOREVER, work(&client)).await.expect("it ends").expect_err("it was cut");
    assert!(matches!(error.cause(), Cause::GoAway(ErrorCode::NO_ERROR)), "{error}");
    assert_eq!(error.retry(), Retry::IfIdempotent, "{error}");
}
