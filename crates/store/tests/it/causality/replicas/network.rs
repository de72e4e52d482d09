//! Rows on their way to a replica.

use super::chance::Chance;
use super::fault_rates::FaultRates;
use super::rows::Rows;

/// The messages that have been sent and have not arrived, each with the tick of its arrival.
#[derive(Debug, Default)]
pub(super) struct Network(Vec<(u64, Message)>);

/// Rows of one object for one replica.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) replica: usize,
    pub(super) name: Vec<u8>,
    pub(super) rows: Rows,
}

/// The fate of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// The message arrives now.
    Arrives,
    /// The message arrives at this tick.
    ArrivesAt(u64),
    /// The message never arrives.
    Lost,
}

impl Fate {
    /// Draws the fate of a message that is sent now.
    pub(super) const fn of(now: u64, rates: &FaultRates, chance: &mut Chance) -> Self {
        if chance.once_in(rates.lost) {
            return Self::of_missed(now, chance);
        }
        match chance.once_in(rates.delayed) {
            true => Self::ArrivesAt(now + 1 + chance.below(20)),
            false => Self::Arrives,
        }
    }

    /// Draws the fate of a message that its replica did not take: it is kept as a hint, or left to the repair
    /// by reads.
    pub(super) const fn of_missed(now: u64, chance: &mut Chance) -> Self {
        match chance.once_in(2) {
            true => Self::ArrivesAt(now + 20 + chance.below(60)),
            false => Self::Lost,
        }
    }
}

impl Network {
    /// Sends a message that arrives at a tick.
    pub(super) fn send(&mut self, arrival: u64, message: Message) {
        self.0.push((arrival, message));
    }

    /// Removes the messages that arrive by a tick, in any order.
    pub(super) fn arrivals(&mut self, now: u64, chance: &mut Chance) -> Vec<Message> {
        let arrivals = self.0.extract_if(.., |(arrival, _)| *arrival <= now);
        let mut arrivals: Vec<_> = arrivals.map(|(_, message)| message).collect();
        chance.shuffle(&mut arrivals);
        arrivals
    }
}
