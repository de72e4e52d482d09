//! The books of the pools, compared with their connections whenever nothing is left to do before the clock
//! goes on; and whether anybody waits on a connection for nothing.
//!
//! Rule: a look changes nothing in a pool.

use std::cell::RefCell;
use std::sync::{Arc, Weak};

use alula::Version;
use alula_net::simulation::{has_lost_waiter, rest};
use alula_net::{Conn, ConnectionPool, PoolBooks};

use super::{log::lock, world::World};

thread_local! {
    static WORLD: RefCell<Weak<World>> = const { RefCell::new(Weak::new()) };
}

/// Makes this thread's [`check`] look at the pools of this world.
pub(super) fn watch(world: &Arc<World>) {
    WORLD.set(Arc::downgrade(world));
}

/// Looks at all connections, and at all pools of HTTP/1.1, when the runtime of this thread has nothing to do.
pub(super) fn check() {
    let Some(world) = WORLD.with_borrow(Weak::upgrade) else { return };
    world.count_step();
    check_waiters(&world);
    if world.setting.version == Version::Http1 {
        (0..world.setting.clients.len() as u32).for_each(|client| check_client(&world, client));
    }
}

/// No caller and no handler waits on a stream that is gone: whoever resets a stream wakes both of its halves.
fn check_waiters(world: &World) {
    let ends = world.wires.cables().into_iter().flat_map(|cable| lock(&cable.users).clone());
    if ends.filter_map(|end| end.upgrade()).any(|conn| has_lost_waiter(&conn)) {
        world.log.find_once("somebody waits on a stream that is gone".to_owned());
    }
}

fn check_client(world: &World, client: u32) {
    let Some(pool) = pool_of(world, client) else { return };
    let books = pool.books();
    let setting = world.setting.clients[client as usize].pool;
    let has_stalled = lock(&world.stalled).get(&client).is_some_and(|count| *count > 0);
    let is_too_idle = books.waiting == 0 && books.free.len() > setting.idle_max;
    let wrong = [
        ("more are open than may be", books.open > setting.connections_max),
        ("fewer are counted than are open", books.open < books.members.len()),
        ("more idle than may", !has_stalled && is_too_idle),
        ("one is free twice", has_twins(&books.free)),
        ("one is free that is not open", !books.free.iter().all(|free| is_in(free, &books.members))),
        ("one is free that has ended", books.free.iter().any(|conn| rest(conn).has_ended)),
        ("one is lost that is free", !has_stalled && is_one_lost(&books)),
        ("a caller waits while one is free", !has_stalled && books.waiting > 0 && !books.free.is_empty()),
        (
            "a caller waits while there is room",
            !has_stalled && waits_in_vain(&books, setting.connections_max),
        ),
    ];
    for (what, _) in wrong.into_iter().filter(|(_, is_wrong)| *is_wrong) {
        world.log.find_once(format!("the pool of client {client}: {what}"));
    }
}

/// The pool of a client, once it has had a connection.
fn pool_of(world: &World, client: u32) -> Option<Arc<dyn ConnectionPool>> {
    let mut pools = lock(&world.pools);
    if let Some(known) = pools.get(&client).and_then(Weak::upgrade) {
        return Some(known);
    }
    let ends = world.wires.cables_of(client).into_iter().map(|cable| lock(&cable.users)[0].clone());
    let pool = ends.filter_map(|end| end.upgrade()).find_map(|conn| conn.pool())?;
    pools.insert(client, Arc::downgrade(&pool));
    Some(pool)
}

fn has_twins(conns: &[Arc<Conn>]) -> bool {
    conns.iter().enumerate().any(|(index, conn)| is_in(conn, &conns[..index]))
}

fn is_in(conn: &Arc<Conn>, conns: &[Arc<Conn>]) -> bool {
    conns.iter().any(|other| Arc::ptr_eq(conn, other))
}

/// Returns true if a connection would take a request and is not among the free ones.
fn is_one_lost(books: &PoolBooks) -> bool {
    books.members.iter().any(|conn| conn.is_free() && !is_in(conn, &books.free))
}

/// Returns true if there may be more connections than there are, and somebody waits for whom none is being
/// opened.
fn waits_in_vain(books: &PoolBooks, most: usize) -> bool {
    let opening = books.open.saturating_sub(books.members.len());
    books.open < most && books.waiting > opening
}
