//! The requests that both servers are asked, read from their table.

/// One request, and over which versions it goes.
pub(crate) struct Request {
    pub(crate) name: String,
    pub(crate) versions: Vec<Version>,
    pub(crate) method: String,
    pub(crate) target: String,
    /// `host` and all others; one that was not named has its usual value.
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) content: Content,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Version {
    Http10,
    Http11,
    Http2,
}

/// The content of a request, by the pieces in which it goes.
pub(crate) enum Content {
    None,
    Stated(String),
    Pieces(Vec<String>, Vec<(String, String)>),
}

impl Version {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Http10 => "1.0",
            Self::Http11 => "1.1",
            Self::Http2 => "2",
        }
    }
}

impl Request {
    /// The values of a field, or the usual host.
    pub(crate) fn values(&self, name: &str) -> Vec<&str> {
        let given = self.fields.iter().filter(|(given, _)| given == name);
        match given.map(|(_, value)| value.as_str()).collect::<Vec<_>>() {
            none if none.is_empty() && name == "host" => vec!["example.test"],
            values => values.into_iter().filter(|value| *value != "none").collect(),
        }
    }

    /// The fields that are about nothing else.
    pub(crate) fn others(&self) -> impl Iterator<Item = (&str, &str)> {
        let others = self.fields.iter().filter(|(name, _)| name != "host" && name != "own-host");
        others.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    pub(crate) fn awaits_continue(&self) -> bool {
        self.values("expect") == ["100-continue"]
    }
}

pub(crate) fn requests() -> Vec<Request> {
    let lines = include_str!("requests.txt").lines().filter(|line| !line.starts_with('#'));
    lines.map(request).collect()
}

fn request(line: &str) -> Request {
    let columns: Vec<&str> = line.split(" |").map(str::trim).collect();
    let [name, versions, asked, fields, content] = columns[..] else { panic!("five columns: {line}") };
    let (method, target) = asked.split_once(' ').expect(line);
    Request {
        name: name.into(),
        versions: versions.chars().map(version).collect(),
        method: method.into(),
        target: expanded(target),
        fields: expanded(fields).split("; ").filter(|field| !field.is_empty()).map(field).collect(),
        content: read_content(&expanded(content)),
    }
}

fn version(digit: char) -> Version {
    match digit {
        '0' => Version::Http10,
        '1' => Version::Http11,
        _ => Version::Http2,
    }
}

fn field(text: &str) -> (String, String) {
    let (name, value) = text.split_once(':').expect(text);
    (name.into(), value.trim().into())
}

fn read_content(text: &str) -> Content {
    match text.split_once(' ') {
        Some(("=", text)) => Content::Stated(text.into()),
        Some(("~", text)) => {
            let (pieces, trailers) = text.split_once(" / ").unwrap_or((text, ""));
            let trailers = trailers.split("; ").filter(|field| !field.is_empty()).map(field);
            Content::Pieces(pieces.split(", ").map(Into::into).collect(), trailers.collect())
        }
        _ => Content::None,
    }
}

/// `<3*x>` is `xxx`.
fn expanded(text: &str) -> String {
    let repeated = text.find('<').and_then(|start| {
        let (count, rest) = text[start + 1..].split_once('*')?;
        let (what, after) = rest.split_once('>')?;
        Some([&text[..start], &what.repeat(count.parse().ok()?), after].concat())
    });
    repeated.unwrap_or_else(|| text.into())
}
