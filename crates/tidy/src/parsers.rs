//! Every parser has a fuzz target: a table of what takes bytes or text from elsewhere, and which target
//! tries it.
//!
//! A new one that is not in the table is found by its name, so that nobody has to remember it.

use crate::Source;

/// One entry point of a parser.
#[derive(Clone, Copy, Debug)]
struct Parser {
    /// The file it is in, below `crates/`.
    file: &'static str,
    function: &'static str,
    /// The target that tries it.
    target: &'static str,
}

const fn parser(file: &'static str, function: &'static str, target: &'static str) -> Parser {
    Parser { file, function, target }
}

const PARSERS: &[Parser] = &[
    parser("cli/src/fetch/tls/certificate.rs", "of", "certificate"),
    parser("client/src/connecting/proxy/socks.rs", "ask", "proxy_answer"),
    parser("client/src/connecting/proxy/tunnel.rs", "ask", "proxy_answer"),
    parser("client/src/cookies/mod.rs", "add", "cookies"),
    parser("client/src/cookies/mod.rs", "add_netscape", "cookies"),
    parser("client/src/cookies/netscape.rs", "read", "cookies"),
    parser("client/src/cookies/rules.rs", "insert", "cookies"),
    parser("client/src/url/location.rs", "parse", "location"),
    parser("client/src/follow/redirects.rs", "resolve", "location"),
    parser("client/src/url/reference.rs", "parse", "location"),
    parser("client/src/follow/retries/retry_after.rs", "wait", "retry_after"),
    parser("coding/src/chain.rs", "decode", "content_coding"),
    parser("coding/src/codings.rs", "of", "content_coding"),
    parser("coding/src/gzip_header.rs", "take", "gzip_header"),
    parser("fields/src/message/authority.rs", "parse", "authority"),
    parser("fields/src/text/decimal.rs", "of", "control_data"),
    parser("fields/src/message/head.rs", "set_path", "head"),
    parser("fields/src/message/head.rs", "set_protocol", "head"),
    parser("fields/src/name/known.rs", "lookup", "field_name"),
    parser("fields/src/name/known.rs", "lookup_folded", "field_name"),
    parser("fields/src/value/known_value.rs", "lookup", "field_value"),
    parser("fields/src/message/method.rs", "parse", "control_data"),
    parser("fields/src/message/method.rs", "parse_folded", "control_data"),
    parser("fields/src/text/bytes.rs", "is_field_value", "field_value"),
    parser("fields/src/text/bytes.rs", "is_token", "field_name"),
    parser("fields/src/message/scheme.rs", "parse", "control_data"),
    parser("fields/src/section/mod.rs", "append", "field_section"),
    parser("fields/src/message/status.rs", "parse", "control_data"),
    parser("fields/src/message/target.rs", "parse", "target"),
    parser("fields/src/value/parameters.rs", "filename", "content_disposition"),
    parser("fields/src/value/parameters.rs", "parse", "forwarded"),
    parser("fields/src/value/parameters.rs", "weight", "accept"),
    parser("h1/src/connection/lifecycle.rs", "handle_timeout", "h1_pair"),
    parser("h1/src/connection/receive.rs", "receive", "h1_client"),
    parser("h1/src/connection/receive.rs", "receive", "h1_pair"),
    parser("h1/src/connection/receive.rs", "receive", "h1_server"),
    parser("h1/src/connection/receive.rs", "receive_end", "h1_client"),
    parser("h1/src/connection/receive.rs", "receive_truncation", "h1_client"),
    parser("h2/src/connection/output.rs", "handle_timeout", "h2_operations"),
    parser("h2/src/connection/receive.rs", "receive", "h2_client"),
    parser("h2/src/connection/receive.rs", "receive", "h2_pair"),
    parser("h2/src/connection/receive.rs", "receive", "h2_server"),
    parser("h2/src/stream/content.rs", "parse", "h2_server"),
    parser("h2/src/frame/dictionary.rs", "parse", "priority"),
    parser("h2/src/frame/priority.rs", "parse", "priority"),
    parser("h2/src/flow/window.rs", "receive", "h2_pair"),
    parser("hpack/src/decode/decoder.rs", "decode", "hpack_decode"),
    parser("hpack/src/encode/encoder.rs", "encode", "hpack_round_trip"),
    parser("hpack/src/huffman/decode.rs", "decode", "huffman"),
    parser("hpack/src/wire/integer.rs", "decode", "hpack_decode"),
    parser("server/src/exchange/accept.rs", "takes_json", "accept"),
    parser("server/src/exchange/multipart/reader.rs", "read_content", "multipart"),
    parser("server/src/exchange/multipart/reader.rs", "read_head", "multipart"),
    parser("server/src/conditional/preconditions.rs", "evaluate", "conditional"),
    parser("server/src/conditional/validators.rs", "parse_date", "conditional"),
    parser("server/src/conditional/range.rs", "wanted", "conditional"),
    parser("server/src/exchange/forwarded.rs", "note", "forwarded"),
    parser("server/src/exchange/query.rs", "pairs", "query"),
    parser("server/src/ready/auth/basic.rs", "decode_pair", "credentials"),
    parser("server/src/route/decode.rs", "decode", "routes"),
    parser("server/src/route/redirect.rs", "location", "routes"),
    parser("server/src/route/table.rs", "find", "routes"),
    parser("server/src/listen/connection_server.rs", "serve_connection", "whole_server"),
    parser("store/src/access/credentials.rs", "read", "users_file"),
    parser("store/src/access/users_file/mod.rs", "parse", "users_file"),
    parser("store/src/http/datatype/operation.rs", "parse", "store_bodies"),
    parser("store/src/http/index/continuation.rs", "read", "index_query"),
    parser("store/src/http/index/parameters.rs", "read", "index_query"),
    parser("store/src/http/index/pattern.rs", "compile", "index_query"),
    parser("store/src/http/index/range.rs", "read", "index_query"),
    parser("store/src/http/list/json.rs", "put_string", "index_query"),
    parser("store/src/http/checks/query.rs", "pairs_of", "index_query"),
    parser("store/src/http/walk/links.rs", "read", "object_fields"),
    parser("store/src/http/object/incoming.rs", "attributes", "object_fields"),
    parser("store/src/http/walk/mod.rs", "all", "walk_steps"),
    parser("store/src/model/context.rs", "from_text", "stored"),
    parser("store/src/model/context.rs", "read", "stored"),
    parser("store/src/model/record.rs", "read", "stored"),
    parser("store/src/model/types/state.rs", "change", "datatype_change"),
    parser("store/src/model/types/state.rs", "read", "stored"),
    parser("store/src/model/vtag.rs", "parse", "stored"),
    parser("store/src/properties/form.rs", "list_of_content", "store_bodies"),
    parser("store/src/properties/rules.rs", "set", "store_bodies"),
];

/// The crates that parse, and how the functions that do are named.
const CRATES: [&str; 8] = ["client", "coding", "fields", "h1", "h2", "hpack", "server", "store"];
const NAMES: [&str; 4] = ["decode", "lookup", "parse", "receive"];

/// The source of every program of `fuzz`, as its manifest names it.
const PROGRAM: &str = "path = \"target.rs\"\n";

/// Parsers without a target, targets that are not whole, and rows of the table that are about nothing.
#[must_use]
pub fn check_parsers(sources: &[Source]) -> Vec<String> {
    let mut found = unknown_parsers(sources);
    for parser in PARSERS {
        let text = text_of(sources, &format!("crates/{}", parser.file));
        if !functions(text).any(|function| function == parser.function) {
            found.push(format!("crates/{}: no function {}", parser.file, parser.function));
        }
        found.extend(incomplete_target(sources, parser.target));
    }
    found.extend(idle_targets(sources));
    found
}

/// Public functions that are named as parsers are, and stand in no row.
fn unknown_parsers(sources: &[Source]) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources.iter().filter(|source| is_parsing(&source.path)) {
        let file = &source.path["crates/".len()..];
        for function in public_functions(&source.text).filter(|function| is_parser(function)) {
            let is_known = PARSERS.iter().any(|known| known.file == file && known.function == function);
            if !is_known {
                found.push(format!(
                    "{}: {function} has no fuzz target in crates/tidy/src/parsers.rs",
                    source.path
                ));
            }
        }
    }
    found
}

fn is_parsing(path: &str) -> bool {
    CRATES.iter().any(|name| path.starts_with(&format!("crates/{name}/src/")))
}

fn is_parser(function: &str) -> bool {
    NAMES.iter().any(|name| function == *name || function.starts_with(&format!("{name}_")))
}

/// What a target lacks: its body, its place in the table of `trials`, or its program in the manifest of
/// `fuzz`.
fn incomplete_target(sources: &[Source], target: &str) -> Vec<String> {
    let parts = [
        ("crates/trials/src/", format!("pub fn {target}(data: &[u8])")),
        ("crates/trials/src/lib.rs", format!("\n    {target},\n")),
        ("fuzz/Cargo.toml", format!("\nname = \"{target}\"\n{PROGRAM}")),
    ];
    let has = |source: &Source, (path, part): &(&str, String)| {
        source.path.starts_with(path) && source.text.contains(part)
    };
    let absent = parts.into_iter().filter(|part| !sources.iter().any(|source| has(source, part)));
    absent.map(|(path, part)| format!("{path}: lacks {:?}", part.trim())).collect()
}

/// Targets that no row names.
fn idle_targets(sources: &[Source]) -> Vec<String> {
    let programs = text_of(sources, "fuzz/Cargo.toml").split("\n[[bin]]\n").skip(1);
    let names = programs.filter_map(|program| program.strip_prefix("name = \"")?.split('"').next());
    let idle = names.filter(|name| !PARSERS.iter().any(|known| known.target == *name));
    idle.map(|name| format!("fuzz/Cargo.toml: {name} tries no parser of crates/tidy/src/parsers.rs"))
        .collect()
}

fn text_of<'a>(sources: &'a [Source], path: &str) -> &'a str {
    sources.iter().find(|source| source.path == path).map_or("", |source| &source.text)
}

/// The names of all functions.
fn functions(text: &str) -> impl Iterator<Item = &str> {
    text.split("fn ").skip(1).map(name)
}

/// The names of those that others can call, and of those of a whole crate.
fn public_functions(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().map(str::trim_start);
    let starts = ["pub fn ", "pub const fn ", "pub(crate) fn "];
    lines.filter_map(move |line| starts.iter().find_map(|start| line.strip_prefix(start))).map(name)
}

fn name(rest: &str) -> &str {
    rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.into(), text: text.into() }
    }

    #[test]
    fn a_parser_without_a_target_is_found() {
        let text = "impl Cookie {\n    pub fn parse_all<'a>(text: &str) {}\n    pub fn len() {}\n    fn parse() {}\n}";
        assert_eq!(
            unknown_parsers(&[
                source("crates/fields/src/cookie.rs", text),
                source("crates/cli/src/a.rs", text)
            ]),
            ["crates/fields/src/cookie.rs: parse_all has no fuzz target in crates/tidy/src/parsers.rs"]
        );
        assert_eq!(
            unknown_parsers(&[source("crates/fields/src/message/status.rs", "pub fn parse(")]),
            [""; 0]
        );
    }

    #[test]
    fn a_target_that_is_not_whole_is_found() {
        let mut sources = vec![
            source("crates/trials/src/fields/head.rs", "pub fn head(data: &[u8]) {}"),
            source("crates/trials/src/lib.rs", "targets! {\n    head,\n}"),
            source("fuzz/Cargo.toml", "[[bin]]\nname = \"head\"\npath = \"target.rs\"\n"),
        ];
        assert_eq!(incomplete_target(&sources, "head"), [""; 0]);
        assert_eq!(incomplete_target(&sources, "tail").len(), 3);
        sources.remove(1);
        assert_eq!(incomplete_target(&sources, "head"), ["crates/trials/src/lib.rs: lacks \"head,\""]);
    }

    #[test]
    fn a_target_for_nothing_is_found() {
        let manifest = "[workspace]\n\n[[bin]]\nname = \"tail\"\n\n[[bin]]\nname = \"head\"\n";
        let idle = idle_targets(&[source("fuzz/Cargo.toml", manifest)]);
        assert_eq!(idle, ["fuzz/Cargo.toml: tail tries no parser of crates/tidy/src/parsers.rs"]);
    }
}
