//! The order of the lines of an access log: that of the ends of the requests, over threads, connections,
//! files and versions.

use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use alula::{AccessLog, Exchange, Router, Status, routing::get};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use super::{clients, serve_routes};

const LONG: Duration = Duration::from_secs(10);

#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn routes(log: &AccessLog) -> Router {
    let hello = |exchange: Exchange| exchange.respond(Status::OK).send("hello");
    Router::new().hook(log.clone()).route("/{number}", get(hello))
}

/// The numbers that were asked for, in the order of their lines.
fn numbers(lines: &[u8]) -> Vec<usize> {
    let lines = String::from_utf8_lossy(lines);
    let number = |line: &str| line.split_once("GET /")?.1.split_once(' ')?.0.parse().ok();
    lines.lines().map(|line| number(line).unwrap_or(usize::MAX)).collect()
}

/// A server on a thread of its own, which ends with it.
struct OnThread {
    origin: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl OnThread {
    fn serve(router: Router) -> Self {
        let (tell, origin) = mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                tell.send(serve_routes(router).await).unwrap();
                let _ = stopped.await;
            });
        });
        Self { origin: origin.recv().unwrap(), stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for OnThread {
    fn drop(&mut self) {
        drop(self.stop.take());
        self.thread.take().map(thread::JoinHandle::join);
    }
}

/// Lines of each thread stood together: of 40 requests one after the other, nine were out of place.
#[tokio::test]
async fn a_request_after_another_has_its_line_after_that() {
    const REQUESTS: usize = 400;
    for (http2, client) in [false, true].into_iter().zip(clients()) {
        let memory = Memory::default();
        let log = AccessLog::to_writer(memory.clone()).unwrap();
        let servers: Vec<_> = (0..4).map(|_| OnThread::serve(routes(&log))).collect();
        for number in 0..REQUESTS {
            let origin = &servers[number % servers.len()].origin;
            let mut response = client.get(format!("{origin}/{number}")).send().await.unwrap();
            assert_eq!(response.text().await.unwrap(), "hello");
        }
        drop((servers, log));
        let written = numbers(&memory.0.lock().unwrap());
        let misplaced = written.iter().enumerate().filter(|(place, number)| place != *number).count();
        assert_eq!((misplaced, written.len()), (0, REQUESTS), "HTTP/2 {http2}: {written:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn requests_that_were_sent_ahead_are_in_order() {
    const REQUESTS: usize = 500;
    let memory = Memory::default();
    let log = AccessLog::to_writer(memory.clone()).unwrap();
    let origin = serve_routes(routes(&log)).await;
    let mut socket = TcpStream::connect(origin.trim_start_matches("http://")).await.unwrap();
    let requests: String = (0..REQUESTS)
        .map(|number| format!("GET /{number} HTTP/1.1\r\nhost: a\r\n{}\r\n", last(number + 1 == REQUESTS)))
        .collect();
    let (mut read, mut write) = socket.split();
    let mut answers = Vec::new();
    let (written, read) = tokio::join!(write.write_all(requests.as_bytes()), read.read_to_end(&mut answers));
    assert!(written.is_ok() && read.is_ok());
    assert!(log.flush(LONG));
    assert_eq!(numbers(&memory.0.lock().unwrap()), (0..REQUESTS).collect::<Vec<_>>());
}

fn last(is_last: bool) -> &'static str {
    if is_last { "connection: close\r\n" } else { "" }
}

/// Each file goes on where the one before has ended.
#[tokio::test]
async fn lines_of_several_files_are_in_order() {
    const FILES: usize = 5;
    const REQUESTS: usize = 100;
    let folder = std::env::temp_dir().join(format!("alula-log-order-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("access.log");
    let log = AccessLog::to_file(&path).unwrap().common();
    let servers = [OnThread::serve(routes(&log)), OnThread::serve(routes(&log))];
    let [client, _] = clients();
    for number in 0..FILES * REQUESTS {
        let origin = &servers[number % servers.len()].origin;
        client.get(format!("{origin}/{number}")).send().await.unwrap().bytes().await.unwrap();
        if number % REQUESTS == REQUESTS - 1 {
            std::fs::rename(&path, moved(&folder, number / REQUESTS)).unwrap();
            log.reopen().unwrap();
        }
    }
    drop((servers, log));
    let mut written: Vec<u8> =
        (0..FILES).flat_map(|file| std::fs::read(moved(&folder, file)).unwrap()).collect();
    written.extend(std::fs::read(&path).unwrap());
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(numbers(&written), (0..FILES * REQUESTS).collect::<Vec<_>>());
}

fn moved(folder: &Path, file: usize) -> std::path::PathBuf {
    folder.join(format!("access.log.{file}"))
}
