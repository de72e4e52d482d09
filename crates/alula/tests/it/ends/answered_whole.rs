//! Responses that are whole while content of their requests waits for room, from servers that neither take
//! more of it nor reset the stream: over HTTP/2 they open no window, over HTTP/1.1 they read nothing.
//!
//! The writer was not woken at the end of such a response. Where a call beside it read for all on the
//! connection, it waited for ever: in a task, in a thread of a blocking client, and in the task that goes on
//! sending what `send_body` has left, which kept its stream and a copy of the content.

use std::future::{Future, poll_fn};
use std::io::{Read as _, Write as _};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use alula::{Client, ClientBuilder, Content, Error, FieldSection, PendingResponse};
use tokio::{task::JoinHandle, time::timeout};

use super::peer::{FOREVER, Wire, listen};

const PIECE: &[u8] = &[0; 100_000];
/// More than all windows and buffers on the way hold.
const PIECES: usize = 300;
/// The window of a connection and of its streams at first (RFC 9113 §6.9.2).
const WINDOW: usize = 65_535;

/// The last part of a response.
#[derive(Clone, Copy, Debug)]
enum Last {
    Content,
    Trailers,
}

/// The end of a request, as a server has seen it.
#[derive(Debug, Eq, PartialEq)]
enum Seen {
    /// It was cut: by a reset, or with the connection.
    Cut,
    /// It looks whole.
    Whole,
}

/// A server that takes as much content as anybody sends into its windows, and answers.
struct Origin {
    url: String,
    /// Over HTTP/1.1, where a server that reads nothing cannot know: the client has sent what there is room
    /// for.
    is_full: Sender<()>,
    seen: Receiver<Seen>,
}

/// A frame of the first stream.
fn frame(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
    [&[0, 0, payload.len() as u8, kind, flags, 0, 0, 0, 1], payload].concat()
}

/// Answers the first request by `200` with `done` once the window is used up and a second request is here,
/// which is not answered. Gives how the first one ends.
fn answer_http2(wire: &mut Wire, last: Last) -> Option<Seen> {
    wire.read_exact(&mut [0; 24]).ok()?;
    wire.say(&[0, 0, 0, 4, 0, 0, 0, 0, 0]);
    let (mut taken, mut has_second) = (0, false);
    loop {
        let mut head = [0; 9];
        wire.read_exact(&mut head).ok()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        wire.read_exact(&mut vec![0; length]).ok()?;
        match (head[3], head[4], head[8]) {
            (4, 0, _) => wire.say(&[0, 0, 0, 4, 1, 0, 0, 0, 0]),
            (0 | 1, flags, 1) if flags & 1 == 1 => return Some(Seen::Whole),
            (1, _, 1) => wire.say(&frame(1, 4, &[0x88])),
            (3, _, 1) => return Some(Seen::Cut),
            (1, _, _) => has_second = true,
            (0, _, 1) => taken += length,
            _ => continue,
        }
        if taken == WINDOW && has_second {
            (taken, has_second) = (0, false);
            wire.say(&match last {
                Last::Content => frame(0, 1, b"done"),
                // A literal field `a: b`, which is not indexed.
                Last::Trailers => [frame(0, 0, b"done"), frame(1, 5, b"\x00\x01a\x01b")].concat(),
            });
        }
    }
}

fn answer_http1(wire: &mut Wire, last: Last, is_full: &Receiver<()>) -> Option<Seen> {
    wire.read_head()?;
    wire.say(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
    is_full.recv().ok()?;
    wire.say(match last {
        Last::Content => b"4\r\ndone\r\n0\r\n\r\n",
        Last::Trailers => b"4\r\ndone\r\n0\r\na: b\r\n\r\n",
    });
    is_full.recv().ok()?;
    let mut content = Vec::new();
    let _ = wire.read_to_end(&mut content);
    Some(if content.ends_with(b"\r\n\r\n") { Seen::Whole } else { Seen::Cut })
}

fn serve(http2: bool, last: Last) -> Origin {
    let (tell, seen) = channel();
    let (is_full, full) = channel();
    let full = Mutex::new(Some(full));
    let url = listen(false, b"", move |_, mut wire| {
        let (tell, full) = (tell.clone(), full.lock().unwrap().take());
        thread::spawn(move || {
            let seen = match http2 {
                true => answer_http2(&mut wire, last),
                false => answer_http1(&mut wire, last, &full.expect("one connection")),
            };
            // It takes nothing more, and stays.
            seen.into_iter().for_each(|seen| tell.send(seen).unwrap());
            let _ = wire.flush();
            let _ = wire.read_to_end(&mut Vec::new());
        });
    });
    Origin { url, is_full, seen }
}

fn client(http2: bool) -> ClientBuilder {
    let builder = Client::builder().no_proxy();
    if http2 { builder.http2_only() } else { builder }
}

/// All versions and ends.
fn cases() -> impl Iterator<Item = (bool, Last)> {
    [false, true].into_iter().flat_map(|http2| [(http2, Last::Content), (http2, Last::Trailers)])
}

async fn soon<T>(work: impl Future<Output = T>) -> T {
    timeout(FOREVER, work).await.expect("it waits for ever")
}

impl Origin {
    /// Says that there is no room for more content. Over HTTP/2 that is a call beside, which from then on
    /// reads for all.
    fn note_full(&self, client: &Client, http2: bool) -> impl FnOnce() + use<> {
        let (is_full, client, url) = (self.is_full.clone(), client.clone(), self.url.clone());
        move || {
            let _ = is_full.send(());
            if http2 {
                tokio::spawn(async move { client.get(url).send().await.map(drop) });
            }
        }
    }

    /// Waits for what the server sees of the end of the request.
    async fn seen(self) -> Seen {
        let _ = self.is_full.send(());
        let seen = tokio::task::spawn_blocking(move || self.seen.recv_timeout(FOREVER));
        seen.await.unwrap().expect("the request ends")
    }
}

/// Does this in a task, and calls `note` when it waits for the first time.
fn spawn_until_full<T: Send + 'static>(
    note: impl FnOnce() + Send + 'static,
    work: impl Future<Output = T> + Send + 'static,
) -> JoinHandle<T> {
    let (mut work, mut note) = (Box::pin(work), Some(note));
    tokio::spawn(poll_fn(move |cx| {
        let polled = work.as_mut().poll(cx);
        if polled.is_pending() {
            note.take().into_iter().for_each(|note| note());
        }
        polled
    }))
}

async fn text(pending: PendingResponse) -> Result<String, Error> {
    pending.response().await?.text().await
}

#[tokio::test]
async fn a_writer_beside_the_response_ends_with_it() {
    for (http2, last) in cases() {
        let origin = serve(http2, last);
        let client = client(http2).build().unwrap();
        let (mut writer, pending) = client.post(&origin.url).open().await.unwrap();
        let send = async move {
            for _ in 0..PIECES {
                writer.write(PIECE).await?;
            }
            writer.finish().await
        };
        let sent = spawn_until_full(origin.note_full(&client, http2), send);
        assert_eq!(soon(text(pending)).await.unwrap(), "done", "HTTP/2 {http2}, {last:?}");
        let sent = soon(sent).await.unwrap();
        assert!(sent.is_ok(), "HTTP/2 {http2}, {last:?}: {sent:?}");
        assert_eq!(origin.seen().await, Seen::Cut, "HTTP/2 {http2}, {last:?}");
    }
}

#[tokio::test]
async fn a_writer_that_waits_for_room_alone_is_woken() {
    for (http2, last) in cases() {
        let origin = serve(http2, last);
        let client = client(http2).build().unwrap();
        let (mut writer, pending) = client.post(&origin.url).open().await.unwrap();
        let send = async move {
            let mut sent = 0;
            while sent < PIECES * PIECE.len() && !writer.is_answered() {
                let room = writer.writable().await?;
                sent += writer.try_write(&PIECE[..room.min(PIECE.len())])?;
            }
            writer.drained().await
        };
        let sent = spawn_until_full(origin.note_full(&client, http2), send);
        assert_eq!(soon(text(pending)).await.unwrap(), "done", "HTTP/2 {http2}, {last:?}");
        soon(sent).await.unwrap().unwrap();
        assert_eq!(origin.seen().await, Seen::Cut, "HTTP/2 {http2}, {last:?}");
    }
}

/// The rest of the content goes on being sent by a task, which ends with the response.
#[tokio::test]
async fn content_that_a_call_has_left_ends_with_the_response() {
    for (http2, last) in cases() {
        for is_read in [false, true] {
            let origin = serve(http2, last);
            let client = client(http2).build().unwrap();
            let content = PIECE.repeat(PIECES);
            let call = client.post(&origin.url);
            let response = match is_read {
                true => soon(call.content(Content::reader(std::io::Cursor::new(content))).send()).await,
                false => soon(call.send_body(content)).await,
            };
            let mut response = response.unwrap();
            let content =
                spawn_until_full(origin.note_full(&client, http2), async move { response.text().await });
            assert_eq!(soon(content).await.unwrap().unwrap(), "done", "HTTP/2 {http2}, {last:?}");
            assert_eq!(origin.seen().await, Seen::Cut, "HTTP/2 {http2}, {last:?}, reader: {is_read}");
        }
    }
}

#[test]
fn a_thread_that_writes_goes_on() {
    for (http2, last) in cases() {
        let origin = serve(http2, last);
        let client = Arc::new(client(http2).build_blocking().unwrap());
        let (mut writer, pending) = client.post(&origin.url).open().unwrap();
        let (tell, told) = channel();
        thread::spawn(move || {
            let written = (0..PIECES).try_for_each(|_| writer.write_all(PIECE));
            let _ = tell.send(written.map(|()| writer.finish().is_ok()).unwrap_or(false));
        });
        let mut response = pending.response().unwrap();
        let _ = origin.is_full.send(());
        if http2 {
            let (client, url) = (client.clone(), origin.url.clone());
            thread::spawn(move || client.get(&url).send().map(drop));
        }
        assert_eq!(response.text().unwrap(), "done", "HTTP/2 {http2}, {last:?}");
        assert_eq!(told.recv_timeout(FOREVER), Ok(true), "HTTP/2 {http2}, {last:?}");
        let _ = origin.is_full.send(());
        assert_eq!(origin.seen.recv_timeout(FOREVER), Ok(Seen::Cut), "HTTP/2 {http2}, {last:?}");
    }
}

/// Content that was dropped since the response is whole must not be followed by an end: it would look whole.
#[tokio::test]
async fn trailers_make_no_whole_message_of_one_that_was_cut() {
    for (http2, last) in cases() {
        let origin = serve(http2, last);
        let client = client(http2).build().unwrap();
        let (mut writer, pending) = client.post(&origin.url).open().await.unwrap();
        let first = if http2 { WINDOW } else { 10 };
        soon(writer.write(&PIECE[..first])).await.unwrap();
        origin.note_full(&client, http2)();
        assert_eq!(soon(text(pending)).await.unwrap(), "done");
        soon(writer.write(b"more")).await.unwrap();
        let trailers = FieldSection::try_from([("a", "b")]).unwrap();
        assert!(soon(writer.finish_with(&trailers)).await.is_ok());
        assert_eq!(origin.seen().await, Seen::Cut, "HTTP/2 {http2}, {last:?}");
    }
}
