//! Forms of many parts, with curl beside them where it is installed.

use std::process::Command;

use crate::support::{Echo, Folder, run};

/// Content as an echo gives it back, with `B` for its boundary.
fn parts(text: &str) -> String {
    let boundary = text.lines().next().unwrap_or_default().trim_end().to_owned();
    text.replace(&boundary, "--B")
}

#[test]
fn parts_are_those_of_curl() {
    let (echo, folder) = (Echo::start(&[]), Folder::new("forms"));
    let file = folder.write("a.txt", "in a file");
    let fields = folder.write("fields", "# no\nX-One: 1\nX-Two: 2\n");
    let from = |prefix: &str, path: &str, suffix: &str| format!("{prefix}{path}{suffix}");
    for args in [
        &["-F", "a=b", "--form-string", "c=@d;type=e", "-F", "f=g"][..],
        &["-F", &from("f=@", &file, "")],
        &["-F", &from("f=<", &file, "")],
        &["-F", &from("f=@", &file, ";type=text/html;charset=x;filename=\"b;c\"")],
        &["-F", "a=b;type=text/x;headers=\"X-One: 1; 2\";headers=X-Two: 3"],
        &["-F", &from("a=b;headers=@", &fields, "")],
        &["-F", "a=\"b; \\\"c\\\"\";type=text/x"],
        &["-F", "a= b"],
    ] {
        let ours = run(&[&["post", &*echo.http][..], args].concat()).expect(0);
        let theirs = Command::new("curl").args(["-sS", "--noproxy", "*", &echo.http]).args(args).output();
        let Ok(theirs) = theirs else { return };
        assert_eq!(parts(ours.text()), parts(&String::from_utf8_lossy(&theirs.stdout)), "{args:?}");
    }
    for wrong in ["a=b;headers=c", "a=b;headers=x y: z", "a"] {
        run(&["post", &echo.http, "-F", wrong]).expect(2);
    }
}
