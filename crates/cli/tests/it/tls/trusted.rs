//! Servers that the command trusts and does not, with curl beside it where it is installed.

use std::process::Command;

use crate::support::beside::{both, strings};
use crate::support::{Echo, Folder, run};
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, IsCa, Issuer, KeyIdMethod, KeyPair,
    KeyUsagePurpose, RevocationReason, RevokedCertParams, SerialNumber, date_time_ymd,
};

/// A server with a certificate of an authority of its own, and the files that are made around them.
struct Site {
    folder: Folder,
    echo: Echo,
}

impl Site {
    fn new(test: &str) -> Self {
        let folder = Folder::new(test);
        let authority_key = KeyPair::generate().unwrap();
        let mut authority = CertificateParams::new(Vec::new()).unwrap();
        authority.distinguished_name.push(rcgen::DnType::CommonName, "authority");
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        folder.write("ca.pem", authority.self_signed(&authority_key).unwrap().pem());
        let issuer = Issuer::new(authority, authority_key);
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
        params.serial_number = Some(SerialNumber::from(7));
        folder.write("cert.pem", params.signed_by(&key, &issuer).unwrap().pem());
        folder.write("key.pem", key.serialize_pem());
        folder.write("public.pem", key.public_key_pem());
        folder.write("public.der", rcgen::PublicKeyData::subject_public_key_info(&key));
        folder.write("other.pem", KeyPair::generate().unwrap().public_key_pem());
        for (name, serial) in [("revoked.pem", 7), ("others.pem", 8)] {
            folder.write(name, revocations(serial, &issuer));
        }
        let (cert, key) = (folder.path("cert.pem"), folder.path("key.pem"));
        let echo = Echo::start(&["--cert", &cert, "--key", &key]);
        Self { folder, echo }
    }

    /// The exit codes of these words, `DIR` in them standing for the folder.
    #[track_caller]
    fn expect(&self, words: &[&str], code: i32) {
        let folder = self.folder.path("");
        let url = self.echo.https.as_deref().unwrap();
        for ended in both(|| {
            let words = words.iter().map(|word| word.replace("DIR/", &folder));
            words.chain(strings(&["-o", "/dev/null", url])).collect()
        }) {
            assert_eq!(ended.code, Some(code), "{words:?}: {}", ended.stderr);
        }
    }
}

/// A list of revoked certificates with this one in it.
fn revocations(serial: u64, issuer: &Issuer<'_, KeyPair>) -> String {
    let revoked = RevokedCertParams {
        serial_number: SerialNumber::from(serial),
        revocation_time: date_time_ymd(2024, 1, 1),
        reason_code: Some(RevocationReason::KeyCompromise),
        invalidity_date: None,
    };
    let list = CertificateRevocationListParams {
        this_update: date_time_ymd(2024, 1, 1),
        next_update: date_time_ymd(4000, 1, 1),
        crl_number: SerialNumber::from(1),
        issuing_distribution_point: None,
        revoked_certs: vec![revoked],
        key_identifier_method: KeyIdMethod::Sha256,
    };
    list.signed_by(issuer).unwrap().pem().unwrap()
}

#[test]
fn certificates_are_trusted_as_the_flags_say() {
    let site = Site::new("trusted");
    for (words, code) in [
        (&["--cacert", "DIR/ca.pem"][..], 0),
        (&["--cacert", "DIR/ca.pem", "--ca-native"], 0),
        (&["--cacert", "DIR/other-ca.pem"], 60),
        (&["--cacert", "DIR/ca.pem", "--crlfile", "DIR/others.pem"], 0),
        (&["--cacert", "DIR/ca.pem", "--crlfile", "DIR/revoked.pem"], 60),
        (&["--cacert", "DIR/ca.pem", "--crlfile", "DIR/key.pem"], 82),
        (&["--cacert", "DIR/ca.pem", "--tls-max", "1.2"], 0),
        (&["--cacert", "DIR/ca.pem", "--tlsv1.2", "--tls-max", "1.3"], 0),
        (&["--cacert", "DIR/ca.pem", "--tlsv1.3"], 0),
        (&["--cacert", "DIR/ca.pem", "--pinnedpubkey", "DIR/public.pem"], 0),
        (&["--cacert", "DIR/ca.pem", "--pinnedpubkey", "DIR/public.der"], 0),
        (&["--cacert", "DIR/ca.pem", "--pinnedpubkey", "DIR/other.pem"], 90),
        (&["-k", "--pinnedpubkey", "DIR/public.pem"], 0),
        (&["-k", "--pinnedpubkey", "DIR/other.pem"], 90),
        (&["-k", "--pinnedpubkey", "sha256//AAAA;sha256//BBBB"], 90),
        (&["--pinnedpubkey", "DIR/public.pem"], 60),
    ] {
        if !words.contains(&"--ca-native") {
            site.folder.write(
                "other-ca.pem",
                rcgen::generate_simple_self_signed(["a".to_owned()]).unwrap().cert.pem(),
            );
            site.expect(words, code);
        }
    }
    let url = site.echo.https.as_deref().unwrap();
    let folder = site.folder.path("");
    let said = |words: &[&str], code: i32| run(&[&["get", url], words].concat()).expect(code).stderr;
    let (ca, none) = (site.folder.path("ca.pem"), Folder::new("trusted-none"));
    said(&["--capath", &folder], 0);
    said(&["--capath", &none.path("")], 2);
    said(&["--cacert", &ca, "--ca-native"], 0);
    said(&["--ca-native"], 4);
    said(&["--pinnedpubkey", "sha256//?"], 2);
    said(&["--tlsv1.3", "--tls-max", "1.2"], 2);
    assert!(said(&["-k", "--pinnedpubkey", &site.folder.path("other.pem")], 4).contains("--pinnedpubkey"));
    let revoked = said(&["--cacert", &ca, "--crlfile", &site.folder.path("revoked.pem")], 4);
    assert!(revoked.contains("revoked"), "{revoked}");
}

#[test]
fn a_pin_is_what_openssl_makes_of_a_key() {
    let site = Site::new("pin");
    let der = site.folder.path("public.der");
    let script = format!("openssl dgst -sha256 -binary {der} | openssl base64");
    let Ok(output) = Command::new("sh").args(["-c", &script]).output() else { return };
    if output.stdout.is_empty() {
        return;
    }
    let pin = format!("sha256//{}", String::from_utf8_lossy(&output.stdout).trim());
    site.expect(&["-k", "--pinnedpubkey", &pin], 0);
    site.expect(&["-k", "--pinnedpubkey", &format!("sha256//AAAA;{pin}")], 0);
}

/// The URL of a server that answers whoever shows a certificate of the authority.
fn wanting(site: &Site) -> String {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;
    use std::sync::Arc;

    use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _};

    let ca = site.folder.read("ca.pem");
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(&ca).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let verifier =
        rustls::server::WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone());
    let config = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let chain = vec![CertificateDer::from_pem_slice(&site.folder.read("cert.pem")).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(&site.folder.read("key.pem")).unwrap();
    let config = config.unwrap().with_client_cert_verifier(verifier.build().unwrap());
    let config = Arc::new(config.with_single_cert(chain, key).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut session = rustls::ServerConnection::new(config).unwrap();
        let mut stream = rustls::Stream::new(&mut session, &mut socket);
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\nfine";
        // A socket that is closed with bytes unread is reset.
        let _ =
            stream.read(&mut [0; 4096]).and_then(|_| stream.write_all(answer)).and_then(|()| stream.flush());
        while stream.sock.read(&mut [0; 4096]).is_ok_and(|bytes| bytes > 0) {}
    });
    url
}

#[test]
fn certificates_are_shown_in_any_form() {
    let site = Site::new("shown");
    let folder = site.folder.path("");
    let script = "openssl pkcs8 -topk8 -in key.pem -out locked.pem -passout pass:secret && \
                  openssl pkcs8 -topk8 -nocrypt -in key.pem -outform DER -out key.der && \
                  openssl x509 -in cert.pem -outform DER -out cert.der && \
                  openssl pkcs12 -export -in cert.pem -inkey key.pem -out all.p12 -passout pass:secret && \
                  cat cert.pem locked.pem > both.pem";
    let made = Command::new("sh").args(["-c", script]).current_dir(&folder).output().unwrap();
    if !made.status.success() {
        return;
    }
    for (words, code) in [
        (&["-E", "DIR/cert.pem", "--key", "DIR/key.pem"][..], 0),
        (&["-E", "DIR/cert.pem", "--key", "DIR/locked.pem", "--pass", "secret"], 0),
        (&["-E", "DIR/both.pem:secret"], 0),
        (&["-E", "DIR/both.pem", "--pass", "wrong"], 58),
        (&["-E", "DIR/cert.der", "--cert-type", "DER", "--key", "DIR/key.der", "--key-type", "DER"], 0),
        (&["-E", "DIR/all.p12", "--cert-type", "P12", "--pass", "secret"], 0),
        (&["-E", "DIR/all.p12:secret", "--cert-type", "p12"], 0),
        (&["-E", "DIR/all.p12:wrong", "--cert-type", "P12"], 58),
        (&["-E", "DIR/cert.pem", "--cert-type", "P12"], 58),
    ] {
        for ended in both(|| {
            let url = wanting(&site);
            let words = words.iter().map(|word| word.replace("DIR/", &folder));
            words.chain(strings(&["--cacert", &site.folder.path("ca.pem"), &url])).collect()
        }) {
            assert_eq!(ended.code, Some(code), "{words:?}: {}", ended.stderr);
            assert!(code != 0 || ended.text() == "fine", "{words:?}");
        }
    }
    let locked = site.folder.path("locked.pem");
    let asked = run(&["get", "https://127.0.0.1:1/", "-E", &locked]).expect(2);
    assert!(asked.stderr.contains("--pass gives the password"), "{}", asked.stderr);
}

/// Files as programs write them that are older than OpenSSL 3, or told to. The first of two codes is that of
/// this program.
#[test]
fn files_of_other_programs_are_read() {
    let site = Site::new("other-programs");
    let folder = site.folder.path("");
    let in_pkcs12 = |flags: &str| {
        format!(
            "openssl pkcs12 -export -in cert.pem -inkey key.pem -passout pass:secret -out made.p12 {flags}"
        )
    };
    let in_pkcs8 = |flags: &str| {
        format!(
            "openssl pkcs8 -topk8 -in key.pem -passout pass:secret {flags} > made.key && cat cert.pem made.key > made.pem"
        )
    };
    let triple_des = "-certpbe PBE-SHA1-3DES -keypbe PBE-SHA1-3DES -macalg sha1";
    let p12 = ["-E", "DIR/made.p12:secret", "--cert-type", "P12"];
    let pem = ["-E", "DIR/made.pem:secret"];
    for (script, words, codes) in [
        (in_pkcs12(triple_des), &p12[..], [58, 0]),
        (in_pkcs12("-certpbe NONE -keypbe NONE"), &p12, [0, 0]),
        (in_pkcs12("-macalg sha512 -iter 5000"), &p12, [0, 0]),
        (in_pkcs12(triple_des), &["-E", "DIR/made.p12:wrong", "--cert-type", "P12"], [58, 58]),
        (in_pkcs12("-nomac"), &p12, [0, 58]),
        (in_pkcs12("-legacy"), &p12, [58, 58]),
        (in_pkcs12("-legacy -keypbe PBE-SHA1-RC4-128"), &p12, [58, 58]),
        (in_pkcs8("-v2 des3"), &pem, [58, 0]),
        (in_pkcs8("-v2 aes128 -v2prf hmacWithSHA1"), &pem, [0, 0]),
        (in_pkcs8("-scrypt"), &pem, [58, 0]),
    ] {
        let made = Command::new("sh").args(["-c", &script]).current_dir(&folder).output().unwrap();
        if !made.status.success() {
            continue;
        }
        let all = both(|| {
            let words = words.iter().map(|word| word.replace("DIR/", &folder));
            words.chain(strings(&["--cacert", &site.folder.path("ca.pem"), &wanting(&site)])).collect()
        });
        for (ended, code) in all.zip(codes) {
            assert_eq!(ended.code, Some(code), "{script}: {}", ended.stderr);
        }
    }
}

/// Each failure names the files, and curl has one code for all.
#[test]
fn certificates_of_ours_that_cannot_be_used_are_named() {
    let site = Site::new("unusable");
    let folder = site.folder.path("");
    let garbage = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    site.folder.write("garbage.pem", garbage);
    site.folder.write("empty.pem", "");
    site.folder.write("key.der", KeyPair::generate().unwrap().serialize_der());
    site.folder.write("stranger.pem", KeyPair::generate().unwrap().serialize_pem());
    site.folder.write("old.pem", "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n");
    let url = site.echo.https.as_deref().unwrap();
    let words = |certificate: &str, key: &str| {
        let [certificate, key] = [certificate, key].map(|name| format!("{folder}{name}"));
        strings(&["-k", "-E", &certificate, "--key", &key, "--pass", "x", url])
    };
    for (certificate, key, why) in [
        ("cert.pem", "stranger.pem", "the private key does not belong to the certificate"),
        ("cert.pem", "key.der", "the private key is DER, and PEM is wanted"),
        ("cert.pem", "empty.pem", "the text is empty, where a PEM private key is wanted"),
        ("cert.pem", "cert.pem", "the text holds no PEM private key"),
        ("empty.pem", "key.pem", "the text is empty, where a PEM certificate is wanted"),
        ("garbage.pem", "key.pem", "the PEM text holds a certificate that cannot be read: is it complete?"),
    ] {
        for (place, ended) in both(|| words(certificate, key)).enumerate() {
            assert_eq!(ended.code, Some(58), "{certificate} {key}: {}", ended.stderr);
            let said = format!("alula: {folder}{certificate}: with the key in {folder}{key}: {why}\n");
            assert!(place > 0 || ended.stderr == said, "{}", ended.stderr);
        }
    }
    let ended = both(|| words("key.pem", "key.pem")).next().unwrap();
    let said = "key.pem: it holds no certificate in PEM but a private key, which --key takes\n";
    assert!(ended.code == Some(58) && ended.stderr.ends_with(said), "{}", ended.stderr);
    let old = run(&[
        "get",
        "https://127.0.0.1:1/",
        "-E",
        &site.folder.path("cert.pem"),
        "--key",
        &site.folder.path("old.pem"),
    ]);
    assert!(old.expect(2).stderr.contains("openssl pkcs8 -topk8 writes it anew"));
}
