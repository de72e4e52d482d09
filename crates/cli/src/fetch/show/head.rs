//! Heads as text, with colours or without.

use alula::Response;
use anstyle::{AnsiColor, Color, Style};
use url::Url;

const NAME: Style = Style::new().fg_color(Some(Color::Ansi(AnsiColor::Cyan)));
const FIRST: Style = Style::new().fg_color(Some(Color::Ansi(AnsiColor::Blue)));

/// The status line and the fields in the order of arrival, then an empty line.
pub(in crate::fetch) fn response_head(response: &Response, is_coloured: bool) -> Vec<u8> {
    let status = response.status();
    let mut head = Painted { out: Vec::new(), is_coloured };
    head.paint(FIRST, response.version().to_string().as_bytes());
    head.out.push(b' ');
    let mut line = status.code().to_string();
    if let Some(reason) = status.reason() {
        line.push(' ');
        line.push_str(reason);
    }
    head.paint(of_status(status.code()), line.as_bytes());
    head.out.push(b'\n');
    for field in response.fields() {
        head.field(field.name_bytes(), field.value());
    }
    head.out.push(b'\n');
    head.out
}

/// Method, URL and the fields that are sent beside those that the connection adds, then an empty line.
pub(in crate::fetch) fn request_head(
    method: &str,
    url: &Url,
    fields: &[(String, String)],
    is_coloured: bool,
) -> Vec<u8> {
    let mut head = Painted { out: Vec::new(), is_coloured };
    head.paint(FIRST.bold(), method.as_bytes());
    head.out.push(b' ');
    head.out.extend_from_slice(url.as_str().as_bytes());
    head.out.push(b'\n');
    for (name, value) in fields {
        head.field(name.as_bytes(), value.as_bytes());
    }
    head.out.push(b'\n');
    head.out
}

struct Painted {
    out: Vec<u8>,
    is_coloured: bool,
}

impl Painted {
    fn paint(&mut self, style: Style, octets: &[u8]) {
        let (before, after) = match self.is_coloured {
            true => (style.render().to_string(), style.render_reset().to_string()),
            false => Default::default(),
        };
        for part in [before.as_bytes(), octets, after.as_bytes()] {
            self.out.extend_from_slice(part);
        }
    }

    fn field(&mut self, name: &[u8], value: &[u8]) {
        self.paint(NAME, name);
        for part in [b": ", value, b"\n"] {
            self.out.extend_from_slice(part);
        }
    }
}

fn of_status(code: u16) -> Style {
    let color = match code {
        200..=299 => AnsiColor::Green,
        300..=399 => AnsiColor::Cyan,
        400..=499 => AnsiColor::Yellow,
        500..=599 => AnsiColor::Red,
        _ => AnsiColor::Blue,
    };
    Style::new().fg_color(Some(Color::Ansi(color))).bold()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_painted_without_being_changed() {
        let url = Url::parse("http://a/b").unwrap();
        let fields = [("x".to_owned(), "y".to_owned())];
        assert_eq!(request_head("GET", &url, &fields, false), b"GET http://a/b\nx: y\n\n");
        let painted = request_head("GET", &url, &fields, true);
        let text = String::from_utf8(painted).unwrap();
        assert!(text.contains("\x1b[36mx\x1b[0m: y\n"), "{text:?}");
        assert_eq!(anstream::adapter::strip_str(&text).to_string(), "GET http://a/b\nx: y\n\n");
    }
}
