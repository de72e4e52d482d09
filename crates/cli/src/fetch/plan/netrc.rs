//! `.netrc`: names and passwords by host, as ftp had them and curl has them.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

use crate::{
    args::RequestArgs,
    failure::exit::{Exit, Failure},
};

/// The entries of a file, in their order.
#[derive(Debug, Default)]
pub(in crate::fetch) struct Netrc(Vec<Entry>);

#[derive(Debug, Default)]
struct Entry {
    /// The host; `None` for the default entry. `None` for the default entry.
    machine: Option<String>,
    login: String,
    password: String,
}

impl Netrc {
    /// Reads the file that the flags name, if they do. One that is not there is an error only when it was
    /// named outright.
    pub(in crate::fetch) fn of(args: &RequestArgs) -> Result<Self, Failure> {
        let path = match &args.netrc_file {
            Some(path) => path.clone(),
            None if args.netrc => at_home()?,
            None => return Ok(Self::default()),
        };
        match fs::read_to_string(&path) {
            Ok(text) => Self::parse(&text).map_err(|why| complain(&path, why)),
            // `-n` means the file of the home folder if there is one, as with curl.
            Err(error) if error.kind() == io::ErrorKind::NotFound && args.netrc_file.is_none() => {
                Ok(Self::default())
            }
            Err(error) => Err(Failure::local(path.display(), &error)),
        }
    }

    /// Returns the name and the password for a host, from the first matching entry.
    pub(in crate::fetch) fn credentials(&self, host: &str) -> Option<(String, String)> {
        let is_for =
            |entry: &&Entry| entry.machine.as_ref().is_none_or(|machine| machine.eq_ignore_ascii_case(host));
        let entry = self.0.iter().find(is_for)?;
        Some((entry.login.clone(), entry.password.clone()))
    }

    fn parse(text: &str) -> Result<Self, &'static str> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut rest = text;
        while let Some(word) = next(&mut rest)? {
            let mut value = || next(&mut rest)?.ok_or("a word lacks its value");
            match &*word {
                "machine" => entries.push(Entry { machine: Some(value()?), ..Entry::default() }),
                "default" => entries.push(Entry::default()),
                "macdef" => rest = after_macro(rest),
                "login" | "password" | "account" => {
                    let value = value()?;
                    let entry = entries.last_mut().ok_or("a name or a password stands before any machine")?;
                    match &*word {
                        "login" => entry.login = value,
                        "password" => entry.password = value,
                        // The account is for ftp, and has no meaning here.
                        _ => {}
                    }
                }
                _ => return Err("there is a word that it cannot have"),
            }
        }
        Ok(Self(entries))
    }
}

fn at_home() -> Result<PathBuf, Failure> {
    let home = env::home_dir().ok_or_else(|| Failure::new(Exit::Usage, "there is no home with a .netrc"))?;
    Ok(home.join(".netrc"))
}

fn complain(path: &Path, why: &str) -> Failure {
    Failure::new(Exit::Usage, format_args!("{}: {why}", path.display()))
}

/// Returns the text after a macro, which begins in this line and ends at an empty one.
fn after_macro(text: &str) -> &str {
    let mut rest = text.split_once('\n').map_or("", |(_, rest)| rest);
    while let Some((line, more)) = rest.split_once('\n') {
        rest = more;
        if line.trim().is_empty() {
            return rest;
        }
    }
    ""
}

/// Returns the next word, in quotes or without; `#` at the beginning of a word starts a comment.
fn next(rest: &mut &str) -> Result<Option<String>, &'static str> {
    *rest = rest.trim_start();
    while rest.starts_with('#') {
        *rest = rest.split_once('\n').map_or("", |(_, rest)| rest).trim_start();
    }
    if let Some(quoted) = rest.strip_prefix('"') {
        return in_quotes(quoted, rest).map(Some);
    }
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let (word, after) = rest.split_at(end);
    *rest = after;
    Ok(Some(word.to_owned()).filter(|word| !word.is_empty()))
}

fn in_quotes<'a>(quoted: &'a str, rest: &mut &'a str) -> Result<String, &'static str> {
    let mut word = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => {
                *rest = &quoted[at + 1..];
                return Ok(word);
            }
            '\\' => word.extend(characters.next().map(|(_, escaped)| match escaped {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                other => other,
            })),
            _ => word.push(character),
        }
    }
    Err("a quote is not closed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_entry_for_a_host_counts() {
        let text = "# machine a login no\nmachine a login b password c\nmachine D\n\tpassword \"e \\\"f\" account x login g\n\
                    macdef init\nmachine a\n\nmachine a login later\ndefault login any password one";
        let netrc = Netrc::parse(text).unwrap();
        for (host, login, password) in [("a", "b", "c"), ("d", "g", "e \"f"), ("z", "any", "one")] {
            assert_eq!(netrc.credentials(host), Some((login.to_owned(), password.to_owned())), "{host}");
        }
        assert_eq!(Netrc::parse("machine a login b").unwrap().credentials("c"), None);
        assert!(Netrc::parse("").unwrap().0.is_empty());
    }

    /// An editor of Windows ends lines with CR and LF, and may leave a space on an empty one.
    #[test]
    fn a_macro_ends_at_an_empty_line_however_lines_end() {
        for end in ["\r\n\r\n", "\n\n", "\n \r\n"] {
            let netrc = Netrc::parse(&format!("macdef init\r\nmachine a{end}machine a login b password c"));
            assert_eq!(netrc.unwrap().credentials("a"), Some(("b".to_owned(), "c".to_owned())), "{end:?}");
        }
    }

    #[test]
    fn what_is_no_netrc_is_said() {
        for wrong in ["login a", "machine", "machine a login", "machine a user b", "machine \"a"] {
            assert!(Netrc::parse(wrong).is_err(), "{wrong}");
        }
    }
}
