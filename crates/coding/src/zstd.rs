//! The coding `zstd` (RFC 8878): frames, one after the other.

use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, ResetDirective, get_error_name};

use crate::stage::Coder;

/// The largest window, 8 MiB, which a decoder of content has to accept (RFC 9659 §3).
const WINDOW_LOG_MAX: u32 = 23;
/// The memory that a decoder may keep, in bytes.
const SPARE_BYTES: usize = 1 << 20;

pub(crate) struct Zstd {
    context: Option<DCtx<'static>>,
    is_whole: bool,
}

impl Zstd {
    pub(crate) fn new() -> Self {
        let context = DCtx::try_create().and_then(|mut context| {
            context.set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX)).is_ok().then_some(context)
        });
        Self { context, is_whole: false }
    }
}

impl Coder for Zstd {
    fn step(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<usize, &'static str> {
        let context = self.context.as_mut().ok_or("there is no memory for zstd")?;
        let from = out.len();
        let mut input = InBuffer::around(input);
        let left = context.decompress_stream(&mut OutBuffer::around_pos(out, from), &mut input);
        let left = left.map_err(get_error_name)?;
        if input.pos() > 0 || out.len() > from {
            self.is_whole = left == 0;
        }
        Ok(input.pos())
    }

    fn is_whole(&self) -> bool {
        self.is_whole
    }

    fn reset(&mut self) -> bool {
        self.is_whole = false;
        let Some(context) = &mut self.context else { return false };
        context.sizeof() <= SPARE_BYTES && context.reset(ResetDirective::SessionOnly).is_ok()
    }
}
