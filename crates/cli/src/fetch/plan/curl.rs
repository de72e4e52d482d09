//! `--print-curl`: the request as a command line for curl.

use super::{Plan, target::Target};
use crate::args::Options;
use crate::fetch::content::{Input, Source, multipart::Part};

/// Returns the command line for one target. Fields are all there, so that curl adds none of its own.
pub(in crate::fetch) fn line(plan: &Plan, target: &Target, options: &Options) -> String {
    let connection = &options.connection;
    let mut words = vec!["curl".to_owned()];
    let content = plan.content_for(target);
    match plan.method_for(target) {
        "HEAD" => words.push("-I".to_owned()),
        "GET" if content.is_none() => {}
        "POST" if content.is_some() => {}
        method => words.extend(["-X".to_owned(), quoted(method)]),
    }
    for (is_given, flag) in [
        (connection.location, "-L"),
        (connection.location_trusted, "--location-trusted"),
        (connection.insecure, "-k"),
        (connection.http1_1, "--http1.1"),
        (connection.http2_prior_knowledge, "--http2-prior-knowledge"),
    ] {
        words.extend(is_given.then(|| flag.to_owned()));
    }
    words.push(quoted(&target.called()));
    let parts = match content.map(|content| &content.source) {
        Some(Source::Parts { parts, .. }) => &parts[..],
        _ => &[],
    };
    for (name, value) in plan.fields_for(target) {
        // curl makes boundaries of its own.
        if parts.is_empty() || !name.eq_ignore_ascii_case("content-type") {
            let field = if value.is_empty() { format!("{name};") } else { format!("{name}: {value}") };
            words.extend(["-H".to_owned(), quoted(&field)]);
        }
    }
    if let Some(content) = content
        && let Source::Input(input) = &content.source
    {
        // curl would add the type of a form to any data, unless the field is removed.
        words.extend(content.media_type.is_none().then(|| "-H 'content-type:'".to_owned()));
        words.push(data(input));
    }
    words.extend(parts.iter().map(part));
    words.join(" ")
}

fn data(input: &Input) -> String {
    match input {
        Input::Text(text) => format!("--data-raw {}", quoted(&String::from_utf8_lossy(text))),
        Input::File(path) => format!("--data-binary {}", quoted(&format!("@{}", path.display()))),
        Input::Stdin => "--data-binary @-".to_owned(),
    }
}

fn part(part: &Part) -> String {
    let (name, value) = (&part.name, described(part));
    let is_plain = part.file_name.is_none() && part.media_type.is_none() && part.encoder.is_none();
    if is_plain && part.fields.is_empty() && part.files.is_empty() {
        return format!("--form-string {}", quoted(&format!("{name}={value}")));
    }
    let files: Vec<String> = part.files.iter().map(described).collect();
    // The first name has the sign of a file.
    let files: Vec<&str> = files.iter().map(|file| file.trim_start_matches('@')).collect();
    let value = if files.is_empty() { value } else { format!("@{}", files.join(",")) };
    format!("-F {}", quoted(&format!("{name}={value}")))
}

/// Returns the value of a part with its parameters.
fn described(part: &Part) -> String {
    let mut word = match &part.input {
        Input::Text(text) => String::from_utf8_lossy(text).into_owned(),
        Input::File(path) => format!("@{}", path.display()),
        Input::Stdin => "@-".to_owned(),
    };
    for (parameter, value) in [("type", &part.media_type), ("filename", &part.file_name)] {
        word.extend(value.as_ref().map(|value| format!(";{parameter}={value}")));
    }
    word.extend(part.encoder.map(|encoder| format!(";encoder={}", encoder.name())));
    word.extend(part.fields.iter().map(|(name, value)| format!(";headers=\"{name}: {value}\"")));
    word
}

/// Quotes a word for a shell, if necessary.
fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:@%+=,".contains(&byte);
    match !word.is_empty() && word.bytes().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Args, Command};

    fn printed(words: &[&str]) -> String {
        let args = Args::tried(words).unwrap();
        let (method, args) = match args.command {
            Command::Get(args) => ("GET", args),
            Command::Post(args) => ("POST", args),
            Command::Put(args) => ("PUT", args),
            Command::Head(args) => ("HEAD", args),
            other => panic!("{other:?}"),
        };
        let plan = Plan::of(method, &args).unwrap();
        line(&plan, &plan.targets[0], &args.options)
    }

    #[test]
    fn a_line_asks_for_the_same() {
        for (words, expected) in [
            (&["get", "a", "-LA", "me", "Accept:"][..], "curl -L http://a/ -H 'user-agent: me'"),
            (&["head", "a", "-H", "user-agent:", "accept;"], "curl -I http://a/ -H 'accept;'"),
            (
                &["post", "a?b&c", "d=it's", "-H", "user-agent:"],
                "curl 'http://a/?b&c' -H 'accept: application/json, */*;q=0.5' -H 'content-type: application/json' \
                 --data-raw '{\"d\":\"it'\\''s\"}'",
            ),
            (
                &["put", "a/", "-T", "b c", "-A", "m", "accept:"],
                "curl -X PUT http://a/b%20c -H 'user-agent: m' -H 'content-type:' --data-binary '@b c'",
            ),
            (
                &["post", "a", "-F", "b=c", "-F", "d=@e.txt", "-A", "m", "accept:"],
                "curl http://a/ -H 'user-agent: m' --form-string b=c -F 'd=@e.txt;type=text/plain;filename=e.txt'",
            ),
            (
                &["post", "a", "-F", "b=@c;type=d/e,f;type=g/h;encoder=7bit", "-A", "m", "accept:"],
                "curl http://a/ -H 'user-agent: m' \
                 -F 'b=@c;type=d/e;filename=c,f;type=g/h;filename=f;encoder=7bit'",
            ),
        ] {
            assert_eq!(printed(words), expected);
        }
    }
}
