//! The trusted root certificates, as `-v` describes them.

use std::{env, path::PathBuf, sync::LazyLock};

use crate::args::ConnectionArgs;

/// The variables that replace the system's folders of certificates.
const FROM_ENVIRONMENT: [&str; 2] = ["SSL_CERT_FILE", "SSL_CERT_DIR"];

/// The trusted certificates, by the places that the flags name.
#[derive(Clone, Debug, Default)]
pub(in crate::fetch) struct Roots {
    file: Option<PathBuf>,
    folder: Option<PathBuf>,
    has_platform: bool,
    is_anything_trusted: bool,
}

impl Roots {
    pub(in crate::fetch) fn of(args: &ConnectionArgs) -> Self {
        let (file, folder) = (args.cacert.clone(), args.capath.clone());
        // A file or folder of roots takes the place of the platform's, as with curl.
        let has_platform = args.ca_native || (file.is_none() && folder.is_none());
        Self { file, folder, has_platform, is_anything_trusted: args.insecure }
    }

    /// Returns lines about the trusted certificates; none if no certificate is checked.
    pub(in crate::fetch) fn lines(&self) -> Vec<String> {
        if self.is_anything_trusted {
            return Vec::new();
        }
        let named = [("CAfile", &self.file), ("CApath", &self.folder)];
        let named = named.into_iter().filter_map(|(word, path)| Some((word, path.as_ref()?)));
        let named = named.map(|(word, path)| format!(" {word}: {}", path.display()));
        named.chain(self.has_platform.then(|| PLATFORM.clone())).collect()
    }

    /// Returns the line about a successful check.
    pub(in crate::fetch) const fn verdict(&self) -> &'static str {
        match self.is_anything_trusted {
            true => " SSL certificate not verified (-k)",
            false => " SSL certificate verify ok.",
        }
    }
}

/// The line about the platform's certificates, which are read and counted once, if it is needed.
static PLATFORM: LazyLock<String> = LazyLock::new(|| {
    let places = FROM_ENVIRONMENT.map(|name| (name, env::var_os(name)));
    let places = places.iter().filter_map(|(name, place)| Some((name, place.as_ref()?)));
    let places: Vec<String> = places.map(|(name, place)| format!("{name} is {}", place.display())).collect();
    platform(rustls_native_certs::load_native_certs().certs.len(), &places)
});

fn platform(count: usize, places: &[String]) -> String {
    match places {
        [] => format!(" CAs of the system: {count}"),
        places => format!(" CAs of the environment: {count} ({})", places.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificates_are_named_by_where_they_are() {
        assert_eq!(platform(142, &[]), " CAs of the system: 142");
        let places = ["SSL_CERT_FILE is a".to_owned(), "SSL_CERT_DIR is b".to_owned()];
        assert_eq!(
            platform(1, &places),
            " CAs of the environment: 1 (SSL_CERT_FILE is a, SSL_CERT_DIR is b)"
        );
        let roots = Roots { file: Some("a.pem".into()), folder: Some("b".into()), ..Roots::default() };
        assert_eq!(roots.lines(), [" CAfile: a.pem", " CApath: b"]);
        let roots = Roots { is_anything_trusted: true, has_platform: true, ..roots };
        assert!(roots.lines().is_empty(), "nothing is checked");
    }
}
