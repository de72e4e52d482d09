//! GOAWAY as a server's first frame (RFC 9113 §6.8): its code and its debug data reach the caller, and what
//! it says was not acted on is sent again.

use std::io::Read as _;

use alula::{Cause, Client, Error, Retry, h2::ErrorCode};
use tokio::time::timeout;

use super::peer::{FOREVER, Wire, listen};

const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];

pub(crate) fn goaway(last: u32, code: u32, debug: &[u8]) -> Vec<u8> {
    let length = 8 + debug.len() as u8;
    let header = [0, 0, length, 7, 0, 0, 0, 0, 0];
    [&header[..], &last.to_be_bytes(), &code.to_be_bytes(), debug].concat()
}

/// `:status: 204` with END_STREAM.
pub(crate) fn no_content(stream: u32) -> Vec<u8> {
    [&[0, 0, 1, 1, 5][..], &stream.to_be_bytes(), &[0x89]].concat()
}

/// Reads the preface and then frames, up to one that ends a stream, which it gives. Says SETTINGS first, if
/// so.
pub(crate) fn read_request(wire: &mut Wire, says_settings: bool) -> u32 {
    wire.read_exact(&mut [0; 24]).unwrap();
    if says_settings {
        wire.say(&SETTINGS);
    }
    loop {
        let mut head = [0; 9];
        wire.read_exact(&mut head).unwrap();
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        wire.read_exact(&mut vec![0; length]).unwrap();
        if head[3] == 4 && head[4] == 0 && says_settings {
            wire.say(&[0, 0, 0, 4, 1, 0, 0, 0, 0]);
        }
        if head[3] <= 1 && head[4] & 1 == 1 {
            return u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        }
    }
}

fn client() -> Client {
    Client::builder().no_proxy().trust_anything().http2_only().build().unwrap()
}

async fn post(client: &Client, url: &str) -> Result<u16, Error> {
    let sent = timeout(FOREVER, client.post(url).send_body(b"1")).await.expect("it ends");
    sent.map(|response| response.status().as_u16())
}

#[tokio::test]
async fn goaway_as_the_first_frame_says_why() {
    for with_tls in [false, true] {
        for (last, retry) in [(0, Retry::Safe), (1, Retry::IfIdempotent)] {
            let url = listen(with_tls, b"h2", move |_, mut wire| {
                read_request(&mut wire, false);
                wire.say(&goaway(last, 11, b"too many \x1b connections"));
                wire.end();
            });
            let error = post(&client(), &url).await.unwrap_err();
            assert!(matches!(error.cause(), Cause::GoAway(ErrorCode::ENHANCE_YOUR_CALM)), "{error}");
            assert_eq!(error.retry(), retry, "{error}");
            assert_eq!(error.goaway_debug(), b"too many \x1b connections");
            assert!(error.to_string().contains("ENHANCE_YOUR_CALM"), "{error}");
            assert!(error.to_string().contains(r"too many \x1b connections"), "{error}");
        }
    }
}

#[tokio::test]
async fn goaway_before_anything_was_sent_says_why() {
    let url = listen(false, b"h2", |_, mut wire| {
        wire.say(&goaway(0, 11, b"busy"));
        wire.end();
    });
    let error = post(&client(), &url).await.unwrap_err();
    assert!(matches!(error.cause(), Cause::GoAway(ErrorCode::ENHANCE_YOUR_CALM)), "{error}");
    assert_eq!((error.retry(), error.goaway_debug()), (Retry::Safe, &b"busy"[..]), "{error}");
}

#[tokio::test]
async fn what_goaway_left_out_is_sent_on_another_connection() {
    let url = listen(false, b"h2", |number, mut wire| match number {
        0 => {
            read_request(&mut wire, false);
            wire.say(&goaway(0, 0, b"moving"));
            wire.end();
        }
        _ => {
            let stream = read_request(&mut wire, true);
            wire.say(&no_content(stream));
            let _ = wire.read_to_end(&mut Vec::new());
        }
    });
    assert_eq!(post(&client(), &url).await.unwrap(), 204);
}
