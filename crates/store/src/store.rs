//! A store: an engine with the properties of its buckets and the bounds of its requests.

use std::sync::Arc;
use std::{error, fmt};

use tokio::time::Instant;

use crate::budget::Budget;
use crate::config::Config;
use crate::engine::{Engine, EngineError};
use crate::long_steps::LongSteps;
use crate::model::Vtag;
use crate::properties::{PropertyError, PropertyTable, Unheeded};
use crate::reaper::Reaper;
use crate::searches::Searches;
use crate::statistics::Statistics;

/// The time that reading the settings may take.
const OPENING_MAX: std::time::Duration = std::time::Duration::from_secs(60);

/// An object store. Clones are handles of one store.
///
/// ```no_run
/// # async fn main_() -> Result<(), Box<dyn std::error::Error>> {
/// use alula_store::{Config, Store, engine::Memory};
///
/// let store = Store::open(Memory::new(), Config::default()).await?;
/// let server = alula::Server::builder().limits(alula_store::limits()).bind("127.0.0.1:8098").await?;
/// server.serve(store.routes()?).await?;
/// # Ok(())
/// # }
/// ```
pub struct Store<E>(Arc<Shared<E>>);

pub(crate) struct Shared<E> {
    pub(crate) engine: E,
    pub(crate) properties: PropertyTable,
    pub(crate) config: Config,
    /// Shared with writes under way, which an engine owns.
    pub(crate) budget: Arc<Budget>,
    pub(crate) reaper: Reaper,
    pub(crate) statistics: Statistics,
    pub(crate) searches: Searches,
    pub(crate) long_steps: LongSteps,
    /// The secret in the boundaries of multiparts, which clients cannot guess.
    pub(crate) secret: Vtag,
}

/// The reason for which a store does not open.
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// The engine cannot be read.
    Engine(EngineError),
    /// A bucket type of the configuration cannot be.
    Type(PropertyError),
    /// The system gives no random bytes.
    Random(getrandom::Error),
}

impl<E: Engine> Store<E> {
    /// Reads the properties that an engine keeps and adds the types of the configuration. A task on the
    /// runtime removes what was deleted.
    ///
    /// # Errors
    /// An [`OpenError`].
    ///
    /// # Panics
    /// Outside a runtime of tokio.
    pub async fn open(engine: E, config: Config) -> Result<Self, OpenError> {
        let deadline = Instant::now() + OPENING_MAX;
        let unheeded = Unheeded::new(config.ignore_hooks, config.warn);
        let settings = engine.settings(deadline).await.map_err(OpenError::Engine)?;
        let properties = PropertyTable::new(&config.types, &settings, unheeded).map_err(OpenError::Type)?;
        for (name, value) in properties.new_settings() {
            engine.set(name, Some(value), deadline).await.map_err(OpenError::Engine)?;
        }
        let mut secret = [0; 16];
        getrandom::fill(&mut secret).map_err(OpenError::Random)?;
        let budget = Arc::new(Budget::new(config.bytes_in_flight_max, config.object_bytes_max));
        let reaper = Reaper::default();
        let (secret, reap_after) = (Vtag::from_bits(u128::from_ne_bytes(secret)), config.reap_after);
        let statistics = Statistics::new();
        let (searches, long_steps) = (Searches::new(), LongSteps::new());
        let shared =
            Shared { engine, properties, config, budget, reaper, statistics, searches, long_steps, secret };
        let shared = Arc::new(shared);
        if let Some(after) = reap_after {
            Reaper::start(&shared, after);
        }
        Ok(Self(shared))
    }

    /// Returns the engine.
    pub fn engine(&self) -> &E {
        &self.0.engine
    }

    /// Returns true while reads and writes are taken, for a check of readiness.
    pub fn is_ready(&self) -> bool {
        self.0.engine.takes_writes()
    }
}

impl<E> Store<E> {
    pub(crate) fn shared(&self) -> &Shared<E> {
        &self.0
    }
}

impl<E> Clone for Store<E> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<E> fmt::Debug for Store<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("config", &self.0.config).finish_non_exhaustive()
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Engine(error) => error.fmt(f),
            Self::Type(error) => error.fmt(f),
            Self::Random(error) => error.fmt(f),
        }
    }
}

impl error::Error for OpenError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Engine(error) => Some(error),
            Self::Type(error) => Some(error),
            Self::Random(error) => Some(error),
        }
    }
}
