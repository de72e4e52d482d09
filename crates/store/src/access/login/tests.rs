use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use alula::FieldSection;
use base64::Engine as _;
use tokio::sync::mpsc;

use super::*;
use crate::access::{Users, hash_password};

const PASSWORD: &str = "open sesame";

type Finishing = Pin<Box<dyn Future<Output = Result<Identity, Refusal>>>>;

/// A store's access with one thread for hashes, which does nothing until it is let go on.
struct Held {
    access: Access,
    go_on: mpsc::Sender<()>,
}

impl Held {
    /// Lets peers log in rightly, and then blocks the thread.
    async fn after(right: &[(&str, &str)]) -> Self {
        let hash = hash_password(PASSWORD.as_bytes()).expect("random bytes");
        let text: String =
            ["ann", "bob"].map(|name| format!("[users.{name}]\npassword = '{hash}'\n")).concat();
        let access = Access::on_threads(1, Users::parse(&text).expect("users")).expect("random bytes");
        for (peer, name) in right {
            assert!(begin(&access, peer, name, PASSWORD).await.is_ok(), "{name} of {peer}");
        }
        let (go_on, mut gate) = mpsc::channel(1);
        let hashing = access.0.hashing.clone();
        let asker = access.asker("nobody", peer("198.51.100.1"));
        let hold = async move { hashing.run(asker, 1, move || gate.blocking_recv()).await };
        let mut held = Box::pin(hold);
        assert!(poll(held.as_mut()).is_pending());
        tokio::spawn(held);
        Self { access, go_on }
    }

    /// Fills all places with those who send a wrong password for a name of their own.
    fn flood(&self, peer: impl Fn(usize) -> String) -> Vec<Finishing> {
        let wait = |number| {
            let mut one = begin(&self.access, &peer(number), &format!("n{number}"), "wrong");
            assert!(poll(one.as_mut()).is_pending(), "number {number} finds a place");
            one
        };
        (0..20).map(wait).collect()
    }

    /// Returns the outcome of a login that comes last, once the thread goes on.
    async fn last(&self, flood: Vec<Finishing>, peer: &str, name: &str) -> Result<Arc<str>, Refusal> {
        let mut login = begin(&self.access, peer, name, PASSWORD);
        if let Poll::Ready(done) = poll(login.as_mut()) {
            return done.map(|user| user.name().clone());
        }
        // It has its place. Others of the flood, who may share a slot of a table, would not go on by
        // themselves.
        drop(flood);
        let _ = self.go_on.try_send(());
        login.await.map(|user| user.name().clone())
    }
}

fn address(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

fn peer(text: &str) -> Prefixes {
    Prefixes::of(address(text))
}

fn begin(access: &Access, peer: &str, name: &str, password: &str) -> Finishing {
    let coded = base64::engine::general_purpose::STANDARD.encode(format!("{name}:{password}"));
    let mut headers = FieldSection::new();
    headers.append("authorization", &format!("Basic {coded}")).expect("a field");
    let login = access.login(Credentials::read(&headers).expect("credentials"), address(peer));
    Box::pin(async move { login?.finish().await })
}

fn poll<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// A flood of peers that nobody has seen before, each of another network and for another name, shuts nobody
/// out whose peer was right before.
#[tokio::test]
async fn peers_that_were_right_come_first() {
    let (known, same) = ("2001:db8:0:7::1", "2001:db8:0:7:ffff::2");
    for (before, peer) in [("192.0.2.1", "192.0.2.1"), (known, same)] {
        let held = Held::after(&[(before, "ann")]).await;
        let flood = held.flood(|number| format!("10.{number}.0.1"));
        assert_eq!(held.last(flood, peer, "bob").await.as_deref(), Ok("bob"), "{peer}");
    }
}

/// Their own mistakes do not put known peers behind unknown ones.
#[tokio::test]
async fn peers_that_were_right_may_be_wrong() {
    let held = Held::after(&[("192.0.2.1", "ann")]).await;
    (0..3).for_each(|_| held.access.note(peer("192.0.2.1"), false));
    let flood = held.flood(|number| format!("10.{number}.0.1"));
    assert_eq!(held.last(flood, "192.0.2.1", "bob").await.as_deref(), Ok("bob"));
}

/// A network has no more places in a flood because it has many addresses.
#[tokio::test]
async fn networks_that_were_wrong_come_last() {
    let held = Held::after(&[]).await;
    for number in 0..20 {
        held.access.note(peer(&format!("10.{number}.0.1")), false);
        held.access.note(peer(&format!("10.{number}.0.1")), false);
    }
    let flood = held.flood(|number| format!("10.{number}.0.{}", 2 + number));
    assert_eq!(held.last(flood, "192.0.2.1", "bob").await.as_deref(), Ok("bob"));
}

/// A peer with one mistyped password comes before networks that have sent many.
#[tokio::test]
async fn one_mistake_weighs_less_than_many() {
    let held = Held::after(&[]).await;
    held.access.note(peer("192.0.2.1"), false);
    for number in 0..20 {
        (0..4).for_each(|host| held.access.note(peer(&format!("10.{number}.0.{host}")), false));
    }
    let flood = held.flood(|number| format!("10.{number}.0.99"));
    assert_eq!(held.last(flood, "192.0.2.1", "bob").await.as_deref(), Ok("bob"));
}

/// Names do not decide which login is dropped, but that one name has one place before others have their next:
/// a refusal tells nothing of users.
#[tokio::test]
async fn names_of_users_and_of_nobody_fare_alike() {
    for name in ["bob", "nobody"] {
        let held = Held::after(&[("192.0.2.1", "ann")]).await;
        let flood = held.flood(|number| format!("10.{number}.0.1"));
        assert_eq!(held.last(flood, "192.0.2.9", name).await.err(), Some(Refusal::Crowded), "{name}");
    }
}

/// A reload gives nobody requests beyond their rate, and one that was let in before it counts as well.
#[tokio::test(start_paused = true)]
async fn a_reload_goes_on_with_rates() {
    let [hash, other] =
        [PASSWORD, "another"].map(|text| hash_password(text.as_bytes()).expect("random bytes"));
    let users = |hash: &str, burst: u32, rest: &str| {
        let text =
            format!("[users.ann]\npassword = '{hash}'\nrequests-per-second = 1\nburst = {burst}\n{rest}");
        Users::parse(&text).expect("users")
    };
    let access = Access::on_threads(1, users(&hash, 4, "")).expect("random bytes");
    let before = begin(&access, "192.0.2.1", "ann", PASSWORD).await.expect("ann");
    assert_eq!(before.count(&access), Ok(()));
    access.replace(users(&hash, 4, &format!("groups = []\n[users.bob]\npassword = '{hash}'\n"))).unwrap();
    let after = begin(&access, "192.0.2.1", "ann", PASSWORD).await.expect("ann");
    assert_eq!([after.count(&access), before.count(&access)], [Ok(()); 2]);
    access.replace(users(&other, 4, "")).unwrap();
    let renewed = begin(&access, "192.0.2.1", "ann", "another").await.expect("ann");
    assert_eq!(renewed.count(&access), Ok(()));
    let wait = Err(Refusal::TooMany(std::time::Duration::from_secs(1)));
    assert_eq!([&before, &after, &renewed].map(|user| user.count(&access)), [wait; 3]);
    // Another rate is counted from the reload on.
    access.replace(users(&other, 2, "")).unwrap();
    let slower = begin(&access, "192.0.2.1", "ann", "another").await.expect("ann");
    assert_eq!([slower.count(&access), slower.count(&access), slower.count(&access)], [Ok(()), Ok(()), wait]);
}
