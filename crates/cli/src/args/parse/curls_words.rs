//! Words that curl knows and the table of flags does not have: `--no-NAME` for each switch, and `--form`
//! before a part.

use std::ffi::OsString;

use clap::{Arg, ArgAction, Command as Program};

/// The beginning of the negation of a switch.
const NO: &str = "--no-";

/// Adds a flag for each `--no-NAME` among the words whose switch `--NAME` the command has.
pub(in crate::args) fn with_negations(program: Program, given: &[OsString]) -> Program {
    let texts = || given.iter().filter_map(|word| word.to_str());
    let Some(command) = texts().nth(1).filter(|name| program.find_subcommand(name).is_some()) else {
        return program;
    };
    let mut names: Vec<&str> = texts().skip(2).filter_map(|word| word.strip_prefix(NO)).collect();
    names.sort_unstable();
    names.dedup();
    names.iter().fold(program, |program, name| {
        program.mut_subcommand(command, |command| with_negation(command, name))
    })
}

fn with_negation(command: Program, name: &str) -> Program {
    let long = format!("no-{name}");
    let is_known = command.get_arguments().any(|arg| arg.get_long() == Some(&long));
    let switch = command.get_arguments().find(|arg| {
        let is_switch = matches!(arg.get_action(), ArgAction::SetTrue | ArgAction::Count);
        is_switch && arg.get_long() == Some(name)
    });
    let Some(switch) = switch.map(|arg| arg.get_id().clone()).filter(|_| !is_known) else { return command };
    // Names of flags live as long as the program; a line has few of these.
    let long: &'static str = long.leak();
    command.arg(Arg::new(long).long(long).action(ArgAction::SetTrue).hide(true).overrides_with(switch))
}

/// Replaces `--form` by `--part` wherever it is used as in curl: HTTPie's is given once and has no value.
/// Where there is one, it is curl's if the word behind it is a part of a file, or in quotes.
pub(in crate::args) fn with_parts(given: Vec<OsString>) -> Vec<OsString> {
    let text = |at: usize| given.get(at).and_then(|word| word.to_str()).unwrap_or_default();
    let forms: Vec<usize> =
        (0..given.len()).filter(|at| text(*at) == "--form" && is_part(text(at + 1))).collect();
    let is_certain = |at: &usize| {
        let value = text(at + 1).split_once('=').map_or("", |(_, value)| value);
        value.starts_with(['@', '<', '"'])
    };
    let is_curls = forms.len() > 1 || forms.iter().any(is_certain);
    let mut words = given;
    for at in forms.into_iter().filter(|_| is_curls) {
        words[at] = "--part".into();
    }
    words
}

/// Returns true for `NAME=VALUE`, but not for a flag, a URL, a query or JSON.
fn is_part(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, value)| {
        let is_item = name.ends_with(':') || value.starts_with('=');
        !name.is_empty() && !is_item && !name.starts_with('-') && !name.contains(['/', '?'])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Args, Command};

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn a_form_is_curls_where_it_can_be_nothing_else() {
        for (line, expected) in [
            ("request a --form b=c --form d=e", "request a --part b=c --part d=e"),
            ("request --form b=@c a", "request --part b=@c a"),
            ("request --form b=\"c\" a", "request --part b=\"c\" a"),
            ("post a --form b=c", "post a --form b=c"),
            ("post a --form b=c d=e", "post a --form b=c d=e"),
            ("post --form a b=@c", "post --form a b=@c"),
            ("post --form http://a/?b=@c d=e", "post --form http://a/?b=@c d=e"),
            ("post --form a:=1 --form b==1 --form -L", "post --form a:=1 --form b==1 --form -L"),
        ] {
            assert_eq!(with_parts(words(line)), words(expected), "{line}");
        }
    }

    #[test]
    fn switches_are_taken_back() {
        for (line, silent, location) in [
            ("alula get a -sL --no-silent", false, true),
            ("alula get a --no-silent -sL --no-location", true, false),
            ("alula get a -L --no-location -L", false, true),
        ] {
            let Command::Get(args) = Args::of(words(line)).unwrap().command else { unreachable!() };
            assert_eq!((args.options.output.silent, args.options.connection.location), (silent, location));
        }
        for line in ["alula get a --no-output", "alula get a --no-nothing", "alula nothing --no-silent"] {
            assert!(Args::of(words(line)).is_err(), "{line}");
        }
    }
}
