//! The client that the flags describe.

use std::time::Duration;

use alula::{Client, ClientBuilder, Jar, Limits, Proxy, Retries, h2};

use super::{
    following::Following,
    lookup::Lookup,
    near_end,
    tries::{TRANSIENT, Tries},
};
use crate::fetch::{
    plan::Plan,
    tell::{frames, watch::Watch},
    tls::{identity, trust},
};
use crate::{
    args::{ConnectionArgs, Options, Resolved, Suites},
    failure::exit::{Exit, Failure},
};

/// The receive window of the only stream: 64 MiB/s over a path of 32 ms.
const WINDOW_BYTES: u32 = 2 * 1024 * 1024;

/// The client for all requests of a run.
pub(in crate::fetch) fn client(
    options: &Options,
    plan: &Plan,
    jar: Option<&Jar>,
    watch: Option<&Watch>,
) -> Result<Client, Failure> {
    Ok(builder(options, plan, jar, watch)?.build()?)
}

/// The same before it is built.
pub(in crate::fetch) fn builder(
    options: &Options,
    plan: &Plan,
    jar: Option<&Jar>,
    watch: Option<&Watch>,
) -> Result<ClientBuilder, Failure> {
    let args = &options.connection;
    let limits = limits(options);
    // Names are shown as they are spelled.
    let mut builder = Client::builder().no_user_agent().limits(limits).http1_keep_spelling(true);
    // Other clients take such values, and nothing is passed on here.
    builder = builder.http2_leniency(h2::Leniency { spaced_values: true });
    // None at all is the first one refused, not the first one shown.
    builder = builder.redirects(if args.follows() { args.max_redirs.max(1) } else { 0 });
    builder = builder.redirects_with_credentials(args.location_trusted);
    builder = builder.redirects_with_referer(options.request.has_referer_of_redirects());
    builder = builder.decompress(options.request.compressed);
    if args.retry > 0 && !Tries::are_meant(options, &plan.method) {
        builder = builder.retries(retries(args));
    }
    if args.http1_1 {
        builder = builder.http1_only();
    }
    if args.http2_prior_knowledge {
        builder = builder.http2_only();
    }
    builder = builder.timing(options.output.timing || options.output.write_out.is_some());
    if let Some(watch) = watch {
        let following = Following::of(options, plan);
        builder = builder.on_redirect(move |redirect| following.follow(redirect));
        builder = watched(builder, watch, options.output.verbose > 1);
    }
    if let Some(jar) = jar {
        builder = builder.cookies(jar.clone());
    }
    if let Some(lookup) = Lookup::of(args, plan) {
        builder = builder.resolver(lookup);
    }
    if let Some(stand_in) = &plan.stand_in {
        builder = builder.server_name(&stand_in.host)?;
    }
    builder = near_end::of(builder, args)?;
    builder = proxied(reaching(bounded(builder, options), args), args)?;
    secured(builder, args)
}

/// The limits, of which a flag moves those of heads.
fn limits(options: &Options) -> Limits {
    let bytes = options.transfer.max_header_size;
    Limits {
        stream_window: WINDOW_BYTES,
        head_bytes: bytes,
        field_section_bytes: bytes,
        string_bytes: bytes,
        // As many as are usual in a head of a megabyte.
        fields: FIELDS_MIN.max((u64::from(bytes) * u64::from(FIELDS_MIN) / (1 << 20)) as u32),
        // Four times as many as such a head fills.
        continuation_frames: CONTINUATIONS_MIN.max(bytes / (4 * 1024)),
        ..Limits::client()
    }
}

/// The fields that a head may have at least.
const FIELDS_MIN: u32 = 5000;

/// The CONTINUATION frames that a head may have at least.
const CONTINUATIONS_MIN: u32 = 8;

/// Shows frames of HTTP/2, if they are to be seen.
fn watched(builder: ClientBuilder, watch: &Watch, prints_frames: bool) -> ClientBuilder {
    let trace = watch.trace();
    if trace.is_none() && !prints_frames {
        return builder;
    }
    builder.on_frame(move |frame| {
        if prints_frames {
            frames::print(frame);
        }
        if let Some(trace) = &trace {
            trace.frame(frame);
        }
    })
}

/// Returns the rules for `--retry`: statuses that curl calls transient, and the library's waits unless one
/// is given.
fn retries(args: &ConnectionArgs) -> Retries {
    let retries = Retries::new(args.retry.saturating_add(1)).statuses(TRANSIENT);
    match args.retry_delay.filter(|delay| !delay.is_zero()) {
        Some(delay) => retries.backoff(delay, delay),
        None => retries,
    }
}

/// Bounds the time to connect, until the head comes, and between pieces of content.
fn bounded(mut builder: ClientBuilder, options: &Options) -> ClientBuilder {
    if let Some(after) = options.httpie.timeout() {
        builder = builder.connect_timeout(after).head_timeout(after).read_timeout(after);
    }
    if options.httpie.waits_without_bound() {
        builder = builder.connect_timeout(Duration::MAX);
    }
    let args = &options.connection;
    builder = match (args.no_keepalive, args.keepalive_time) {
        (true, _) => builder.tcp_keep_alive(None),
        (false, Some(after)) if !after.is_zero() => builder.tcp_keep_alive(Some(after)),
        (false, _) => builder,
    };
    if let Some(delay) = args.happy_eyeballs_timeout_ms {
        builder = builder.attempt_delay(delay);
    }
    match options.connection.connect_timeout {
        Some(after) if after.is_zero() => builder.connect_timeout(Duration::MAX),
        Some(after) => builder.connect_timeout(after),
        None => builder,
    }
}

/// Sets the addresses or the socket by which servers are reached.
fn reaching(mut builder: ClientBuilder, args: &ConnectionArgs) -> ClientBuilder {
    for Resolved { host, port, addresses } in args.resolved() {
        builder = builder.resolve(host, *port, addresses.iter().copied());
    }
    #[cfg(unix)]
    if let Some(path) = &args.unix_socket {
        builder = builder.unix_socket(path);
    }
    builder
}

/// Sets the proxy of the flags; without one, the environment names it.
fn proxied(builder: ClientBuilder, args: &ConnectionArgs) -> Result<ClientBuilder, Failure> {
    let given = proxy_url(args);
    if given.is_none() && args.proxy_user.is_some() {
        return Err(Failure::new(Exit::Usage, "-U goes with -x, --socks5 or --socks5-hostname"));
    }
    match (given.as_deref(), args.noproxy.as_deref()) {
        // An empty -x turns the proxy of the environment off, as with curl.
        (_, Some("*")) | (Some(""), _) => Ok(builder.no_proxy()),
        (Some(url), except) => {
            let mut proxy = proxy(url)?.except(except.unwrap_or_default());
            if let Some((name, password)) = &args.proxy_user {
                proxy = proxy.credentials(name, password)?;
            }
            for field in args.proxy_header.iter().flat_map(|fields| &fields.0) {
                proxy = proxy.connect_header(&field.name, field.value.as_deref().unwrap_or_default())?;
            }
            Ok(builder.proxy(proxy))
        }
        (None, Some(except)) => Ok(builder.no_proxy_for(except)),
        (None, None) => Ok(builder),
    }
}

/// The URL of the proxy that the flags name.
fn proxy_url(args: &ConnectionArgs) -> Option<String> {
    let socks = args.socks5.as_ref().map(|host| format!("socks5://{host}"));
    let socks = socks.or_else(|| args.socks5_hostname.as_ref().map(|host| format!("socks5h://{host}")));
    args.proxy.clone().or(socks)
}

/// A proxy as curl has it, or behind the scheme that it is for, as HTTPie has it: `http:http://HOST`.
fn proxy(typed: &str) -> Result<Proxy, Failure> {
    let (scheme, url) = match typed.split_once(':') {
        // `http://HOST` itself has a colon: only a second scheme makes the first one a choice.
        Some((scheme @ ("http" | "https" | "all"), url)) if url.contains("://") => (scheme, url),
        _ => ("all", typed),
    };
    let local = url.strip_prefix(':').map(|port| format!("localhost:{port}"));
    let url = local.as_deref().unwrap_or(url);
    Ok(match scheme {
        "http" => Proxy::http(url)?,
        "https" => Proxy::https(url)?,
        _ => Proxy::all(url)?,
    })
}

/// The settings of TLS: the servers that are trusted, our certificate, and the versions.
fn secured(mut builder: ClientBuilder, args: &ConnectionArgs) -> Result<ClientBuilder, Failure> {
    builder = trust::trusting(builder, args)?;
    builder = identity::showing(builder, args)?;
    if args.ciphers.is_some() || args.tls13_ciphers.is_some() {
        let suites = Suites::offered(args.ciphers.as_ref(), args.tls13_ciphers.as_ref());
        builder = builder.cipher_suites(suites);
    }
    if let Some(groups) = &args.curves {
        builder = builder.key_agreement_groups(groups.0.iter().copied());
    }
    let is_tls12_last = args.tls_max.as_deref() == Some("1.2");
    match (args.tls13, is_tls12_last) {
        (true, true) => {
            return Err(
                Failure::new(Exit::Usage, "--tlsv1.3 and --tls-max 1.2 leave no version of TLS").curl(35)
            );
        }
        (true, false) => builder = builder.tls13_only(),
        (false, true) => builder = builder.tls12_only(),
        (false, false) => {}
    }
    Ok(builder.key_log_from_environment())
}
