//! The object store on a folder of fjall whose reads are made on the worker of the connection, as they are,
//! or in a pool of threads, for docs/decisions/0026.
//!
//! `reads inline|pooled FOLDER CACHE_BYTES` prints a port and serves until the standard input ends.

use std::io::Read;
use std::sync::Arc;

use alula::Server;
use alula_store::engine::{
    BucketName, Decide, Engine, EngineError, Fjall, FjallOptions, FjallSnapshot, ObjectName, ReadTerms,
    WriteTerms, Written,
};
use alula_store::{Config, Store};
use tokio::runtime::{Builder, Handle};
use tokio::task::spawn_blocking;
use tokio::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [how, folder, cache] = &args[..] else { panic!("reads inline|pooled FOLDER CACHE_BYTES") };
    let mut options = FjallOptions::default();
    options.cache_bytes = cache.parse().expect("a number of bytes");
    let engine = Fjall::open(folder, options).expect("a store that is not in use");
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        match how.as_str() {
            "inline" => serve(engine).await,
            "pooled" => serve(Pooled(Arc::new(engine))).await,
            other => panic!("{other} is neither inline nor pooled"),
        }
    });
}

async fn serve<E: Engine>(engine: E) {
    let store = Store::open(engine, Config::default()).await.expect("it opens");
    let server = Server::bind("127.0.0.1:0").await.expect("a port");
    println!("{}", server.address().expect("it is bound").port());
    server.serve(store.routes().expect("routes without conflict")).await.expect("it serves");
}

/// Reads of objects in the runtime's pool of threads that may wait.
struct Pooled(Arc<Fjall>);

impl Engine for Pooled {
    type Bytes = <Fjall as Engine>::Bytes;
    type Snapshot = FjallSnapshot;

    async fn get(&self, name: ObjectName<'_>, terms: &ReadTerms) -> Result<Option<Self::Bytes>, EngineError> {
        let (engine, terms) = (Arc::clone(&self.0), *terms);
        let ObjectName { bucket: BucketName { bucket_type, bucket }, key } = name;
        let [bucket_type, bucket, key] = [bucket_type, bucket, key].map(<[u8]>::to_vec);
        let read = spawn_blocking(move || {
            let bucket = BucketName { bucket_type: &bucket_type, bucket: &bucket };
            Handle::current().block_on(engine.get(ObjectName { bucket, key: &key }, &terms))
        });
        read.await.expect("a read does not panic")
    }

    async fn write<D: Decide>(
        &self,
        name: ObjectName<'_>,
        decide: D,
        terms: &WriteTerms,
    ) -> Result<Written<D, Self::Bytes>, EngineError> {
        self.0.write(name, decide, terms).await
    }

    async fn snapshot(&self, deadline: Instant) -> Result<FjallSnapshot, EngineError> {
        self.0.snapshot(deadline).await
    }

    async fn settings(&self, deadline: Instant) -> Result<Vec<(Vec<u8>, Vec<u8>)>, EngineError> {
        self.0.settings(deadline).await
    }

    async fn set(&self, name: &[u8], value: Option<&[u8]>, deadline: Instant) -> Result<(), EngineError> {
        self.0.set(name, value, deadline).await
    }

    fn takes_writes(&self) -> bool {
        self.0.takes_writes()
    }

    fn label(&self) -> &'static str {
        self.0.label()
    }
}
