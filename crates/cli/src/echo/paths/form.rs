//! The content of a form: pairs of `application/x-www-form-urlencoded`, and parts of `multipart/form-data`
//! (RFC 7578).

use alula::{FieldSection, KnownName, fields::parameters};
use url::form_urlencoded;

/// Parts that are read at most; browsers send no more.
const PARTS_MAX: usize = 10_000;

/// Pairs, in their order.
#[derive(Debug, Default, Eq, PartialEq)]
pub(super) struct Form {
    /// Names and values.
    pub(super) values: Vec<(String, String)>,
    /// Names, media types and contents of parts that have a file name.
    pub(super) files: Vec<(String, String, Vec<u8>)>,
}

impl Form {
    /// Reads the content of a request; nothing when its type is none of a form.
    pub(super) fn parse(headers: &FieldSection, content: &[u8]) -> Option<Self> {
        let media_type = headers.get(KnownName::CONTENT_TYPE)?;
        match &*parameters::main(media_type).to_ascii_lowercase() {
            b"application/x-www-form-urlencoded" => {
                let values = form_urlencoded::parse(content).into_owned().collect();
                Some(Self { values, files: Vec::new() })
            }
            b"multipart/form-data" => {
                Some(Self::of_parts(content, &parameters::find(media_type, "boundary")?))
            }
            _ => None,
        }
    }

    fn of_parts(content: &[u8], boundary: &str) -> Self {
        let mut form = Self::default();
        let Some(mut rest) = begun(content, boundary) else { return form };
        let delimiter = format!("\r\n--{boundary}");
        for _ in 0..PARTS_MAX {
            // The last delimiter ends in two hyphens.
            let Some(part) = without_blanks(rest).strip_prefix(b"\r\n") else { break };
            let Some(end) = find_bytes(part, delimiter.as_bytes()) else { break };
            form.add(&part[..end]);
            rest = &part[end + delimiter.len()..];
        }
        form
    }

    /// Adds a part; one that is malformed or has no name is passed over.
    fn add(&mut self, part: &[u8]) {
        let Some(end) = find_bytes(part, b"\r\n\r\n") else { return };
        let (head, content) = (String::from_utf8_lossy(&part[..end]), &part[end + 4..]);
        let disposition = field(&head, "content-disposition").unwrap_or_default();
        let Some(name) = parameters::find(disposition.as_bytes(), "name") else { return };
        // A file name, even an empty one, makes a part a file, as browsers send it (RFC 7578 §4.2).
        if parameters::filename(disposition.as_bytes()).is_some() {
            let media_type = field(&head, "content-type").unwrap_or(super::made::BYTES);
            self.files.push((name.into_owned(), media_type.to_owned(), content.to_vec()));
        } else {
            self.values.push((name.into_owned(), String::from_utf8_lossy(content).into_owned()));
        }
    }
}

/// Returns what follows the blanks behind a delimiter, which may stand there (RFC 2046 §5.1.1).
fn without_blanks(mut rest: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', behind @ ..] = rest {
        rest = behind;
    }
    rest
}

/// Returns the bytes behind the first delimiter.
fn begun<'c>(content: &'c [u8], boundary: &str) -> Option<&'c [u8]> {
    let first = format!("--{boundary}");
    match content.strip_prefix(first.as_bytes()) {
        Some(rest) => Some(rest),
        None => {
            let delimiter = format!("\r\n{first}");
            find_bytes(content, delimiter.as_bytes()).map(|at| &content[at + delimiter.len()..])
        }
    }
}

/// The value of a field in the head of a part.
fn field<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    let mut fields = head.split("\r\n").filter_map(|line| line.split_once(':'));
    fields.find(|(own, _)| own.trim().eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

fn find_bytes(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(media_type: &str, content: &str) -> Option<Form> {
        let headers = FieldSection::from_pairs([("content-type", media_type)]).unwrap();
        Form::parse(&headers, content.as_bytes())
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn pairs_are_decoded_as_browsers_write_them() {
        let form = form("Application/x-www-form-urlencoded; charset=utf-8", "a=1&b=%20+&c").unwrap();
        assert_eq!(form.values, [pair("a", "1"), pair("b", "  "), pair("c", "")]);
    }

    #[test]
    fn parts_are_values_and_files() {
        let content = "preamble\r\n--x y\r\ncontent-disposition: form-data; name=\"a\"\r\n\r\none\r\ntwo\r\n--x y\r\n\
            Content-Type: text/plain\r\nContent-Disposition: form-data; name=f; filename=\"g;h\"\r\n\r\n\r\n--x y\r\n\
            content-disposition: form-data\r\n\r\nnameless\r\n--x y \t\r\n\
            content-disposition: form-data; name=h; filename*=utf-8''h\r\n\r\nlast\r\n--x y--\r\nepilogue";
        let form = form("multipart/form-data; boundary=\"x y\"", content).unwrap();
        assert_eq!(form.values, [pair("a", "one\r\ntwo")]);
        let file = |name: &str, media_type: &str, content: &str| {
            (name.to_owned(), media_type.to_owned(), content.as_bytes().to_vec())
        };
        assert_eq!(form.files, [file("f", "text/plain", ""), file("h", "application/octet-stream", "last")]);
    }

    #[test]
    fn content_that_is_cut_is_read_as_far_as_it_is_whole() {
        let whole = "--b\r\ncontent-disposition: form-data; name=a\r\n\r\n1\r\n--b\r\n\
            content-disposition: form-data; name=c\r\n\r\n2\r\n--b--";
        for end in 0..=whole.len() {
            let form = form("multipart/form-data; boundary=b", &whole[..end]).unwrap();
            assert!(form.values.len() <= 2 && form.files.is_empty());
            assert!(form.values.len() == 2 || end < whole.len() - 2, "{end}");
        }
        assert_eq!(form("multipart/form-data", whole), None);
        assert_eq!(form("text/plain", whole), None);
    }
}
