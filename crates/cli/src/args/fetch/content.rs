//! The flags for the content of a request.

use clap::{ArgMatches, Args as ClapArgs};

#[derive(ClapArgs, Debug, Default)]
#[command(next_help_heading = "Content")]
pub(crate) struct ContentArgs {
    /// Send this text, or this file; `@-` is stdin.
    ///
    /// The bytes of the file after the `@` are sent as they are. Given several times, they are joined by
    /// `&`. The content-type is that of a form (application/x-www-form-urlencoded) unless -H gives another.
    #[arg(short, long, aliases = ["data-binary", "data-ascii"], value_name = "TEXT|@FILE", allow_hyphen_values = true)]
    pub(crate) data: Vec<String>,

    /// As -d, but an `@` is only an `@`.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, hide_short_help = true)]
    pub(crate) data_raw: Vec<String>,

    /// As -d, percent-encoded: `TEXT`, `=TEXT`, `NAME=TEXT`, `@FILE` or `NAME@FILE`.
    #[arg(long, value_name = "DATA", allow_hyphen_values = true, hide_short_help = true)]
    pub(crate) data_urlencode: Vec<String>,

    /// Send JSON, and accept JSON.
    ///
    /// As -d, joined by nothing, with content-type and accept of application/json.
    #[arg(long, value_name = "JSON|@FILE", allow_hyphen_values = true, conflicts_with_all = ["data", "data_raw", "data_urlencode"])]
    pub(crate) json: Vec<String>,

    /// Send a multipart form with this part.
    ///
    /// `NAME=TEXT`, `NAME=@FILE`, or `NAME=<FILE` for a text from a file; `;type=TYPE`, `;filename=NAME` and
    /// `;headers=FIELD` or `;headers=@FILE` may follow, in quotes where they hold a semicolon, and
    /// `;encoder=base64` (quoted-printable, 7bit, 8bit, binary). `NAME=@FILE,FILE` has several files in one
    /// part. The form is one of many parts (multipart/form-data).
    #[arg(short = 'F', long = "part", value_name = "NAME=TEXT|@FILE", allow_hyphen_values = true,
          conflicts_with_all = ["data", "data_raw", "data_urlencode", "json", "get"])]
    pub(crate) parts: Vec<String>,

    /// As -F, but the text is sent as it is, whatever it begins with or has in it.
    #[arg(long, value_name = "NAME=TEXT", allow_hyphen_values = true, hide_short_help = true,
          conflicts_with_all = ["data", "data_raw", "data_urlencode", "json", "get"])]
    pub(crate) form_string: Vec<String>,

    /// Send the items `name=value` as a form, not as JSON.
    ///
    /// With a file among them (`name@FILE`) it is one of many parts. Given twice, or before `NAME=@FILE` or a
    /// value in quotes, it is -F, as with curl.
    #[arg(long)]
    pub(crate) form: bool,

    /// As --form, always as one of many parts.
    #[arg(long, hide_short_help = true)]
    pub(crate) multipart: bool,

    /// Send this file to be stored; `-` is stdin.
    ///
    /// It is sent by PUT unless another method is named; a URL that ends in `/` is given the file's name.
    /// `{a,b}` and `[1-9]` stand for several files. With several URLs the first -T is for the first one, and
    /// so on; the others are asked for without content, but by a command with a method of its own they are
    /// sent the last file.
    #[arg(short = 'T', long, value_name = "FILE", conflicts_with_all = ["data", "data_raw", "data_urlencode", "json", "form", "multipart", "parts", "form_string"])]
    pub(crate) upload_file: Vec<String>,

    /// Send this text as it is, as JSON, or with --form as a form.
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["data", "data_raw", "data_urlencode", "json", "upload_file", "parts", "multipart", "get"], hide_short_help = true)]
    pub(crate) raw: Option<String>,

    /// Put this between the parts of a form: 1 to 70 letters, digits, `-`, `_` and `.`.
    #[arg(long, value_name = "TEXT", hide_short_help = true)]
    pub(crate) boundary: Option<String>,

    /// The values of -d, --data-raw and --data-urlencode, in the order in which they were given.
    #[arg(skip)]
    pub(crate) pieces: Vec<Piece>,

    /// The values of -F and --form-string, in the order in which they were given.
    #[arg(skip)]
    pub(crate) form_parts: Vec<FormPart>,
}

/// A piece of the content.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Piece {
    Data(String),
    Raw(String),
    Encoded(String),
}

/// A part of a form.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum FormPart {
    /// `@`, `<` and `;` mean something in it.
    Read(String),
    Literal(String),
}

impl ContentArgs {
    /// Puts the pieces in the order in which they were given; each kind is known by itself.
    pub(in crate::args) fn order(&mut self, matches: &ArgMatches) {
        self.pieces = in_order(
            matches,
            [
                ("data", &self.data, Piece::Data as fn(String) -> Piece),
                ("data_raw", &self.data_raw, Piece::Raw),
                ("data_urlencode", &self.data_urlencode, Piece::Encoded),
            ],
        );
        self.form_parts = in_order(
            matches,
            [
                ("parts", &self.parts, FormPart::Read as fn(String) -> FormPart),
                ("form_string", &self.form_string, FormPart::Literal),
            ],
        );
    }
}

/// Returns the places of this flag's values, or of the words of this name; none if it was not given.
pub(in crate::args) fn places(matches: &ArgMatches, name: &str) -> Vec<usize> {
    let is_given = matches.ids().any(|id| id == name);
    if is_given { matches.indices_of(name).into_iter().flatten().collect() } else { Vec::new() }
}

/// A flag, its values, and the function that converts each.
type Given<'a, T> = (&'a str, &'a Vec<String>, fn(String) -> T);

/// Returns the values of these flags in the order in which they were given, converted.
fn in_order<T, const N: usize>(matches: &ArgMatches, flags: [Given<'_, T>; N]) -> Vec<T> {
    let mut all: Vec<(usize, T)> = Vec::new();
    for (name, given, make) in flags {
        all.extend(places(matches, name).into_iter().zip(given.iter().cloned().map(make)));
    }
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, value)| value).collect()
}
