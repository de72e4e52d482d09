//! The codings of one message, the last one first, as one decoder.

use std::sync::Arc;

use alula_fields::{FieldSection, SECTION_KEPT_BYTES_MAX};
use alula_net::{Cause, Decoder, Error, Phase, Retry};

use crate::{budget, codings::Codings, pool::DecoderPool, stage::Stage};

/// The bytes that are decoded at once: the window of deflate, and a quarter of a read from a socket.
const STEP_BYTES: usize = 32 * 1024;

/// Decodes content in one or two codings.
pub(crate) struct Chain {
    pub(crate) codings: Codings,
    /// The received bytes, and how many of them were taken.
    coded: Vec<u8>,
    at: usize,
    first: Option<Stage>,
    second: Option<Second>,
    bytes_max: u64,
    failed: Option<Error>,
    /// The decoded bytes, and how many of them were taken.
    content: Vec<u8>,
    taken: usize,
    /// The fields of the message as they came.
    fields: FieldSection,
    pool: Option<Arc<DecoderPool>>,
}

/// The coding that was applied first, and the input that the other one has left for it.
struct Second {
    stage: Stage,
    between: Vec<u8>,
    at: usize,
}

impl Chain {
    pub(crate) fn new(codings: Codings) -> Self {
        let (first, second) = match codings {
            Codings::Known(last, first) => (Some(last), first),
            _ => (None, None),
        };
        Self {
            codings,
            coded: Vec::new(),
            at: 0,
            first: first.map(|coding| Stage::new(coding.coder())),
            second: second.map(|coding| Second::new(Stage::new(coding.coder()))),
            bytes_max: u64::MAX,
            failed: None,
            content: Vec::new(),
            taken: 0,
            fields: FieldSection::new(),
            pool: None,
        }
    }

    /// Begins with a message.
    pub(crate) fn begin(&mut self, pool: Arc<DecoderPool>, bytes_max: u64) {
        (self.pool, self.bytes_max) = (Some(pool), bytes_max);
    }

    /// Resets it for the next message; returns false if it is not worth keeping.
    fn reset(&mut self) -> bool {
        (self.at, self.failed) = (0, None);
        self.fields.clear();
        self.fields.trim(SECTION_KEPT_BYTES_MAX);
        self.forget_content();
        let first = self.first.as_mut().is_none_or(Stage::reset);
        let second = self.second.as_mut().is_none_or(Second::reset);
        first && second
    }

    fn forget_content(&mut self) {
        self.content.clear();
        self.taken = 0;
    }

    /// Decodes until there is content, or no input is left.
    fn advance(&mut self, content: &mut Vec<u8>) -> Result<(), Cause> {
        let first = self.first.as_mut().ok_or(Cause::Coding("it has more than two codings"))?;
        loop {
            let coded = self.coded.get(self.at..).unwrap_or_default();
            let stepped = match &mut self.second {
                None => first.step(coded, content).map(|taken| (taken, content.len())),
                Some(second) => second.step(first, coded, content),
            };
            let (taken, made) = stepped.map_err(Cause::Coding)?;
            self.at += taken;
            let bytes = self.second.as_ref().map_or(first.made, |second| second.stage.made);
            budget::check(first.taken, first.made, bytes, self.bytes_max)?;
            // Two codings may take input for several steps before any content comes of it.
            if !content.is_empty() || (taken == 0 && made == 0) {
                return Ok(());
            }
        }
    }

    fn is_whole(&self) -> bool {
        let first = self.first.as_ref().is_none_or(Stage::is_whole);
        first && self.second.as_ref().is_none_or(|second| second.stage.is_whole())
    }

    fn fail(&mut self, cause: Cause, retry: Retry) -> Error {
        self.failed.insert(Error::new(Phase::Content, cause, retry)).clone()
    }
}

impl Second {
    fn new(stage: Stage) -> Self {
        Self { stage, between: Vec::with_capacity(STEP_BYTES), at: 0 }
    }

    fn reset(&mut self) -> bool {
        self.between.clear();
        self.at = 0;
        self.stage.reset()
    }

    /// Runs one step of both; returns the bytes that the first took, and those that either produced.
    fn step(
        &mut self,
        first: &mut Stage,
        coded: &[u8],
        content: &mut Vec<u8>,
    ) -> Result<(usize, usize), &'static str> {
        let mut taken = 0;
        if self.at == self.between.len() {
            self.between.clear();
            self.at = 0;
            taken = first.step(coded, &mut self.between)?;
        }
        let moved = self.stage.step(&self.between[self.at..], content)?;
        self.at += moved;
        Ok((taken, moved + content.len()))
    }
}

impl Decoder for Chain {
    fn refill(&mut self) -> &mut Vec<u8> {
        self.at = 0;
        &mut self.coded
    }

    fn decode(&mut self, is_over: bool) -> Result<bool, Error> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        self.forget_content();
        if self.coded.is_empty() && self.first.as_ref().is_none_or(|first| first.taken == 0) {
            return Ok(false);
        }
        let mut content = std::mem::take(&mut self.content);
        content.reserve_exact(STEP_BYTES);
        let advanced = self.advance(&mut content);
        self.content = content;
        if let Err(cause) = advanced {
            self.forget_content();
            return Err(self.fail(cause, Retry::Pointless));
        }
        if self.content.is_empty() && is_over && !self.is_whole() {
            return Err(self.fail(Cause::Coding("it ends before it is whole"), Retry::IfIdempotent));
        }
        Ok(!self.content.is_empty())
    }

    fn unread(&self) -> &[u8] {
        &self.content[self.taken..]
    }

    fn take(&mut self, bytes: usize) -> &[u8] {
        let from = self.taken;
        self.taken += bytes;
        &self.content[from..self.taken]
    }

    fn keep_fields(&mut self, fields: &FieldSection) {
        self.fields.copy_from(fields);
    }

    fn fields(&self) -> &FieldSection {
        &self.fields
    }

    fn give_back(mut self: Box<Self>) -> Vec<u8> {
        let coded = std::mem::take(&mut self.coded);
        if let (true, Some(pool)) = (self.reset(), self.pool.take()) {
            pool.keep(self);
        }
        coded
    }
}
