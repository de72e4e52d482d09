//! The package of Debian as somebody installs and uses it: in an empty root, by a user without rights, with manual and completions.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::OnceLock,
};

use alula_conformance::{environment, folder::Folder};

/// The user and group that own nothing.
const NOBODY: &str = "65534";

/// A root that has the package and nothing else; one for all tests.
fn root() -> Option<&'static Path> {
    static ROOT: OnceLock<Option<Folder>> = OnceLock::new();
    ROOT.get_or_init(|| environment::package().map(|package| installed(&package))).as_ref().map(Folder::path)
}

fn installed(package: &Path) -> Folder {
    let root = Folder::new();
    let known = root.join("var/lib/dpkg");
    for folder in ["info", "updates"] {
        fs::create_dir_all(known.join(folder)).unwrap();
    }
    fs::write(known.join("status"), "").unwrap();
    fs::set_permissions(root.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let mut dpkg = Command::new("dpkg");
    // The root is empty: what the program depends on is the machine's, as the program is run on it.
    dpkg.args(["--force-depends", "--force-not-root", "--log=/dev/null"]);
    dpkg.arg(format!("--root={}", root.path().display())).arg("--install").arg(package);
    said(&mut dpkg);
    root
}

/// Runs a program that has to end well; what it printed.
fn said(command: &mut Command) -> String {
    let Output { status, stdout, stderr } =
        command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success(), "{command:?}: {status}\n{stdout}\n{stderr}");
    stdout.into_owned()
}

/// The installed program with these words, as nobody where we may become that user, and without an environment.
fn as_nobody(root: &Path, words: &[&str]) -> Command {
    let program = root.join("usr/bin/alula");
    let is_root = said(Command::new("id").arg("-u")).trim() == "0";
    let mut command = match is_root {
        true => {
            let mut command = Command::new("setpriv");
            command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--no-new-privs"]);
            command.arg(program);
            command
        }
        false => Command::new(program),
    };
    command.args(words).env_clear().current_dir("/");
    command
}

#[test]
fn the_program_runs_for_a_user_without_rights() {
    let Some(root) = root() else { return };
    let version = said(&mut as_nobody(root, &["--version"]));
    assert!(version.starts_with("alula ") && version.contains("aws-lc-rs"), "{version}");
    let demo = said(&mut as_nobody(root, &["demo", "--seconds", "1", "--json"]));
    assert!(demo.contains("requests_per_second"), "{demo}");
    let is_small = fs::metadata(root.join("usr/bin/alula")).unwrap().len() <= 13_000_000;
    assert!(is_small, "the program has more than 13 MB");
}

#[test]
fn every_command_has_a_page_without_warnings() {
    let Some(root) = root() else { return };
    let pages = fs::read_dir(root.join("usr/share/man/man1")).unwrap();
    let pages: Vec<PathBuf> = pages.map(|page| page.unwrap().path()).collect();
    assert!(pages.len() >= 15, "{pages:?}");
    for page in &pages {
        let mut man = Command::new("man");
        man.args(["--warnings", "-l"]).arg(page).env("MANWIDTH", "80").env("LC_ALL", "C.UTF-8");
        let Output { stdout, stderr, .. } = man.output().unwrap();
        assert_eq!(String::from_utf8_lossy(&stderr), "", "{}", page.display());
        let text = String::from_utf8_lossy(&stdout);
        assert!(text.contains("SYNOPSIS") && text.contains("NAME"), "{}: {text}", page.display());
    }
    let get = pages.iter().find(|page| page.ends_with("alula-get.1.gz")).expect("a page on get");
    let text = said(Command::new("man").arg("-l").arg(get).env("MANWIDTH", "80").env("LC_ALL", "C.UTF-8"));
    assert!(text.contains("--header") && text.contains("--connect-to"), "{text}");
}

/// Each shell completes `alula ge` and `alula get --conn`.
#[test]
fn completions_work_in_three_shells() {
    let Some(root) = root() else { return };
    let file = |name: &str| root.join("usr/share").join(name).display().to_string();
    let bash = format!(
        ". {}; for words in 'alula ge' 'alula get --conn'; do COMP_WORDS=($words); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
         COMPREPLY=(); _alula alula \"${{COMP_WORDS[-1]}}\" \"${{COMP_WORDS[-2]}}\"; echo \"${{COMPREPLY[@]}}\"; done",
        file("bash-completion/completions/alula")
    );
    let offered = said(Command::new("bash").args(["--norc", "-c", &bash]));
    assert_eq!(offered.lines().collect::<Vec<_>>(), ["get", "--connect-to --connect-timeout"]);
    let fish = format!(
        "source {}; complete -C 'alula ge'; complete -C 'alula get --conn'",
        file("fish/vendor_completions.d/alula.fish")
    );
    let offered = said(Command::new("fish").args(["--no-config", "-c", &fish]));
    for word in ["get", "--connect-to", "--connect-timeout"] {
        assert!(offered.lines().any(|line| line.split('\t').next() == Some(word)), "{word}: {offered}");
    }
    let folder = root.join("usr/share/zsh/vendor-completions");
    let zsh = format!(
        "fpath=({} $fpath); autoload -Uz compinit; compinit -D -u; [[ $_comps[alula] = _alula ]] && autoload +X _alula && echo loaded",
        folder.display()
    );
    assert_eq!(said(Command::new("zsh").args(["-f", "-c", &zsh])).trim(), "loaded");
}
