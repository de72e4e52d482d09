use std::{
    pin::pin,
    task::{Context, Waker},
};

use super::*;

fn table_of(connections_max: u32, handshakes: u32) -> (Arc<Connections>, Arc<Ledger>) {
    let limits =
        Limits { connections_max: Some(connections_max), handshakes: Some(handshakes), ..Limits::default() };
    let ledger = Arc::new(Ledger::new(&limits));
    (Connections::new(&limits, ledger.clone()), ledger)
}

fn enter(connections: &Arc<Connections>, host: u8) -> Registration {
    connections.enter(([10, 0, host, 1], 1).into())
}

fn leaves(registration: &mut Registration) -> bool {
    registration.poll_asked(&mut Context::from_waker(Waker::noop())).leaves()
}

#[tokio::test]
async fn the_oldest_handshake_of_the_heaviest_address_is_asked_to_leave() {
    let (connections, _) = table_of(100, 3);
    let mut honest = enter(&connections, 1);
    let mut flood = [enter(&connections, 2), enter(&connections, 2)];
    let mut more = enter(&connections, 2);
    assert!(leaves(&mut flood[0]));
    assert!(!leaves(&mut honest) && !leaves(&mut flood[1]) && !leaves(&mut more));
    drop(flood);
    let _another = enter(&connections, 2);
    assert!(!leaves(&mut honest) && !leaves(&mut more), "two have left");
}

#[tokio::test]
async fn a_handshake_that_ends_meanwhile_stays() {
    let (connections, ledger) = table_of(100, 1);
    let mut first = enter(&connections, 1);
    let mut second = enter(&connections, 1);
    assert!(leaves(&mut first) && !leaves(&mut second));
    let done = first.unless_asked_to_leave(pin!(async { "done" })).await;
    assert_eq!((done, ledger.count("HANDSHAKES")), (Some("done"), 0));
    first.handshake_ends();
    assert!(!leaves(&mut first));
    let mut never = pin!(std::future::pending::<()>());
    let gone = second.unless_asked_to_leave(never.as_mut());
    let third = enter(&connections, 1);
    assert_eq!((gone.await, ledger.count("HANDSHAKES")), (None, 1));
    drop(third);
    assert_eq!(connections.table().handshakes, 0);
}

#[tokio::test(start_paused = true)]
async fn the_longest_idle_connection_makes_room() {
    let (connections, _) = table_of(3, 3);
    let mut all = [enter(&connections, 1), enter(&connections, 1), enter(&connections, 1)];
    all.iter().for_each(Registration::handshake_ends);
    assert!(!connections.make_room() && all.iter_mut().all(|one| !leaves(one)), "none is idle");
    all[1].observer().idle();
    tokio::time::advance(Duration::from_millis(1)).await;
    all[0].observer().idle();
    assert!(!connections.make_room());
    assert!(leaves(&mut all[1]) && !leaves(&mut all[0]));
    let [first, second, third] = all;
    let (room, ()) = tokio::join!(connections.room_for_one(), async { drop(second) });
    assert_eq!(room, ());
    drop((first, third));
    assert!(connections.table().rows.is_empty());
}

#[tokio::test]
async fn one_that_is_used_again_stays() {
    let (connections, _) = table_of(1, 1);
    let mut one = enter(&connections, 1);
    one.handshake_ends();
    one.observer().idle();
    one.observer().busy();
    assert!(!connections.make_room() && !leaves(&mut one));
    one.observer().idle();
    assert!(!connections.make_room() && leaves(&mut one));
    one.stays();
    assert!(!leaves(&mut one));
}

#[tokio::test]
async fn those_who_come_after_the_stop_hear_of_it() {
    let (connections, _) = table_of(9, 9);
    let mut before = enter(&connections, 1);
    connections.stop();
    let mut after = enter(&connections, 1);
    let cx = &mut Context::from_waker(Waker::noop());
    assert!(before.poll_asked(cx).stops() && after.poll_asked(cx).stops());
}
