//! Sends all of a part of a file but its last bytes without a copy in memory, where that can be done.
//!
//! Rule 1: the last bytes are read and the state of the file is looked at before they go, as where all is
//! read. A file that was changed meanwhile leaves the message cut.
//! Rule 2: a file that was changed a moment before it was opened is read: it may be changed again, and what
//! goes without a copy is looked at by the system when it goes.
//! Rule 3: bytes go in steps, each of which was just found to be in memory. Others are read by a thread that
//! may block.

use std::ops::Range;

use alula_net::{BodyWriter, Error};

use super::{open_file::OpenFile, reading::read_cached};

/// Bytes of one step. In one call for more, the core of a peer on the same machine and ours get in each
/// other's way (decision 0032).
const STEP_BYTES: u64 = 64 * 1024;

/// Steps after which other tasks of the thread run first: 512 KiB.
const STEPS_IN_A_ROW: u32 = 8;

/// The sending of one part.
pub(super) struct Sendfile {
    is_possible: bool,
    steps: u32,
}

impl Sendfile {
    pub(super) fn new(file: &OpenFile, writer: &BodyWriter) -> Self {
        Self { is_possible: file.is_settled() && writer.takes_files(), steps: 0 }
    }

    /// Sends a step from the beginning of what is left of a part, once there is room, and returns how many
    /// bytes that was; `None` when the beginning is to be read.
    pub(super) async fn send(
        &mut self,
        file: &OpenFile,
        rest: &Range<u64>,
        writer: &mut BodyWriter,
    ) -> Result<Option<u64>, Error> {
        while self.is_possible && rest.end - rest.start > STEP_BYTES {
            self.let_others_run().await;
            let step = rest.start..rest.start + STEP_BYTES;
            if !is_in_memory(file, &step) {
                return Ok(None);
            }
            match writer.try_send_file(file.file(), step)? {
                Some(0) => self.wait(writer).await?,
                Some(bytes) => return Ok(Some(bytes as u64)),
                None => self.is_possible = false,
            }
        }
        Ok(None)
    }

    async fn let_others_run(&mut self) {
        if self.steps == STEPS_IN_A_ROW {
            self.steps = 0;
            tokio::task::yield_now().await;
        }
        self.steps += 1;
    }

    async fn wait(&mut self, writer: &mut BodyWriter) -> Result<(), Error> {
        writer.drained().await?;
        self.steps = 0;
        Ok(())
    }
}

/// Looks at the last byte: the system reads ahead and forgets in larger pieces than a step, and steps follow
/// each other.
fn is_in_memory(file: &OpenFile, step: &Range<u64>) -> bool {
    read_cached(file.file(), &mut [0], step.end - 1) == 1
}
