//! Clients that read and write by chance, and remember what they were given.

use std::collections::BTreeSet;
use std::sync::Arc;

use alula_store::engine::Engine;
use alula_store::model::Dot;
use alula_testkit::Rng;

use crate::causality::history::{Action, Condition, Outcome, Put};
use crate::causality::keys::Key;
use crate::causality::seen::Seen;
use crate::causality::world::World;

/// The number of contexts that a client remembers of each object.
const REMEMBERED: usize = 8;

/// A client drops one of so many writes before it is answered.
const ABANDONED: usize = 25;

pub(crate) struct Client<E> {
    world: Arc<World<E>>,
    rng: Rng,
    seen: Vec<Vec<Seen>>,
    /// See [`ABANDONED`]; 0 for a client that waits for every answer.
    abandoned: usize,
}

impl<E: Engine> Client<E> {
    pub(crate) fn new(number: usize, seed: u64, world: Arc<World<E>>) -> Self {
        let rng = Rng::new(seed.wrapping_mul(1_000).wrapping_add(number as u64));
        Self { world, rng, seen: vec![Vec::new(); Key::COUNT], abandoned: ABANDONED }
    }

    /// Waits for every answer.
    pub(crate) fn patient(self) -> Self {
        Self { abandoned: 0, ..self }
    }

    /// Makes so many calls, between which others go on.
    pub(crate) async fn run(mut self, calls: usize) {
        for _ in 0..calls {
            let key = Key::new(self.rng.below(Key::COUNT));
            match self.rng.below(12) {
                0..=3 => self.read(key).await,
                4..=9 => self.put(key).await,
                _ => self.delete_or_reap(key).await,
            }
            tokio::task::yield_now().await;
        }
    }

    async fn read(&mut self, key: Key) {
        let r = self.replicas();
        self.call(key, Action::Read { r }).await;
    }

    async fn put(&mut self, key: Key) {
        if self.rng.one_in(3) {
            self.read(key).await;
        }
        let put = Put {
            id: self.world.next_id(),
            is_deleted: self.rng.one_in(8),
            context: self.context(key),
            condition: self.condition(key),
            w: self.replicas(),
            is_abandoned: self.rng.one_in(self.abandoned),
        };
        self.call(key, Action::Put(put)).await;
    }

    /// Reaps an object that was seen deleted, and deletes any other.
    async fn delete_or_reap(&mut self, key: Key) {
        let (seen, w) = (self.last(key), self.replicas());
        if seen.is_deleted() {
            return self.call(key, Action::Reap { seen, w }).await;
        }
        let (id, context) = (self.world.next_id(), seen.dots());
        let condition = Condition::Always;
        let put = Put {
            id,
            is_deleted: true,
            context,
            condition,
            w,
            is_abandoned: self.rng.one_in(self.abandoned),
        };
        self.call(key, Action::Put(put)).await;
    }

    async fn call(&mut self, key: Key, action: Action) {
        let outcome = self.world.call(key, action).await;
        let seen = match outcome {
            Outcome::Given(seen) | Outcome::Stored(seen) | Outcome::Refused(_, seen) => seen,
            Outcome::Removed => Seen::default(),
            Outcome::NotDone | Outcome::Unknown => return,
        };
        let remembered = &mut self.seen[key.number()];
        remembered.push(seen);
        if remembered.len() > REMEMBERED {
            remembered.remove(0);
        }
    }

    /// A context that is fresh, stale, missing, merged of two or a part of one.
    fn context(&mut self, key: Key) -> BTreeSet<Dot> {
        let last = self.last(key).dots();
        match self.rng.below(9) {
            0 | 1 => BTreeSet::new(),
            2 => self.any(key).dots(),
            3 => {
                let other = Key::new(self.rng.below(Key::COUNT));
                &last | &self.any(other).dots()
            }
            4 => {
                let place = self.rng.below(last.len());
                last.into_iter().skip(place).take(1).collect()
            }
            _ => last,
        }
    }

    fn condition(&mut self, key: Key) -> Condition {
        let last = self.last(key);
        match self.rng.below(9) {
            0 => Condition::Missing,
            1 if last.vtag.is_some() => Condition::SameVtag(last),
            2 if last.vtag.is_some() => Condition::SameContext(last),
            _ => Condition::Always,
        }
    }

    /// The context that the client was given of the object last.
    fn last(&self, key: Key) -> Seen {
        self.seen[key.number()].last().cloned().unwrap_or_default()
    }

    /// A context that the client was given of the object at some time.
    fn any(&mut self, key: Key) -> Seen {
        let remembered = &self.seen[key.number()];
        let place = self.rng.below(remembered.len());
        remembered.get(place).cloned().unwrap_or_default()
    }

    fn replicas(&mut self) -> u32 {
        *self.rng.pick(&[1, 2, 2, 3])
    }
}
