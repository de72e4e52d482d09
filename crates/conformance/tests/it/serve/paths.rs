//! What paths lead to in `alula serve`: folders, links, and nothing outside.

use std::fs;
use std::process::Command;

use alula_conformance::frames::kind;
use alula_conformance::served::{End, Place, SECRET, read_to_end};

#[test]
fn a_folder_is_its_index_or_a_list() {
    let place = Place::new();
    let served = place.serve(&[]);
    let answer = served.get("folder/");
    assert_eq!((answer.status, &*answer.text()), (200, "<!doctype html><title>index</title>"));
    assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
    let answer = served.get("folder?a=b");
    assert_eq!((answer.status, &*answer.header("location")), (308, "./folder/?a=b"));
    assert_eq!(served.get("small.txt/").status, 404);

    let answer = served.get("a%20&%20b/");
    assert_eq!((answer.status, &*answer.header("content-type")), (200, "text/html; charset=utf-8"));
    let page = answer.text();
    let hrefs: Vec<_> = page.split("<a href=\"").skip(1).filter_map(|rest| rest.split_once('"')).collect();
    let hrefs: Vec<_> = hrefs.iter().map(|(href, _)| *href).collect();
    assert_eq!(hrefs, ["../", "%3Ci%3E%22it%27s%22%3F%23%25.txt", "alpha.json", "zeta"]);
    assert!(page.contains("&lt;i&gt;&quot;it&#39;s&quot;?#%.txt") && !page.contains("<i>"), "{page}");
    assert_eq!(served.get(&format!("a%20&%20b/{}", hrefs[1])).text(), "odd");
    let head = served.ask("HEAD", "a%20&%20b/", &[]);
    assert_eq!(head.header("content-length"), page.len().to_string());

    let top = served.get("").text();
    assert!(
        top.contains("<a href=\"small.txt\">") && top.contains("<a href=\"folder/\"><bdi>folder</bdi>/</a>"),
        "{top}"
    );
    assert!(!top.contains("secret") && !top.contains("../"), "{top}");
    // An index that comes or goes is noticed.
    place.write("site/a & b/index.html", "index");
    let _ = served.get_until("a%20&%20b/", "shows its index", |answer| answer.text() == "index");
    fs::remove_file(place.site().join("a & b/index.html")).expect("it was there");
    let _ = served.get_until("a%20&%20b/", "shows its list again", |answer| answer.text() == page);
}

#[test]
fn lists_and_hidden_names_are_switched() {
    let place = Place::new();
    let served = place.serve(&["--no-listing", "--dot-files"]);
    assert_eq!(served.get("").status, 404);
    assert_eq!(served.get("folder/").status, 200);
    assert_eq!(served.get(".secret.txt").text(), SECRET);
    assert_eq!(served.get("folder/.hidden/secret.txt").text(), SECRET);
    for path in ["..", "../secret.txt", "%2e%2e/secret.txt"] {
        let (first, _) = served.raw(&format!("/{path}"));
        assert!(is_refused(&first.payload), "{path}: {first:?}");
    }
}

#[test]
fn no_path_leads_out() {
    let place = Place::new();
    let served = place.serve(&[]);
    let (first, _) = served.raw("/small.txt");
    assert_eq!(first.payload[0], 0x88, "what is there is 200 (RFC 7541 §A): {first:?}");
    for path in [
        "/../secret.txt",
        "/..",
        "/../",
        "/./small.txt",
        "/.",
        "//secret.txt",
        "//small.txt",
        "/folder/../small.txt",
        "/folder/../../secret.txt",
        "/folder//index.html",
        "/%2e%2e/secret.txt",
        "/%2E%2E/secret.txt",
        "/.%2e/secret.txt",
        "/%2e./secret.txt",
        "/..%2fsecret.txt",
        "/..%2Fsecret.txt",
        "/%2e%2e%2fsecret.txt",
        "/folder%2findex.html",
        "/folder/..%2f..%2fsecret.txt",
        "/..\\secret.txt",
        "/..%5csecret.txt",
        "/%5c..%5c..%5csecret.txt",
        "/folder\\index.html",
        "/folder%5cindex.html",
        "/small.txt%00",
        "/small.txt%00.png",
        "/%00",
        "/small.txt\0",
        "/%252e%252e/secret.txt",
        "/%c0%ae%c0%ae/secret.txt",
        "/..;/secret.txt",
        "/%",
        "/%2",
        "/%zz",
        "/small%",
        "/.secret.txt",
        "/%2esecret.txt",
        "/folder/.hidden/secret.txt",
        "/folder/.hidden/",
        "/~/secret.txt",
        "/..?/small.txt",
        "/...",
        "/.../secret.txt",
        "/ /../secret.txt",
        "/\u{ff0e}\u{ff0e}/secret.txt",
        "secret.txt",
        "../secret.txt",
        "*",
        "",
        "http://localhost/../secret.txt",
        "/C:/secret.txt",
        "/small.txt/",
        "/small.txt/../small.txt",
        "/small.txt::$DATA",
    ] {
        let (first, mut wire) = served.raw(path);
        if first.kind == kind::HEADERS {
            assert!(is_refused(&first.payload), "{path:?}: {first:?}");
            assert!(matches!(read_to_end(&mut *wire), Ok(End::Whole(0..=16))), "{path:?}");
        } else {
            assert_eq!(
                first.kind,
                kind::RST_STREAM,
                "{path:?} is either answered with 404 or is no path at all"
            );
        }
    }
}

/// 404 or 400, by the static table (RFC 7541 §A).
fn is_refused(block: &[u8]) -> bool {
    matches!(block[0], 0x8d | 0x8c)
}

#[cfg(unix)]
#[test]
fn links_are_followed_within_and_special_files_are_not_served() {
    use std::os::unix::fs::symlink;
    let place = Place::new();
    let site = place.site();
    for (target, link) in [
        ("small.txt", "inner"),
        ("folder", "inner-folder"),
        ("../small.txt", "folder/up"),
        ("../secret.txt", "outer"),
        ("..", "outer-folder"),
        ("/dev/zero", "zero"),
        ("/", "root"),
        ("loop", "loop"),
        ("absent", "dangling"),
        (site.join("small.txt").to_str().expect("a readable path"), "absolute"),
    ] {
        symlink(target, site.join(link)).expect("links can be made");
    }
    let mut mkfifo = Command::new("mkfifo");
    assert!(mkfifo.arg(site.join("fifo")).status().is_ok_and(|status| status.success()));
    let _socket = std::os::unix::net::UnixListener::bind(site.join("socket")).expect("sockets can be made");

    let served = place.serve(&[]);
    for path in ["inner", "folder/up"] {
        assert_eq!(served.get(path).text(), "a feather of little weight", "{path}");
    }
    assert_eq!(served.get("inner-folder/").status, 200);
    let refused = [
        "outer",
        "outer-folder",
        "outer-folder/",
        "outer-folder/secret.txt",
        "zero",
        "root/",
        "root/etc/passwd",
        "loop",
        "dangling",
        "absolute",
        "fifo",
        "socket",
    ];
    for path in refused {
        assert_eq!(served.get(path).status, 404, "{path}");
    }
    let list = served.get("").text();
    assert!(list.contains("\"inner\"") && list.contains("\"inner-folder/\""), "{list}");
    for path in refused.iter().filter(|path| !path.contains('/')) {
        assert!(!list.contains(&format!("\"{path}")), "{path}: {list}");
    }
}
