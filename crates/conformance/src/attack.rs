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
mod report;
mod victim;
mod watch;

pub use answer::Answer;
pub use attacker::Attacker;
pub use by_itself::{ByItself, held, rows_by_itself, told};
pub use http1::{AttackOnClientOverHttp1, AttackOverHttp1, Http1Attacker};
pub use on_client::AttackOnClient;
pub use page::{Row, rows};
pub use report::Report;
pub use victim::Victim;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ::alula::{Ledger, Limits};
use alula_tally::Side;

use watch::Watch;

/// One row of the table of attacks on a server.
pub struct Attack {
    /// Its name, the same as in `docs/limits.md`.
    pub row: &'static str,
    /// What the test needs to be quick, such as shorter times; not the limit itself.
    pub scene: fn(&mut Limits),
    /// Takes the limit away that answers the attack; `None` where it is a rule of the protocol that does.
    pub lift: Option<fn(&mut Limits)>,
    /// Sends at most so much; the connection may be gone at any point of it.
    pub play: fn(&mut Attacker),
    /// What the attacker gets.
    pub answer: Answer,
    /// The bytes the server may hold for it, at any time.
    pub memory_max: i64,
}

impl Attack {
    /// Plays the attack both ways, prints its line of the table and says what is wrong.
    ///
    /// # Panics
    /// When the server does not answer as it must, holds too much, or lets the well-behaved client wait.
    pub fn check(&self) {
        let _turn = one_at_a_time();
        let row = Row::checked(self.row, self.answer, self.lift.is_some());
        let mut limits = Limits::default();
        (self.scene)(&mut limits);
        let (report, ledger) = self.play(limits.clone(), false);
        report.check(self.row, self.answer, self.memory_max);
        row.check_counted(&ledger);
        if let Some(lift) = self.lift {
            lift(&mut limits);
            self.play(limits, true).0.check_lifted(self.row, self.answer);
        }
    }

    fn play(&self, limits: Limits, is_lifted: bool) -> (Report, Arc<Ledger>) {
        let victim = Victim::start(limits);
        let bystander = bystander::Bystander::start(victim.port());
        let watch = Watch::on(Side::SERVER);
        let mut attacker = Attacker::connect(victim.port());
        if is_lifted {
            attacker.lose_patience();
        }
        (self.play)(&mut attacker);
        let answer = attacker.answer();
        let memory_peak = watch.peak();
        (Report { answer, memory_peak, bystander: bystander.stop() }, victim.ledger())
    }
}

/// What a side of this process holds is counted, so attacks on it take turns.
fn one_at_a_time() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    // One that failed has said so; the next is not to blame.
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}
