//! Cookies: too many, too long, and for others.

use std::net::{Ipv4Addr, SocketAddr};

use alula::{Client, Jar};
use alula_conformance::attack::ByItself;

use super::site::{Answer, Seen, Site, block_on, builders, send};

/// The number of cookies that come with a response.
const COOKIES: usize = 60;

/// `/?3` sets sixty cookies, others than `/?4` does.
fn flood(seen: &Seen) -> Answer {
    let cookie = |at: usize| format!("c{}-{at}=x", seen.query());
    (0..COOKIES).fold(Answer::new(200), |answer, at| answer.header("set-cookie", cookie(at)))
}

/// A client of each version that finds these hosts at the site, and its jar.
fn visitors(site: &Site, hosts: &[String]) -> [(Client, Jar); 2] {
    let here = SocketAddr::from((Ipv4Addr::LOCALHOST, site.port));
    builders().map(|builder| {
        let jar = Jar::new();
        let builder = hosts.iter().fold(builder, |builder, host| builder.resolve(host, site.port, [here]));
        (builder.cookies(jar.clone()).build().expect("a client"), jar)
    })
}

/// Asks these hosts, one after the other, for what `round` says.
fn visit<'a>(client: &Client, site: &Site, visits: impl IntoIterator<Item = (&'a str, usize)>) {
    block_on(async {
        for (host, round) in visits {
            let url = format!("http://{host}:{}/?{round}", site.port);
            assert_eq!(send(client.get(&url)).await.expect("a response").status().as_u16(), 200);
        }
    });
}

#[test]
fn floods_of_one_site() {
    let site = Site::start(flood);
    let hosts = ["shop.example", "www.shop.example"].map(String::from);
    for (client, jar) in visitors(&site, &hosts) {
        visit(&client, &site, (0..4).map(|round| (&*hosts[round % 2], round)));
        ByItself::check(
            "cookies without end from one site",
            "180 of a site",
            &format!("{} are kept", jar.len()),
        );
    }
}

#[test]
fn floods_of_many_sites() {
    const SITES: usize = 18;
    let site = Site::start(flood);
    let hosts: Vec<_> = (0..SITES).map(|number| format!("shop{number}.example")).collect();
    for (client, jar) in visitors(&site, &hosts) {
        visit(&client, &site, (0..3 * SITES).map(|round| (&*hosts[round % SITES], round)));
        let told = format!("{} are kept", jar.len());
        ByItself::check("cookies without end from many sites", "3000 in all", &told);
    }
}

/// One cookie that is kept and one that is not, as the host says which.
fn refused(attack: &str, bound: &str, host: &str, kept: &str, attacks: &str) {
    let (first, second) = (kept.to_owned(), attacks.to_owned());
    let site =
        Site::start(move |_| Answer::new(200).header("set-cookie", &*first).header("set-cookie", &*second));
    for (client, jar) in visitors(&site, &[host.to_owned()]) {
        visit(&client, &site, [(host, 1), (host, 2)]);
        let seen = site.take_seen();
        let name_and_value = kept.split(';').next().expect("a cookie");
        assert_eq!((jar.len(), &*seen[1].header("cookie")), (1, name_and_value), "{attack}");
        ByItself::check(attack, bound, "it is not kept");
    }
}

#[test]
fn cookies_that_are_not_kept() {
    let kept = format!("a={}", "x".repeat(4095));
    let longer = format!("b={}", "x".repeat(4096));
    refused("a cookie of 4097 bytes", "4096", "shop.example", &kept, &longer);
    let (host, kept) = ("shop.co.uk", "a=1; Domain=shop.co.uk");
    refused("a cookie for a public suffix", "the list of them", host, kept, "b=2; Domain=co.uk");
    refused("a cookie for another domain", "–", host, kept, "b=2; Domain=other.co.uk");
    refused("a cookie that claims to be the host's own", "–", host, kept, "__Host-b=2; Domain=shop.co.uk");
    refused("a cookie for TLS that comes in clear text", "–", host, kept, "b=2; Secure");
}

#[test]
fn secure_cookies_stay() {
    const HOST: &str = "shop.example";
    let site = Site::start(|_| Answer::new(200).header("set-cookie", "id=attacker"));
    for (client, jar) in visitors(&site, &[HOST.to_owned()]) {
        let url = format!("https://{HOST}/");
        jar.add(&url, "id=mine; Secure").expect("it is kept");
        visit(&client, &site, [(HOST, 1)]);
        assert_eq!(jar.cookies_for(&url).expect("a URL").as_deref(), Some("id=mine"));
        ByItself::check("a cookie in clear text in the place of one for TLS", "–", "it is not kept");
    }
}

#[test]
fn secure_cookies_are_not_hidden_by_their_parents() {
    const HOST: &str = "shop.example";
    let site = Site::start(|_| Answer::new(200).header("set-cookie", format!("id=attacker; Domain={HOST}")));
    for (client, jar) in visitors(&site, &[HOST.to_owned()]) {
        let url = format!("https://www.{HOST}/");
        jar.add(&url, "id=mine; Secure").expect("it is kept");
        visit(&client, &site, [(HOST, 1)]);
        assert_eq!(jar.cookies_for(&url).expect("a URL").as_deref(), Some("id=mine"));
        ByItself::check(
            "a cookie in clear text that hides one for TLS of a host below",
            "–",
            "it is not kept",
        );
    }
}
