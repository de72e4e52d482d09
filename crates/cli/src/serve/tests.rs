//! A small file that is held is sent without allocating and without leaving the thread, counted on the
//! server's thread.

use std::{fs, net::SocketAddr, path::PathBuf, sync::mpsc, thread, time::Duration};

use alula::{Client, Server, Stop};
use alula_tally::Side;

use super::*;
use crate::args::{Args, Command};

/// Requests of one round; rounds without an allocation that are wanted one after the other, and among how
/// many.
const ROUND: usize = 200;
const ROUNDS_QUIET: usize = 4;
const ROUNDS_MAX: usize = 30;

/// A folder with files of these lengths, gone with the value; each file is named for its length.
struct Files(PathBuf);

impl Files {
    fn new(name: &str, lengths: &[usize]) -> Self {
        let path = std::env::temp_dir().join(format!("alula-serve-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        for length in lengths {
            fs::write(path.join(length.to_string()), vec![b'x'; *length]).unwrap();
        }
        Self(path)
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Serves the files under these flags on a thread of its own, labelled as the server's; its address and what
/// stops it.
fn start(files: &Files, flags: &[&str]) -> (SocketAddr, Stop) {
    let path = files.0.to_str().unwrap();
    let Command::Serve(args) = Args::tried(&[&["serve", path], flags].concat()).unwrap().command else {
        panic!("these are flags of serve")
    };
    let (mut router, watching) = hooks::router(&args.watch).unwrap();
    if args.log {
        // The writer is never told to end.
        let (lines, writer) = Lines::to(std::io::sink());
        std::mem::forget(writer);
        router = router.hook(LogLine(lines));
    }
    // Nothing has to be looked at again during the test.
    let folder = folder(&args).fresh_for(Duration::from_secs(3600));
    let routes = routes(guarded(router, &args, [127, 0, 0, 1].into()), &args, &folder).unwrap();
    let (started, server) = mpsc::channel();
    thread::spawn(move || {
        alula_tally::set_side(Side::SERVER);
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().build().unwrap().block_on(async {
            let server = Server::bind("127.0.0.1:0").await.unwrap();
            watching.watch().unwrap();
            started.send((server.address().unwrap(), server.stop_handle())).unwrap();
            server.serve(routes).await.unwrap();
        });
    });
    server.recv().unwrap()
}

/// Asks for a file by GET, by HEAD, and by GET if it is another than it is.
async fn ask(client: &Client, url: &str, length: usize) {
    for (method, condition, status, length) in [
        ("GET", "\"other\"", Status::OK, length),
        ("HEAD", "\"other\"", Status::OK, 0),
        ("GET", "*", Status::NOT_MODIFIED, 0),
    ] {
        let call = client.request(method, url).header("accept", "*/*").header("if-none-match", condition);
        let call = call.header("origin", "https://a.example").header("user-agent", "u/1");
        let mut response = call.send().await.unwrap();
        assert_eq!(response.status(), status);
        let mut bytes = 0;
        while let Some(chunk) = response.body().chunk().await.unwrap() {
            bytes += chunk.len();
        }
        assert_eq!(bytes, length);
    }
}

/// Asks in rounds until some in a row have not allocated on the server's side.
async fn becomes_quiet(client: &Client, url: &str, length: usize) {
    // Buffers may still meet a new largest load after the first rounds, but soon no more.
    let mut quiet = 0;
    for round in 0.. {
        assert!(round < ROUNDS_MAX, "{url} still allocates after {ROUNDS_MAX} rounds");
        let before = alula_tally::side(Side::SERVER);
        for _ in 0..ROUND {
            ask(client, url, length).await;
        }
        let counts = alula_tally::side(Side::SERVER) - before;
        quiet = if counts.allocations == 0 { quiet + 1 } else { 0 };
        if quiet == ROUNDS_QUIET {
            break;
        }
    }
}

#[test]
fn held_files_are_sent_without_allocating() {
    assert!(alula_tally::is_installed());
    let lengths = [0, 26, 1024, 64 * 1024];
    let files = Files::new("held", &lengths);
    let log = format!("--access-log={}", files.0.join("log").display());
    for flags in [
        &[][..],
        &["--log", "--precompressed"],
        &["--upload", "--spa"],
        &[&*log],
        &[&*log, "--access-log-format=json", "--metrics", "--cors=https://a.example", "--header", "x-a: b"],
    ] {
        let (address, stop) = start(&files, flags);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let client = Client::builder().http2_prior_knowledge(true).trust_anything().build().unwrap();
            for length in lengths {
                becomes_quiet(&client, &format!("http://{address}/{length}"), length).await;
            }
        });
        stop.stop();
    }
}
