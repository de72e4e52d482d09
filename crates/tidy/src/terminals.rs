//! The command writes to stdout and stderr in few places, so that nothing a peer says goes past its gate to
//! terminals.

use crate::Source;

const COMMAND: &str = "crates/cli/src/";

/// What writes to a stream, or hands one out that can be written to.
const WAYS: [&str; 9] = [
    "anstream::std",
    "io::stdout()",
    "io::stderr()",
    "stdout().lock()",
    "stderr().lock()",
    "stdout().write",
    "stderr().write",
    "print!(",
    "println!(",
];

/// Files that may, with what keeps orders out of what they write.
const WRITERS: [(&str, &str); 13] = [
    ("terminal/mod.rs", "the gate"),
    ("fetch/output/mod.rs", "it passes the gate unless what it writes was made for the place"),
    ("fetch/tell/trace.rs", "visible ASCII alone"),
    ("hooks/lines.rs", "everything but visible ASCII is escaped"),
    ("hooks/access_log.rs", "lines of the library, in which everything but visible ASCII is escaped"),
    ("hpack/pipe.rs", "JSON in visible ASCII"),
    ("hpack/story.rs", "JSON in visible ASCII"),
    ("inspect/mod.rs", "text that has passed the gate"),
    ("demo/show.rs", "figures of its own"),
    ("listening/mod.rs", "addresses of its own, and failures with their controls escaped"),
    ("manual/mod.rs", "text of its own"),
    ("manual/topics.rs", "text of its own"),
    ("store/hash_password.rs", "a hash of its own"),
];

/// Lines of the command that write to a stream in other files.
#[must_use]
pub fn check_terminals(sources: &[Source]) -> Vec<String> {
    let of_command = sources.iter().filter_map(|source| Some((source, source.path.strip_prefix(COMMAND)?)));
    let others = of_command.filter(|(_, file)| WRITERS.iter().all(|(writer, _)| writer != file));
    let mut found = Vec::new();
    for (source, _) in others {
        for (number, line) in source.lines().filter(|(_, line)| writes(line)) {
            found.push(format!("{}:{number}: writes past `terminal/mod.rs`: {}", source.path, line.trim()));
        }
    }
    found
}

fn writes(line: &str) -> bool {
    !line.trim_start().starts_with("//") && WAYS.iter().any(|way| line.contains(way))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writers_that_are_not_listed_are_found() {
        let source = |path: &str, text: &str| Source { path: path.into(), text: text.to_owned() };
        let sources = [
            source(
                "crates/cli/src/fetch/a.rs",
                "// io::stdout()\nstdout().is_terminal();\neprintln!(\"{x}\");\n",
            ),
            source("crates/cli/src/terminal/mod.rs", "io::stderr()"),
            source("crates/xtask/src/main.rs", "println!()"),
        ];
        let found = check_terminals(&sources);
        assert_eq!(
            found,
            ["crates/cli/src/fetch/a.rs:3: writes past `terminal/mod.rs`: eprintln!(\"{x}\");"]
        );
    }
}
