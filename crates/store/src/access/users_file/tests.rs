use super::*;
use crate::access::grant::Place;

const HASH: &str = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";

/// Returns a users file with one user in lines 1 and 2, and `rest` from line 3 on.
fn ann(rest: &str) -> String {
    format!("[users.ann]\npassword = '{HASH}'\n{rest}")
}

#[test]
fn a_file_says_what_users_may_do() {
    let text = ann("groups = ['readers']\nrequests-per-second = 5\nburst = 7\n")
        + "[[users.ann.grants]]\nallow = ['put', 'delete']\ntype = 'default'\nbucket = 'orders'\n"
        + "[[users.ann.grants]]\nallow = ['list']\ntype = 't'\nbucket-prefix = 'a-'\n"
        + "[groups.readers]\ngrants = [{ allow = ['get', 'index'] }]\n"
        + "[groups.all]\ngrants = [{ allow = ['admin'], type = 'lab' }]\n"
        + &format!("[users.backup]\ncertificates = ['sha256:{}', 'dns:backup.example']\n", "0a".repeat(32));
    let users = Users::parse(&text).unwrap();
    assert_eq!((users.count(), users.with_password().len()), (2, 1));
    let ann = &users.users[users.by_name("ann").unwrap()];
    let backup = &users.users[users.by_name("backup").unwrap()];
    assert_eq!(ann.rate, Some(Rate::new(5, 7)));
    assert_eq!(users.by_name("Ann"), None);
    assert!(users.has_certificate(&CertificateName::Dns("backup.example".into())));
    let bucket = |bucket_type, bucket| Place { bucket_type, bucket: Some(bucket) };
    for (user, permission, place, has) in [
        (ann, Permission::Put, bucket(&b"default"[..], &b"orders"[..]), true),
        (ann, Permission::Put, bucket(b"default", b"order"), false),
        (ann, Permission::Get, bucket(b"t", b"any"), true),
        (ann, Permission::List, bucket(b"t", b"a-1"), true),
        (ann, Permission::List, bucket(b"t", b"b-1"), false),
        (ann, Permission::Admin, bucket(b"lab", b"any"), true),
        (ann, Permission::Admin, bucket(b"t", b"any"), false),
        (backup, Permission::Admin, bucket(b"lab", b"any"), true),
        (backup, Permission::Get, bucket(b"lab", b"any"), false),
    ] {
        let lacks = user.lacks(Permissions::of(permission), place);
        assert_eq!(lacks.is_none(), has, "{} {permission} {place:?}", user.name);
    }
}

#[test]
fn mistakes_are_told_with_their_line() {
    let grant = |rest: &str| ann(&format!("[[users.ann.grants]]\n{rest}"));
    for (text, line, expected) in [
        ("[users.ann".to_owned(), Some(1), "is no TOML"),
        (String::new(), None, "names no user: add a table [users.NAME]"),
        ("[user.ann]".to_owned(), Some(1), "a users file has no \"user\": it has users, groups"),
        ("users = 1".to_owned(), Some(1), "users is a table"),
        ("[users]\nann = 1".to_owned(), Some(2), "a user is a table"),
        ("[users.ann]".to_owned(), Some(1), "ann has neither a password nor certificates"),
        ("[users.ann]\npassword = 1".to_owned(), Some(2), "`password` is a text"),
        ("[users.ann]\npassword = 'hunter2'".to_owned(), Some(2), "the password is no hash: make one with"),
        ("[users.ann]\npassword = '$2b$12$hunter2'".to_owned(), Some(2), "the password is no hash"),
        ("[users.'a:b']".to_owned(), Some(1), "no colon"),
        ("[users.'']".to_owned(), Some(1), "1 to 255 bytes"),
        (format!("[users.{}]", "a".repeat(256)), Some(1), "1 to 255 bytes"),
        (ann("passwort = 'hunter2'"), Some(3), "a user has no \"passwort\": it has password,"),
        (ann("groups = ['readers']"), Some(3), "there is no group \"readers\""),
        (ann("groups = 'readers'"), Some(3), "`groups` is an array"),
        (ann("requests-per-second = 0"), Some(3), "`requests-per-second` is a whole number from 1"),
        (ann("requests-per-second = 1.5"), Some(3), "is a whole number"),
        (ann("requests-per-second = 4294967296"), Some(3), "is a whole number"),
        (ann("burst = 5"), Some(3), "`burst` needs `requests-per-second`"),
        (ann("certificates = ['CN=ann']"), Some(3), "a name of a certificate is `sha256:` with"),
        (ann("grants = 1"), Some(3), "`grants` is an array"),
        (ann("grants = [1]"), Some(3), "a grant is a table"),
        (grant("allow = ['read']"), Some(4), "there is no permission \"read\": there are get, put, delete"),
        (grant("allow = []"), Some(3), "a grant has permissions in `allow`"),
        (grant("type = 't'"), Some(3), "a grant has permissions in `allow`"),
        (grant("allow = ['get']\nbucket = 'b'"), Some(3), "a bucket is one of a type: add `type`"),
        (grant("allow = ['get']\nbucket-prefix = 'b'"), Some(3), "a bucket is one of a type"),
        (grant("allow = ['get']\ntype = 't'\nbucket = ''"), Some(6), "`bucket` is empty: leave it out"),
        (grant("allow = ['get']\ntype = ''"), Some(5), "`type` is empty"),
        (grant("allow = ['get']\ntype = 't'\nbucket = 'b'\nbucket-prefix = 'c'"), Some(3), "either"),
        (grant("allow = ['get']\nkey = 'k'"), Some(5), "a grant has no \"key\": it has allow, type"),
        (ann("[groups.g]\nallow = ['get']"), Some(4), "a group has no \"allow\": it has grants"),
        (
            ann("certificates = ['dns:a']\n[users.bob]\ncertificates = ['dns:A']"),
            Some(4),
            "bob: another user has the certificate dns:a",
        ),
    ] {
        let error = Users::parse(&text).expect_err(&text);
        let shown = error.to_string();
        assert!(shown.contains(expected), "{text}\n{shown}");
        assert_eq!(error.line, line, "{text}\n{shown}");
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_others_may_read_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("users.toml");
    fs::write(&file, ann("")).unwrap();
    for (mode, is_taken) in
        [(0o600, true), (0o640, true), (0o400, true), (0o644, false), (0o660, false), (0o602, false)]
    {
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        match Users::read(&file) {
            Ok(users) => assert!(is_taken && users.count() == 1, "{mode:o}"),
            Err(error) => {
                let expected = format!(
                    "{}: may be read or changed by others (mode {mode:03o}): run chmod 600 on it",
                    file.display()
                );
                assert!(!is_taken, "{error}");
                assert_eq!(error.to_string(), expected);
            }
        }
    }
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&file, "\n[users.ann]\n").unwrap();
    let error = Users::read(&file).unwrap_err().to_string();
    assert_eq!(error, format!("{}: line 2: ann has neither a password nor certificates", file.display()));
    let missing = Users::read(&folder.path().join("none")).unwrap_err().to_string();
    assert!(missing.contains("none: cannot be read: "), "{missing}");
    // A pipe would be waited for without end.
    let error = Users::read(folder.path()).unwrap_err().to_string();
    assert_eq!(error, format!("{}: is no file", folder.path().display()));
}
