//! The codings of one message, the last one first, as a decoder of its content.

use std::sync::Arc;

use alula_net::{Cause, Decoder, Error, Phase, Retry};

use super::{budget, coding::Coded, spares::Spares, stage::Stage};

/// Octets decoded at once: what deflate can look back on, and a quarter of what a socket gives.
const STEP_OCTETS: usize = 32 * 1024;

/// Decodes what comes by one coding, or two.
pub(super) struct Chain {
    pub(super) codings: Coded,
    /// What came, and how much of it was taken.
    coded: Vec<u8>,
    at: usize,
    first: Option<Stage>,
    second: Option<Second>,
    octets_max: u64,
    failed: Option<Error>,
    /// What was made of it, and how much of that was taken.
    content: Vec<u8>,
    taken: usize,
    spares: Option<Arc<Spares>>,
}

/// The coding that was applied first, and what the other one has left for it.
struct Second {
    stage: Stage,
    between: Vec<u8>,
    at: usize,
}

impl Chain {
    pub(super) fn new(codings: Coded) -> Self {
        let (first, second) = match codings {
            Coded::By(last, first) => (Some(last), first),
            _ => (None, None),
        };
        Self {
            codings,
            coded: Vec::new(),
            at: 0,
            first: first.map(|coding| Stage::new(coding.coder())),
            second: second.map(|coding| Second::new(Stage::new(coding.coder()))),
            octets_max: u64::MAX,
            failed: None,
            content: Vec::new(),
            taken: 0,
            spares: None,
        }
    }

    /// Begins with a message.
    pub(super) fn begin(&mut self, spares: Arc<Spares>, octets_max: u64) {
        (self.spares, self.octets_max) = (Some(spares), octets_max);
    }

    /// Makes it ready for the next message; false when it is not worth keeping.
    fn reset(&mut self) -> bool {
        (self.at, self.failed) = (0, None);
        self.forget_content();
        let first = self.first.as_mut().is_none_or(Stage::reset);
        let second = self.second.as_mut().is_none_or(Second::reset);
        first && second
    }

    fn forget_content(&mut self) {
        self.content.clear();
        self.taken = 0;
    }

    /// Decodes until there is content, or everything was taken.
    fn advance(&mut self, content: &mut Vec<u8>) -> Result<(), &'static str> {
        let first = self.first.as_mut().ok_or("it has more than two codings")?;
        loop {
            let coded = self.coded.get(self.at..).unwrap_or_default();
            let (taken, made) = match &mut self.second {
                None => (first.step(coded, content)?, content.len()),
                Some(second) => second.step(first, coded, content)?,
            };
            self.at += taken;
            let between = first.made;
            let octets = self.second.as_ref().map_or(between, |second| second.stage.made);
            budget::check(first.taken, between.max(octets))?;
            if octets > self.octets_max {
                return Err("it is longer than is allowed once it is decoded");
            }
            if !content.is_empty() || (taken == 0 && made == 0) {
                return Ok(());
            }
        }
    }

    fn is_whole(&self) -> bool {
        let first = self.first.as_ref().is_none_or(Stage::is_whole);
        first && self.second.as_ref().is_none_or(|second| second.stage.is_whole())
    }

    fn fail(&mut self, why: &'static str, retry: Retry) -> Error {
        self.failed.insert(Error::new(Phase::Content, Cause::Coding(why), retry)).clone()
    }
}

impl Second {
    fn new(stage: Stage) -> Self {
        Self { stage, between: Vec::with_capacity(STEP_OCTETS), at: 0 }
    }

    fn reset(&mut self) -> bool {
        self.between.clear();
        self.at = 0;
        self.stage.reset()
    }

    /// One step of both; gives the octets that the first took, and those that either made.
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
        content.reserve_exact(STEP_OCTETS);
        let advanced = self.advance(&mut content);
        self.content = content;
        if let Err(why) = advanced {
            self.forget_content();
            return Err(self.fail(why, Retry::Pointless));
        }
        if self.content.is_empty() && is_over && !self.is_whole() {
            return Err(self.fail("it ends before it is whole", Retry::IfIdempotent));
        }
        Ok(!self.content.is_empty())
    }

    fn unread(&self) -> &[u8] {
        &self.content[self.taken..]
    }

    fn take(&mut self, octets: usize) -> &[u8] {
        let from = self.taken;
        self.taken += octets;
        &self.content[from..self.taken]
    }

    fn give_back(mut self: Box<Self>) -> Vec<u8> {
        let coded = std::mem::take(&mut self.coded);
        if let (true, Some(spares)) = (self.reset(), self.spares.take()) {
            spares.keep(self);
        }
        coded
    }
}
