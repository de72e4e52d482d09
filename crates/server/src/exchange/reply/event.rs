//! An event of an event stream, as the HTML standard writes it (WHATWG HTML, section 9.2 "Server-sent
//! events").

use std::{io::Write as _, time::Duration};

use alula_net::Error;

/// An event of an event stream: data, and what goes with it.
///
/// ```
/// use alula::Event;
///
/// let event = Event::data("16 degrees").name("weather").id("417");
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Event<'a> {
    data: Option<&'a str>,
    name: Option<&'a str>,
    id: Option<&'a str>,
    retry: Option<Duration>,
}

impl<'a> Event<'a> {
    /// Creates an event with this data, which may have several lines: CR, LF and CRLF all end a line, and
    /// arrive as LF. An event without data, made by `default`, tells a client its id and retry time only.
    pub const fn data(data: &'a str) -> Self {
        Self { data: Some(data), name: None, id: None, retry: None }
    }

    /// Sets the name of the event, `message` by default.
    pub const fn name(self, name: &'a str) -> Self {
        Self { name: Some(name), ..self }
    }

    /// Sets the id that the client states in `last-event-id` when it connects again.
    pub const fn id(self, id: &'a str) -> Self {
        Self { id: Some(id), ..self }
    }

    /// Sets the time after which the client connects again, in whole milliseconds.
    pub const fn retry(self, after: Duration) -> Self {
        Self { retry: Some(after), ..self }
    }

    /// Appends the event as it is sent.
    pub(super) fn write_to(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        if [self.name, self.id].into_iter().flatten().any(has_line_end) {
            return Err(Error::usage("the name and the id of an event have one line, and an id has no NUL"));
        }
        push_line(out, "event", self.name);
        push_line(out, "id", self.id);
        if let Some(after) = self.retry {
            // A vector takes all that is written.
            let _ = writeln!(out, "retry: {}", after.as_millis());
        }
        self.data.into_iter().flat_map(lines).for_each(|line| push_line(out, "data", Some(line)));
        out.push(b'\n');
        Ok(())
    }
}

/// Appends a comment, which clients pass over.
pub(super) fn write_comment(text: &str, out: &mut Vec<u8>) {
    lines(text).for_each(|line| push_line(out, "", Some(line)));
    out.push(b'\n');
}

fn push_line(out: &mut Vec<u8>, field: &str, value: Option<&str>) {
    let Some(value) = value else { return };
    for piece in [field, ": ", value, "\n"] {
        out.extend_from_slice(piece.as_bytes());
    }
}

fn has_line_end(text: &str) -> bool {
    text.bytes().any(|byte| matches!(byte, b'\r' | b'\n' | 0))
}

/// Returns the lines of a text, with an empty one for empty text or after a final line end.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(end) = text.find(['\r', '\n']) else { return rest.take() };
        let (line, after) = text.split_at(end);
        rest = after.strip_prefix("\r\n").or_else(|| after.get(1..));
        Some(line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(event: Event<'_>) -> String {
        let mut out = Vec::new();
        event.write_to(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn events_are_lines() {
        for (event, expected) in [
            (Event::data("a"), "data: a\n\n"),
            (Event::data(""), "data: \n\n"),
            (Event::data("a\nb\r\nc\rd"), "data: a\ndata: b\ndata: c\ndata: d\n\n"),
            (Event::data("a\n"), "data: a\ndata: \n\n"),
            (Event::data("a\n\nevent: b"), "data: a\ndata: \ndata: event: b\n\n"),
            (Event::data("a").name("n").id("7"), "event: n\nid: 7\ndata: a\n\n"),
            (Event::default().retry(Duration::from_millis(1_500)), "retry: 1500\n\n"),
            (Event::data("a").id(""), "id: \ndata: a\n\n"),
        ] {
            assert_eq!(written(event), expected, "{event:?}");
        }
    }

    #[test]
    fn names_and_ids_add_no_lines() {
        for text in ["a\nb", "a\rb", "a\0b"] {
            for event in [Event::data("d").name(text), Event::data("d").id(text)] {
                assert!(event.write_to(&mut Vec::new()).is_err(), "{event:?}");
            }
        }
    }

    #[test]
    fn comments_begin_with_a_colon() {
        let mut out = Vec::new();
        write_comment("still\nhere", &mut out);
        assert_eq!(out, b": still\n: here\n\n");
    }
}
