//! The parts of `multipart/form-data` (RFC 7578), read while they come.

use crate::parameters::{find, parse};

/// Octets of the head of a part at most.
const HEAD_MAX: usize = 16 * 1024;

/// Reads parts out of content that comes in pieces.
pub(super) struct Form {
    /// CRLF, two hyphens and the boundary (RFC 2046 §5.1.1).
    delimiter: Vec<u8>,
    /// Octets that have come and are not read.
    buffer: Vec<u8>,
    /// Octets at the beginning of the buffer in which no head ends: a head that comes octet by octet is looked through once.
    searched: usize,
    state: State,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    /// Before the first delimiter.
    Preamble,
    /// Behind a delimiter.
    Delimiter,
    Head,
    Content,
    End,
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
        let (media_type, parameters) = content_type.split_once(';')?;
        let parameters = parse(parameters, ';');
        let boundary = find(&parameters, "boundary").filter(|boundary| (1..=70).contains(&boundary.len()))?;
        let is_form = media_type.trim().eq_ignore_ascii_case("multipart/form-data");
        // The first delimiter may have no line before it.
        is_form.then(|| Self {
            delimiter: format!("\r\n--{boundary}").into_bytes(),
            buffer: b"\r\n".to_vec(),
            searched: 0,
            state: State::Preamble,
        })
    }

    /// Takes more octets of the content.
    pub(super) fn receive(&mut self, octets: &[u8]) {
        self.buffer.extend_from_slice(octets);
    }

    /// Returns the next event, or nothing when more octets are needed.
    ///
    /// # Errors
    /// The form is malformed.
    pub(super) fn event(&mut self) -> Result<Option<Event>, Malformed> {
        if self.state == State::Preamble && !self.skip_preamble() {
            return Ok(None);
        }
        match self.state {
            State::Preamble | State::Delimiter => self.behind_delimiter(),
            State::Head => self.head(),
            State::Content => Ok(self.content()),
            State::End => Ok(Some(Event::End)),
        }
    }

    fn skip_preamble(&mut self) -> bool {
        let found = find_octets(&self.buffer, &self.delimiter);
        match found {
            Some(at) => {
                self.buffer.drain(..at + self.delimiter.len());
                self.state = State::Delimiter;
            }
            None => drop(self.buffer.drain(..self.certain())),
        }
        found.is_some()
    }

    /// Octets at the beginning of the buffer in which no delimiter begins, if there is none in it.
    fn certain(&self) -> usize {
        self.buffer.len().saturating_sub(self.delimiter.len() - 1)
    }

    fn behind_delimiter(&mut self) -> Result<Option<Event>, Malformed> {
        match *self.buffer {
            [b'-', b'-', ..] => {
                self.state = State::End;
                Ok(Some(Event::End))
            }
            [b'\r', b'\n', ..] => {
                // The line end stays: a head may have no field.
                self.state = State::Head;
                self.head()
            }
            [] | [b'-' | b'\r'] => Ok(None),
            _ => Err(Malformed),
        }
    }

    fn head(&mut self) -> Result<Option<Event>, Malformed> {
        let Some(end) = self.end_of_head() else {
            return if self.buffer.len() > HEAD_MAX { Err(Malformed) } else { Ok(None) };
        };
        let head = String::from_utf8_lossy(&self.buffer[..end]);
        let mut fields = head.split("\r\n").filter_map(|line| line.split_once(':'));
        let disposition = fields.find(|(name, _)| name.trim().eq_ignore_ascii_case("content-disposition"));
        let parameters = parse(disposition.map(|(_, value)| value).unwrap_or_default(), ';');
        let name = find(&parameters, "filename").map(str::to_owned);
        // All of the blank line goes: a delimiter brings a line end of its own.
        self.buffer.drain(..end + 4);
        self.state = State::Content;
        Ok(Some(Event::Part(name)))
    }

    /// The place of the blank line behind a head.
    fn end_of_head(&mut self) -> Option<usize> {
        const BLANK: &[u8] = b"\r\n\r\n";
        let begin = self.searched;
        let found = find_octets(&self.buffer[begin..], BLANK);
        self.searched = if found.is_some() { 0 } else { self.buffer.len().saturating_sub(BLANK.len() - 1) };
        found.map(|at| begin + at)
    }

    fn content(&mut self) -> Option<Event> {
        match find_octets(&self.buffer, &self.delimiter) {
            Some(0) => {
                self.buffer.drain(..self.delimiter.len());
                self.state = State::Delimiter;
                Some(Event::PartEnd)
            }
            Some(at) => Some(Event::Content(self.buffer.drain(..at).collect())),
            None if self.certain() == 0 => None,
            None => Some(Event::Content(self.buffer.drain(..self.certain()).collect())),
        }
    }
}

fn find_octets(octets: &[u8], wanted: &[u8]) -> Option<usize> {
    octets.windows(wanted.len()).position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: &str = "preamble\r\n--b\r\nContent-Disposition: form-data; name=f; filename=\"a.txt\"\r\n\r\none\r\n--two\r\n--b\r\n\
        content-disposition: form-data; name=g\r\n\r\n\r\n--b\r\n\r\nbare\r\n--b--\r\nepilogue";

    /// The events, with pieces of content put together; true at the end if the form is whole.
    fn events(pieces: &[&[u8]]) -> Result<(Vec<Event>, bool), Malformed> {
        let mut form = Form::new("multipart/form-data; boundary=b").unwrap();
        let mut events: Vec<Event> = Vec::new();
        for piece in pieces {
            form.receive(piece);
            while let Some(event) = form.event()? {
                match (events.last_mut(), event) {
                    (_, Event::End) => return Ok((events, true)),
                    (Some(Event::Content(all)), Event::Content(more)) => all.extend(more),
                    (_, event) => events.push(event),
                }
            }
        }
        Ok((events, false))
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
        let octets: Vec<_> = whole.chunks(1).collect();
        assert_eq!(events(&octets), Ok((expected(), true)));
        let end = FORM.find("--\r\nepilogue").unwrap();
        for cut in 0..=end + 1 {
            assert!(!events(&[&whole[..cut]]).unwrap().1, "{cut}");
        }
    }

    #[test]
    fn malformed_forms_are_refused() {
        for form in ["--bx\r\n", "--b x", "--b\n"] {
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
