//! `alula hpack pipe`: one codec that is driven by JSON lines.

use std::io::{self, BufRead as _, Write as _};

use alula::hpack::{Huffman, Indexing, Policy};
use serde_json::Value;

use super::{
    codec::{Codec, Headers},
    hex,
};
use crate::{
    failure::exit::{Failure, Outcome},
    text::json,
};

pub(crate) const ABOUT: &str = r#"Drive one codec by JSON lines.

One command a line on stdin, one answer a line on stdout, written at once:

  {"op":"new"}                       a new codec both ways; {"ok":true}
  {"op":"limit","n":N}               SETTINGS_HEADER_TABLE_SIZE N is
                                     acknowledged, both ways; {"ok":true}
  {"op":"dec","hex":H}               {"headers":[[name,value],…]}
  {"op":"enc","headers":[[n,v],…]}   {"hex":H}

`enc` also takes:
  "huffman": false or true           never, or when it is shorter; that is so at
                                     first. It stays so.
  "policy": "static"                 enter nothing into the table; it stays so,
                                     as the next two do
            "always"                 enter every field
            "repeat"                 enter a field when it comes again; that is
                                     so at first
            "index"                  enter every field of this list
            "without"                enter no field of this list
            "never"                  enter no field of this list, and nobody on
                                     the way may either
  "sensitive": [name or place, …]    fields that nobody may enter, by name or by
                                     place from 0

The table outlives a change of huffman and policy, but nothing that was entered before "static" is referred to after it. A string is a sequence of bytes: the characters U+0000 to U+00FF (Latin-1). An error is answered with {"error":"…"} and the process lives on; after an error in a block the decoder is as new."#;

/// Answers until stdin ends.
pub(crate) fn run() -> Outcome {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let mut pipe = Pipe { codec: Codec::new() };
    let (mut line, mut answer) = (Vec::new(), Vec::new());
    loop {
        line.clear();
        let read = input.read_until(b'\n', &mut line);
        if read.map_err(|error| Failure::local("stdin", &error))? == 0 {
            return Ok(());
        }
        answer.clear();
        pipe.answer(&line, &mut answer);
        answer.push(b'\n');
        let written = output.write_all(&answer).and_then(|()| output.flush());
        written.map_err(|error| Failure::local("stdout", &error))?;
    }
}

struct Pipe {
    codec: Codec,
}

impl Pipe {
    /// Appends the answer to one line.
    fn answer(&mut self, line: &[u8], out: &mut Vec<u8>) {
        if let Err(error) = self.carry_out(line, out) {
            out.clear();
            out.extend_from_slice(b"{\"error\":");
            // In words that are ours or serde_json's, so of any characters.
            out.extend_from_slice(json::to_ascii(&Value::from(error).to_string()).as_bytes());
            out.push(b'}');
        }
    }

    fn carry_out(&mut self, line: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        let command: Value = serde_json::from_slice(line).map_err(|error| format!("not JSON: {error}"))?;
        match command.get("op").and_then(Value::as_str) {
            Some("new") => self.codec = Codec::new(),
            Some("limit") => self.codec.limit(limit(&command)?),
            Some("dec") => return self.decode(&command, out),
            Some("enc") => return self.encode(&command, out),
            Some(other) => return Err(format!("unknown op {other:?}")),
            None => return Err("an object with \"op\" is wanted".to_owned()),
        }
        out.extend_from_slice(b"{\"ok\":true}");
        Ok(())
    }

    fn decode(&mut self, command: &Value, out: &mut Vec<u8>) -> Result<(), String> {
        let block = command.get("hex").and_then(Value::as_str).and_then(hex::decode);
        let block = block.ok_or("\"hex\" must be an even number of hexadecimal digits")?;
        let headers = self.codec.decode(&block).map_err(|error| error.to_string())?;
        out.extend_from_slice(b"{\"headers\":");
        json::push_pairs(out, headers.iter().map(|(name, value)| (&name[..], &value[..])));
        out.push(b'}');
        Ok(())
    }

    fn encode(&mut self, command: &Value, out: &mut Vec<u8>) -> Result<(), String> {
        // All is checked before anything changes.
        let headers = headers(command.get("headers"))?;
        let sensitive = Sensitive::of(command.get("sensitive"))?;
        let huffman = huffman(command.get("huffman"))?;
        let (policy, indexing) = policy(command.get("policy"))?;
        self.codec.configure(policy, huffman);
        let block =
            self.codec.encode(
                &headers,
                |place, name| {
                    if sensitive.has(place, name) { Indexing::Never } else { indexing }
                },
            );
        out.extend_from_slice(b"{\"hex\":\"");
        out.extend_from_slice(hex::encode(block).as_bytes());
        out.extend_from_slice(b"\"}");
        Ok(())
    }
}

fn limit(command: &Value) -> Result<u32, String> {
    let limit = command.get("n").and_then(Value::as_u64);
    limit
        .and_then(|limit| limit.try_into().ok())
        .ok_or_else(|| "\"n\" must be from 0 to 4294967295".to_owned())
}

fn headers(value: Option<&Value>) -> Result<Headers, String> {
    let pairs = value.and_then(Value::as_array).ok_or("\"headers\" must be a list of [name, value]")?;
    pairs.iter().map(header).collect()
}

fn header(pair: &Value) -> Result<(Vec<u8>, Vec<u8>), String> {
    match pair.as_array().map(Vec::as_slice) {
        Some([Value::String(name), Value::String(value)]) => Ok((bytes(name)?, bytes(value)?)),
        _ => Err("a header is [name, value], both strings".to_owned()),
    }
}

fn bytes(text: &str) -> Result<Vec<u8>, String> {
    json::latin1_bytes(text).ok_or_else(|| "a string has a character above U+00FF".to_owned())
}

fn huffman(value: Option<&Value>) -> Result<Option<Huffman>, String> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(false)) => Ok(Some(Huffman::Never)),
        Some(Value::Bool(true)) => Ok(Some(Huffman::Shorter)),
        Some(_) => Err("\"huffman\" must be true or false".to_owned()),
    }
}

/// Reads the encoder's policy, if it changes, and the treatment of this list.
fn policy(value: Option<&Value>) -> Result<(Option<Policy>, Indexing), String> {
    let name = match value {
        None | Some(Value::Null) => return Ok((None, Indexing::Auto)),
        Some(value) => value.as_str(),
    };
    Ok(match name {
        Some("static") => (Some(Policy::Static), Indexing::Auto),
        Some("always") => (Some(Policy::Always), Indexing::Auto),
        Some("repeat") => (Some(Policy::Repeat), Indexing::Auto),
        Some("index") => (None, Indexing::Index),
        Some("without") => (None, Indexing::Without),
        Some("never") => (None, Indexing::Never),
        _ => return Err("\"policy\" must be static, always, repeat, index, without or never".to_owned()),
    })
}

/// Fields that are never indexed, by name or by place.
#[derive(Default)]
struct Sensitive {
    names: Vec<Vec<u8>>,
    places: Vec<u64>,
}

impl Sensitive {
    fn of(value: Option<&Value>) -> Result<Self, String> {
        let wanted = || "\"sensitive\" must be a list of names or places".to_owned();
        let items = match value {
            None | Some(Value::Null) => return Ok(Self::default()),
            Some(value) => value.as_array().ok_or_else(wanted)?,
        };
        let mut all = Self::default();
        for item in items {
            match item {
                Value::String(name) => all.names.push(bytes(name)?),
                _ => all.places.push(item.as_u64().ok_or_else(wanted)?),
            }
        }
        Ok(all)
    }

    fn has(&self, place: usize, name: &[u8]) -> bool {
        self.places.contains(&(place as u64)) || self.names.iter().any(|sensitive| sensitive == name)
    }
}
