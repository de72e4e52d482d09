//! `-K` and `~/.alularc`: arguments from a file, as curl writes them.
//!
//! Rule: they take the place of the flag, or stand before all others, and are then read as if they had been
//! typed there.

use std::{
    env,
    ffi::OsString,
    fs,
    io::{self, Read as _},
    path::Path,
};

use crate::failure::exit::Failure;

/// The flags without a value, which may stand before -K in one word (`-sK FILE`).
const SWITCHES: &str = "146#BGIJLNOSZfgijknqsv";

/// The commands that read the file at home.
const REQUESTS: [&str; 8] = ["get", "post", "put", "patch", "delete", "head", "options", "request"];

/// The name of the file at home, like curl's `.curlrc`.
const OWN: &str = ".alularc";

/// A line of a file, and the arguments on it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::args) struct Line {
    pub(in crate::args) file: String,
    pub(in crate::args) number: usize,
    pub(in crate::args) arguments: Vec<OsString>,
}

/// Inserts the arguments of the file at home behind the program's name and command. A -q as the first flag
/// prevents it. `lines` takes the lines of the file.
pub(in crate::args) fn with_own(
    mut args: Vec<OsString>,
    lines: &mut Vec<Line>,
) -> Result<Vec<OsString>, Failure> {
    let word = |place: usize| args.get(place).and_then(|word| word.to_str()).unwrap_or_default();
    let is_off = word(2) == "--disable" || word(2).starts_with("-q");
    if is_off || !REQUESTS.contains(&word(1)) {
        return Ok(args);
    }
    let Some(path) = env::home_dir().map(|home| home.join(OWN)) else { return Ok(args) };
    match fs::read_to_string(&path) {
        Ok(text) => {
            let own = arguments(&path.display().to_string(), &text);
            drop(args.splice(2..2, own.iter().flat_map(|line| line.arguments.clone())));
            lines.extend(own);
        }
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
        Err(error) => return Err(Failure::local(path.display(), &error)),
    }
    Ok(args)
}

/// Replaces each -K by the arguments of its file. `lines` takes the lines of the files.
pub(in crate::args) fn expanded(
    args: impl IntoIterator<Item = OsString>,
    lines: &mut Vec<Line>,
) -> Result<Vec<OsString>, Failure> {
    let mut all = Vec::new();
    let mut rest = args.into_iter();
    while let Some(arg) = rest.next() {
        if arg == "--" {
            all.push(arg);
            all.extend(rest);
            break;
        }
        let Some((before, file)) = arg.to_str().and_then(flag) else {
            all.push(arg);
            continue;
        };
        all.extend(before.map(OsString::from));
        match file.map(OsString::from).or_else(|| rest.next()) {
            Some(file) => {
                let name = if file == "-" { "stdin".to_owned() } else { file.to_string_lossy().into_owned() };
                let given = arguments(&name, &read(Path::new(&file))?);
                all.extend(given.iter().flat_map(|line| line.arguments.clone()));
                lines.extend(given);
            }
            // The reader of the rest says that it is missing.
            None => all.push("-K".into()),
        }
    }
    Ok(all)
}

/// Splits a word with -K in it: the flags before it, and the file if it is in the same word.
fn flag(word: &str) -> Option<(Option<String>, Option<&str>)> {
    if let Some(rest) = word.strip_prefix("--config") {
        return match rest.strip_prefix('=') {
            Some(file) => Some((None, Some(file))),
            None => rest.is_empty().then_some((None, None)),
        };
    }
    let (before, file) = word.strip_prefix('-')?.split_once('K')?;
    let are_switches = before.chars().all(|letter| SWITCHES.contains(letter));
    let before_it = (!before.is_empty()).then(|| format!("-{before}"));
    are_switches.then_some((before_it, Some(file).filter(|file| !file.is_empty())))
}

fn read(path: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    let read = match path.as_os_str() == "-" {
        true => std::io::stdin().read_to_string(&mut text).map(|_| text),
        false => fs::read_to_string(path),
    };
    read.map_err(|error| Failure::unread(path.display(), &error))
}

/// Returns the lines that have arguments.
fn arguments(file: &str, text: &str) -> Vec<Line> {
    let lines = text.lines().enumerate().map(|(at, text)| Line {
        file: file.to_owned(),
        number: at + 1,
        arguments: line(text).into_iter().map(OsString::from).collect(),
    });
    lines.filter(|line| !line.arguments.is_empty()).collect()
}

fn line(line: &str) -> Vec<String> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Vec::new();
    }
    let is_between = |character: char| character.is_whitespace() || "=:".contains(character);
    let (name, rest) = line.split_once(is_between).unwrap_or((line, ""));
    let rest = rest.trim_start_matches(is_between);
    let flag = if name.starts_with('-') { name.to_owned() } else { format!("--{name}") };
    // Files are written as for curl, where it has a part for its value.
    let flag = if flag == "--form" && !rest.is_empty() { "--part".to_owned() } else { flag };
    match value(rest) {
        None => vec![flag],
        // A value may begin with a hyphen.
        Some(value) if flag.starts_with("--") => vec![format!("{flag}={value}")],
        Some(value) => vec![flag, value],
    }
}

/// Reads a value: in quotes with escapes, or one word.
fn value(text: &str) -> Option<String> {
    let Some(quoted) = text.strip_prefix('"') else {
        return text.split_whitespace().next().map(str::to_owned);
    };
    let (mut value, mut characters) = (String::new(), quoted.chars());
    while let Some(character) = characters.next().filter(|character| *character != '"') {
        let escaped = if character == '\\' { characters.next() } else { None };
        value.push(match escaped {
            None => character,
            Some('t') => '\t',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('v') => '\x0b',
            Some(other) => other,
        });
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_flag_with_its_value() {
        for (text, expected) in [
            ("url = \"http://a/b c\"", &["--url=http://a/b c"][..]),
            ("-H \"x: \\\"1\\\"\\t\"", &["-H", "x: \"1\"\t"]),
            ("user-agent: foo and more", &["--user-agent=foo"]),
            ("--data=-1", &["--data=-1"]),
            ("-sS", &["-sS"]),
            ("  location  ", &["--location"]),
            ("# a remark", &[]),
            ("", &[]),
            ("data = \"\"", &["--data="]),
            ("form = \"a=@b\"", &["--part=a=@b"]),
            ("form", &["--form"]),
        ] {
            assert_eq!(line(text), expected, "{text}");
        }
    }

    #[test]
    fn a_file_takes_the_place_of_its_flag() {
        let path = std::env::temp_dir().join(format!("alula-config-{}", std::process::id()));
        fs::write(&path, "silent\nurl = http://a/\n").unwrap();
        let file = path.to_str().unwrap();
        let (glued, long) = (format!("-K{file}"), format!("--config={file}"));
        for words in [&["-K", file][..], &[&glued], &["--config", file], &[&long]] {
            let given = ["get"].iter().chain(words).chain(&["-L"]).map(OsString::from);
            assert_eq!(
                expanded(given, &mut Vec::new()).unwrap(),
                ["get", "--silent", "--url=http://a/", "-L"],
                "{words:?}"
            );
        }
        let cluster = ["-vK", file].map(OsString::from);
        let mut lines = Vec::new();
        assert_eq!(expanded(cluster, &mut lines).unwrap(), ["-v", "--silent", "--url=http://a/"]);
        let places: Vec<(&str, usize)> = lines.iter().map(|line| (&*line.file, line.number)).collect();
        assert_eq!(places, [(file, 1), (file, 2)]);
        fs::remove_file(&path).unwrap();
        assert!(expanded(["-K".into(), path.into()], &mut lines).is_err());
        for alone in [&["--", "-K", "x"][..], &["-XK", "x"], &["-K"], &["--config-no"]] {
            assert_eq!(expanded(alone.iter().map(OsString::from), &mut lines).unwrap(), alone);
        }
    }
}
