//! The memory that `alula store` holds for large objects: many that come at once, and many that are read at
//! once.
//!
//! Objects wait for their part of `--memory`. Beside it there are the one that is written, the memory in
//! which the engine keeps what it has not yet written to files, what it has read, and the buffers of
//! connections. What glibc keeps of memory that was given back is left out: it differs by 50 MiB from run to
//! run, so large blocks go back to the system at once here.

use std::time::Duration;

use alula::{Body, Client, Content};
use alula_conformance::folder::Folder;
use alula_conformance::program::Program;
use alula_conformance::{alula as command, process};
use tokio::io::AsyncReadExt as _;
use tokio::task::JoinSet;

const OBJECTS: u64 = 64;
const OBJECT_BYTES: u64 = 8 * 1024 * 1024;
const BYTE: u8 = 7;

/// The bound of bytes in flight, which is a sixteenth of what the objects take together.
const MEMORY: &str = "32M";

/// The longest object, for which a content without a length takes room.
const OBJECT_MAX: &str = "9M";

/// The peak that is allowed: the bound; three objects in the engine, as they were received, as records and in
/// the memory of the journal; four times 32 MiB that are not yet in files, with an object each; 64 MiB that
/// were read; and 48 MiB for everything else.
const PEAK_KIB_MAX: u64 = (32 + 3 * 8 + 4 * (32 + 8) + 64 + 48) * 1024;

/// Blocks of so many bytes are given back at once. glibc raises this by itself to the largest block that was
/// given back, which is an object.
const LARGE_BYTES: &str = "131072";

/// No disk is so slow.
const ALL_MAX: Duration = Duration::from_secs(300);

pub(crate) fn large_objects_at_once_wait_for_their_part_of_the_memory() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("a runtime can be made").block_on(put_and_get_all_at_once());
}

async fn put_and_get_all_at_once() {
    let folder = Folder::new();
    let (store, port) = start(&folder);
    let stated = |_| Content::reader_of(tokio::io::repeat(BYTE).take(OBJECT_BYTES), OBJECT_BYTES);
    let unstated = |_| Content::reader(tokio::io::repeat(BYTE).take(OBJECT_BYTES));
    for client in [Client::builder().http1_only(), Client::builder().http2_only()] {
        let client = client.build().expect("a client");
        put_all(&client, port, stated).await;
        get_all(&client, port).await;
        put_all(&client, port, unstated).await;
        get_all(&client, port).await;
    }
    let peak = process::memory(store.id()).peak_kib;
    println!("{OBJECTS} objects of {OBJECT_BYTES} bytes at once: at most {peak} KiB resident");
    assert!(peak <= PEAK_KIB_MAX, "{peak} KiB were resident");
}

/// Starts the store, and returns its port.
fn start(folder: &Folder) -> (Program, u16) {
    let data = folder.join("data").display().to_string();
    let arguments =
        ["store", "--listen", "127.0.0.1:0", "--data", &data, "--memory", MEMORY, "--object-max", OBJECT_MAX];
    let mut command = command::command(arguments);
    command.env("MALLOC_MMAP_THRESHOLD_", LARGE_BYTES);
    let mut store = Program::start(&mut command);
    let port = store.wait_for_line("says where it listens", |line| {
        let address = line.split_once("listening on http://127.0.0.1:")?.1;
        address.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    });
    (store, port)
}

fn url(port: u16, number: u64) -> String {
    format!("http://127.0.0.1:{port}/buckets/large/keys/{number}?timeout={}", ALL_MAX.as_millis())
}

async fn put_all(client: &Client, port: u16, content: impl Fn(u64) -> Content) {
    let mut writes = JoinSet::new();
    for number in 0..OBJECTS {
        let (client, content) = (client.clone(), content(number));
        writes.spawn(async move {
            let content = content.media_type("application/octet-stream");
            let put = client.put(url(port, number)).timeout(ALL_MAX).content(content);
            put.send().await.map(|response| response.status().as_u16())
        });
    }
    for status in writes.join_all().await {
        assert_eq!(status.expect("an answer"), 204);
    }
}

async fn get_all(client: &Client, port: u16) {
    let mut reads = JoinSet::new();
    for number in 0..OBJECTS {
        let client = client.clone();
        reads.spawn(async move {
            let get = client.get(url(port, number)).timeout(ALL_MAX);
            let mut response = get.send().await.expect("an answer");
            assert_eq!(response.status(), 200);
            bytes_of(response.body()).await
        });
    }
    for bytes in reads.join_all().await {
        assert_eq!(bytes, OBJECT_BYTES);
    }
}

async fn bytes_of(body: &mut Body) -> u64 {
    let mut bytes = 0;
    while let Some(chunk) = body.chunk().await.expect("the content goes on") {
        assert!(chunk.iter().all(|byte| *byte == BYTE), "other bytes than were stored");
        bytes += chunk.len() as u64;
    }
    bytes
}
