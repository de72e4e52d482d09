//! nginx and h2o as benchmarks start them: without a log, at one port.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::program::args;
use crate::command::{answer, needed_program};

/// A program, its arguments, and the port unless it tells that itself.
pub(super) type Started = (PathBuf, Vec<OsString>, Option<u16>);

/// The parts of a configuration that differ from one benchmark to another.
#[derive(Default)]
pub(super) struct Configuration {
    /// The connections that there may be at once. Each has its memory before the first comes.
    pub(super) connections: u32,
    /// HTTP/2 is spoken, else HTTP/1.1; h2o speaks both.
    pub(super) is_http2: bool,
    /// The certificate and its key, where there is TLS.
    pub(super) tls: Option<[PathBuf; 2]>,
    /// Directives of nginx beside the server, or lines of h2o at its top.
    pub(super) directives: String,
    /// The locations of the server, or the handler of h2o.
    pub(super) locations: String,
    /// Processes of nginx beside one that starts them; none is one process for all.
    pub(super) workers: Option<usize>,
}

impl Configuration {
    /// Writes the configuration of nginx into a folder, in which it keeps all its files.
    pub(super) fn nginx(&self, folder: &Path, port: u16) -> Result<Started> {
        let file = folder.join(format!("nginx-{port}.conf"));
        fs::write(&file, self.nginx_text(port)?)?;
        let mut all = args(["-e", "stderr", "-p"]);
        all.extend([folder.into(), "-c".into(), file.into()]);
        Ok((needed_program("nginx")?, all, Some(port)))
    }

    /// Writes the configuration of h2o, which has one thread.
    pub(super) fn h2o(&self, folder: &Path, port: u16) -> Result<Started> {
        let file = folder.join(format!("h2o-{port}.conf"));
        fs::write(&file, self.h2o_text(port)?)?;
        Ok((needed_program("h2o")?, args([OsString::from("-c"), file.into()]), Some(port)))
    }

    fn nginx_text(&self, port: u16) -> Result<String> {
        let Self { connections, directives, locations, .. } = self;
        let (listen, tls) = (self.listen(port), self.tls());
        let processes = match self.workers {
            None => "master_process off;".to_owned(),
            Some(workers) => {
                format!("user {}; worker_processes {workers}; worker_rlimit_nofile 18000;", user()?)
            }
        };
        Ok(format!(
            "daemon off;
{processes}
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
        ))
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

    fn h2o_text(&self, port: u16) -> Result<String> {
        let Self { directives, locations, .. } = self;
        let tls = match &self.tls {
            None => String::new(),
            Some(files) => {
                let [certificate, key] = files.each_ref().map(|file| file.display());
                format!(
                    "  ssl:\n    certificate-file: {certificate}\n    key-file: {key}\n    ocsp-update-interval: 0\n"
                )
            }
        };
        Ok(format!(
            "user: {}\nnum-threads: 1\n{directives}listen:\n  host: 127.0.0.1\n  port: {port}\n{tls}hosts:\n  default:\n    \
             paths:\n      /:\n{locations}",
            user()?
        ))
    }
}

fn user() -> Result<String> {
    let user = answer(Command::new("id").arg("-un")).context("`id` says who we are")?;
    Ok(user.trim().to_owned())
}

/// The handler of h2o for the files of a site, which it keeps open.
pub(super) fn h2o_files(site: &Path) -> String {
    format!("        file.dir: {}\n", site.display())
}

/// The location of nginx that answers from memory.
pub(super) fn nginx_memory(path: &str, content: &str) -> String {
    format!("location {path} {{ default_type text/plain; return 200 \"{content}\"; }}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configuration(is_http2: bool, tls: Option<[PathBuf; 2]>) -> Configuration {
        let (directives, locations) = ("sendfile on;".to_owned(), "location / { root site; }".to_owned());
        Configuration { connections: 7, is_http2, tls, directives, locations, workers: None }
    }

    fn nginx(is_http2: bool, tls: Option<[PathBuf; 2]>) -> String {
        configuration(is_http2, tls).nginx_text(8080).expect("a user")
    }

    fn files() -> Option<[PathBuf; 2]> {
        Some(["certificate.pem", "key.pem"].map(PathBuf::from))
    }

    #[test]
    fn a_configuration_says_where_benchmarks_differ() {
        let text = nginx(false, None);
        for line in [
            "master_process off;",
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
    fn version_and_tls_are_said_where_a_server_listens() {
        assert!(nginx(true, None).contains("listen 127.0.0.1:8080 backlog=65535 http2;"));
        let text = nginx(true, files());
        assert!(text.contains("listen 127.0.0.1:8080 backlog=65535 ssl http2;"), "{text}");
        assert!(text.contains("ssl_certificate certificate.pem; ssl_certificate_key key.pem;"), "{text}");
        let text = configuration(true, files()).h2o_text(8080).expect("a user");
        assert!(text.contains("  port: 8080\n  ssl:\n    certificate-file: certificate.pem\n"), "{text}");
    }
}
