//! The tallies of a server's exchanges, from the beginning of each until its tally is taken.

use std::sync::Arc;

use crate::{
    connection::stream::tally::Tally,
    drive::{server_task::StreamName, shared::Conn},
};

impl Conn {
    /// Begins to keep tallies of exchanges that are [begun](Self::begin_tally), for [`Self::take_tally`].
    pub fn keep_tallies(&self) {
        self.lock().tallies.begin();
    }

    /// Keeps the tally of this exchange until it is taken. Other exchanges have none.
    pub fn begin_tally(&self, name: StreamName) {
        if let Some(slot) = self.lock().slots.get(name.at()) {
            slot.answer.set_tallied(true);
        }
    }

    /// Takes the tally of an exchange whose handler has ended. It is empty where tallies are not kept.
    pub fn take_tally(self: &Arc<Self>, name: StreamName) -> Tally {
        let mut connection = self.lock();
        if let Some(slot) = connection.slots.get(name.at()) {
            slot.answer.set_tallied(false);
            return slot.tally();
        }
        connection.tallies.take(name.at())
    }
}
