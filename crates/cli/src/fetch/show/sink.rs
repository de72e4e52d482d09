//! Content on its way to where it is shown or kept.

use super::{LAID_OUT_MAX, Show};
use crate::{
    exit::{Exit, Failure, Outcome},
    fetch::output::Output,
};

/// Takes content piece by piece. JSON that is shown for the eye is held until it is whole; all else goes through.
pub(in crate::fetch) struct Sink {
    output: Output,
    show: Show,
    held: Option<Vec<u8>>,
    has_begun: bool,
    last: u8,
}

impl Sink {
    pub(in crate::fetch) fn new(output: Output, show: Show, holds: bool) -> Self {
        Self { output, show, held: holds.then(Vec::new), has_begun: false, last: b'\n' }
    }

    pub(in crate::fetch) fn write(&mut self, octets: &[u8]) -> Outcome {
        if !self.show.content {
            return Ok(());
        }
        match &mut self.held {
            Some(held) if held.len() + octets.len() <= LAID_OUT_MAX => {
                held.extend_from_slice(octets);
                Ok(())
            }
            _ => {
                self.release()?;
                self.pass(octets)
            }
        }
    }

    /// Writes what is held, laid out and coloured.
    pub(in crate::fetch) fn finish(mut self) -> Outcome {
        if let Some(held) = self.held.take() {
            let shown = self.show.json(held);
            self.pass(&shown)?;
        }
        if self.show.ends_lines && self.last != b'\n' { self.output.write(b"\n") } else { Ok(()) }
    }

    /// Writes what is held as it is: nothing more comes.
    pub(in crate::fetch) fn release(&mut self) -> Outcome {
        match self.held.take() {
            Some(held) => self.pass(&held),
            None => Ok(()),
        }
    }

    fn pass(&mut self, octets: &[u8]) -> Outcome {
        let Some(last) = octets.last() else { return Ok(()) };
        self.last = *last;
        if !std::mem::replace(&mut self.has_begun, true) && self.show.is_seen && octets.contains(&0) {
            return Err(Failure::new(
                Exit::Local,
                "the content is binary and is not written to a terminal: -o FILE keeps it, and -o - writes it still",
            ));
        }
        self.output.write(octets)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::fetch::{destination::Destination, output::There};

    /// What is written of these pieces.
    fn written(name: &str, show: Show, holds: bool, pieces: &[&[u8]]) -> Result<Vec<u8>, Failure> {
        let path = std::env::temp_dir().join(format!("alula-sink-{name}-{}", std::process::id()));
        let to = Destination::File { path: path.clone(), is_new: false };
        let mut sink = Sink::new(Output::open(&to, There::IsReplaced, false)?, show, holds);
        let outcome = pieces.iter().try_for_each(|piece| sink.write(piece)).and_then(|()| sink.finish());
        let content = fs::read(&path).unwrap();
        fs::remove_file(path).unwrap();
        outcome.map(|()| content)
    }

    #[test]
    fn json_is_held_and_what_is_none_comes_out_as_it_was() {
        let show = Show { content: true, is_laid_out: true, ..Show::default() };
        for (pieces, expected) in
            [(&[&b"[1"[..], b",2]"][..], &b"[\n    1,\n    2\n]\n"[..]), (&[b"[1", b","], b"[1,"), (&[], b"")]
        {
            assert_eq!(written("held", show, true, pieces).unwrap(), expected);
        }
        let long = vec![b' '; LAID_OUT_MAX];
        let all = written("long", show, true, &[b"[", &long, b"]"]).unwrap();
        assert_eq!((all.len(), all[0], all[LAID_OUT_MAX]), (LAID_OUT_MAX + 2, b'[', b' '));
    }

    #[test]
    fn a_terminal_gets_no_binary_and_a_line_end() {
        let seen = Show { content: true, is_seen: true, ends_lines: true, ..Show::default() };
        assert_eq!(written("text", seen, false, &[b"a", b"b"]).unwrap(), b"ab\n");
        assert_eq!(written("line", seen, false, &[b"a\n"]).unwrap(), b"a\n");
        assert_eq!(written("none", seen, false, &[]).unwrap(), b"");
        assert!(written("binary", seen, false, &[b"a\0"]).is_err());
        let forced = Show { is_seen: false, ..seen };
        assert_eq!(written("forced", forced, false, &[b"\0"]).unwrap(), b"\0\n");
        let none = Show { content: false, ..seen };
        assert_eq!(written("nothing", none, false, &[b"a\0"]).unwrap(), b"");
    }
}
