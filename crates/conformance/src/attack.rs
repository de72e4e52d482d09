//! Attacks on a server of this process over real sockets: what the attacker gets, what the server holds meanwhile, and
//! how a well-behaved client fares beside it.
//!
//! An attack is played twice. With the limits as they are by default it must end as its row says; with the one limit that
//! answers it lifted it must not, or the row would prove nothing.

mod attacker;
mod bystander;
mod report;
mod victim;

pub use attacker::{Answer, Attacker};
pub use report::Report;
pub use victim::Victim;

use ::alula::Limits;

/// One row of the table of attacks.
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
    /// The octets the server may hold for it, at any time.
    pub memory_max: i64,
}

impl Attack {
    /// Plays the attack both ways, prints its line of the table and says what is wrong.
    ///
    /// # Panics
    /// When the server does not answer as it must, holds too much, or lets the well-behaved client wait.
    pub fn check(&self) {
        let mut limits = Limits::default();
        (self.scene)(&mut limits);
        let report = self.play(limits.clone());
        println!("{}", report.line(self.row));
        assert_eq!(report.answer, self.answer, "{}", self.row);
        assert!(report.memory_peak <= self.memory_max, "{}: {} octets held", self.row, report.memory_peak);
        assert!(report.bystander.served > 0 && report.bystander.failed == 0, "{}: {report:?}", self.row);
        if let Some(lift) = self.lift {
            lift(&mut limits);
            let lifted = self.play(limits);
            assert_ne!(lifted.answer, self.answer, "{}: it is not this limit that answers", self.row);
        }
    }

    fn play(&self, limits: Limits) -> Report {
        let victim = Victim::start(limits);
        let bystander = bystander::Bystander::start(victim.port());
        let before = victim.held();
        let watch = victim.watch();
        let mut attacker = Attacker::connect(victim.port());
        (self.play)(&mut attacker);
        let answer = attacker.answer();
        let memory_peak = watch.peak() - before;
        Report { answer, memory_peak, bystander: bystander.stop() }
    }
}
