//! Completions and the manual, made from the table of flags.

use crate::support::{Folder, run};

#[test]
fn each_shell_is_given_every_command() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = run(&["completions", shell]).expect(0);
        for word in ["get", "post", "request", "serve", "store", "completions", "http2-prior-knowledge"] {
            assert!(script.text().contains(word), "{shell}: {word}");
        }
    }
}

#[cfg(unix)]
#[test]
fn bash_takes_the_completions() {
    let folder = Folder::new("completions");
    let script = folder.write("alula.bash", run(&["completions", "bash"]).expect(0).stdout);
    let ask = format!(
        "source {script}; COMP_WORDS=(alula get --http2-p); COMP_CWORD=2; _alula alula --http2-p get; echo ${{COMPREPLY[@]}}"
    );
    let Ok(bash) = std::process::Command::new("bash").args(["-c", &ask]).output() else { return };
    assert_eq!(String::from_utf8_lossy(&bash.stdout), "--http2-prior-knowledge\n", "{bash:?}");
}

#[test]
fn the_manual_has_a_page_for_the_program_and_each_command() {
    let page = run(&["man"]).expect(0);
    assert!(page.text().contains(".TH alula 1") && page.text().contains("alula\\-get(1)"), "{}", page.text());
    let page = run(&["man", "get"]).expect(0);
    for words in [
        concat!(".TH alula-get 1  \"Alula ", env!("CARGO_PKG_VERSION")),
        "\\-\\-http2\\-prior\\-knowledge",
        "Exit codes:",
    ] {
        assert!(page.text().contains(words), "{words}: {}", page.text());
    }
    // Each flag has words, also one that the short help leaves out.
    let flags = page.text().split("\n.TP\n").skip(1).filter(|flag| flag.starts_with("\\fB"));
    for flag in flags {
        assert!(flag.lines().nth(1).is_some_and(|words| !words.is_empty()), "{flag:?}");
    }
    let folder = Folder::new("man");
    run(&["man", "--dir", &folder.path("pages")]).expect(0);
    assert!(!std::path::Path::new(&folder.path("pages/alula-help.1")).exists());
    for name in ["alula.1", "alula-get.1", "alula-store.1", "alula-hpack-pipe.1"] {
        assert!(folder.read(&format!("pages/{name}")).starts_with(b".ie"), "{name}");
    }
}
