//! `alula store --config`: settings from a file in TOML.
//!
//! Rule: a setting becomes the flag of its name, before those of the command line, which therefore take its
//! place. Names, values and errors of settings are those of the flags.

use std::{ffi::OsString, fs, path::Path};

use clap::{Arg, Command as Program};
use toml::{Table, Value, de::DeTable};

use crate::args::parse::config::Line;
use crate::failure::exit::{Exit, Failure};

/// Inserts the settings of the files of `--config` behind the command. `lines` takes the settings of the
/// files.
pub(in crate::args) fn expanded(
    args: Vec<OsString>,
    program: &mut Program,
    lines: &mut Vec<Line>,
) -> Result<Vec<OsString>, Failure> {
    program.build();
    let Some(store) = program.find_subcommand("store") else { return Ok(args) };
    let mut all: Vec<OsString> = args.iter().take(2).cloned().collect();
    for file in files(&args) {
        let file = Path::new(&file);
        let text = fs::read_to_string(file).map_err(|error| Failure::local(file.display(), &error))?;
        let named = file.display().to_string();
        let settings = flags(&named, &text, store)
            .map_err(|why| Failure::new(Exit::Usage, format_args!("{named}: {why}")))?;
        all.extend(settings.iter().flat_map(|line| line.arguments.clone()));
        lines.extend(settings);
    }
    all.extend(args.into_iter().skip(2));
    Ok(all)
}

/// Returns the values of `--config` and `-c`.
fn files(args: &[OsString]) -> Vec<OsString> {
    let mut files = Vec::new();
    let mut rest = args.iter().skip(2).take_while(|arg| *arg != "--");
    while let Some(arg) = rest.next() {
        match arg.to_str() {
            Some("--config" | "-c") => files.extend(rest.next().cloned()),
            Some(arg) => {
                let value = arg.strip_prefix("--config=");
                let short = || arg.strip_prefix("-c").map(|value| value.strip_prefix('=').unwrap_or(value));
                files.extend(value.or_else(short).map(OsString::from));
            }
            None => {}
        }
    }
    files
}

/// Returns the flags for each setting of a file.
fn flags(file: &str, text: &str, store: &Program) -> Result<Vec<Line>, String> {
    let table: Table = text.parse().map_err(|error: toml::de::Error| {
        let line = error.span().map_or(1, |span| line_at(text, span.start));
        format!("line {line}: {}", error.message().lines().next().unwrap_or_default())
    })?;
    let setting = |(name, value): (&String, &Value)| {
        let number = line_of(text, name);
        let flags = flags_of(name, value, store).map_err(|why| format!("line {number}: {why}"));
        flags.map(|arguments| Line { file: file.to_owned(), number, arguments })
    };
    table.iter().map(setting).collect()
}

fn flags_of(name: &str, value: &Value, store: &Program) -> Result<Vec<OsString>, String> {
    let mut flags = Vec::new();
    match (name, value) {
        ("types", Value::Table(types)) => flags.extend(types.iter().map(bucket_type)),
        ("config" | "hash-password" | "help", _) => return Err(format!("`{name}` is no setting")),
        _ => {
            let arg = store.get_arguments().find(|arg| arg.get_long() == Some(name));
            add(arg.ok_or_else(|| unknown(name))?, name, value, &mut flags)?;
        }
    }
    Ok(flags)
}

fn unknown(name: &str) -> String {
    match name {
        "http2" => {
            "`http2` is no setting: both versions are spoken, and with `http2-only` no other".to_owned()
        }
        _ => format!("`{name}` is no setting"),
    }
}

/// Returns the line on which a setting is named.
fn line_of(text: &str, name: &str) -> usize {
    let table = DeTable::parse(text).ok();
    let key = table.as_ref().and_then(|table| table.get_ref().keys().find(|key| **key.get_ref() == *name));
    key.map_or(1, |key| line_at(text, key.span().start))
}

fn line_at(text: &str, bytes: usize) -> usize {
    1 + text[..bytes.min(text.len())].matches('\n').count()
}

fn bucket_type((name, properties): (&String, &Value)) -> OsString {
    format!("--type={name}={}", json(properties)).into()
}

/// Adds the flag of a setting, once for each value of an array.
fn add(arg: &Arg, name: &str, value: &Value, flags: &mut Vec<OsString>) -> Result<(), String> {
    let is_switch = !arg.get_action().takes_values();
    let may_stand_alone = is_switch || arg.get_num_args().is_some_and(|range| range.min_values() == 0);
    let text = match value {
        Value::Array(values) => return values.iter().try_for_each(|value| add(arg, name, value, flags)),
        Value::Boolean(is_on) if may_stand_alone => {
            flags.extend(is_on.then(|| format!("--{name}").into()));
            return Ok(());
        }
        _ if is_switch => return Err(format!("`{name}` is true or false")),
        Value::String(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Boolean(_) | Value::Datetime(_) | Value::Table(_) => {
            return Err(format!("`{name}` is a text or a number"));
        }
    };
    flags.push(format!("--{name}={text}").into());
    Ok(())
}

/// Converts a value to JSON, in which dates become texts.
fn json(value: &Value) -> serde_json::Value {
    match value {
        Value::String(text) => text.clone().into(),
        Value::Integer(number) => (*number).into(),
        Value::Float(number) => (*number).into(),
        Value::Boolean(is_on) => (*is_on).into(),
        Value::Datetime(time) => time.to_string().into(),
        Value::Array(values) => values.iter().map(json).collect(),
        Value::Table(table) => table.iter().map(|(name, value)| (name.clone(), json(value))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::args::Args;

    fn flags_of(text: &str) -> Result<Vec<String>, String> {
        let mut program = Args::command();
        program.build();
        let lines = flags("", text, program.find_subcommand("store").unwrap())?;
        let flags = lines.into_iter().flat_map(|line| line.arguments);
        Ok(flags.map(|flag| flag.into_string().unwrap()).collect())
    }

    #[test]
    fn settings_are_flags() {
        for (text, expected) in [
            ("", &[][..]),
            ("data = 'a b'", &["--data=a b"]),
            ("object-max = '1M'\nsiblings-max = 7", &["--object-max=1M", "--siblings-max=7"]),
            ("no-lists = true\nself-signed = false", &["--no-lists"]),
            (
                "users = 'u.toml'\nclient-ca = 'ca.pem'\nusers-without-tls = true",
                &["--client-ca=ca.pem", "--users=u.toml", "--users-without-tls"],
            ),
            ("metrics = true\nhealth = '/h'", &["--health=/h", "--metrics"]),
            (
                "cors = ['https://a.example', 'https://b.example']",
                &["--cors=https://a.example", "--cors=https://b.example"],
            ),
            ("\"http1.1\" = true", &["--http1.1"]),
            (
                "[types.maps]\ndatatype = 'map'\nn_val = 1\n[types.plain]",
                &[r#"--type=maps={"datatype":"map","n_val":1}"#, "--type=plain={}"],
            ),
        ] {
            assert_eq!(flags_of(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        for (text, expected) in [
            ("a = 1", "`a` is no setting"),
            ("config = 'b'", "`config` is no setting"),
            ("hash-password = true", "`hash-password` is no setting"),
            ("no-lists = 1", "`no-lists` is true or false"),
            (
                "http2 = true",
                "`http2` is no setting: both versions are spoken, and with `http2-only` no other",
            ),
            ("data = true", "`data` is a text or a number"),
            ("data = {}", "`data` is a text or a number"),
        ] {
            assert_eq!(flags_of(text).unwrap_err(), format!("line 1: {expected}"), "{text}");
        }
        assert_eq!(flags_of("# a\ndata = 'a'\nb = 1").unwrap_err(), "line 3: `b` is no setting");
        let error = flags_of("data = 'a'\nengine = \n").unwrap_err();
        assert!(error.starts_with("line 2: ") && !error.contains('\n'), "{error}");
    }

    #[test]
    fn files_are_found_among_the_arguments() {
        let found = |line: &str| {
            let args: Vec<_> = line.split(' ').map(OsString::from).collect();
            files(&args).into_iter().map(|file| file.into_string().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(
            found("alula store --config a --no-lists --config=b -c d -ce -- -c x"),
            ["a", "b", "d", "e"]
        );
        assert!(found("alula store --data a").is_empty());
    }
}
