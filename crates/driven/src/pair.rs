//! A client and a server with a wire between them.

use std::fmt::Debug;

use alula_machine::{ProtocolMachine, StreamKey, Time};

use crate::End;

/// Two ends of one connection, on simulated time.
pub struct Pair<M: ProtocolMachine> {
    /// The end that asks.
    pub client: End<M>,
    /// The end that answers.
    pub server: End<M>,
    /// The time.
    pub now: Time,
}

impl<M: ProtocolMachine<Fact: Debug>> Pair<M> {
    /// Two ends that have not said anything yet.
    pub fn of(client: M, server: M) -> Self {
        Self { client: End::new(client), server: End::new(server), now: Time::ZERO }
    }

    /// Carries what there is at the beginning, and forgets what was logged.
    pub fn settle(&mut self) {
        self.drive();
        self.client.log.clear();
        self.server.log.clear();
    }

    /// Carries bytes both ways until nobody has any left.
    pub fn drive(&mut self) {
        self.drive_in_pieces(usize::MAX);
    }

    /// Carries bytes both ways, so many at a time, until nobody has any left.
    pub fn drive_in_pieces(&mut self, bytes: usize) {
        loop {
            let (up, down) = (self.client.transmit(), self.server.transmit());
            if up.is_empty() && down.is_empty() {
                break;
            }
            up.chunks(bytes).for_each(|piece| self.server.receive(piece));
            down.chunks(bytes).for_each(|piece| self.client.receive(piece));
        }
        self.client.settle();
        self.server.settle();
    }

    /// Lets time pass on both sides.
    pub fn pass(&mut self, nanos: u64) {
        self.now = Time::from_nanos(self.now.as_nanos() + nanos);
        for end in [&mut self.client, &mut self.server] {
            end.set_now(self.now);
            end.machine.handle_timeout(self.now);
            end.notices();
        }
        self.drive();
    }

    /// The key by which the server knows the latest request.
    ///
    /// # Panics
    /// When there was none.
    pub fn accepted(&self) -> StreamKey {
        *self.server.streams.last().expect("a request has come")
    }
}
