//! The workload, step by step.
//!
//! Each step writes a new object and reads a random older one. Every second step reads a random older object,
//! adds an index to it and writes it back with its context. Every hundredth asks for the keys of the last two
//! hundred objects by their terms.

use std::time::{Duration, Instant};

use alula_testkit::Rng;
use alula_testkit::objects::{ENTRIES, ORDERED, added, entries, fields, key, term, value};
use tokio::task::JoinSet;

use crate::client::Client;
use crate::failure::Failure;
use crate::options::{Mix, Options};
use crate::times::Times;

/// Keys that a query returns.
const QUERIED: u64 = 200;

/// Steps from one query to the next.
const QUERY_EACH: u64 = 100;

/// The figures of a run.
pub(crate) struct Figures {
    pub(crate) clients: u64,
    pub(crate) elapsed: Duration,
    /// In order.
    pub(crate) times: Times,
}

/// Plays it with all clients at once. The objects of reads alone are written before the time begins.
pub(crate) async fn play(address: &str, options: &Options) -> Result<Figures, Failure> {
    let mut players = Vec::new();
    for number in 0..options.clients {
        players.push(Player::new(address, number, options)?);
    }
    let players = together(players, Player::prepare).await?;
    let start = Instant::now();
    let players = together(players, Player::steps).await?;
    let elapsed = start.elapsed();
    let mut times = Times::default();
    players.into_iter().for_each(|player| times.merge(player.client.times));
    Ok(Figures { clients: options.clients, elapsed, times: times.sorted() })
}

/// Has all players do something at once, and waits for them or for the first that fails.
pub(crate) async fn together<P, W>(players: Vec<P>, work: impl Fn(P) -> W) -> Result<Vec<P>, Failure>
where
    P: Send + 'static,
    W: Future<Output = Result<P, Failure>> + Send + 'static,
{
    let mut set: JoinSet<_> = players.into_iter().map(work).collect();
    let mut done = Vec::new();
    while let Some(player) = set.join_next().await {
        done.push(player??);
    }
    Ok(done)
}

/// One client and what it knows of its objects.
struct Player {
    client: Client,
    number: u64,
    options: Options,
    rng: Rng,
    /// The updates of each object so far.
    updates: Vec<u16>,
}

impl Player {
    fn new(address: &str, number: u64, options: &Options) -> Result<Self, Failure> {
        let client = Client::new(address, number, options)?;
        let rng = Rng::new(options.seed.wrapping_add(number));
        Ok(Self { client, number, options: options.clone(), rng, updates: Vec::new() })
    }

    /// Opens the connection, and writes what is there to be read.
    async fn prepare(mut self) -> Result<Self, Failure> {
        if self.options.mix == Mix::Get && self.options.is_filled {
            self.updates = vec![0; self.options.keys as usize];
            return Ok(self);
        }
        self.client.set_properties(self.options.has_queries).await?;
        if self.options.mix == Mix::Get {
            for _ in 0..self.options.keys {
                self.write_new().await?;
            }
        }
        self.client.times = Times::default();
        Ok(self)
    }

    async fn steps(mut self) -> Result<Self, Failure> {
        for step in 0..self.options.steps {
            match self.options.mix {
                Mix::All => self.step(step).await?,
                Mix::Get => drop(self.read_older().await?),
                Mix::Put => self.write_new().await?,
            }
        }
        Ok(self)
    }

    async fn step(&mut self, step: u64) -> Result<(), Failure> {
        self.write_new().await?;
        if step % 2 == 1 {
            self.update_older(step).await?;
        }
        self.read_older().await?;
        let has_enough = step + 1 >= QUERIED;
        if self.options.has_queries && has_enough && (step + 1).is_multiple_of(QUERY_EACH) {
            self.query_last(step).await?;
        }
        Ok(())
    }

    async fn write_new(&mut self) -> Result<(), Failure> {
        let number = self.updates.len() as u64;
        let value = value(self.options.seed, self.number, number);
        self.client.put(&key(number), &fields(number), &value).await?;
        self.updates.push(0);
        Ok(())
    }

    /// Reads any object and checks its bytes and its indexes.
    async fn read_older(&mut self) -> Result<(usize, crate::client::Found), Failure> {
        let place = self.rng.below(self.updates.len());
        let key = key(place as u64);
        let found = self.client.get(&key).await?;
        if found.value != value(self.options.seed, self.number, place as u64) {
            return Err(format!("{key} has other bytes than it was written with").into());
        }
        Ok((place, found))
    }

    async fn update_older(&mut self, step: u64) -> Result<(), Failure> {
        let (place, mut found) = self.read_older().await?;
        let updates = usize::from(self.updates[place]);
        let (there, wanted) = (entries(&found.fields), ENTRIES + updates);
        let key = key(place as u64);
        if there != wanted {
            return Err(format!("{key} has {there} index entries and not {wanted}").into());
        }
        found.fields.push(added(updates, step));
        self.client.update(&key, &found.fields, &found.value).await?;
        self.updates[place] += 1;
        Ok(())
    }

    /// Asks for the last objects and checks that it is these.
    async fn query_last(&mut self, step: u64) -> Result<(), Failure> {
        let first = step + 1 - QUERIED;
        let mut keys = self.client.query(ORDERED, &term(first), &term(step)).await?;
        keys.sort_unstable();
        if !keys.iter().map(String::as_str).eq((first..=step).map(key).collect::<Vec<_>>().iter()) {
            return Err(format!("a query returned {} keys, or others than it should", keys.len()).into());
        }
        Ok(())
    }
}
