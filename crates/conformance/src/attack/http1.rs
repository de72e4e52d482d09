//! Attacks on a server over HTTP/1.1, played as those over HTTP/2 are.

mod answers;
mod attacker;
mod on_client;

use std::sync::Arc;

use ::alula::{Ledger, Limits};
use alula_tally::Side;

use super::answer::Answer;
use super::bystander::Bystander;
use super::one_at_a_time;
use super::page::Row;
use super::report::Report;
use super::victim::Victim;
use super::watch::Watch;

pub use attacker::Http1Attacker;
pub use on_client::AttackOnClientOverHttp1;

/// Without its limit, an attack: how that is taken away, and what the attacker gets then.
type Lifted = (fn(&mut Limits), Answer);

/// One row of the table of attacks on a server of HTTP/1.1.
pub struct AttackOverHttp1 {
    /// Its name, the same as in `docs/limits.md`.
    pub row: &'static str,
    /// What the test needs to be quick, such as shorter times; not the limit itself.
    pub scene: fn(&mut Limits),
    /// Without the limit that answers it; `None` where it is a rule of the protocol that does.
    pub lifted: Option<Lifted>,
    /// Sends at most so much; the connection may be gone at any point of it.
    pub play: fn(&mut Http1Attacker),
    /// What the attacker gets.
    pub answer: Answer,
    /// The bytes the server may hold for it, at any time.
    pub memory_max: i64,
}

impl AttackOverHttp1 {
    /// Plays the attack both ways, prints its line of the table and says what is wrong.
    ///
    /// # Panics
    /// When the server does not answer as it must, holds too much, lets the well-behaved client wait, or
    /// answers a request that was smuggled.
    pub fn check(&self) {
        let _turn = one_at_a_time();
        let row = Row::checked(self.row, self.answer, self.lifted.is_some());
        let mut limits = Limits::default();
        (self.scene)(&mut limits);
        let (report, ledger) = self.play(limits.clone(), false);
        report.check(self.row, self.answer, self.memory_max);
        row.check_counted(&ledger);
        if let Some((lift, through)) = self.lifted {
            lift(&mut limits);
            let (report, _) = self.play(limits, true);
            assert_ne!(through, self.answer, "{}: the limit changes nothing", self.row);
            assert_eq!(report.answer, through, "{}: without its limit", self.row);
        }
    }

    fn play(&self, limits: Limits, is_lifted: bool) -> (Report, Arc<Ledger>) {
        let victim = Victim::start(limits);
        let bystander = Bystander::start(victim.port());
        let watch = Watch::on(Side::SERVER);
        let mut attacker = Http1Attacker::connect(victim.port());
        if is_lifted {
            attacker.lose_patience();
        }
        (self.play)(&mut attacker);
        let answer = attacker.answer();
        let memory_peak = watch.peak();
        (Report { answer, memory_peak, bystander: bystander.stop() }, victim.ledger())
    }
}
