//! Tests of the order in which requests get room, over a clock that is paused.

use tokio::task::JoinSet;

use super::*;

const UNIT: u64 = SMALL_BYTES_MAX + 1;
const UNITS: u64 = 100;

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(1)
}

fn late() -> Instant {
    Instant::now() + Duration::from_secs(24 * 3600)
}

const fn units(units: u64) -> u64 {
    units * UNIT
}

fn user(name: &str) -> Peer {
    Peer::User(name.into())
}

/// Returns a budget of a hundred units, for objects of so many.
fn budget(object_units: u64) -> Budget {
    Budget::new(units(UNITS), units(object_units))
}

/// Waits until so many requests wait.
async fn until_waiting(budget: &Budget, count: usize) {
    while budget.lock().waiting() != count {
        tokio::task::yield_now().await;
    }
}

/// Has a content grow by units until it is whole.
async fn grow_whole(budget: Budget, peer: Peer, whole: u64) -> Result<(), Spent> {
    let mut share = Share::of(&peer);
    for held in 1..=whole {
        budget.extend(&mut share, units(held), units(whole), late()).await?;
        tokio::task::yield_now().await;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn bytes_are_given_back() {
    let budget = budget(0);
    let share = budget.share(units(80), soon()).await.expect("room");
    assert!(budget.share(units(30), soon()).await.is_err());
    budget.share(SMALL_BYTES_MAX, soon()).await.expect("it is counted alone");
    drop(share);
    budget.share(units(UNITS), soon()).await.expect("room");
    budget.share(units(10 * UNITS), soon()).await.expect("all of it");
    assert!(!budget.is_in_use());
}

#[tokio::test(start_paused = true)]
async fn a_share_shrinks() {
    let budget = budget(0);
    let mut share = budget.share(units(UNITS), soon()).await.expect("all of it");
    share.shrink(units(60));
    let other = budget.share(units(40), soon()).await.expect("room");
    assert!(budget.share(units(20), soon()).await.is_err());
    drop(other);
    share.shrink(1);
    assert!(!budget.is_in_use());
}

#[tokio::test(start_paused = true)]
async fn a_share_grows_while_there_is_room() {
    let budget = budget(0);
    let mut share = budget.share(1, soon()).await.expect("no share");
    budget.grow(&mut share, units(60)).expect("room");
    let other = budget.share(units(30), soon()).await.expect("room");
    assert!(budget.grow(&mut share, units(80)).is_err());
    drop(other);
    budget.grow(&mut share, units(80)).expect("room");
    drop(share);
    budget.share(units(UNITS), soon()).await.expect("room");
}

#[tokio::test(start_paused = true)]
async fn small_contents_are_counted() {
    let budget = budget(0);
    let mut small = Vec::new();
    while !budget.is_in_use() {
        small.push(budget.share(SMALL_BYTES_MAX, soon()).await.expect("room"));
        assert!(small.len() < 1_000);
    }
    assert_eq!(small.len() as u64 - 1, units(UNITS) / SMALL_PART / SMALL_BYTES_MAX);
    budget.share(FREE_BYTES_MAX, soon()).await.expect("it has no share");
    drop(small);
    assert!(!budget.is_in_use());
    assert_eq!(budget.0.small.load(Ordering::Relaxed), 0);
}

#[tokio::test(start_paused = true)]
async fn contents_that_grow_never_all_wait_for_each_other() {
    for (peers, whole) in [(1, 50), (1, UNITS), (30, 50), (30, 7), (3, UNITS + 5)] {
        let (budget, mut all) = (budget(50), JoinSet::new());
        for number in 0..90 {
            let peer = user(&(number % peers).to_string());
            all.spawn(grow_whole(budget.clone(), peer, whole));
        }
        while let Some(ended) = all.join_next().await {
            ended.expect("no panic").expect("room");
        }
        assert!(!budget.is_in_use());
    }
}

#[tokio::test(start_paused = true)]
async fn those_that_wait_for_more_give_way_to_a_peer_that_holds_less() {
    let (budget, mut half) = (budget(50), JoinSet::new());
    for _ in 0..90 {
        let budget = budget.clone();
        half.spawn(async move {
            let mut share = Share::of(&user("many"));
            budget.extend(&mut share, units(1), units(50), late()).await?;
            budget.extend(&mut share, units(50), units(50), late()).await?;
            // The one that has what was left for it sends nothing more.
            std::future::pending::<Result<(), Spent>>().await
        });
    }
    until_waiting(&budget, 89).await;
    for _ in 0..20 {
        grow_whole(budget.clone(), user("one"), 50).await.expect("room");
    }
    let refused = std::iter::from_fn(|| half.try_join_next()).count();
    assert!((1..90).contains(&refused), "{refused} were refused");
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_holds_room_waits_behind_one_that_holds_none() {
    let budget = budget(0);
    let held = budget.share_for(&user("a"), units(60), soon()).await.expect("room");
    let mut order = JoinSet::new();
    for (name, count) in [("a", 1), ("a", 2), ("b", 3), ("c", 4)] {
        let turns = budget.clone();
        order.spawn(async move {
            let share = turns.share_for(&user(name), units(50), late()).await;
            (name, share.map(drop).is_ok())
        });
        until_waiting(&budget, count).await;
    }
    drop(held);
    let mut names = Vec::new();
    while let Some(ended) = order.join_next().await {
        names.push(ended.expect("no panic"));
    }
    // Two have room at once. Their bytes count from then on.
    assert_eq!(names, [("a", true), ("b", true), ("a", true), ("c", true)]);
}

#[tokio::test(start_paused = true)]
async fn a_peer_leaves_a_part_to_others() {
    let (budget, mut held) = (budget(20), Vec::new());
    while let Ok(share) = budget.share_for(&user("a"), units(10), soon()).await {
        held.push(share);
    }
    assert_eq!(held.len(), 8);
    budget.share_for(&user("b"), units(20), soon()).await.expect("the part of others");
}

/// Fills a budget: nine other peers hold nine tenths, and twenty more wait for three of them each.
async fn crowd(budget: &Budget) -> (Vec<Share>, JoinSet<Result<Share, Spent>>) {
    let (mut held, mut waiting) = (Vec::new(), JoinSet::new());
    for number in 0..9 {
        held.push(budget.share_for(&user(&format!("h{number}")), units(10), soon()).await.expect("room"));
    }
    for number in 0..20 {
        let budget = budget.clone();
        waiting.spawn(async move { budget.share_for(&user(&format!("w{number}")), units(30), late()).await });
    }
    until_waiting(budget, 20).await;
    (held, waiting)
}

#[tokio::test(start_paused = true)]
async fn small_ones_pass_large_ones_for_which_there_is_no_room() {
    let budget = budget(30);
    let (_held, _waiting) = crowd(&budget).await;
    for number in 0..100 {
        budget.share_for(&user(&number.to_string()), units(1), soon()).await.expect("room at once");
    }
    budget.share_for(&user("large"), units(2), soon()).await.expect_err("it is not small");
}

#[tokio::test(start_paused = true)]
async fn small_ones_do_not_hold_large_ones_up() {
    let budget = budget(30);
    let (mut held, mut waiting) = crowd(&budget).await;
    let mut small = JoinSet::new();
    for number in 0..80 {
        let budget = budget.clone();
        small.spawn(async move {
            let mut ended = Ok(());
            while ended.is_ok() {
                let share = budget.share_for(&user(&format!("s{number}")), units(1), late()).await;
                tokio::time::sleep(Duration::from_millis(100)).await;
                ended = share.map(drop);
            }
        });
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    for _ in 0..4 {
        held.pop();
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    for _ in 0..20 {
        let large = tokio::time::timeout(Duration::from_secs(10), waiting.join_next()).await;
        large.expect("its turn comes").expect("one waits").expect("no panic").expect("room");
    }
}

#[tokio::test(start_paused = true)]
async fn those_in_wait_have_a_bound() {
    let (budget, mut waiting) = (budget(0), JoinSet::new());
    let held = budget.share_for(&user("x"), units(UNITS), soon()).await.expect("room");
    for number in 0..1_400 {
        let name = if number < 10 { "few" } else { "many" };
        let budget = budget.clone();
        waiting.spawn(async move {
            let share = budget.share_for(&user(name), units(1), late()).await;
            (name, share.map(drop).is_ok())
        });
        tokio::task::yield_now().await;
    }
    let refused: Vec<_> = std::iter::from_fn(|| waiting.try_join_next()).map(Result::unwrap).collect();
    assert!(refused.len() > 300 && refused.iter().all(|refused| *refused == ("many", false)));
    drop(held);
    while let Some(ended) = waiting.join_next().await {
        assert!(ended.expect("no panic").1);
    }
}

/// Moves a unit after each pause, until all have moved.
async fn transfer(pace: &mut Pace<'_>, pauses: impl IntoIterator<Item = u64>) -> Result<(), TooSlow> {
    for millis in pauses {
        pace.part(tokio::time::sleep(Duration::from_millis(millis))).await?;
        pace.moved(UNIT as usize);
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_transfer_keeps_a_pace_while_others_wait() {
    let budget = budget(0);
    let _held = budget.share(units(UNITS), soon()).await.expect("all of it");
    // Nobody waits: it may take its time.
    transfer(&mut budget.pace(), [3_600_000; 3]).await.expect("it goes on");
    let waiting = tokio::spawn({
        let budget = budget.clone();
        async move { budget.share(units(1), late()).await.map(drop) }
    });
    until_waiting(&budget, 1).await;
    // Four units in a second are the pace.
    transfer(&mut budget.pace(), [240; 100]).await.expect("it keeps the pace");
    transfer(&mut budget.pace(), [300; 100]).await.expect_err("it is slower");
    transfer(&mut budget.pace(), [1_900]).await.expect("the beginning is free");
    transfer(&mut budget.pace(), [2_100]).await.expect_err("silent from the beginning");
    let mut paused = budget.pace();
    transfer(&mut paused, [1; 100]).await.expect("it is fast");
    transfer(&mut paused, [20_000]).await.expect("it has moved enough for a pause");
    let mut paused = budget.pace();
    transfer(&mut paused, [1; 1_000]).await.expect("it is fast");
    transfer(&mut paused, [31_000]).await.expect_err("the pause is too long");
    let whole = budget.paced(true, units(40), tokio::time::sleep(Duration::from_secs(11))).await;
    whole.expect("its length at the pace");
    let never = budget.paced(true, units(40), tokio::time::sleep(Duration::from_secs(13))).await;
    never.expect_err("it is slow");
    let small = budget.paced(true, 1, tokio::time::sleep(Duration::from_secs(3))).await;
    small.expect_err("it holds room");
    let counted = budget.paced(false, SMALL_BYTES_MAX, tokio::time::sleep(Duration::from_secs(100))).await;
    counted.expect("it holds no room");
    waiting.abort();
}

/// A generator of numbers (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// Requests are begun, broken off and slow: what is held stays within the bound, all of it comes back, and
/// each that waits has its turn.
#[tokio::test(start_paused = true)]
async fn whatever_happens_all_comes_back() {
    for seed in 1..20 {
        let (budget, mut numbers, mut all) = (budget(seed % 60), Numbers(seed), JoinSet::new());
        for _ in 0..60 {
            let (budget, peer) = (budget.clone(), user(&numbers.below(seed % 7 + 1).to_string()));
            let (whole, is_growing) = (numbers.below(120) + 1, numbers.below(3) > 0);
            let (pause, life) = (numbers.below(50), numbers.below(60_000));
            all.spawn(async move {
                let work = async {
                    let mut share = Share::of(&peer);
                    let first = if is_growing { 1 } else { whole };
                    for held in first..=whole {
                        budget.extend(&mut share, units(held), units(whole), late()).await?;
                        assert!(budget.lock().used() <= units(UNITS));
                        assert!(budget.lock().is_at_rest(), "all that could be done is done");
                        tokio::time::sleep(Duration::from_millis(pause)).await;
                    }
                    share.shrink(units(whole) / 2);
                    assert!(budget.lock().is_at_rest(), "all that could be done is done");
                    tokio::time::sleep(Duration::from_millis(pause)).await;
                    Ok::<_, Spent>(())
                };
                tokio::time::timeout(Duration::from_millis(life), work).await
            });
        }
        while let Some(ended) = all.join_next().await {
            // Broken off, refused or whole: no panic.
            let _ = ended.expect("no panic");
        }
        assert!(!budget.is_in_use() && budget.lock().is_empty(), "seed {seed}");
    }
}
