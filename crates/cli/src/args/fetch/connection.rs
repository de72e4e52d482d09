//! The flags for connections, and for the time that they may take.

use std::{path::PathBuf, time::Duration};

use clap::{ArgAction, Args as ClapArgs, ValueEnum};

use super::agreement::{Groups, Suites, groups, suites_of_tls12, suites_of_tls13};
use crate::args::values::{
    ConnectTo, Fields, Protocols, Rate, Resolved, connect_to, credentials,
    durations::{duration, milliseconds},
    fields, ports, protocols, rate, redirects, resolved,
};

#[derive(ClapArgs, Debug)]
#[command(next_help_heading = "Connection")]
pub(crate) struct ConnectionArgs {
    /// Follow redirects.
    ///
    /// Credentials and cookies of one origin are not sent to another. Content that is not a single file is
    /// held in memory, since it may be sent again.
    #[arg(short = 'L', long, visible_alias = "follow")]
    pub(crate) location: bool,

    /// As -L, and send credentials and cookies to every host that redirects lead to.
    #[arg(long, hide_short_help = true)]
    pub(crate) location_trusted: bool,

    /// With -L, send content that was posted again after a 301.
    #[arg(long, hide_short_help = true)]
    pub(crate) post301: bool,

    /// With -L, send content that was posted again after a 302.
    #[arg(long, hide_short_help = true)]
    pub(crate) post302: bool,

    /// With -L, send content that was posted again after a 303.
    #[arg(long, hide_short_help = true)]
    pub(crate) post303: bool,

    /// With -L, follow so many redirects and fail at the next one; -1 is no limit.
    #[arg(
        long,
        visible_alias = "max-redirects",
        value_name = "COUNT",
        default_value = "50",
        value_parser = redirects,
        allow_hyphen_values = true,
        hide_short_help = true
    )]
    pub(crate) max_redirs: u16,

    /// Ask URLs of these protocols only: `=https`, or `-http` to take one away.
    #[arg(long, value_name = "PROTOCOLS", value_parser = protocols, allow_hyphen_values = true, hide_short_help = true)]
    pub(crate) proto: Option<Protocols>,

    /// With -L, follow redirects to these protocols only, of those that --proto allows.
    #[arg(long, value_name = "PROTOCOLS", value_parser = protocols, allow_hyphen_values = true, hide_short_help = true)]
    pub(crate) proto_redir: Option<Protocols>,

    /// Send the request again up to so many times after failures that may pass; 0 unless given.
    ///
    /// These are failures to connect, and for methods that are idempotent cut connections and 408, 429, 500,
    /// 502, 503 and 504, as `retry-after` says and after growing waits. -m bounds all tries together;
    /// --retry-max-time says when the last one may begin. Content is held as with -L.
    ///
    /// A download to a file that breaks off is asked for again by a range (`if-range`) where a strong etag or
    /// date names it; any other is cut back and written anew. Content that went to stdout is not asked for
    /// again.
    #[arg(long, value_name = "COUNT", default_value_t = 0, hide_default_value = true)]
    pub(crate) retry: u32,

    /// Wait about so many seconds before each retry, in place of growing waits; 0 keeps those.
    #[arg(long, value_name = "SECONDS", value_parser = duration, requires = "retry", hide_short_help = true)]
    pub(crate) retry_delay: Option<Duration>,

    /// Connect to these addresses where this host and port are asked for; may be given often.
    ///
    /// `*` is any host. `-HOST:PORT` forgets what was said of them before.
    #[arg(long, value_name = "HOST:PORT:ADDRESS[,ADDRESS]", value_parser = resolved, allow_hyphen_values = true, hide_short_help = true)]
    pub(crate) resolve: Vec<Resolved>,

    /// Connect to the second host and port where the first ones are asked for; may be given often.
    ///
    /// The request and the name that TLS is for stay as they are. A first part that is empty is any, a second
    /// one the one that is asked for. The first that fits counts.
    #[arg(long, value_name = "HOST:PORT:HOST:PORT", value_parser = connect_to, hide_short_help = true)]
    pub(crate) connect_to: Vec<ConnectTo>,

    /// Connect to IPv4 addresses only.
    #[arg(short = '4', long, overrides_with = "ipv6", hide_short_help = true)]
    pub(crate) ipv4: bool,

    /// Connect to IPv6 addresses only.
    #[arg(short = '6', long, hide_short_help = true)]
    pub(crate) ipv6: bool,

    /// Connect to this Unix socket, whatever the URL names.
    #[cfg(unix)]
    #[arg(long, value_name = "PATH", hide_short_help = true)]
    pub(crate) unix_socket: Option<PathBuf>,

    /// Probe a connection after so many seconds of silence; 15 unless given, and for 0.
    #[arg(long, value_name = "SECONDS", value_parser = duration, hide_short_help = true)]
    pub(crate) keepalive_time: Option<Duration>,

    /// Send no probes on silent connections.
    #[arg(long, hide_short_help = true)]
    pub(crate) no_keepalive: bool,

    /// Try the next address of a host when the one before has not connected for so long.
    #[arg(long, value_name = "MILLISECONDS", value_parser = milliseconds, hide_short_help = true)]
    pub(crate) happy_eyeballs_timeout_ms: Option<Duration>,

    /// Connect from this network interface, address or host name.
    ///
    /// `if!` before it says that it is an interface, `host!` that it is a host.
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub(crate) interface: Option<String>,

    /// Connect from a port of this range, FIRST-LAST, or from this one.
    #[arg(long, value_name = "PORTS", value_parser = ports, hide_short_help = true)]
    pub(crate) local_port: Option<(u16, u16)>,

    /// Use this proxy.
    ///
    /// It is http://, https://, socks5:// or socks5h://, and http:// without a scheme. `NAME:PASSWORD@`
    /// before the host is for it. `http:` or `https:` before the whole is the scheme of the URLs that it is
    /// for (`http:http://HOST`). Without the flag http_proxy, https_proxy, all_proxy and no_proxy count; an
    /// empty proxy is none.
    #[arg(short = 'x', long, value_name = "URL")]
    pub(crate) proxy: Option<String>,

    /// Go through this SOCKS 5 proxy, and look hosts up here; as -x socks5://HOST.
    #[arg(long, value_name = "HOST[:PORT]", overrides_with_all = ["proxy", "socks5_hostname"], hide_short_help = true)]
    pub(crate) socks5: Option<String>,

    /// Go through this SOCKS 5 proxy, which looks hosts up; as -x socks5h://HOST.
    #[arg(long, value_name = "HOST[:PORT]", overrides_with = "proxy", hide_short_help = true)]
    pub(crate) socks5_hostname: Option<String>,

    /// Send this field to the proxy, as `name: value`, where it is asked for a tunnel.
    ///
    /// It goes with requests as well that the proxy sends on, which are those to http:// URLs. `@FILE` has
    /// fields, one on each line.
    #[arg(long, value_name = "FIELD", value_parser = fields, hide_short_help = true)]
    pub(crate) proxy_header: Vec<Fields>,

    /// Send name and password to the proxy.
    #[arg(short = 'U', long, value_name = "NAME:PASSWORD", value_parser = credentials, hide_short_help = true)]
    pub(crate) proxy_user: Option<(String, String)>,

    /// Go through no proxy to these hosts, domains and networks, between commas; `*` is all of them.
    ///
    /// It is for the proxy of -x, and without that for those of the environment, in place of its no_proxy.
    #[arg(long, value_name = "HOSTS", hide_short_help = true)]
    pub(crate) noproxy: Option<String>,

    /// Trust the certificates in this PEM file.
    ///
    /// The platform's certificates are not trusted then, unless by --ca-native.
    #[arg(long, value_name = "FILE")]
    pub(crate) cacert: Option<PathBuf>,

    /// Trust the certificates in the PEM files of this folder, as --cacert.
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub(crate) capath: Option<PathBuf>,

    /// Trust the platform's certificates beside those of --cacert and --capath.
    #[arg(long, hide_short_help = true)]
    pub(crate) ca_native: bool,

    /// Trust no certificate that a list in this PEM file revokes.
    ///
    /// Each authority between the server and the one that is trusted has to have its list there.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) crlfile: Option<PathBuf>,

    /// Trust a server only if its certificate has this public key.
    ///
    /// The key is `sha256//` and the hash of it in base64, several with `;` between them, or a file with it
    /// (PEM or DER). It is checked with -k as well.
    #[arg(long, value_name = "HASHES|FILE", hide_short_help = true)]
    pub(crate) pinnedpubkey: Option<String>,

    /// Trust any certificate.
    ///
    /// Anyone on the way can then read and change the exchange.
    #[arg(short = 'k', long)]
    pub(crate) insecure: bool,

    /// Show this certificate to a server that asks for one.
    ///
    /// The file has it with its chain (PEM unless --cert-type says otherwise). `:PASSWORD` may follow.
    #[arg(short = 'E', long, value_name = "FILE", hide_short_help = true)]
    pub(crate) cert: Option<PathBuf>,

    /// Read the certificate in this form; P12 has the key as well.
    #[arg(long, value_name = "TYPE", ignore_case = true, requires = "cert", hide_short_help = true)]
    pub(crate) cert_type: Option<CertType>,

    /// Read the private key in this form, PEM or DER.
    #[arg(long, value_name = "TYPE", ignore_case = true, requires = "cert", hide_short_help = true)]
    pub(crate) key_type: Option<CertType>,

    /// Decrypt the private key by this password.
    #[arg(long, value_name = "PASSWORD", requires = "cert", hide_short_help = true)]
    pub(crate) pass: Option<String>,

    /// The private key of the certificate (PEM); in the same file unless given.
    #[arg(long, visible_alias = "cert-key", value_name = "FILE", requires = "cert", hide_short_help = true)]
    pub(crate) key: Option<PathBuf>,

    /// With TLS 1.2, offer these cipher suites only, with `:` between them, the best first.
    #[arg(long, value_name = "SUITES", value_parser = suites_of_tls12, hide_short_help = true)]
    pub(crate) ciphers: Option<Suites>,

    /// With TLS 1.3, offer these cipher suites only, with `:` between them, the best first.
    #[arg(long = "tls13-ciphers", value_name = "SUITES", value_parser = suites_of_tls13, hide_short_help = true)]
    pub(crate) tls13_ciphers: Option<Suites>,

    /// Agree on keys by these groups only, with `:` between them, the best first.
    #[arg(long, value_name = "GROUPS", value_parser = groups, hide_short_help = true)]
    pub(crate) curves: Option<Groups>,

    /// Speak TLS 1.3 only; 1.2 is spoken too unless given.
    #[arg(long = "tlsv1.3", hide_short_help = true)]
    pub(crate) tls13: bool,

    /// Speak no later version of TLS than this one: 1.2 or 1.3.
    #[arg(long, value_name = "VERSION", value_parser = ["1.2", "1.3", "default"], hide_short_help = true)]
    pub(crate) tls_max: Option<String>,

    /// Speak TLS 1.2 or later; this is what is done without the flag.
    #[arg(short = '1', long = "tlsv1.2", aliases = ["tlsv1", "tlsv1.0", "tlsv1.1"], hide = true, action = ArgAction::SetTrue)]
    pub(crate) tls12: bool,

    /// Give up after so many seconds, all tries included.
    ///
    /// A fraction is fine, so is a unit (500ms, 2m, 1h), and 0 is no limit. It counts for each URL, all tries
    /// and redirects included, and for the first one what it takes to read stdin, where all of that is read
    /// before.
    #[arg(short, long, value_name = "SECONDS", value_parser = duration)]
    pub(crate) max_time: Option<Duration>,

    /// Give up when a connection takes longer than this to open, TLS included; 10 unless given, and 0 is no
    /// limit.
    #[arg(long, value_name = "SECONDS", value_parser = duration, hide_short_help = true)]
    pub(crate) connect_timeout: Option<Duration>,

    /// Receive content no faster than so many bytes a second; `k`, `M` and `G` may follow the number.
    #[arg(long, value_name = "SPEED", value_parser = rate, hide_short_help = true)]
    pub(crate) limit_rate: Option<Rate>,

    /// Speak HTTP/1.1 only.
    #[arg(long = "http1.1", overrides_with_all = ["http2", "http2_prior_knowledge"])]
    pub(crate) http1_1: bool,

    /// Speak HTTP/2 where the server agrees to it over TLS, else HTTP/1.1. This is what is done without the
    /// flag.
    #[arg(long, hide_short_help = true, overrides_with = "http2_prior_knowledge")]
    pub(crate) http2: bool,

    /// Speak HTTP/2 only, in clear text too.
    ///
    /// Over TLS nothing else is offered, and in clear text it is spoken without asking first (RFC 9113 §3.3).
    #[arg(long)]
    pub(crate) http2_prior_knowledge: bool,
}

/// The formats of files with certificates and keys.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum CertType {
    /// Text, RFC 7468.
    Pem,
    /// Bytes.
    Der,
    /// PKCS #12, RFC 7292.
    P12,
}

impl ConnectionArgs {
    /// Returns the addresses of --resolve, the latest first.
    pub(crate) fn resolved(&self) -> Vec<&Resolved> {
        let mut all: Vec<&Resolved> = Vec::new();
        for given in &self.resolve {
            all.retain(|known| !(known.host.eq_ignore_ascii_case(&given.host) && known.port == given.port));
            all.insert(0, given);
        }
        all.retain(|known| !known.addresses.is_empty());
        all
    }

    /// Returns true if there is an HTTP proxy.
    pub(crate) fn names_http_proxy(&self) -> bool {
        self.proxy.as_ref().is_some_and(|proxy| !proxy.is_empty() && !proxy.starts_with("socks"))
    }

    /// Returns true if redirects are followed.
    pub(crate) fn follows(&self) -> bool {
        self.location || self.location_trusted
    }
}
