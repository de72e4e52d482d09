//! The content of requests, determined from the flags and items before anything is opened.

pub(in crate::fetch) mod encode;
pub(in crate::fetch) mod multipart;
pub(in crate::fetch) mod part_encoder;
pub(in crate::fetch) mod stdin;
pub(in crate::fetch) mod upload;

use std::{fs, path::PathBuf};

use alula::{Bytes, Multipart};

use super::{
    content::{multipart::Part, stdin::Deadline},
    plan::{
        glob::{self, Globbed},
        items::{Item, plain},
        nested::Document,
    },
};
use crate::{
    args::{ContentArgs, Piece},
    failure::exit::{Exit, Failure},
};

pub(super) const JSON: &str = "application/json";
pub(super) const FORM: &str = "application/x-www-form-urlencoded";

/// The `accept` value for requests with items.
const JSON_FIRST: &str = "application/json, */*;q=0.5";

/// A source of bytes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Input {
    Text(Bytes),
    File(PathBuf),
    Stdin,
}

/// The sources of the content.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Source {
    Input(Input),
    /// A multipart form, with its boundary.
    Parts {
        parts: Vec<Part>,
        boundary: String,
    },
}

/// The content of a request, and its media type unless a field sets another.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Content {
    pub(super) source: Source,
    pub(super) media_type: Option<String>,
    /// The `accept` value for the response.
    pub(super) accept: Option<&'static str>,
}

impl Content {
    /// Returns the content that flags or items describe; both together are an error.
    pub(super) fn of(
        args: &ContentArgs,
        items: &[Item],
        deadline: Deadline,
    ) -> Result<Option<Self>, Failure> {
        let by_flags = Self::by_flags(args, deadline)?;
        let by_items = Self::by_items(args, items)?;
        match (by_flags, by_items) {
            (None, Some(_)) if !args.upload_file.is_empty() => {
                Err(usage("content is given twice: by -T and by items"))
            }
            (Some(_), Some(_)) => Err(usage("content is given twice: by a flag and by items")),
            (one, other) => Ok(one.or(other)),
        }
    }

    /// Returns the files of -T, which may be patterns unless `is_plain`, and the place of each among the
    /// flags.
    pub(super) fn uploads(args: &ContentArgs, is_plain: bool) -> Result<(Vec<usize>, Vec<Self>), Failure> {
        let (mut places, mut uploads) = (Vec::new(), Vec::new());
        for (place, file) in args.upload_file.iter().enumerate() {
            let meant = if is_plain { Ok(vec![Globbed::plain(file)]) } else { glob::expanded(file) };
            for Globbed { url: file, .. } in meant.map_err(|why| usage(why).curl(3))? {
                // With curl a dot is stdin that is not waited for.
                let input = if file == "." { Input::Stdin } else { Input::named(&file) };
                places.push(place);
                uploads.push(Self::new(input, None));
            }
        }
        Ok((places, uploads))
    }

    fn by_flags(args: &ContentArgs, deadline: Deadline) -> Result<Option<Self>, Failure> {
        if !args.json.is_empty() {
            let bytes = json(&args.json, deadline)?;
            return Ok(Some(Self { accept: Some(JSON), ..Self::new(bytes, Some(JSON)) }));
        }
        if !args.form_parts.is_empty() {
            let parts: Result<Vec<Part>, Failure> = args.form_parts.iter().map(Part::of).collect();
            return Ok(Some(Self::of_parts(args, parts?)));
        }
        if let Some(text) = &args.raw {
            let input = Input::Text(text.clone().into());
            return Ok(Some(match args.form {
                true => Self::new(input, Some(FORM)),
                false => Self { accept: Some(JSON_FIRST), ..Self::new(input, Some(JSON)) },
            }));
        }
        Ok(data(args, deadline)?.map(|bytes| Self::new(bytes, Some(FORM))))
    }

    fn new(input: Input, media_type: Option<&str>) -> Self {
        Self { source: Source::Input(input), media_type: media_type.map(str::to_owned), accept: None }
    }

    fn of_parts(args: &ContentArgs, parts: Vec<Part>) -> Self {
        let boundary = args.boundary.clone().unwrap_or_else(|| Multipart::new().boundary().to_owned());
        let media_type = format!("multipart/form-data; boundary={boundary}");
        Self { source: Source::Parts { parts, boundary }, media_type: Some(media_type), accept: None }
    }

    fn by_items(args: &ContentArgs, items: &[Item]) -> Result<Option<Self>, Failure> {
        let whole: Vec<&PathBuf> = items
            .iter()
            .filter_map(|item| if let Item::Content(path) = item { Some(path) } else { None })
            .collect();
        let has_parts = items
            .iter()
            .any(|item| matches!(item, Item::Text { .. } | Item::Json { .. } | Item::File { .. }));
        let has_files = items.iter().any(|item| matches!(item, Item::File { .. }));
        match whole[..] {
            [] if has_parts && (args.multipart || args.form && has_files) => {
                parts(items).map(|parts| Some(Self::of_parts(args, parts)))
            }
            [] if has_parts && args.form => form(items).map(Some),
            [] if has_parts => object(items).map(Some),
            [] => Ok(None),
            [path] if !has_parts => Ok(Some(file(path))),
            _ => Err(usage("content is given twice: `@FILE` alone is all of it")),
        }
    }
}

impl Content {
    /// Reads stdin into memory, because it may be sent more than once.
    pub(super) fn hold(&mut self, deadline: Deadline) -> Result<(), Failure> {
        let all: Vec<&mut Input> = match &mut self.source {
            Source::Input(input) => vec![input],
            Source::Parts { parts, .. } => parts.iter_mut().flat_map(Part::inputs_mut).collect(),
        };
        for input in all.into_iter().filter(|input| **input == Input::Stdin) {
            *input = Input::Text(deadline.read_all()?.into());
        }
        Ok(())
    }
}

impl Source {
    /// Returns true for a form with stdin as a part, which needs a length.
    pub(super) fn is_form_of_stdin(&self) -> bool {
        matches!(self, Self::Parts { .. }) && self.has_stdin()
    }

    /// Returns true if some of the content comes from stdin, which can be read once.
    pub(super) fn has_stdin(&self) -> bool {
        match self {
            Self::Input(input) => *input == Input::Stdin,
            Self::Parts { parts, .. } => parts.iter().any(Part::has_stdin),
        }
    }
}

impl Input {
    /// Returns the source for a file name, stdin for `-`.
    pub(super) fn named(name: &str) -> Self {
        if name == "-" { Self::Stdin } else { Self::File(name.into()) }
    }

    fn of(data: &str) -> Self {
        match data.strip_prefix('@') {
            Some(name) => Self::named(name),
            None => Self::Text(data.to_owned().into()),
        }
    }

    /// Reads a piece of `-d` or another data option: `@FILE` is a file.
    fn read(data: &str, deadline: Deadline) -> Result<Bytes, Failure> {
        Self::of(data).all(deadline)
    }

    /// Reads all pieces; text is not copied.
    pub(super) fn all(&self, deadline: Deadline) -> Result<Bytes, Failure> {
        match self {
            Self::File(path) => {
                fs::read(path).map(Bytes::from).map_err(|error| Failure::unread(path.display(), &error))
            }
            Self::Stdin => deadline.read_all().map(Bytes::from),
            Self::Text(text) => Ok(text.clone()),
        }
    }
}

/// Returns the values of `-d` and the other data options, joined; `None` if there are none.
fn data(args: &ContentArgs, deadline: Deadline) -> Result<Option<Input>, Failure> {
    match &args.pieces[..] {
        [] => Ok(None),
        // A file is not read before it is sent, however large it is. Stdin is: its length is stated.
        [Piece::Data(file)] if file != "@-" => Ok(Some(Input::of(file))),
        pieces => joined(pieces, deadline).map(|text| Some(Input::Text(text))),
    }
}

fn joined(pieces: &[Piece], deadline: Deadline) -> Result<Bytes, Failure> {
    let read = |piece: &Piece| match piece {
        Piece::Data(text) => Input::read(text, deadline),
        Piece::Raw(text) => Ok(text.clone().into()),
        Piece::Encoded(text) => encode::argument(text, deadline).map(Bytes::from),
    };
    together(pieces.iter().map(read), b"&")
}

/// Joins pieces with this separator. A piece that is alone is not copied; of several, one at a time is held
/// beside its copy.
fn together(
    mut pieces: impl Iterator<Item = Result<Bytes, Failure>>,
    between: &[u8],
) -> Result<Bytes, Failure> {
    let first = pieces.next().transpose()?.unwrap_or_default();
    let Some(mut next) = pieces.next() else { return Ok(first) };
    let mut all = Vec::from(first);
    loop {
        all.extend_from_slice(between);
        all.extend_from_slice(&next?);
        match pieces.next() {
            Some(piece) => next = piece,
            None => return Ok(all.into()),
        }
    }
}

/// Returns the values of the data options as a part of a query.
pub(super) fn as_query(args: &ContentArgs, deadline: Deadline) -> Result<Option<String>, Failure> {
    if args.pieces.is_empty() {
        return Ok(None);
    }
    let text = String::from_utf8(joined(&args.pieces, deadline)?.into());
    text.map(Some).map_err(|_| usage("what -G puts into the query is no UTF-8"))
}

/// Returns the values of --json, joined.
fn json(pieces: &[String], deadline: Deadline) -> Result<Input, Failure> {
    if let [piece] = pieces {
        return Ok(Input::of(piece));
    }
    together(pieces.iter().map(|piece| Input::read(piece, deadline)), b"").map(Input::Text)
}

fn file(path: &PathBuf) -> Content {
    let input = path.to_str().map_or_else(|| Input::File(path.clone()), Input::named);
    Content::new(input, mime_guess::from_path(path).first_raw())
}

/// Returns the items as a JSON object; of two with one name the later counts. JSON that was given stays as it
/// is written.
fn object(items: &[Item]) -> Result<Content, Failure> {
    let mut document = Document::default();
    for item in items {
        let (name, json) = match item {
            Item::Text { name, value } => (name, serde_json::Value::String(value.text()?).to_string()),
            Item::Json { name, value } => (name, value.json()?),
            Item::File { name, .. } => {
                return Err(usage(format_args!("{name}@FILE is a part of a form: --form is missing")));
            }
            _ => continue,
        };
        document.put(name, json).map_err(usage)?;
    }
    let input = Input::Text(document.into_json().into());
    Ok(Content { accept: Some(JSON_FIRST), ..Content::new(input, Some(JSON)) })
}

fn parts(items: &[Item]) -> Result<Vec<Part>, Failure> {
    let mut parts = Vec::new();
    for item in items {
        match item {
            Item::Text { name, value } => parts.push(Part::text(&plain(name), value.text()?.as_bytes())),
            Item::Json { name, value } => parts.push(Part::text(&plain(name), value.json()?.as_bytes())),
            Item::File { name, path, media_type } => {
                parts.push(Part::file(name, &path.to_string_lossy(), media_type.clone()));
            }
            _ => {}
        }
    }
    Ok(parts)
}

fn form(items: &[Item]) -> Result<Content, Failure> {
    let mut pairs = Vec::new();
    for item in items {
        match item {
            Item::Text { name, value } => pairs.push(encode::pair(&plain(name), value.text()?.as_bytes())),
            Item::Json { name, value } => pairs.push(encode::pair(&plain(name), value.json()?.as_bytes())),
            _ => {}
        }
    }
    let input = Input::Text(pairs.join("&").into());
    Ok(Content::new(input, Some(FORM)))
}

fn usage(sentence: impl std::fmt::Display) -> Failure {
    Failure::new(Exit::Usage, sentence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::FormPart;

    fn of(args: &ContentArgs, items: &[&str]) -> Result<Option<Content>, Failure> {
        let items: Vec<Item> = items.iter().map(|item| Item::of(item).unwrap()).collect();
        Content::of(args, &items, Deadline::default())
    }

    fn text_of(args: &ContentArgs, items: &[&str]) -> String {
        match of(args, items).unwrap().unwrap().source {
            Source::Input(Input::Text(text)) => String::from_utf8(text.into()).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    fn strings(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn items_become_json_with_numbers_as_they_are_written() {
        for (items, expected) in [
            (&["a=b"][..], r#"{"a":"b"}"#),
            (&["b=1", "a:=1"], r#"{"b":"1","a":1}"#),
            (&["a:=123456789012345678901234567890.10"], r#"{"a":123456789012345678901234567890.10}"#),
            (&["a:={\"b\": [1,  2]}"], r#"{"a":{"b": [1,  2]}}"#),
            (&["a=\"\n"], r#"{"a":"\"\n"}"#),
            (&["a=1", "b=2", "a:=3"], r#"{"a":3,"b":"2"}"#),
            (&["x:y", "q==1", "a=b"], r#"{"a":"b"}"#),
            (&["a[b]=1", "a[c][]:=2"], r#"{"a":{"b":"1","c":[2]}}"#),
            (&[r"a\\=b", r"c\=d\[e\]=f"], r#"{"a\\":"b","c=d[e]":"f"}"#),
        ] {
            assert_eq!(text_of(&ContentArgs::default(), items), expected, "{items:?}");
        }
    }

    #[test]
    fn items_become_a_form_when_asked_to() {
        let args = ContentArgs { form: true, ..Default::default() };
        assert_eq!(text_of(&args, &["a b=c&d", "e:=1.0"]), "a+b=c%26d&e=1.0");
        assert_eq!(text_of(&args, &["a[b]=c", r"d\\=e"]), "a%5Bb%5D=c&d%5C=e");
        assert_eq!(of(&args, &["a=b"]).unwrap().unwrap().media_type.as_deref(), Some(FORM));
    }

    #[test]
    fn a_file_among_the_items_makes_parts_of_them() {
        let form = ContentArgs { form: true, ..Default::default() };
        let multipart = ContentArgs { multipart: true, ..Default::default() };
        let by_flag = ContentArgs { form_parts: vec![FormPart::Read("a=b".into())], ..Default::default() };
        for (args, items, has_stdin) in [
            (&form, &["a=b", "c@-"][..], true),
            (&form, &["c@d.txt;type=e/f"], false),
            (&multipart, &["a=b"], false),
            (&by_flag, &[], false),
        ] {
            let content = of(args, items).unwrap().unwrap();
            let media_type = content.media_type.unwrap();
            assert!(media_type.starts_with("multipart/form-data; boundary=alula-"), "{media_type}");
            assert_eq!(content.source.has_stdin(), has_stdin, "{items:?}");
        }
        assert!(of(&by_flag, &["a=b"]).is_err());
    }

    #[test]
    fn data_is_joined_and_is_a_form() {
        let data = |text: &str| Piece::Data(text.to_owned());
        for (pieces, expected) in [
            (vec![data("a")], "a"),
            (vec![data("a"), data("b")], "a&b"),
            (vec![Piece::Encoded("c=d e".into()), data("a"), Piece::Raw("@b".into())], "c=d+e&a&@b"),
            (vec![data("")], ""),
        ] {
            let args = ContentArgs { pieces, ..Default::default() };
            assert_eq!(text_of(&args, &[]), expected);
            assert_eq!(as_query(&args, Deadline::default()).unwrap().as_deref(), Some(expected));
        }
        let args = ContentArgs { json: strings(&["{", "}"]), ..Default::default() };
        assert_eq!(text_of(&args, &[]), "{}");
    }

    #[test]
    fn a_single_file_is_left_where_it_is() {
        let file = |path: &str| Source::Input(Input::File(path.into()));
        let data =
            |text: &str| ContentArgs { pieces: vec![Piece::Data(text.to_owned())], ..Default::default() };
        assert_eq!(of(&data("@a"), &[]).unwrap().unwrap().source, file("a"));
        let upload = ContentArgs { upload_file: strings(&["-", "a", "."]), ..Default::default() };
        let (places, uploads) = Content::uploads(&upload, false).unwrap();
        assert_eq!(places, [0, 1, 2]);
        let sources: Vec<Source> = uploads.into_iter().map(|content| content.source).collect();
        assert_eq!(sources, [Source::Input(Input::Stdin), file("a"), Source::Input(Input::Stdin)]);
        assert!(of(&upload, &["a=b"]).is_err());
        let whole = of(&ContentArgs::default(), &["@a.png"]).unwrap().unwrap();
        assert_eq!((whole.source, whole.media_type.as_deref()), (file("a.png"), Some("image/png")));
        assert!(of(&data("a"), &["a=b"]).is_err() && of(&data("a"), &["@b"]).is_err());
        assert!(of(&ContentArgs::default(), &["@a", "b=c"]).is_err());
        assert!(of(&ContentArgs::default(), &["a@b"]).is_err());
        assert_eq!(of(&ContentArgs::default(), &["A:b", "c==d"]).unwrap(), None);
    }
}
