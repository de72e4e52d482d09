//! Trust in servers by the flags: hands the files that they name to the library.

use std::{fs, io, path::Path};

use alula::{Client, ClientBuilder, Error};
use aws_lc_rs::digest::{SHA256, digest};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use rustls::pki_types::{SubjectPublicKeyInfoDer, pem::PemObject as _};

use crate::{
    args::ConnectionArgs,
    failure::exit::{Exit, Failure},
};

/// curl's exit codes for a file of certificates, one of revoked ones, a pinned key, and an untrusted server.
const CACERT: u8 = 77;
const CRL: u8 = 82;
const PIN: u8 = 90;
const UNTRUSTED: u8 = 60;

/// Applies the trust flags to a client.
pub(in crate::fetch) fn trusting(
    builder: ClientBuilder,
    args: &ConnectionArgs,
) -> Result<ClientBuilder, Failure> {
    let builder = if args.insecure { builder.trust_anything() } else { rooted(builder, args)? };
    let builder = match &args.crlfile {
        Some(path) => builder.add_crls_pem(&read(path, CRL)?).map_err(unusable(path, CRL))?,
        None => builder,
    };
    match &args.pinnedpubkey {
        Some(given) => Ok(builder.pin_public_keys(pins(given)?)),
        None => Ok(builder),
    }
}

fn rooted(mut builder: ClientBuilder, args: &ConnectionArgs) -> Result<ClientBuilder, Failure> {
    let has_roots = args.cacert.is_some() || args.capath.is_some();
    let has_platform = !has_roots || args.ca_native;
    builder = builder.platform_roots(has_platform);
    if let Some(path) = &args.cacert {
        builder = builder.add_roots_pem(&read(path, CACERT)?).map_err(unusable(path, CACERT))?;
    }
    if let Some(folder) = &args.capath {
        match in_folder(folder) {
            Ok(found) if !found.is_empty() => {
                builder = builder.add_roots_pem(&found).map_err(unusable(folder, CACERT))?;
            }
            // curl takes a folder that is not there for an empty one.
            _ if args.cacert.is_some() || has_platform => {}
            Ok(_) => {
                let why = format!("{}: no file of it holds a certificate to trust", folder.display());
                return Err(Failure::new(Exit::Usage, why).curl(UNTRUSTED));
            }
            Err(error) => return Err(Failure::local(folder.display(), &error).curl(UNTRUSTED)),
        }
    }
    Ok(builder)
}

/// Returns the texts of the files in a folder that hold certificates. A file that cannot be read holds none.
fn in_folder(folder: &Path) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder)? {
        let text = fs::read(entry?.path()).unwrap_or_default();
        // Folders of roots hold links, lists of revoked certificates and READMEs as well.
        if Client::builder().add_roots_pem(&text).is_ok() {
            all.extend(text);
            all.push(b'\n');
        }
    }
    Ok(all)
}

fn read(path: &Path, curl: u8) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| Failure::local(path.display(), &error).curl(curl))
}

/// Returns the failure of a file that the library refuses.
fn unusable(path: &Path, curl: u8) -> impl Fn(Error) -> Failure {
    move |error| Failure::new(Exit::Usage, format!("{}: {error}", path.display())).curl(curl)
}

/// Returns the hashes of `sha256//…;sha256//…`, or the hash of the key in a file. One that is no hash is left
/// out, and matches no key.
fn pins(given: &str) -> Result<Vec<[u8; 32]>, Failure> {
    if !given.starts_with("sha256//") {
        let text = read(Path::new(given), PIN)?;
        let key = SubjectPublicKeyInfoDer::from_pem_slice(&text).map_or(text, |key| key.to_vec());
        return Ok(digest(&SHA256, &key).as_ref().try_into().into_iter().collect());
    }
    let pin = |text: &str| STANDARD.decode(text.strip_prefix("sha256//")?).ok();
    let pins: Option<Vec<Vec<u8>>> = given.split(';').map(pin).collect();
    let pins = pins.ok_or_else(|| {
        Failure::new(Exit::Usage, "--pinnedpubkey is written as sha256//BASE64, or as a file").curl(PIN)
    })?;
    Ok(pins.into_iter().filter_map(|pin| pin.try_into().ok()).collect())
}
