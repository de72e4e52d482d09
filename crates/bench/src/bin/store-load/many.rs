//! Many objects in one bucket: written in random order, read at random, and listed in a stream.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use alula_testkit::Rng;
use alula_testkit::objects::{bytes, key};

use crate::client::{Client, connection};
use crate::failure::Failure;
use crate::options::Options;
use crate::play::{Figures, together};
use crate::times::Times;

/// Writes all of them, each client the next one.
pub(crate) async fn fill(address: &str, options: &Options) -> Result<Figures, Failure> {
    let mut order: Vec<u64> = (0..options.objects).collect();
    Rng::new(options.seed).shuffle(&mut order);
    let (order, next, bytes) = (Arc::new(order), Arc::new(AtomicUsize::new(0)), options.bytes);
    let seed = options.seed;
    run(address, options, move |mut client, _| {
        let (order, next) = (Arc::clone(&order), Arc::clone(&next));
        async move {
            while let Some(number) = order.get(next.fetch_add(1, Relaxed)) {
                client.put(&key(*number), &[], &value(seed, *number, bytes)).await?;
            }
            Ok(client)
        }
    })
    .await
}

/// Reads random ones, so many by each client, and checks their bytes.
pub(crate) async fn read(address: &str, options: &Options) -> Result<Figures, Failure> {
    let &Options { steps, objects, bytes, seed, .. } = options;
    run(address, options, move |mut client, number| async move {
        let mut rng = Rng::new(seed ^ number << 32);
        for _ in 0..steps {
            let number = rng.below(objects as usize) as u64;
            let key = key(number);
            if client.get(&key).await?.value != value(seed, number, bytes) {
                return Err(format!("{key} has other bytes than it was written with").into());
            }
        }
        Ok(client)
    })
    .await
}

/// Counts their keys, and the time that it took.
pub(crate) async fn list(address: &str, options: &Options) -> Result<(u64, Duration), Failure> {
    let mut client = Client::with(connection(options)?, address, 0, &options.bucket);
    let start = Instant::now();
    let keys = client.count_keys().await?;
    if keys != options.objects {
        return Err(format!("{keys} keys were listed and not {}", options.objects).into());
    }
    Ok((keys, start.elapsed()))
}

/// Has all clients work at once, those that share a connection on it.
async fn run<W>(address: &str, options: &Options, work: impl Fn(Client, u64) -> W) -> Result<Figures, Failure>
where
    W: Future<Output = Result<Client, Failure>> + Send + 'static,
{
    let (mut clients, mut http) = (Vec::new(), connection(options)?);
    for number in 0..options.clients {
        if number.is_multiple_of(options.per_connection) {
            http = connection(options)?;
        }
        clients.push((number, Client::with(http.clone(), address, number, &options.bucket)));
    }
    let start = Instant::now();
    let clients = together(clients, |(number, client)| {
        let work = work(client, number);
        async move { Ok((number, work.await?)) }
    });
    let clients = clients.await?;
    let elapsed = start.elapsed();
    let mut times = Times::default();
    clients.into_iter().for_each(|(_, client)| times.merge(client.times));
    Ok(Figures { clients: options.clients, elapsed, times: times.sorted() })
}

fn value(seed: u64, number: u64, count: usize) -> Vec<u8> {
    bytes(seed ^ number << 16, count)
}
