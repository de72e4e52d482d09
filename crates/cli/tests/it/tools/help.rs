//! The help: whole words within the columns there are, short by `-h` and long by `--help`.

use crate::support::{alula, run, wait};

const COMMANDS: [&[&str]; 20] = [
    &[],
    &["get"],
    &["post"],
    &["put"],
    &["patch"],
    &["delete"],
    &["head"],
    &["options"],
    &["request"],
    &["echo"],
    &["serve"],
    &["store"],
    &["hpack"],
    &["hpack", "pipe"],
    &["hpack", "encode"],
    &["hpack", "decode"],
    &["hpack", "explain"],
    &["inspect"],
    &["demo"],
    &["man"],
];

/// The help in so many columns; without any, where nobody says how many there are.
fn help(command: &[&str], flag: &str, columns: Option<u16>) -> String {
    let mut program = alula(&[command, &[flag]].concat());
    match columns {
        Some(columns) => program.env("COLUMNS", columns.to_string()),
        None => program.env_remove("COLUMNS"),
    };
    wait(program.spawn().unwrap()).expect(0).text().to_owned()
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

#[test]
fn no_line_is_longer_than_80_columns_and_no_word_is_broken() {
    for command in COMMANDS.into_iter().chain([&["completions"][..]]) {
        for flag in ["-h", "--help"] {
            let text = help(command, flag, None);
            for line in text.lines() {
                assert!(line.chars().count() <= 80, "{command:?} {flag}: {line}");
            }
            assert_eq!(help(command, flag, Some(80)), text, "{command:?} {flag}");
            let unbroken = help(command, flag, Some(10_000));
            assert_eq!(words(&text), words(&unbroken), "{command:?} {flag}");
        }
    }
    let by_name = run(&["help", "get"]).expect(0);
    assert!(by_name.text().lines().all(|line| line.chars().count() <= 80));
}

#[test]
fn the_short_help_is_short_and_names_the_long_one() {
    let (short, long) = (help(&["get"], "-h", None), help(&["get"], "--help", None));
    let lines = |text: &str| text.lines().count();
    assert!(lines(&short) <= 60 && lines(&long) > 150, "{} {}", lines(&short), lines(&long));
    assert!(short.contains("--help"), "{short}");
    for flag in ["-X,", "-H,", "-d,", "-F,", "-o,", "-O,", "-L,", "-k,", "-u,", "-v,", "-w,", "-s,", "-i,"] {
        assert!(short.contains(flag), "{flag}: {short}");
    }
    for flag in ["--resolve", "--connect-to", "--limit-rate", "--noproxy", "--parallel"] {
        assert!(!short.contains(flag) && long.contains(flag), "{flag}");
    }
    // Each flag with its words on one line.
    let of_flags = short.lines().filter(|line| line.trim_start().starts_with('-'));
    for line in of_flags {
        assert!(line.trim_start().contains("  ") || line.len() < 40, "{line}");
    }
}

#[test]
fn a_flag_that_is_not_known_leads_to_the_nearest_one() {
    for (flag, nearest) in
        [("--locatoin", "--location"), ("--max-tme", "--max-time"), ("--inscure", "--insecure")]
    {
        let ended = run(&["get", "-s", flag, "http://a/"]).expect(2);
        assert!(ended.stderr.contains(&format!("'{nearest}'")), "{}", ended.stderr);
    }
}

#[test]
fn topics_have_pages_of_their_own() {
    let all = help(&[], "--help", None);
    for (topic, line) in [
        ("items", "name:=json"),
        ("exit-codes", "(curl: 28)"),
        ("write-out", "%{time_total}"),
        ("-w", "%header{NAME}"),
        ("environment", "SSLKEYLOGFILE"),
    ] {
        assert!(run(&["help", topic]).expect(0).text().contains(line), "{topic}");
        assert!(topic.starts_with('-') || all.contains(topic), "{topic}: {all}");
    }
    assert!(run(&["help", "write-in"]).expect(2).stderr.contains("write-in"));
}

#[test]
fn sentences_begin_with_a_verb_or_a_noun() {
    const RIDDLES: [&str; 13] = [
        "Where", "What", "Who", "Whom", "Whose", "Whoever", "So", "Of", "Whether", "How", "Those", "Nothing",
        "That",
    ];
    for command in COMMANDS.into_iter().chain([&["completions"][..]]) {
        let text = help(command, "--help", Some(10_000));
        for line in text.lines() {
            // The text of a value stands behind its name.
            let line = line.trim_start().trim_start_matches("- ");
            let starts = line.split(". ").chain(line.split(": ").skip(1));
            for start in starts.map(str::trim_start) {
                let word = start.split([' ', ',']).next().unwrap_or_default();
                assert!(!RIDDLES.contains(&word), "{command:?}: {start}");
            }
        }
    }
}
