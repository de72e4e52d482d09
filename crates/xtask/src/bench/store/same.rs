//! The same work: a peer answers a sequence of reads and writes as `alula store` does, or it is not measured.

use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::peers::path;
use crate::command::needed_program;

const VCLOCK: &str = "x-riak-vclock";

/// Fields that are compared; those of others are only there or not.
const COMPARED: [&str; 3] = ["x-riak-meta-", "x-riak-index-", "link"];
const PRESENT: [&str; 3] = [VCLOCK, "etag", "last-modified"];

/// An answer, as curl shows it.
struct Answer {
    status: String,
    fields: Vec<(String, String)>,
    body: String,
}

/// The answers of a server to the sequence, without what no two servers have in common.
pub(super) fn transcript(port: u16) -> Result<Vec<String>> {
    let mut told = Vec::new();
    let site = format!("http://127.0.0.1:{port}/buckets/same");
    let object = format!("{site}/keys/one");
    ask(&["-X", "PUT", "-H", "content-type: application/json", "-d", ALLOW, &format!("{site}/props")])?;
    let put = |context: Option<&str>, fields: &[&str], body: &str| {
        let context = context.map(|context| format!("{VCLOCK}: {context}"));
        let mut args = vec!["-X", "PUT", "-H", "content-type: text/plain", "-d", body, &object];
        fields.iter().copied().chain(context.as_deref()).for_each(|field| args.extend(["-H", field]));
        ask(&args).map(|answer| answer.shown())
    };
    told.push(ask(&[&object])?.shown());
    let first = ["x-riak-meta-a: one", "x-riak-index-f_bin: a, b", "x-riak-index-g_bin: c", LINK];
    told.push(put(None, &first, "first")?);
    let (shown, context) = look(&site, &object)?;
    told.push(shown);
    told.push(put(Some(&context), &["x-riak-index-f_bin: b, d, b"], "second")?);
    told.push(look(&site, &object)?.0);
    // A context of before is a sibling's.
    told.push(put(Some(&context), &["x-riak-index-f_bin: e", "x-riak-index-g_bin: c"], "third")?);
    let (shown, context) = look(&site, &object)?;
    told.push(shown);
    told.push(put(Some(&context), &["x-riak-index-g_bin: c"], "merged")?);
    told.push(look(&site, &object)?.0);
    told.push(ask(&["-X", "PUT", "-H", "content-type:", "-d", "none", &object])?.status);
    told.push(put(Some("!"), &[], "none")?);
    Ok(told)
}

const ALLOW: &str = r#"{"props":{"allow_mult":true}}"#;
const LINK: &str = "link: </buckets/same/keys/two>; riaktag=\"t\"";

/// The object, the keys of all queries, and the context.
fn look(site: &str, object: &str) -> Result<(String, String)> {
    let answer = ask(&[object])?;
    let context = answer.field(VCLOCK).context("an object has a context")?.to_owned();
    let mut shown = answer.shown();
    for query in ["f_bin/a/a", "f_bin/b/b", "f_bin/d/e", "f_bin/a/z", "g_bin/a/z"] {
        let keys = ask(&[&format!("{site}/index/{query}")])?;
        shown += &format!("\n{query}: {} {}", keys.status, keys.body.trim());
    }
    Ok((shown, context))
}

/// Compares a peer with the answers of `alula store`.
pub(super) fn check(who: &str, port: u16, wanted: &[String]) -> Result<()> {
    let told = transcript(port)?;
    for (step, (told, wanted)) in told.iter().zip(wanted).enumerate() {
        ensure!(told == wanted, "step {step} of {who} differs\n{told}\nfrom that of alula store\n{wanted}");
    }
    ensure!(told.len() == wanted.len(), "{who} answered {} steps", told.len());
    Ok(())
}

/// Compares the bytes of the same names on two ports.
pub(super) fn check_bytes(who: &str, ports: [u16; 2]) -> Result<()> {
    for number in [0, 777, 15_999] {
        let read = |port: u16| {
            let curl = Command::new(needed_program("curl")?)
                .args(["-s", "-f", &format!("http://127.0.0.1:{port}{}", path(number))])
                .output()?;
            ensure!(curl.status.success(), "object {number} is not there on port {port}");
            Ok(curl.stdout)
        };
        ensure!(read(ports[0])? == read(ports[1])?, "{who} has other bytes of object {number}");
    }
    Ok(())
}

/// Asks by curl.
fn ask(args: &[&str]) -> Result<Answer> {
    let output = Command::new(needed_program("curl")?).args(["-s", "-i"]).args(args).output()?;
    ensure!(output.status.success(), "curl {args:?} ended with {}", output.status);
    let text = String::from_utf8_lossy(&output.stdout);
    let (head, body) = text.split_once("\r\n\r\n").with_context(|| format!("{args:?}: no head in {text}"))?;
    let (first, fields) = head.split_once("\r\n").unwrap_or((head, ""));
    let fields = fields.lines().filter_map(|line| line.split_once(": "));
    Ok(Answer {
        status: first.split(' ').nth(1).unwrap_or_default().to_owned(),
        fields: fields.map(|(name, value)| (name.to_lowercase(), value.to_owned())).collect(),
        body: body.to_owned(),
    })
}

impl Answer {
    fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(other, _)| other == name).map(|(_, value)| &**value)
    }

    /// Status, media type, the fields that are compared in order, and the content: of siblings only their
    /// number, of errors nothing.
    fn shown(&self) -> String {
        let mut text = self.status.clone();
        if self.status == "200" {
            text += &format!(" {}", self.field("content-type").unwrap_or_default());
        }
        let compared =
            self.fields.iter().filter(|(name, _)| COMPARED.iter().any(|start| name.starts_with(start)));
        let parts =
            compared.flat_map(|(name, value)| value.split(", ").map(move |part| format!("\n{name}: {part}")));
        let mut parts: Vec<String> = parts.collect();
        parts.sort();
        text += &parts.concat();
        if self.status == "200" {
            PRESENT
                .iter()
                .filter(|name| self.field(name).is_none())
                .for_each(|name| text += &format!("\nno {name}"));
        }
        match &*self.status {
            "300" => text + &format!("\n{} lines", self.body.lines().count()),
            "400" => text,
            _ => text + "\n" + &self.body,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_shown_without_what_differs_by_nature() {
        let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let answer = |fields, body: &str| Answer { status: "200".into(), fields, body: body.into() };
        let one = answer(vec![field("link", "<b>, <a>"), field("etag", "1"), field(VCLOCK, "x")], "bytes");
        let other = answer(
            vec![field("etag", "2"), field("link", "<a>"), field("link", "<b>"), field(VCLOCK, "y")],
            "bytes",
        );
        assert_eq!(one.shown(), other.shown());
        assert!(one.shown().contains("no last-modified"));
        assert_ne!(one.shown(), answer(one.fields.clone(), "others").shown());
    }
}
