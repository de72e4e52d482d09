//! Heads as text, with or without colours.

use alula::{FieldSection, Response, Status, Version, fields::Field};
use url::Url;

use super::Show;
use crate::terminal::Painted;

/// The head of a response.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) version: Version,
    pub(crate) status: Status,
    pub(crate) fields: FieldSection,
    /// The trailers, once they have come.
    pub(crate) trailers: Option<FieldSection>,
}

/// Paints the status line and the fields as they came, including those of coded content, then an empty line.
pub(crate) fn response_head(response: &Response, show: &Show, head: &mut Painted) {
    paint_head(response.version(), response.status(), response.received_headers(), show, head);
}

/// Paints the trailers as curl does: without an empty line around them.
pub(crate) fn trailers(version: Version, fields: &FieldSection, show: &Show) -> Painted {
    let mut trailers = show.painted();
    paint_fields(version, fields, show, &mut trailers);
    trailers
}

impl Head {
    /// Paints a kept head.
    pub(crate) fn paint(&self, show: &Show, head: &mut Painted) {
        paint_head(self.version, self.status, &self.fields, show, head);
        if let Some(trailers) = &self.trailers {
            paint_fields(self.version, trailers, show, head);
        }
    }
}

/// Returns the name of a field as it came: over HTTP/1.1 its spelling was kept.
pub(crate) fn name_of(field: &Field<'_>, version: Version) -> Vec<u8> {
    let mut name = field.name_bytes().to_vec();
    if version == Version::Http1 {
        // There is room for it: a spelling is as long as its name.
        let _ = field.write_spelling(&mut name);
    }
    name
}

fn paint_head(version: Version, status: Status, fields: &FieldSection, show: &Show, head: &mut Painted) {
    head.paint(show.palette.first, version.to_string().as_bytes());
    let mut line = status.as_u16().to_string();
    if let Some(reason) = status.reason() {
        line.push(' ');
        line.push_str(reason);
    }
    head.own(" ");
    head.paint(show.palette.of_status(status.as_u16()), line.as_bytes());
    head.own("\n");
    paint_fields(version, fields, show, head);
    head.own("\n");
}

fn paint_fields(version: Version, fields: &FieldSection, show: &Show, head: &mut Painted) {
    let mut fields: Vec<_> = fields.iter().collect();
    if show.is_laid_out && show.layout.sorts_fields {
        fields.sort_by(|one, other| one.name_bytes().cmp(other.name_bytes()));
    }
    for one in fields {
        field(show, head, &name_of(&one, version), one.value());
    }
}

/// Paints method, URL and the fields beside those that the connection adds, then an empty line.
pub(crate) fn request_head(
    method: &str,
    url: &Url,
    fields: &[(String, String)],
    show: &Show,
    head: &mut Painted,
) {
    head.paint(show.palette.first.bold(), method.as_bytes());
    head.own(" ");
    head.text(url.as_str().as_bytes());
    head.own("\n");
    for (name, value) in fields {
        field(show, head, name.as_bytes(), value.as_bytes());
    }
    head.own("\n");
}

/// Paints the lines of a head of HTTP/1.1, then an empty line.
pub(super) fn lines(bytes: &[u8], show: &Show, head: &mut Painted) {
    let mut lines = bytes.split(|byte| *byte == b'\n').map(|line| line.trim_ascii_end());
    head.paint(show.palette.first.bold(), lines.next().unwrap_or_default());
    head.own("\n");
    for line in lines {
        let (name, value) = line.split_at(line.iter().position(|byte| *byte == b':').unwrap_or(line.len()));
        field(show, head, name, value.strip_prefix(b":").unwrap_or(value).trim_ascii());
    }
    head.own("\n");
}

/// Writes a field, or something displayed like one, on a line.
pub(super) fn field(show: &Show, head: &mut Painted, name: &[u8], value: &[u8]) {
    head.paint(show.palette.name, name);
    head.own(": ");
    head.text(value);
    head.own("\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(value: &str, is_seen: bool, is_coloured: bool) -> String {
        let mut head = Painted::new(is_seen, is_coloured);
        let fields = [("x".to_owned(), value.to_owned())];
        request_head("GET", &Url::parse("http://a/b").unwrap(), &fields, &Show::default(), &mut head);
        String::from_utf8(head.into_bytes()).unwrap()
    }

    #[test]
    fn a_head_is_painted_without_being_changed() {
        assert_eq!(head("y", true, false), "GET http://a/b\nx: y\n\n");
        let text = head("y", true, true);
        assert!(text.contains("\x1b[36mx\x1b[0m: y\n"), "{text:?}");
        assert_eq!(anstream::adapter::strip_str(&text).to_string(), "GET http://a/b\nx: y\n\n");
    }

    #[test]
    fn a_terminal_is_given_no_orders() {
        assert_eq!(head("a\u{9b}31m", true, false), "GET http://a/b\nx: a\\u{9b}31m\n\n");
        assert_eq!(head("a\u{9b}31m", false, false), "GET http://a/b\nx: a\u{9b}31m\n\n");
    }
}
