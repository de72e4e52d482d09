//! Telling how the exchanges of a server went.

use std::sync::Arc;

use crate::{
    connection::stream::tally::Tally,
    drive::{server_task::StreamName, shared::Conn},
};

impl Conn {
    /// Keeps how exchanges go that are [begun](Self::begin_tally), for [`Self::take_tally`].
    pub fn keep_tallies(&self) {
        self.lock().tallies.begin();
    }

    /// Keeps how this exchange goes, until that is taken. Those that nobody asks for are not kept.
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
