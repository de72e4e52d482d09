//! The way of content to the terminal or a file.

use std::{mem, time::Duration};

use super::{Holding, LAID_OUT_MAX, Show, charset::Charset, head};
use crate::{
    failure::exit::{Exit, Failure, Outcome},
    fetch::output::Output,
    terminal::Painted,
};

/// A byte that no text contains, except in UTF-16 and UTF-32.
const BINARY: u8 = 0;

/// Takes content piece by piece, and writes it formatted or as it is. JSON that is shown for the eye is held
/// until it is whole; all else goes through.
pub(crate) struct Sink {
    output: Output,
    show: Show,
    holding: Holding,
    held: Vec<u8>,
    charset: Charset,
    /// The bytes of content that were written.
    bytes: u64,
    last: u8,
}

impl Sink {
    pub(crate) fn new(output: Output, show: Show, holding: Holding, charset: Charset) -> Self {
        Self { output, show, holding, held: Vec::new(), charset, bytes: 0, last: b'\n' }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Outcome {
        if !self.show.content {
            return Ok(());
        }
        let text = self.charset.text(bytes, false);
        self.take(&text)
    }

    /// Takes text, and holds back what cannot be shown yet.
    fn take(&mut self, text: &[u8]) -> Outcome {
        if self.holding == Holding::Nothing {
            return self.pass(text);
        }
        self.held.extend_from_slice(text);
        if self.holding == Holding::Lines {
            self.pass_lines()?;
        }
        if self.held.len() > LAID_OUT_MAX {
            self.holding = Holding::Nothing;
            return self.pass_held();
        }
        Ok(())
    }

    /// Writes the complete lines.
    fn pass_lines(&mut self) -> Outcome {
        let whole = self.held.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let lines: Vec<u8> = self.held.drain(..whole).collect();
        lines.split_inclusive(|byte| *byte == b'\n').try_for_each(|line| self.pass_shown(line))
    }

    /// Writes JSON formatted and coloured, and anything else unchanged.
    fn pass_shown(&mut self, text: &[u8]) -> Outcome {
        match self.show.json(text) {
            Some(json) => self.pass_painted(json),
            None => self.pass(text),
        }
    }

    /// Writes the held text, formatted and coloured, then the trailers and the other requested parts.
    pub(crate) fn finish(mut self, trailers: Option<Painted>, took: Duration) -> Outcome {
        self.take_rest()?;
        let held = mem::take(&mut self.held);
        self.pass_shown(&held)?;
        self.end()?;
        trailers.map_or(Ok(()), |trailers| self.pass_painted(trailers))?;
        if self.show.meta { self.pass_meta(took) } else { Ok(()) }
    }

    /// Takes what the converter still holds.
    fn take_rest(&mut self) -> Outcome {
        if !self.show.content {
            return Ok(());
        }
        let rest = self.charset.text(b"", true);
        self.take(&rest)
    }

    fn pass_meta(&mut self, took: Duration) -> Outcome {
        let mut meta = self.show.painted();
        if self.show.content {
            meta.own(if self.last == b'\n' { "\n" } else { "\n\n" });
        }
        head::field(&self.show, &mut meta, b"Elapsed time", format!("{:.6}s", took.as_secs_f64()).as_bytes());
        self.output.show(meta)
    }

    /// Writes the held text unchanged, because nothing more comes.
    pub(crate) fn release(&mut self) -> Outcome {
        self.take_rest()?;
        self.pass_held()?;
        self.end()
    }

    fn pass_held(&mut self) -> Outcome {
        let held = mem::take(&mut self.held);
        self.pass(&held)
    }

    fn pass_painted(&mut self, painted: Painted) -> Outcome {
        self.last = painted.last().unwrap_or(self.last);
        self.output.show(painted)
    }

    /// Writes text. On a terminal it ends at the first byte that no text has.
    fn pass(&mut self, bytes: &[u8]) -> Outcome {
        let text = match self.show.is_seen {
            true => bytes.split(|byte| *byte == BINARY).next().unwrap_or_default(),
            false => bytes,
        };
        // An image has a few letters before its first NUL: they are nothing that anybody wants to see.
        let text = if self.bytes == 0 && text.len() < bytes.len() { b"" } else { text };
        if let Some(last) = text.last() {
            self.last = *last;
            self.output.write(text)?;
        }
        self.bytes += text.len() as u64;
        if text.len() < bytes.len() { Err(self.stop()) } else { Ok(()) }
    }

    /// Reports that the rest is not shown.
    fn stop(&mut self) -> Failure {
        let shown = match self.bytes {
            0 => "the content is binary, and is not shown".to_owned(),
            bytes => format!("the content is binary from byte {bytes} on, and is shown no further"),
        };
        let why = format!("{shown}: -o FILE keeps it, and -o - writes it still");
        self.end().err().unwrap_or_else(|| Failure::new(Exit::Local, why))
    }

    fn end(&mut self) -> Outcome {
        self.output.end()?;
        let is_unended = self.show.is_on_terminal && self.last != b'\n';
        if is_unended {
            self.last = b'\n';
            self.output.write(b"\n")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::fetch::output::{There, destination::Destination};

    /// Returns the output for these pieces.
    fn written(
        name: &str,
        show: Show,
        holding: Holding,
        pieces: &[&[u8]],
    ) -> Result<(Vec<u8>, Option<String>), Failure> {
        let path = std::env::temp_dir().join(format!("alula-sink-{name}-{}", std::process::id()));
        let output = Output::open(&Destination::named(&path), There::IsReplaced, false)?;
        let mut sink =
            Sink::new(if show.is_seen { output.seen() } else { output }, show, holding, Charset::default());
        let outcome = pieces
            .iter()
            .try_for_each(|piece| sink.write(piece))
            .and_then(|()| sink.finish(None, Duration::from_millis(5)));
        let content = fs::read(&path).unwrap();
        fs::remove_file(path).unwrap();
        Ok((content, outcome.err().map(|failure| failure.sentence().to_owned())))
    }

    #[test]
    fn json_is_held_and_what_is_none_comes_out_as_it_was() {
        let show = Show { content: true, is_laid_out: true, ..Show::default() };
        for (pieces, expected) in
            [(&[&b"[1"[..], b",2]"][..], &b"[\n    1,\n    2\n]\n"[..]), (&[b"[1", b","], b"[1,"), (&[], b"")]
        {
            assert_eq!(written("held", show, Holding::Whole, pieces).unwrap(), (expected.to_vec(), None));
        }
        let long = vec![b' '; LAID_OUT_MAX];
        let (all, _) = written("long", show, Holding::Whole, &[b"[", &long, b"]"]).unwrap();
        assert_eq!((all.len(), all[0], all[LAID_OUT_MAX]), (LAID_OUT_MAX + 2, b'[', b' '));
    }

    #[test]
    fn a_terminal_gets_text_piece_by_piece_and_a_line_end() {
        let seen = Show { content: true, is_on_terminal: true, is_seen: true, ..Show::default() };
        for (pieces, expected) in [
            (&[&b"a"[..], b"b"][..], "ab\n"),
            (&[b"a\n"], "a\n"),
            (&[], ""),
            (&[b"a\xc2", b"\x9b31m\x1b", b"[31m"], "a\\u{9b}31m\\x1b[31m\n"),
            (&[b"a\r", b"\nb\r"], "a\nb\\x0d\n"),
            (&[b"a\xe2", b"\x82"], "a\\xe2\\x82\n"),
        ] {
            assert_eq!(
                written("text", seen, Holding::Nothing, pieces).unwrap(),
                (expected.as_bytes().to_vec(), None)
            );
        }
    }

    #[test]
    fn lines_of_json_are_shown_one_by_one() {
        let show = Show { content: true, is_laid_out: true, ..Show::default() };
        for (pieces, expected) in [
            (&[&b"[1]\n{\"a\""[..], b":2}\n"][..], "[\n    1\n]\n{\n    \"a\": 2\n}\n"),
            (&[b"[1]\n\nno [\n", b"[2"], "[\n    1\n]\n\nno [\n[2"),
            (&[b"[1]"], "[\n    1\n]\n"),
        ] {
            assert_eq!(written("lines", show, Holding::Lines, pieces).unwrap().0, expected.as_bytes());
        }
    }

    #[test]
    fn the_time_it_took_comes_last() {
        let show = Show { content: true, meta: true, ..Show::default() };
        for (piece, expected) in
            [(&b"a"[..], "a\n\nElapsed time: 0.005000s\n"), (b"a\n", "a\n\nElapsed time: 0.005000s\n")]
        {
            assert_eq!(written("meta", show, Holding::Nothing, &[piece]).unwrap().0, expected.as_bytes());
        }
        let alone = Show { content: false, ..show };
        assert_eq!(
            written("alone", alone, Holding::Nothing, &[b"a"]).unwrap().0,
            b"Elapsed time: 0.005000s\n"
        );
    }

    #[test]
    fn a_terminal_gets_text_up_to_the_first_binary_byte() {
        let seen = Show { content: true, is_on_terminal: true, is_seen: true, ..Show::default() };
        for (holding, pieces, expected, place) in [
            (Holding::Nothing, &[&b"a\0b"[..], b"c"][..], &b""[..], "binary, and is not shown"),
            (Holding::Nothing, &[b"ab", b"c\n", b"\0"], b"abc\n", "byte 4 on"),
            (Holding::Nothing, &[b"\0"], b"", "binary, and is not shown"),
            (Holding::Whole, &[b"[1,", b"\0]"], b"", "binary, and is not shown"),
        ] {
            let (shown, sentence) = written("binary", seen, holding, pieces).unwrap();
            assert_eq!(shown, expected);
            assert!(sentence.is_some_and(|sentence| sentence.contains(place)), "{place}");
        }
        let forced = Show { is_seen: false, ..seen };
        assert_eq!(written("forced", forced, Holding::Nothing, &[b"\0\x1b"]).unwrap().0, b"\0\x1b\n");
        let none = Show { content: false, ..seen };
        assert_eq!(written("nothing", none, Holding::Nothing, &[b"a\0"]).unwrap(), (b"".to_vec(), None));
    }
}
