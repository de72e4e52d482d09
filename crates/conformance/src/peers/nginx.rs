//! nginx, as a single process with a configuration of its own.

use std::path::Path;
use std::process::Command;

use super::Origin;
use crate::certificates::Certificates;
use crate::ports;
use crate::program::Program;
use crate::site::Site;

/// Serves the site; nginx keeps its own files in a folder beside the site's.
///
/// # Panics
/// When nginx is not there or does not listen.
#[must_use]
pub fn start(site: &Site, certificates: &Certificates) -> Origin {
    start_with(site, certificates, "")
}

/// As [`start`], with more directives for the server.
///
/// # Panics
/// As [`start`].
#[must_use]
pub fn start_with(site: &Site, certificates: &Certificates, directives: &str) -> Origin {
    let (clear, tls) = (ports::free(), ports::free());
    let prefix = site.folder().join(".nginx");
    std::fs::create_dir_all(&prefix).expect("a folder can be made");
    let configuration = prefix.join("nginx.conf");
    let text = text(site.folder().path(), certificates, clear, tls, directives);
    std::fs::write(&configuration, text).expect("a file can be written");

    let mut command = Command::new(program());
    command.arg("-p").arg(&prefix).arg("-c").arg(&configuration).args(["-e", "stderr"]);
    let mut program = Program::start(&mut command);
    program.wait_for_port(clear);
    program.wait_for_port(tls);
    Origin::of("nginx", clear, tls, vec![program])
}

/// Debian keeps it where an ordinary user's `PATH` does not look.
fn program() -> &'static str {
    const DEBIAN: &str = "/usr/sbin/nginx";
    if Path::new(DEBIAN).is_file() { DEBIAN } else { "nginx" }
}

fn text(root: &Path, certificates: &Certificates, clear: u16, tls: u16, directives: &str) -> String {
    let (certificate, key) = (certificates.certificate(), certificates.key());
    format!(
        "daemon off;
        master_process off;
        pid nginx.pid;
        error_log stderr;
        events {{ worker_connections 256; }}
        http {{
            access_log off;
            client_body_temp_path body;
            proxy_temp_path proxy;
            fastcgi_temp_path fastcgi;
            uwsgi_temp_path uwsgi;
            scgi_temp_path scgi;
            server {{
                listen 127.0.0.1:{clear} http2;
                listen 127.0.0.1:{tls} ssl http2;
                ssl_certificate {certificate};
                ssl_certificate_key {key};
                root {root};
                {directives}
            }}
        }}",
        certificate = certificate.display(),
        key = key.display(),
        root = root.display(),
    )
}
