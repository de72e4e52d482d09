//! No error of a store shows text from elsewhere in a way that forges a line of a log or steers a terminal,
//! by `Display` or by `Debug`.

use std::{collections::BTreeSet, error, fmt, fs, io, path::Path, sync::Arc};

use alula_store::{
    Config, Store,
    access::Users,
    engine::{EngineError, FjallOpenError, Memory},
};
use serde_json::{Map, Value};

/// Begins another line, in several ways, and has a terminal change its colour, clear its screen and turn the
/// text around.
const HOSTILE: &str =
    "x\r\n127.0.0.1 - root \u{1b}[31m\u{7f}\u{85}\u{9b}2J\u{200f}\u{202e}\u{2028}\u{2029}\u{2066}y\t";

/// Texts that a type shows.
type Shown = Vec<String>;

/// The texts of an error, unless it has words and numbers of its own.
type Row = Option<fn() -> Shown>;

/// The errors of the crate by name, with what they show of [`HOSTILE`]; none of those that have words and
/// numbers of their own.
const ROWS: &[(&str, Row)] = &[
    ("Cause", None),
    ("ContextError", None),
    ("Damaged", None),
    ("EngineError", Some(engine_errors)),
    // This and `UnreadRow` are causes that nobody outside can make; what they show is tried beside them.
    ("FjallFailure", None),
    ("FjallOpenError", Some(fjall_open_errors)),
    ("OpenError", Some(open_errors)),
    // It is made by a store that does not open, and shown as part of its error.
    ("PropertyError", Some(open_errors)),
    ("Refused", None),
    ("Unfit", None),
    ("UnreadRow", None),
    ("UsersError", Some(users_errors)),
];

#[test]
fn no_error_shows_what_a_terminal_or_a_log_obeys() {
    let mut wrong = Vec::new();
    for (name, shown) in ROWS {
        let Some(shown) = shown else { continue };
        let shown = shown();
        assert!(shown.iter().any(|text| text.contains("root")), "{name} shows nothing from elsewhere");
        wrong.extend(
            shown.iter().filter(|text| text.contains(is_obeyed)).map(|text| format!("{name}: {text:?}")),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_error_has_a_row() {
    let mut errors = BTreeSet::new();
    errors_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut errors);
    let rows: BTreeSet<_> = ROWS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(errors, rows);
}

/// Adds the types of the files of a folder that are errors.
fn errors_of(folder: &Path, errors: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            errors_of(&path, errors);
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let error = |line: &str| {
            let (traits, name) = line.strip_prefix("impl ")?.split_once(" for ")?;
            let name = name.trim_end_matches([' ', '{', '}']).to_owned();
            (traits.ends_with("::Error") || traits == "StdError").then_some(name)
        };
        errors.extend(text.lines().filter_map(error));
    }
}

/// The controls, and what ends a line or changes the direction of text elsewhere.
fn is_obeyed(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn show(error: impl error::Error) -> Shown {
    // The lines of the last form are its own.
    vec![error.to_string(), format!("{error:?}"), format!("{error:#?}").replace('\n', " ")]
}

/// An error whose `Debug` is its text as it is, as that of some crates for errors.
struct Foreign;

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HOSTILE)
    }
}

impl fmt::Debug for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HOSTILE)
    }
}

impl error::Error for Foreign {}

fn engine_errors() -> Shown {
    let errors = [EngineError::Unknown(Arc::new(Foreign)), EngineError::Unreadable(Arc::new(Foreign))];
    errors.into_iter().flat_map(show).collect()
}

fn fjall_open_errors() -> Shown {
    let folder = Path::new(HOSTILE).to_owned();
    let errors = [
        FjallOpenError::Io { path: folder.clone(), error: Arc::new(io::Error::other(Foreign)) },
        FjallOpenError::InUse { folder: folder.clone() },
        FjallOpenError::Newer { folder: folder.clone(), found: 2, known: 1 },
        FjallOpenError::NotAStore { folder: folder.clone(), reason: "a reason" },
        FjallOpenError::Damaged { journal: folder.clone(), offset: 1 },
        FjallOpenError::Engine { folder, error: Arc::new(Foreign) },
    ];
    errors.into_iter().flat_map(show).collect()
}

fn open_errors() -> Shown {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let engine = alula_store::OpenError::Engine(EngineError::Unknown(Arc::new(Foreign)));
    let of_types = |types: Vec<(String, Map<String, Value>)>| {
        let mut config = Config::default();
        config.types = types;
        config
    };
    let twice = of_types(vec![(HOSTILE.into(), Map::new()), (HOSTILE.into(), Map::new())]);
    let unknown = Map::from_iter([("n_val".to_owned(), Value::from(HOSTILE))]);
    let wrong = of_types(vec![(HOSTILE.into(), unknown)]);
    let opened = [twice, wrong].map(|config| runtime.block_on(Store::open(Memory::default(), config)));
    let refused = opened.into_iter().flat_map(|opened| show(opened.expect_err("a type that cannot be")));
    show(engine).into_iter().chain(refused).collect()
}

fn users_errors() -> Shown {
    let name: String = HOSTILE.chars().map(|character| format!("\\u{:04x}", u32::from(character))).collect();
    let file = Users::read(Path::new(HOSTILE)).expect_err("there is no such file");
    let texts = [
        format!("[users.\"{name}\"]\npassword = \"x\""),
        format!("[users.ann]\n\"{name}\" = 1"),
        format!("[users.ann]\ngroups = [\"{name}\"]"),
        format!("[users.ann]\ngrants = [{{ allow = [\"{name}\"] }}]"),
        format!("[users.ann]\ncertificates = [\"{name}\"]"),
        format!("{HOSTILE} = "),
    ];
    let wrong = texts.iter().flat_map(|text| show(Users::parse(text).expect_err(text)));
    show(file).into_iter().chain(wrong).collect()
}
