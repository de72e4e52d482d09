//! nginx as benchmarks start it: one process without a log, which listens at one port.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use anyhow::Result;

use super::program::args;
use crate::command::needed_program;

/// The parts of a configuration that differ from one benchmark to another.
pub(super) struct Configuration {
    /// The connections that there may be at once. Each has its memory before the first comes.
    pub(super) connections: u32,
    /// HTTP/2 is spoken, else HTTP/1.1.
    pub(super) is_http2: bool,
    /// The certificate and its key, where there is TLS.
    pub(super) tls: Option<[PathBuf; 2]>,
    /// Directives beside the server.
    pub(super) directives: String,
    /// The locations of the server.
    pub(super) locations: String,
}

impl Configuration {
    /// Writes the configuration into the folder, in which nginx keeps all its files; returns the program and its arguments.
    pub(super) fn command(&self, folder: &Path, port: u16) -> Result<(PathBuf, Vec<OsString>)> {
        let file = folder.join(format!("nginx-{port}.conf"));
        fs::write(&file, self.text(port))?;
        let mut all = args(["-e", "stderr", "-p"]);
        all.extend([folder.into(), "-c".into(), file.into()]);
        Ok((needed_program("nginx")?, all))
    }

    fn text(&self, port: u16) -> String {
        let Self { connections, directives, locations, .. } = self;
        let (listen, tls) = (self.listen(port), self.tls());
        format!(
            "daemon off;
master_process off;
pid nginx-{port}.pid;
error_log stderr;
events {{ worker_connections {connections}; }}
http {{
    access_log off;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    keepalive_requests 1000000000;
    {directives}
    server {{
        {listen}
        {tls}
        {locations}
    }}
}}
"
        )
    }

    fn listen(&self, port: u16) -> String {
        let ssl = if self.tls.is_some() { " ssl" } else { "" };
        let http2 = if self.is_http2 { " http2" } else { "" };
        format!("listen 127.0.0.1:{port} backlog=65535{ssl}{http2};")
    }

    fn tls(&self) -> String {
        let Some(files) = &self.tls else { return String::new() };
        let [certificate, key] = files.each_ref().map(|file| file.display());
        format!("ssl_certificate {certificate}; ssl_certificate_key {key}; ssl_protocols TLSv1.3;")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configuration(is_http2: bool, tls: Option<[PathBuf; 2]>) -> String {
        let (directives, locations) = ("sendfile on;".to_owned(), "location / { root site; }".to_owned());
        Configuration { connections: 7, is_http2, tls, directives, locations }.text(8080)
    }

    #[test]
    fn a_configuration_says_what_differs() {
        let text = configuration(false, None);
        for line in [
            "pid nginx-8080.pid;",
            "events { worker_connections 7; }",
            "    sendfile on;",
            "        listen 127.0.0.1:8080 backlog=65535;",
            "        location / { root site; }",
        ] {
            assert!(text.lines().any(|other| other == line), "{line} in {text}");
        }
        assert!(!text.contains("ssl"), "{text}");
    }

    #[test]
    fn version_and_tls_are_said_where_it_listens() {
        let files = || Some(["certificate.pem", "key.pem"].map(PathBuf::from));
        assert!(configuration(true, None).contains("listen 127.0.0.1:8080 backlog=65535 http2;"));
        assert!(configuration(false, files()).contains("listen 127.0.0.1:8080 backlog=65535 ssl;"));
        let text = configuration(true, files());
        assert!(text.contains("listen 127.0.0.1:8080 backlog=65535 ssl http2;"), "{text}");
        assert!(text.contains("ssl_certificate certificate.pem; ssl_certificate_key key.pem;"), "{text}");
    }
}
