//! The object store of `alula store`, as far as its benchmark goes: axum over fjall.
//!
//! ```text
//! alula-bench-store FOLDER   prints the port and serves until the standard input ends
//! ```
//!
//! A PUT reads the stored record, merges by version vectors, writes the record and what changed of its index
//! entries in one batch, and is answered when the disk has it. `cargo xtask bench --store-peers` builds and
//! runs it.
#![forbid(unsafe_code)]

mod engine;
mod handler;
mod record;
mod vector;

use std::sync::Arc;

use axum::serve::ListenerExt;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let [folder] = args[..] else { panic!("usage: alula-bench-store FOLDER") };
    serve_all(folder);
}

fn serve_all(folder: &str) {
    let engine = Arc::new(engine::Engine::open(folder.as_ref()).expect("the folder opens"));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build();
    runtime.expect("a runtime").block_on(serve(engine));
}

async fn serve(engine: Arc<engine::Engine>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    println!("{}", listener.local_addr().expect("it is bound").port());
    let listener = listener.tap_io(|socket| socket.set_nodelay(true).expect("a TCP socket"));
    let serve = axum::serve(listener, handler::router(engine));
    tokio::select! {
        served = async { serve.await } => served.expect("it serves"),
        () = input_ends() => {}
    }
}

async fn input_ends() {
    let mut input = tokio::io::stdin();
    let mut bytes = [0; 64];
    while input.read(&mut bytes).await.is_ok_and(|count| count > 0) {}
}
