//! `alula hpack encode` and `decode`: the JSON stories of HPACK test suites.

use std::{
    fmt,
    io::{self, Read as _, Write as _},
    path::PathBuf,
};

use alula::hpack::Indexing;
use serde_json::{Map, Value};

use super::{
    codec::{Codec, Headers},
    hex,
};
use crate::{
    failure::exit::{Exit, Failure, Outcome},
    text::json,
};

pub(crate) const ABOUT_ENCODE: &str = r#"Encode the cases of JSON stories: fills `wire` from `headers` and prints the story.

A story is:

  {"cases":[{"seqno":0,"header_table_size":4096,
             "headers":[{"name":"value"}]}]}

All its cases go through one encoder; a case's `header_table_size` is applied before it. Strings are Latin-1. Several stories are printed one after the other."#;

pub(crate) const ABOUT_DECODE: &str = r#"Decode the cases of JSON stories: fills `headers` from `wire` and prints the story.

A story is:

  {"cases":[{"seqno":0,"header_table_size":4096,"wire":"82",
             "headers":[{":method":"GET"}]}]}

All its cases go through one decoder; a case's `header_table_size` is applied before it. Given `headers` are compared, and the first difference ends the program. Strings are Latin-1. Several stories are printed one after the other."#;

/// Prints each story with `wire` filled.
pub(crate) fn encode(files: &[PathBuf]) -> Outcome {
    each_story(files, encode_case)
}

/// Prints each story with `headers` filled, or reports differences from the given ones.
pub(crate) fn decode(files: &[PathBuf]) -> Outcome {
    each_story(files, decode_case)
}

/// The failure of a case.
#[derive(Debug)]
struct Trouble(Exit, String);

impl Trouble {
    fn malformed(what: &str) -> Self {
        Self(Exit::Local, what.to_owned())
    }
}

type Case = Map<String, Value>;

fn each_story(files: &[PathBuf], run: fn(&mut Codec, &mut Case) -> Result<(), Trouble>) -> Outcome {
    if files.is_empty() {
        let mut text = Vec::new();
        io::stdin().read_to_end(&mut text).map_err(|error| Failure::local("stdin", &error))?;
        return one_story("stdin", &text, run);
    }
    for file in files {
        let text = std::fs::read(file).map_err(|error| Failure::local(file.display(), &error))?;
        one_story(file.display(), &text, run)?;
    }
    Ok(())
}

fn one_story(
    name: impl fmt::Display,
    text: &[u8],
    run: fn(&mut Codec, &mut Case) -> Result<(), Trouble>,
) -> Outcome {
    let malformed = |why: &dyn fmt::Display| Failure::new(Exit::Local, format_args!("{name}: {why}"));
    let mut story: Value = serde_json::from_slice(text).map_err(|error| malformed(&error))?;
    let cases = story.get_mut("cases").and_then(Value::as_array_mut);
    let cases = cases.ok_or_else(|| malformed(&"a story is an object with a list of \"cases\""))?;
    let mut codec = Codec::new();
    for (place, case) in cases.iter_mut().enumerate() {
        let seqno = case.get("seqno").and_then(Value::as_u64).unwrap_or(place as u64);
        let result = match case.as_object_mut() {
            Some(case) => apply_table_size(&mut codec, case).and_then(|()| run(&mut codec, case)),
            None => Err(Trouble::malformed("a case is an object")),
        };
        let in_story = |Trouble(exit, why)| Failure::new(exit, format_args!("{name}: case {seqno}: {why}"));
        result.map_err(in_story)?;
    }
    print(&story)
}

fn print(story: &Value) -> Outcome {
    let text = json::to_ascii(&format!("{story:#}\n"));
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    written.map_err(|error| Failure::local("stdout", &error))
}

fn apply_table_size(codec: &mut Codec, case: &Case) -> Result<(), Trouble> {
    let Some(size) = case.get("header_table_size") else { return Ok(()) };
    let size = size.as_u64().and_then(|size| size.try_into().ok());
    codec
        .limit(size.ok_or_else(|| Trouble::malformed("\"header_table_size\" must be from 0 to 4294967295"))?);
    Ok(())
}

fn encode_case(codec: &mut Codec, case: &mut Case) -> Result<(), Trouble> {
    let headers = case.get("headers").ok_or_else(|| Trouble::malformed("there are no \"headers\""))?;
    let wire = hex::encode(codec.encode(&headers_of(headers)?, |_, _| Indexing::Auto));
    case.insert("wire".to_owned(), wire.into());
    Ok(())
}

fn decode_case(codec: &mut Codec, case: &mut Case) -> Result<(), Trouble> {
    let wire = case.get("wire").and_then(Value::as_str).and_then(hex::decode);
    let wire =
        wire.ok_or_else(|| Trouble::malformed("\"wire\" must be an even number of hexadecimal digits"))?;
    let headers =
        codec.decode(&wire).map_err(|error| Trouble(Exit::Protocol, format!("the wire has {error}")))?;
    match case.get("headers") {
        Some(given) => compare(&headers_of(given)?, &headers),
        None => {
            let filled = headers.iter().map(|(name, value)| {
                let value = Value::from(json::latin1_text(value));
                Value::from(Map::from_iter([(json::latin1_text(name), value)]))
            });
            case.insert("headers".to_owned(), filled.collect());
            Ok(())
        }
    }
}

fn compare(given: &Headers, decoded: &Headers) -> Result<(), Trouble> {
    let Some(place) = (0..given.len().max(decoded.len())).find(|at| given.get(*at) != decoded.get(*at))
    else {
        return Ok(());
    };
    let show = |header: Option<&(Vec<u8>, Vec<u8>)>| match header {
        Some((name, value)) => format!("\"{}: {}\"", name.escape_ascii(), value.escape_ascii()),
        None => "nothing".to_owned(),
    };
    let (decoded, given) = (show(decoded.get(place)), show(given.get(place)));
    Err(Trouble(Exit::Differs, format!("field {place}: the wire says {decoded}, the headers say {given}")))
}

fn headers_of(value: &Value) -> Result<Headers, Trouble> {
    let list = value.as_array().ok_or_else(|| Trouble::malformed("\"headers\" must be a list"))?;
    list.iter().map(header_of).collect()
}

fn header_of(value: &Value) -> Result<(Vec<u8>, Vec<u8>), Trouble> {
    let wanted = || Trouble::malformed("a header is {\"name\":\"value\"}, in characters up to U+00FF");
    let object = value.as_object().filter(|object| object.len() == 1).ok_or_else(wanted)?;
    let (name, value) = object.iter().next().ok_or_else(wanted)?;
    let value = value.as_str().and_then(json::latin1_bytes).ok_or_else(wanted)?;
    Ok((json::latin1_bytes(name).ok_or_else(wanted)?, value))
}
