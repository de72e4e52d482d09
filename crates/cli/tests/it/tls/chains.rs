//! A server below an authority between it and the root: what of the chain, of files and of folders is
//! trusted, with curl beside it.

use crate::support::beside::{both, strings};
use crate::support::{Echo, Folder, alula, run};
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, CertifiedIssuer, DnType, IsCa,
    KeyIdMethod, KeyPair, KeyUsagePurpose, RevokedCertParams, SerialNumber, date_time_ymd,
};

type Authority = CertifiedIssuer<'static, KeyPair>;

const MIDDLE: u64 = 5;
const LEAF: u64 = 7;

fn authority(name: &str) -> CertificateParams {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

/// An authority below the root that has this certificate until the year; each of a name has the same key.
fn middle(root: &Authority, key: &KeyPair, until: i32) -> rcgen::Certificate {
    let mut params = authority("middle");
    params.serial_number = Some(SerialNumber::from(MIDDLE));
    params.not_after = date_time_ymd(until, 1, 1);
    params.signed_by(key, root).unwrap()
}

fn list(issuer: &rcgen::Issuer<'_, KeyPair>, revoked: u64, until: i32) -> String {
    let revoked = RevokedCertParams {
        serial_number: SerialNumber::from(revoked),
        revocation_time: date_time_ymd(2024, 1, 1),
        reason_code: None,
        invalidity_date: None,
    };
    let list = CertificateRevocationListParams {
        this_update: date_time_ymd(2024, 1, 1),
        next_update: date_time_ymd(until, 1, 1),
        crl_number: SerialNumber::from(1),
        issuing_distribution_point: None,
        revoked_certs: vec![revoked],
        key_identifier_method: KeyIdMethod::Sha256,
    };
    list.signed_by(issuer).unwrap().pem().unwrap()
}

/// Two servers, whose chains differ in the authority between, and the files around them.
struct Site {
    folder: Folder,
    valid: Echo,
    expired: Echo,
}

impl Site {
    fn new(test: &str) -> Self {
        let folder = Folder::new(test);
        let root_key = KeyPair::generate().unwrap();
        folder.write("root.key", root_key.public_key_pem());
        let root = CertifiedIssuer::self_signed(authority("root"), root_key).unwrap();
        let (middle_key, key) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
        let (valid, expired) = (middle(&root, &middle_key, 4000), middle(&root, &middle_key, 2024));
        folder.write("middle.key", middle_key.public_key_pem());
        let below = rcgen::Issuer::new(authority("middle"), middle_key);
        let mut params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
        params.serial_number = Some(SerialNumber::from(LEAF));
        let leaf = params.signed_by(&key, &below).unwrap().pem();
        folder.write("leaf.pem", &leaf);
        folder.write("middle.pem", valid.pem());
        folder.write("expired.pem", expired.pem());
        folder.write("leaf.key", key.public_key_pem());
        write_roots(&folder, &root);
        for (name, root_revokes, middle_revokes, until) in [
            ("fine.crl", 1, 1, 4000),
            ("leaf.crl", 1, LEAF, 4000),
            ("middle.crl", MIDDLE, 1, 4000),
            ("old.crl", 1, 1, 2025),
        ] {
            folder.write(name, list(&root, root_revokes, 4000) + &list(&below, middle_revokes, until));
        }
        folder.write("half.crl", list(&below, 1, 4000));
        let forger = rcgen::Issuer::new(authority("middle"), KeyPair::generate().unwrap());
        folder.write("forged.crl", list(&root, 1, 4000) + &list(&forger, 1, 4000));
        let key = folder.write("server.key", key.serialize_pem());
        let serve = |name: &str, middle: rcgen::Certificate| {
            let chain = folder.write(name, leaf.clone() + &middle.pem());
            Echo::start(&["--cert", &chain, "--key", &key])
        };
        let (valid, expired) = (serve("chain.pem", valid), serve("chain-expired.pem", expired));
        Self { folder, valid, expired }
    }

    /// Both programs end so with these words, in which `DIR` stands for the folder.
    #[track_caller]
    fn expect(&self, echo: &Echo, words: &[&str], code: [i32; 2]) {
        let folder = self.folder.path("");
        let words: Vec<String> = words.iter().map(|word| word.replace("DIR/", &folder)).collect();
        let url = echo.https.as_deref().unwrap();
        let all = both(|| [&words[..], &strings(&["-o", "/dev/null", url])].concat());
        for (ended, code) in all.zip(code) {
            assert_eq!(ended.code, Some(code), "{words:?}: {}", ended.stderr);
        }
    }
}

/// The root in the forms in which files have it, and files that have none.
fn write_roots(folder: &Folder, root: &Authority) {
    let pem = root.pem().replace("\r\n", "\n");
    let garbage = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    folder.write("root.pem", &pem);
    folder.write("crlf.pem", pem.replace('\n', "\r\n"));
    folder.write("text.pem", format!("Certificate:\n    Data: -----\n{pem}"));
    folder.write("root.der", root.der());
    folder.write("empty.pem", "");
    folder.write("cut.pem", &pem[..pem.len() / 2]);
    folder.write("garbage.pem", pem.clone() + garbage);
    folder.write("garbage.crl", garbage.replace("CERTIFICATE", "X509 CRL"));
}

/// The first of two codes is that of this program.
#[test]
fn chains_files_and_folders_are_trusted_as_by_curl() {
    let site = Site::new("chains");
    let (trusting, none) = (["--cacert", "DIR/root.pem"], Folder::new("chains-none"));
    for (words, code) in [
        (&["--crlfile", "DIR/fine.crl"][..], 0),
        (&["--crlfile", "DIR/leaf.crl"], 60),
        (&["--crlfile", "DIR/middle.crl"], 60),
        (&["--crlfile", "DIR/half.crl"], 60),
        (&["--crlfile", "DIR/old.crl"], 60),
        (&["--crlfile", "DIR/forged.crl"], 60),
        (&["--crlfile", "DIR/garbage.crl"], 82),
        (&["--crlfile", "DIR/empty.pem"], 82),
        (&["--crlfile", "DIR/root.der"], 82),
        (&["--crlfile", "DIR/missing"], 82),
        (&["-k", "--crlfile", "DIR/leaf.crl"], 0),
        (&["-k", "--crlfile", "DIR/missing"], 82),
        (&["--pinnedpubkey", "DIR/leaf.key"], 0),
        (&["--pinnedpubkey", "DIR/middle.key"], 90),
        (&["--pinnedpubkey", "DIR/root.key"], 90),
        (&["--pinnedpubkey", "DIR/leaf.pem"], 90),
        (&["--pinnedpubkey", "DIR/empty.pem"], 90),
        (&["--pinnedpubkey", "DIR/missing"], 90),
        (&["--pinnedpubkey", "sha256//"], 90),
        (&["--pinnedpubkey", "sha256//AAAA;"], 90),
    ] {
        site.expect(&site.valid, &[&trusting, words].concat(), [code; 2]);
    }
    for (file, code) in [
        ("root.pem", 0),
        ("crlf.pem", 0),
        ("text.pem", 0),
        ("middle.pem", 0),
        ("leaf.pem", 0),
        ("root.der", 77),
        ("empty.pem", 77),
        ("cut.pem", 77),
        ("garbage.pem", 77),
        ("leaf.key", 77),
        ("missing", 77),
        ("", 77),
    ] {
        site.expect(&site.valid, &["--cacert", &format!("DIR/{file}")], [code; 2]);
        site.expect(&site.valid, &["-k", "--cacert", &format!("DIR/{file}")], [0; 2]);
    }
    site.expect(&site.expired, &["--cacert", "DIR/root.pem"], [60; 2]);
    site.expect(&site.expired, &["--cacert", "DIR/expired.pem"], [0, 60]);
    site.expect(&site.valid, &["--cacert", "DIR/root.pem", "--capath", "DIR/missing"], [0; 2]);
    site.expect(&site.valid, &["-k", "--capath", "DIR/missing"], [0; 2]);
    // curl looks for a file by the name that OpenSSL gives to its authority.
    for folder in [&none.path(""), "DIR/missing", "DIR/root.pem"] {
        site.expect(&site.valid, &["--capath", folder], [60; 2]);
    }
}

#[test]
fn it_is_said_what_is_wrong_with_a_file() {
    let site = Site::new("chains-said");
    let url = site.valid.https.as_deref().unwrap();
    for (flag, file, why) in [
        ("--cacert", "empty.pem", "the text is empty, where a PEM certificate is wanted"),
        ("--cacert", "root.der", "the certificate is DER, and PEM is wanted"),
        ("--cacert", "leaf.key", "the text holds no PEM certificate"),
        ("--cacert", "cut.pem", "a certificate that cannot be read: is it complete?"),
        ("--cacert", "", "is a directory"),
        ("--capath", "root.pem", "not a directory"),
        ("--crlfile", "empty.pem", "the text is empty, where a PEM list of revoked certificates is wanted"),
        ("--crlfile", "root.pem", "the text holds no PEM list of revoked certificates (X509 CRL)"),
        ("--crlfile", "garbage.crl", "a list of revoked certificates that cannot be read: is it complete?"),
    ] {
        let path = site.folder.path(file);
        let ended = run(&["get", url, flag, &path]);
        let begins = format!("alula: {path}: ");
        assert!(ended.stderr.starts_with(&begins) && ended.stderr.contains(why), "{flag} {file}: {ended:?}");
    }
}

/// Small systems have no certificates until a package of them is installed.
#[test]
fn a_platform_without_certificates_is_told() {
    let mut command = alula(&["get", "--exit-codes=curl", "https://127.0.0.1:1/"]);
    let output = command.env("SSL_CERT_FILE", "/dev/null").env_remove("SSL_CERT_DIR").output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    let why = "the platform has no root to trust, and none was added (use --cacert FILE to trust a CA)";
    assert_eq!((output.status.code(), stderr), (Some(60), format!("alula: {why}\n")));
}
