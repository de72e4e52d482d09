//! The lookup of hosts: restricted to one family, or redirected to another host's addresses.

use std::{io, net::SocketAddr};

use alula::{Resolve, Resolving, SystemResolver};

use url::Host;

use crate::fetch::plan::{Plan, target::Target, zone};
use crate::{
    args::{ConnectTo, ConnectionArgs, Resolved},
    failure::exit::{Exit, Failure},
};

/// The system's resolver with what the flags change about it.
#[derive(Debug)]
pub(in crate::fetch) struct Lookup {
    family: Option<Family>,
    stand_in: Option<StandIn>,
    elsewhere: Vec<ConnectTo>,
    /// The addresses of any host.
    anywhere: Vec<Resolved>,
}

#[derive(Clone, Copy, Debug)]
enum Family {
    V4,
    V6,
}

/// A host that is asked for at another one's addresses: the field `host` that was given, and the host of the
/// URL.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::fetch) struct StandIn {
    pub(in crate::fetch) asked_for: String,
    pub(in crate::fetch) host: String,
    /// The zone of that host, which is an IPv6 address then.
    pub(in crate::fetch) zone: Option<String>,
    pub(in crate::fetch) port: u16,
}

impl Lookup {
    /// Returns `None` if the flags change nothing about looking hosts up.
    pub(in crate::fetch) fn of(args: &ConnectionArgs, plan: &Plan) -> Option<Self> {
        let family = match (args.ipv4, args.ipv6) {
            (true, _) => Some(Family::V4),
            (_, true) => Some(Family::V6),
            _ => None,
        };
        let (stand_in, elsewhere) = (plan.stand_in.clone(), args.connect_to.clone());
        let anywhere = args.resolved().into_iter().filter(|resolved| resolved.host == "*");
        let anywhere: Vec<Resolved> = anywhere.cloned().collect();
        let is_other =
            family.is_some() || stand_in.is_some() || !elsewhere.is_empty() || !anywhere.is_empty();
        is_other.then_some(Self { family, stand_in, elsewhere, anywhere })
    }

    async fn addresses(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        let stand_in = self.stand_in.as_ref().filter(|stand_in| stand_in.asked_for == host);
        let (host, port) = stand_in.map_or((host, port), |stand_in| (&stand_in.host, stand_in.port));
        let elsewhere = self.elsewhere.iter().find(|rule| rule.is_for(host, port));
        let (host, port) = elsewhere.map_or((host, port), |rule| rule.instead_of(host, port));
        let anywhere = self.anywhere.iter().find(|resolved| resolved.port == port);
        let zone = stand_in.filter(|stand_in| stand_in.host == host).and_then(|it| it.zone.as_deref());
        let mut found = match (host.parse(), anywhere, zone) {
            // `--resolve *:PORT` goes before addresses in the URL, too: it is how all traffic is diverted.
            (_, Some(resolved), _) => resolved.addresses.clone(),
            (Ok(_), None, Some(zone)) => SystemResolver.resolve(&format!("{host}%{zone}"), port).await?,
            (Ok(address), None, None) => vec![SocketAddr::new(address, port)],
            (Err(_), None, _) => SystemResolver.resolve(host, port).await?,
        };
        found.retain(|address| match self.family {
            Some(Family::V4) => address.is_ipv4(),
            Some(Family::V6) => address.is_ipv6(),
            None => true,
        });
        match found.is_empty() {
            true => Err(io::Error::new(io::ErrorKind::NotFound, "the host has no address of this family")),
            false => Ok(found),
        }
    }
}

/// Fails when the host of a target is an address of the family that is not wanted: it is not looked up.
pub(in crate::fetch) fn check_family(args: &ConnectionArgs, target: &Target) -> Result<(), Failure> {
    let (family, wanted) = match target.url.host() {
        Some(Host::Ipv4(_)) if args.ipv6 && !args.ipv4 => ("IPv4", "-6"),
        Some(Host::Ipv6(_)) if args.ipv4 => ("IPv6", "-4"),
        _ => return Ok(()),
    };
    let host = target.url.host_str().unwrap_or_default();
    Err(Failure::new(
        Exit::Connect,
        format!("could not connect: {host} is an address of {family}, which {wanted} rules out"),
    ))
}

impl Resolve for Lookup {
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> Resolving<'a> {
        Box::pin(self.addresses(host, port))
    }
}

/// Makes the field `host` that was given the host of the URLs: a request names one (RFC 9112 §3.2), and where
/// it is sent is another matter.
pub(in crate::fetch) fn stand_in(
    fields: &mut Vec<(String, String)>,
    targets: &mut [Target],
) -> Result<Option<StandIn>, Failure> {
    let is_host = |(name, _): &(String, String)| name.eq_ignore_ascii_case("host");
    let Some(place) = fields.iter().position(is_host) else { return Ok(None) };
    let (_, given) = fields.remove(place);
    let usage = |why: &str| Failure::new(Exit::Usage, format_args!("host: {given}: {why}"));
    if given.contains(['/', '?', '#', '@', '\\']) {
        return Err(usage("it is no name of a host"));
    }
    let mut found: Option<StandIn> = None;
    for target in targets {
        let host = target.url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let zone = target.zone.take().map(|zone| zone::name(&zone));
        let port = target.url.port_or_known_default().unwrap_or_default();
        let wanted = Target::of(&format!("{}://{given}", target.url.scheme()), &[])?.url;
        let changed =
            target.url.set_host(wanted.host_str()).is_ok() && target.url.set_port(wanted.port()).is_ok();
        if !changed || !matches!(wanted.host(), Some(url::Host::Domain(_))) {
            return Err(usage("it is no name of a host"));
        }
        let asked_for = wanted.host_str().unwrap_or_default().to_owned();
        let stand_in = StandIn { asked_for, host, zone, port };
        // The client has one resolver and one name for TLS for all of its requests.
        if found.as_ref().is_some_and(|found| *found != stand_in) {
            return Err(usage("it can be that of one server only, and the URLs are those of several"));
        }
        found = Some(stand_in);
    }
    Ok(found)
}
