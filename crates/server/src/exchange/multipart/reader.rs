//! The machine that takes a form apart, without socket or runtime: it is shown what has come, and says how
//! much of that is what.

use alula_fields::{FieldSection, bytes};
use alula_net::Error;

use super::{MultipartLimits, unreadable};

/// Bytes of a delimiter behind its boundary: two hyphens, blanks and the end of the line.
const DELIMITER_REST_MAX: usize = 256;

/// Reads a form.
pub(crate) struct Reader {
    /// CRLF, two hyphens and the boundary.
    delimiter: Vec<u8>,
    place: Place,
    /// The bytes of the delimiter that have come at the end of what was read.
    matched: usize,
    /// The line of a delimiter behind its boundary, or the head, as far as it has come.
    line: Vec<u8>,
    /// The fields of the part.
    fields: FieldSection,
    parts: usize,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Place {
    /// The content of a part, or the preamble.
    Content,
    /// The line of a delimiter, behind its boundary.
    Delimiter,
    Head,
    /// The epilogue.
    End,
}

/// Tells what the beginning of what has come is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Read {
    /// This number of bytes is content.
    Content(usize),
    /// This number of bytes of the delimiter, which had come before, is content.
    Delimiter(usize),
    /// This number of bytes is read, and holds no content.
    Nothing(usize),
}

impl Reader {
    pub(crate) fn new(boundary: &str) -> Self {
        Self {
            delimiter: [b"\r\n--", boundary.as_bytes()].concat(),
            place: Place::Content,
            // The first delimiter may stand at the beginning, with no line before it.
            matched: 2,
            line: Vec::new(),
            fields: FieldSection::new(),
            parts: 0,
        }
    }

    /// Returns true until the line of the delimiter behind a part, or behind the preamble, has come.
    pub(crate) fn is_in_content(&self) -> bool {
        matches!(self.place, Place::Content | Place::Delimiter)
    }

    pub(crate) fn is_in_head(&self) -> bool {
        self.place == Place::Head
    }

    /// Returns the fields of the part.
    pub(crate) const fn fields(&self) -> &FieldSection {
        &self.fields
    }

    /// Returns the first bytes of the delimiter.
    pub(crate) fn delimiter(&self, bytes: usize) -> &[u8] {
        &self.delimiter[..bytes]
    }

    /// Reads on in content; `None` says that nothing more comes.
    ///
    /// # Errors
    /// The form is malformed or cut.
    pub(crate) fn read_content(&mut self, buffer: Option<&[u8]>) -> Result<Read, Error> {
        if self.place == Place::Delimiter {
            return self.read_delimiter(buffer).map(Read::Nothing);
        }
        let buffer = buffer.ok_or_else(cut)?;
        let rest = &self.delimiter[self.matched..];
        if buffer.starts_with(rest) {
            let bytes = rest.len();
            (self.matched, self.place) = (0, Place::Delimiter);
            return Ok(Read::Nothing(bytes));
        }
        if rest.starts_with(buffer) {
            self.matched += buffer.len();
            return Ok(Read::Nothing(buffer.len()));
        }
        // A delimiter begins with CR and has no other: what has begun holds the beginning of none.
        match std::mem::take(&mut self.matched) {
            0 => Ok(Read::Content(begin_of(&self.delimiter, buffer))),
            matched => Ok(Read::Delimiter(matched)),
        }
    }

    /// Reads what is behind a boundary in its line: two hyphens if it is the last, and blanks (RFC 2046
    /// §5.1.1).
    fn read_delimiter(&mut self, buffer: Option<&[u8]>) -> Result<usize, Error> {
        let (read, is_whole) = self.read_line(buffer, DELIMITER_REST_MAX)?;
        if !is_whole && buffer.is_some() {
            return Ok(read);
        }
        let rest = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        let (rest, is_last) = rest.strip_prefix(b"--").map_or((rest, false), |rest| (rest, true));
        let blanks = rest.strip_suffix(b"\r");
        let is_good = blanks.unwrap_or(rest).iter().all(|byte| matches!(byte, b' ' | b'\t'));
        self.place = match (is_last, is_whole) {
            // Nothing is read behind the last one: another end of its line, or none, can hide nothing.
            (true, _) if is_good => Place::End,
            (false, true) if is_good && blanks.is_some() => Place::Head,
            (_, true) => {
                return Err(unreadable("the line of a boundary goes on behind it, or ends without CRLF"));
            }
            (_, false) => return Err(cut()),
        };
        self.line.clear();
        Ok(read)
    }

    /// Reads on in the head of a part; `None` says that nothing more comes.
    ///
    /// # Errors
    /// The form is malformed or cut, or a limit was reached.
    pub(crate) fn read_head(
        &mut self,
        buffer: Option<&[u8]>,
        limits: &MultipartLimits,
    ) -> Result<usize, Error> {
        if self.parts >= limits.parts {
            return Err(unreadable(format_args!("the form has more than {} parts", limits.parts)));
        }
        let (read, is_whole) = self.read_line(buffer, limits.head_bytes)?;
        if buffer.is_none() {
            return Err(cut());
        }
        // A head may have no field.
        if is_whole && (self.line == b"\r\n" || self.line.ends_with(b"\r\n\r\n")) {
            self.fields.clear();
            let lines = self.line.split_inclusive(|byte| *byte == b'\n');
            let is_good = lines.into_iter().all(|line| add(&mut self.fields, line).is_some());
            self.line.clear();
            self.parts += 1;
            self.place = Place::Content;
            return is_good.then_some(read).ok_or_else(|| unreadable("the head of a part is malformed"));
        }
        Ok(read)
    }

    /// Appends to the line what has come of it. Returns the bytes, and whether it is whole.
    fn read_line(&mut self, buffer: Option<&[u8]>, bytes_max: usize) -> Result<(usize, bool), Error> {
        let buffer = buffer.unwrap_or_default();
        let end = bytes::position(buffer, b'\n').map(|at| at + 1);
        let bytes = end.unwrap_or(buffer.len());
        if bytes > bytes_max.saturating_sub(self.line.len()) {
            return Err(unreadable(format_args!("a head or delimiter has more than {bytes_max} bytes")));
        }
        self.line.extend_from_slice(&buffer[..bytes]);
        Ok((bytes, end.is_some()))
    }
}

/// Returns the place at which a delimiter begins, or may begin, else the length.
fn begin_of(delimiter: &[u8], content: &[u8]) -> usize {
    let mut from = 0;
    while let Some(at) = bytes::position(&content[from..], b'\r') {
        let rest = &content[from + at..];
        if rest.starts_with(delimiter) || delimiter.starts_with(rest) {
            return from + at;
        }
        from += at + 1;
    }
    content.len()
}

/// Adds the field of a line, which is empty at the end of the head.
fn add(fields: &mut FieldSection, line: &[u8]) -> Option<()> {
    let line = line.strip_suffix(b"\r\n")?;
    if line.is_empty() {
        return Some(());
    }
    let colon = bytes::position(line, b':')?;
    let name = std::str::from_utf8(&line[..colon]).ok()?;
    fields.append(name, bytes::trim(&line[colon + 1..])).ok()
}

#[cold]
fn cut() -> Error {
    unreadable("the form is cut")
}

/// The `content-disposition` and content of a part that is whole.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) type Part = (Vec<u8>, Vec<u8>);

/// Reads a form that comes in pieces: its parts, and whether it is whole.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn read_all(boundary: &str, pieces: &[&[u8]]) -> (Vec<Part>, Result<(), Error>) {
    let (mut reader, mut parts, mut part) = (Reader::new(boundary), Vec::new(), None);
    let pieces = pieces.iter().filter(|piece| !piece.is_empty()).map(|piece| Some(*piece));
    for mut piece in pieces.chain([None]) {
        while reader.place != Place::End && piece.is_none_or(|rest| !rest.is_empty()) {
            match reader.read_part(piece, &mut part) {
                Ok(bytes) => piece = piece.map(|rest| &rest[bytes..]),
                Err(error) => return (parts, Err(error)),
            }
            if !reader.is_in_content() {
                parts.extend(part.take());
            }
        }
    }
    (parts, Ok(()))
}

#[cfg(any(test, feature = "fuzzing"))]
impl Reader {
    /// Reads on, and keeps what is in the part. Returns the bytes read.
    fn read_part(&mut self, piece: Option<&[u8]>, part: &mut Option<Part>) -> Result<usize, Error> {
        if self.is_in_head() {
            let bytes = self.read_head(piece, &MultipartLimits::default())?;
            let disposition = self.fields.get("content-disposition").unwrap_or_default().to_vec();
            *part = self.is_in_content().then(|| (disposition, Vec::new()));
            return Ok(bytes);
        }
        let (bytes, content) = match self.read_content(piece)? {
            Read::Content(bytes) => (bytes, piece.unwrap_or_default().get(..bytes)),
            Read::Delimiter(bytes) => (0, Some(self.delimiter(bytes))),
            Read::Nothing(bytes) => (bytes, None),
        };
        if let (Some((_, all)), Some(content)) = (part, content) {
            all.extend_from_slice(content);
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: &str = "preamble\r\n--b\r\nContent-Disposition: form-data; name=f; filename=\"a.txt\"\r\n\r\none\r\n--two\r\n--b\r\n\
        content-disposition: form-data; name=g\r\n\r\n\r\n--b \t \r\n\r\nbare\r\r\n-\r\n\r\n--b-- \t\r\nepilogue";

    fn parts(pieces: &[&[u8]]) -> (Vec<Part>, Result<(), String>) {
        let (parts, end) = read_all("b", pieces);
        (parts, end.map_err(|error| error.to_string()))
    }

    #[test]
    fn parts_are_the_same_however_they_are_cut() {
        let part = |head: &str, content: &str| (head.as_bytes().to_vec(), content.as_bytes().to_vec());
        let expected = vec![
            part("form-data; name=f; filename=\"a.txt\"", "one\r\n--two"),
            part("form-data; name=g", ""),
            part("", "bare\r\r\n-\r\n"),
        ];
        let whole = FORM.as_bytes();
        for at in 0..=whole.len() {
            assert_eq!(parts(&[&whole[..at], &whole[at..]]), (expected.clone(), Ok(())), "{at}");
        }
        assert_eq!(parts(&whole.chunks(1).collect::<Vec<_>>()), (expected, Ok(())));
        let last = FORM.find("-- \t\r\nepilogue").unwrap();
        for cut in 0..whole.len() {
            let (parts, end) = parts(&[&whole[..cut]]);
            assert_eq!(end.is_ok(), cut >= last + 2, "{cut}");
            // A part is whole with the line of the delimiter behind it, not before.
            let text = &FORM[..cut];
            let lines = text.matches("\r\n--b\r\n").count() + text.matches("\r\n--b \t \r\n").count();
            assert_eq!(parts.len(), lines.saturating_sub(1) + usize::from(end.is_ok()), "{cut}");
        }
    }

    #[test]
    fn malformed_forms_are_refused() {
        for (form, reason) in [
            ("--bx\r\n", "goes on behind it"),
            ("--b x\r\n", "goes on"),
            ("--b\n\r\n", "ends without CRLF"),
            ("--b --\r\n", "goes on"),
            ("--b-x\r\n", "goes on"),
            ("--b-- x\r\n", "goes on"),
            ("--b\r\na: b\n\r\n\r\n--b--", "head of a part is malformed"),
            ("--b\r\na b: c\r\n\r\n", "head of a part is malformed"),
            ("--b\r\na: b\r\n c\r\n\r\n", "head of a part is malformed"),
            ("--b\r\na\r\n\r\n", "head of a part is malformed"),
            ("--b\r\na: b\n\nc\r\n--b--", "cut"),
            ("", "cut"),
        ] {
            let (_, end) = parts(&[form.as_bytes()]);
            assert!(end.as_ref().is_err_and(|error| error.contains(reason)), "{form:?}: {end:?}");
        }
    }

    #[test]
    fn heads_delimiters_and_parts_are_bounded() {
        let endless_head = format!("--b\r\n{}", "a: b\r\n".repeat(4_000));
        let endless_line = format!("--b\r\na: {}", "b".repeat(20_000));
        let endless_delimiter = format!("--b{}", " ".repeat(300));
        let many = "--b\r\n\r\n\r\n".repeat(1_001);
        for (form, reason) in [
            (endless_head, "more than 16384 bytes"),
            (endless_line, "more than 16384 bytes"),
            (endless_delimiter, "more than 256 bytes"),
            (many, "more than 1000 parts"),
        ] {
            for size in [1, 1_000, form.len()] {
                let (_, end) = parts(&form.as_bytes().chunks(size).collect::<Vec<_>>());
                assert!(end.as_ref().is_err_and(|error| error.contains(reason)), "{reason}: {end:?}");
            }
        }
        let as_many = "--b\r\n\r\n\r\n".repeat(1_000) + "--b--";
        assert_eq!(parts(&[as_many.as_bytes()]).1, Ok(()));
    }
}
