//! The parts of `multipart/form-data` (RFC 7578), read while they come.
//!
//! Rule: a part ends when all of the line of the delimiter behind it has come and is good, since a file takes
//! its place then.

use alula::fields::parameters;

/// Bytes of the head of a part at most.
const HEAD_MAX: usize = 16 * 1024;

/// Reads parts out of content that comes in pieces.
pub(super) struct Form {
    /// CRLF, two hyphens and the boundary (RFC 2046 §5.1.1).
    delimiter: Vec<u8>,
    /// Bytes that have come and are not read.
    buffer: Vec<u8>,
    /// Bytes at the beginning of the buffer in which no head ends: a head that comes byte by byte is
    /// looked through once.
    searched: usize,
    state: State,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    /// The part before the first delimiter.
    Preamble,
    /// The line of a delimiter.
    Delimiter(Delimiter),
    Head,
    Content,
    End,
}

/// The line of a delimiter, as far as it has come.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Delimiter {
    /// A part stands before it.
    ends_part: bool,
    /// Two hyphens stand behind it: it is the last.
    is_last: bool,
    /// Blanks stand behind it (RFC 2046 §5.1.1).
    is_padded: bool,
}

/// The next that is known of a form.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Event {
    /// A part begins; it may have the name of a file.
    Part(Option<String>),
    /// More of the part's content.
    Content(Vec<u8>),
    /// The part is whole.
    PartEnd,
    /// The form is whole.
    End,
}

/// The form is malformed.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Malformed;

impl Form {
    /// Begins a form; `None` when the value of `content-type` is none of one.
    pub(super) fn new(content_type: &str) -> Option<Self> {
        let boundary = parameters::find(content_type.as_bytes(), "boundary")
            .filter(|boundary| (1..=70).contains(&boundary.len()))?;
        let is_form = parameters::main(content_type.as_bytes()).eq_ignore_ascii_case(b"multipart/form-data");
        // The first delimiter may have no line before it.
        is_form.then(|| Self {
            delimiter: format!("\r\n--{boundary}").into_bytes(),
            buffer: b"\r\n".to_vec(),
            searched: 0,
            state: State::Preamble,
        })
    }

    /// Takes more bytes of the content.
    pub(super) fn receive(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Says that nothing more comes. The line of the last delimiter may end with the content.
    pub(super) fn receive_end(&mut self) {
        let is_last = matches!(self.state, State::Delimiter(Delimiter { is_last: true, .. }));
        if is_last && self.buffer.is_empty() {
            self.buffer.extend_from_slice(b"\r\n");
        }
    }

    /// Returns the next event, or nothing when more bytes are needed.
    ///
    /// # Errors
    /// The form is malformed.
    pub(super) fn event(&mut self) -> Result<Option<Event>, Malformed> {
        if self.state == State::Preamble && !self.skip_preamble() {
            return Ok(None);
        }
        match self.state {
            State::Preamble => Ok(None),
            State::Delimiter(line) => self.delimiter(line),
            State::Head => self.head(),
            State::Content => self.content(),
            State::End => Ok(Some(Event::End)),
        }
    }

    fn skip_preamble(&mut self) -> bool {
        let found = find_bytes(&self.buffer, &self.delimiter);
        match found {
            Some(at) => {
                self.buffer.drain(..at + self.delimiter.len());
                self.state = State::Delimiter(Delimiter::after(false));
            }
            None => drop(self.buffer.drain(..self.certain())),
        }
        found.is_some()
    }

    /// Bytes at the beginning of the buffer in which no delimiter begins, if there is none in it.
    fn certain(&self) -> usize {
        self.buffer.len().saturating_sub(self.delimiter.len() - 1)
    }

    /// Reads on in the line of a delimiter. Its part ends with it, and not before.
    fn delimiter(&mut self, line: Delimiter) -> Result<Option<Event>, Malformed> {
        let line = self.behind_delimiter(line);
        self.state = State::Delimiter(line);
        match *self.buffer {
            [b'\r', b'\n', ..] => {}
            // Nothing is read behind the last one, so that another end of the line can hide nothing.
            [b'\n', ..] if line.is_last => {}
            [] | [b'\r'] => return Ok(None),
            // The second hyphen of the closing delimiter may still come.
            [b'-'] if !line.is_last && !line.is_padded => return Ok(None),
            _ => return Err(Malformed),
        }
        // The line end stays: a head may have no field.
        self.state = if line.is_last { State::End } else { State::Head };
        match line.ends_part {
            true => Ok(Some(Event::PartEnd)),
            false => self.event(),
        }
    }

    /// Takes hyphens and blanks out of the buffer.
    fn behind_delimiter(&mut self, line: Delimiter) -> Delimiter {
        let mut rest = &self.buffer[..];
        let is_last = line.is_last || (!line.is_padded && rest.starts_with(b"--"));
        if is_last && !line.is_last {
            rest = &rest[2..];
        }
        let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let read = self.buffer.len() - rest.len() + blanks;
        self.buffer.drain(..read);
        Delimiter { is_last, is_padded: line.is_padded || blanks > 0, ..line }
    }

    fn head(&mut self) -> Result<Option<Event>, Malformed> {
        let Some(end) = self.end_of_head() else {
            return if self.buffer.len() > HEAD_MAX { Err(Malformed) } else { Ok(None) };
        };
        let head = String::from_utf8_lossy(&self.buffer[..end]);
        let mut fields = head.split("\r\n").filter_map(|line| line.split_once(':'));
        let disposition = fields.find(|(name, _)| name.trim().eq_ignore_ascii_case("content-disposition"));
        let name = disposition.and_then(|(_, value)| parameters::filename(value.as_bytes()));
        // All of the blank line goes: a delimiter brings a line end of its own.
        self.buffer.drain(..end + 4);
        self.state = State::Content;
        Ok(Some(Event::Part(name)))
    }

    /// The place of the blank line behind a head.
    fn end_of_head(&mut self) -> Option<usize> {
        const BLANK: &[u8] = b"\r\n\r\n";
        let begin = self.searched;
        let found = find_bytes(&self.buffer[begin..], BLANK);
        self.searched = if found.is_some() { 0 } else { self.buffer.len().saturating_sub(BLANK.len() - 1) };
        found.map(|at| begin + at)
    }

    fn content(&mut self) -> Result<Option<Event>, Malformed> {
        Ok(match find_bytes(&self.buffer, &self.delimiter) {
            Some(0) => {
                self.buffer.drain(..self.delimiter.len());
                return self.delimiter(Delimiter::after(true));
            }
            Some(at) => Some(Event::Content(self.buffer.drain(..at).collect())),
            None if self.certain() == 0 => None,
            None => Some(Event::Content(self.buffer.drain(..self.certain()).collect())),
        })
    }
}

impl Delimiter {
    /// The line of which nothing but the delimiter has come.
    const fn after(ends_part: bool) -> Self {
        Self { ends_part, is_last: false, is_padded: false }
    }
}

fn find_bytes(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: &str = "preamble\r\n--b\r\nContent-Disposition: form-data; name=f; filename=\"a.txt\"\r\n\r\none\r\n--two\r\n--b\r\n\
        content-disposition: form-data; name=g\r\n\r\n\r\n--b \t \r\n\r\nbare\r\n--b-- \t\r\nepilogue";

    /// The events, with pieces of content put together; true at the end if the form is whole.
    fn events(pieces: &[&[u8]]) -> Result<(Vec<Event>, bool), Malformed> {
        let mut form = Form::new("multipart/form-data; boundary=b").unwrap();
        let mut events: Vec<Event> = Vec::new();
        for piece in pieces {
            form.receive(piece);
            if add(&mut form, &mut events)? {
                return Ok((events, true));
            }
        }
        form.receive_end();
        let is_whole = add(&mut form, &mut events)?;
        Ok((events, is_whole))
    }

    fn add(form: &mut Form, events: &mut Vec<Event>) -> Result<bool, Malformed> {
        while let Some(event) = form.event()? {
            match (events.last_mut(), event) {
                (_, Event::End) => return Ok(true),
                (Some(Event::Content(all)), Event::Content(more)) => all.extend(more),
                (_, event) => events.push(event),
            }
        }
        Ok(false)
    }

    #[test]
    fn parts_are_the_same_however_they_are_cut() {
        let content = |text: &str| Event::Content(text.as_bytes().to_vec());
        let expected = || {
            let first = [Event::Part(Some("a.txt".to_owned())), content("one\r\n--two"), Event::PartEnd];
            let others =
                [Event::Part(None), Event::PartEnd, Event::Part(None), content("bare"), Event::PartEnd];
            first.into_iter().chain(others).collect::<Vec<_>>()
        };
        let whole = FORM.as_bytes();
        for at in 0..=whole.len() {
            assert_eq!(events(&[&whole[..at], &whole[at..]]), Ok((expected(), true)), "{at}");
        }
        let bytes: Vec<_> = whole.chunks(1).collect();
        assert_eq!(events(&bytes), Ok((expected(), true)));
        let last = FORM.find("-- \t\r\nepilogue").unwrap();
        for cut in 0..whole.len() {
            let (events, is_whole) = events(&[&whole[..cut]]).unwrap();
            // The end of the content is the end of the last line, but for half of a line end.
            assert_eq!(is_whole, cut >= last + 2 && cut != last + 5, "{cut}");
            let ends = events.iter().filter(|event| **event == Event::PartEnd).count();
            let lines =
                FORM[..cut].matches("\r\n--b\r\n").count() + FORM[..cut].matches("\r\n--b \t \r\n").count();
            assert_eq!(ends, lines.saturating_sub(1) + usize::from(is_whole), "{cut}");
        }
    }

    #[test]
    fn malformed_forms_are_refused() {
        for form in ["--bx\r\n", "--b x", "--b\n", "--b --", "--b\rx", "--b-x", "--b--x", "--b-- x"] {
            assert_eq!(events(&[form.as_bytes()]), Err(Malformed), "{form:?}");
        }
        let endless = format!("--b\r\n{}", "a: b\r\n".repeat(4000));
        assert_eq!(events(&[endless.as_bytes()]), Err(Malformed));
        for content_type in
            ["multipart/form-data", "multipart/form-data; boundary=\"\"", "text/plain; boundary=b"]
        {
            assert!(Form::new(content_type).is_none(), "{content_type}");
        }
    }
}
