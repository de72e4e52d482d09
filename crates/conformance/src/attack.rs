//! Attacks on a server or a client of this process over real sockets: what the attacker gets, what the
//! attacked holds meanwhile, and how others fare beside it: a well-behaved client of that server, or a
//! request of that client to another.
//!
//! An attack is played twice. With the limits as they are by default it must end as its row says; with the
//! one limit that answers it lifted it must not, or the row would prove nothing.

mod answer;
mod attacker;
mod by_itself;
mod bystander;
mod http1;
mod on_client;
mod page;
mod received;
mod report;
mod victim;
mod watch;

pub use answer::Answer;
pub use attacker::Attacker;
pub use by_itself::{ByItself, held, rows_by_itself, told};
pub use http1::Http1Attacker;
pub use on_client::{AttackOnClient, Play};
pub use page::{Row, rows};
pub use report::Report;
pub use victim::Victim;

use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ::alula::{Ledger, Limits};
use alula_tally::Side;

use bystander::Bystander;
use watch::Watch;

/// The most that a connection under attack may hold, buffers included: a quarter of what `Limits` allows.
pub const MEMORY_MAX: i64 = 512 * 1024;
/// Long enough to be no limit.
pub const NEVER: Duration = Duration::from_secs(3600);
/// Short enough to be waited for.
pub const SOON: Duration = Duration::from_millis(500);

/// One row of the table of attacks on a server.
pub struct Attack<A> {
    row: &'static str,
    scene: fn(&mut Limits),
    lift: Option<fn(&mut Limits)>,
    /// What the attacker gets.
    answer: Answer,
    /// What it gets without the limit; anything else than with it if `None`.
    through: Option<Answer>,
    memory_max: i64,
    attacker: PhantomData<fn(A)>,
}

/// A hostile client of one version of HTTP.
pub trait Attacks {
    /// What an attacker gets once the limit is lifted, if that is always the same.
    const THROUGH: Option<Answer>;

    /// Connects to a server on this port.
    ///
    /// # Panics
    /// When the server does not accept.
    fn connect(port: u16) -> Self;

    /// Expects nothing any more, and waits no longer than for what would have come by now.
    fn lose_patience(&mut self);

    /// Returns what came of the attack, which is over: what was not read is read now.
    ///
    /// # Panics
    /// When a request was answered that was none, or another's content.
    fn answer(&mut self) -> Answer;
}

impl Attack<Attacker> {
    /// An attack over HTTP/2, by its name in `docs/limits.md`, and its answer.
    #[must_use]
    pub fn over_http2(row: &'static str, answer: Answer) -> Self {
        Self::new(row, answer)
    }
}

impl Attack<Http1Attacker> {
    /// An attack over HTTP/1.1, by its name in `docs/limits.md`, and its answer.
    #[must_use]
    pub fn over_http1(row: &'static str, answer: Answer) -> Self {
        Self::new(row, answer)
    }
}

impl<A: Attacks> Attack<A> {
    fn new(row: &'static str, answer: Answer) -> Self {
        let (scene, lift, attacker) = ((|_| ()) as fn(&mut Limits), None, PhantomData);
        Self { row, scene, lift, answer, through: A::THROUGH, memory_max: MEMORY_MAX, attacker }
    }

    /// Sets what the test needs to be quick, such as shorter times; not the limit itself.
    #[must_use]
    pub fn scene(self, scene: fn(&mut Limits)) -> Self {
        Self { scene, ..self }
    }

    /// Takes the limit away that answers the attack; without this, a rule of the protocol does.
    #[must_use]
    pub fn lift(self, lift: fn(&mut Limits)) -> Self {
        Self { lift: Some(lift), ..self }
    }

    /// Sets what the attacker gets without the limit.
    #[must_use]
    pub fn through(self, answer: Answer) -> Self {
        Self { through: Some(answer), ..self }
    }

    /// Sets the bytes that the server may hold for it at any time.
    #[must_use]
    pub fn memory_max(self, memory_max: i64) -> Self {
        Self { memory_max, ..self }
    }

    /// Plays the attack both ways, prints its line of the table and says what is wrong. `play` sends at most
    /// so much, and the connection may be gone at any point of it.
    ///
    /// # Panics
    /// When the server does not answer as it must, holds too much, lets the well-behaved client wait, or
    /// answers a request that was smuggled.
    pub fn check(self, play: fn(&mut A)) {
        let _turn = one_at_a_time();
        let row = Row::checked(self.row, self.answer, self.lift.is_some());
        let mut limits = Limits::default();
        (self.scene)(&mut limits);
        let (report, ledger) = attacked(limits.clone(), false, play);
        report.check(self.row, self.answer, self.memory_max);
        row.check_counted(&ledger);
        if let Some(lift) = self.lift {
            lift(&mut limits);
            let (report, _) = attacked(limits, true, play);
            report.check_lifted(self.row, self.answer, self.through);
        }
    }
}

fn attacked<A: Attacks>(limits: Limits, is_lifted: bool, play: fn(&mut A)) -> (Report, Arc<Ledger>) {
    let victim = Victim::start(limits);
    let bystander = Bystander::start(victim.port());
    let watch = Watch::on(Side::SERVER);
    let mut attacker = A::connect(victim.port());
    if is_lifted {
        attacker.lose_patience();
    }
    play(&mut attacker);
    let answer = attacker.answer();
    let memory_peak = watch.peak();
    (Report { answer, memory_peak, bystander: bystander.stop() }, victim.ledger())
}

/// What a side of this process holds is counted, so attacks on it take turns.
fn one_at_a_time() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    // One that failed has said so; the next is not to blame.
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}
