//! The room of all requests: what each holds, what each waits for, and which is next.
//!
//! Rule 1: a request that waits stands behind those whose peer holds less beside them; among equals the
//! oldest goes first.
//! Rule 2: what is given to contents that grow leaves as much as the one that lacks most: the first that
//! waits can have that to its end, so that they never all wait for each other. One at a time has it.
//! Rule 3: a peer that holds room leaves a fair part to those that hold none.
//! Rule 4: one that holds room and waits for more is refused for the sake of one that has waited for long,
//! and whose peer would still hold less.
//! Rule 5: a small request passes large ones for which there is no room. The requests that passed hold an
//! eighth together, so that large ones wait for others alone.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::task::Waker;

use super::peer::Peer;

/// The requests that may wait; when more come, the peer with the most of them has its youngest refused.
const WAITING_MAX: usize = 1_024;

/// The part of all room up to which a request is small: a 64th.
const SMALL_PART: u64 = 64;
/// The part of all room that small requests hold together which passed waiting ones: an eighth.
const PASSED_PART: u64 = 8;

/// A request with room, or in wait for some, by the order in which they came.
pub(super) type Ticket = u64;

/// The place of a peer's account.
type Place = usize;

/// The room of all requests.
#[derive(Debug)]
pub(super) struct Room {
    bounds: Bounds,
    used: u64,
    /// The bytes of requests that passed waiting ones.
    passed: u64,
    /// The bytes of the requests that were refused and have not left yet.
    returning: u64,
    next: Ticket,
    holders: HashMap<Ticket, Holder>,
    waiting: BTreeSet<Ticket>,
    peers: HashMap<Peer, Place>,
    accounts: Vec<Account>,
    /// The places among the accounts that are free.
    places: Vec<Place>,
    /// For each number of waiting requests, the number of peers that have as many.
    crowds: BTreeMap<usize, usize>,
    /// True if no request that waits can be given room until something changes.
    is_settled: bool,
    /// The requests that hold room and do not wait.
    moving: usize,
    /// For each number of bytes that growing contents still lack, the number of contents that lack as many;
    /// the owner of the reserve does not count.
    lacking: BTreeMap<u64, usize>,
    /// The request that owns the reserve, which is kept for the first in wait.
    owner: Option<Ticket>,
}

#[derive(Debug)]
struct Bounds {
    bytes_max: u64,
    /// The room that is left to peers that hold nothing.
    fair_bytes: u64,
}

#[derive(Debug)]
struct Holder {
    account: Place,
    bytes: u64,
    /// The most bytes that the request will ask for.
    claim: u64,
    /// True if the request has waited long.
    is_urgent: bool,
    has_passed: bool,
    state: State,
}

#[derive(Debug)]
enum State {
    Moving,
    /// The request waits until it holds so many bytes.
    Waits(u64, Option<Waker>),
    Refused,
}

/// The room that a peer holds.
#[derive(Debug, Default)]
struct Account {
    peer: Peer,
    bytes: u64,
    requests: usize,
    waiting: usize,
}

/// The state of a wait.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Waits,
    HasRoom,
    Refused,
}

impl Room {
    pub(super) fn new(bytes_max: u64, object_bytes_max: u64) -> Self {
        let fair_bytes = object_bytes_max.min(bytes_max / 4);
        Self {
            bounds: Bounds { bytes_max, fair_bytes },
            used: 0,
            passed: 0,
            returning: 0,
            next: 0,
            holders: HashMap::new(),
            waiting: BTreeSet::new(),
            peers: HashMap::new(),
            accounts: Vec::new(),
            places: Vec::new(),
            crowds: BTreeMap::new(),
            is_settled: true,
            moving: 0,
            lacking: BTreeMap::new(),
            owner: None,
        }
    }

    #[cfg(test)]
    pub(super) fn used(&self) -> u64 {
        self.used
    }

    /// Returns true if no request is in the room and nothing is counted.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        let counts = (self.used, self.passed + self.returning, self.moving, self.owner);
        let are_free = self.places.len() == self.accounts.len() && self.crowds.is_empty();
        let tables = self.holders.is_empty() && self.waiting.is_empty() && self.peers.is_empty() && are_free;
        counts == (0, 0, 0, None) && tables && self.lacking.is_empty()
    }

    /// Returns true if no waiting request can be given room now, even if the marks said otherwise.
    #[cfg(test)]
    pub(super) fn is_at_rest(&mut self) -> bool {
        self.settle_one().is_none()
    }

    pub(super) fn is_in_use(&self) -> bool {
        self.used > 0
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Adds a request that holds nothing yet.
    pub(super) fn enter(&mut self, peer: Peer) -> Ticket {
        let ticket = self.next;
        self.next += 1;
        let account = self.account(peer);
        self.accounts[account].requests += 1;
        let (is_urgent, has_passed) = (false, false);
        self.holders.insert(
            ticket,
            Holder { account, bytes: 0, claim: 0, is_urgent, has_passed, state: State::Moving },
        );
        ticket
    }

    /// Returns the place of a peer's account, which is made if there is none.
    fn account(&mut self, peer: Peer) -> Place {
        if let Some(place) = self.peers.get(&peer) {
            return *place;
        }
        let account = Account { peer: peer.clone(), ..Account::default() };
        let place = self.places.pop().unwrap_or(self.accounts.len());
        match self.accounts.get_mut(place) {
            Some(free) => *free = account,
            None => self.accounts.push(account),
        }
        self.peers.insert(peer, place);
        place
    }

    /// Removes a request, with all that it holds.
    pub(super) fn leave(&mut self, ticket: Ticket) {
        self.stop_waiting(ticket);
        self.set_bytes(ticket, 0);
        let Some(holder) = self.holders.remove(&ticket) else { return };
        let account = &mut self.accounts[holder.account];
        account.requests -= 1;
        if account.requests == 0 {
            self.peers.remove(&std::mem::take(&mut account.peer));
            self.places.push(holder.account);
        }
    }

    /// Gives back what a request holds beyond so many bytes, and lowers its claim to them.
    pub(super) fn shrink(&mut self, ticket: Ticket, bytes: u64) {
        let held = self.bytes_of(ticket);
        self.set_claim(ticket, 0);
        self.set_bytes(ticket, held.min(bytes));
        if self.owner == Some(ticket) {
            (self.owner, self.is_settled) = (None, false);
        }
    }

    /// Gives a request so many bytes at once, past those that wait, if enough room is left for others. It
    /// passes those that wait.
    pub(super) fn take(&mut self, ticket: Ticket, bytes: u64) -> bool {
        let bytes = bytes.min(self.bounds.bytes_max);
        let fits = bytes <= self.bytes_of(ticket) || self.fits(ticket, bytes);
        if fits {
            self.set_bytes(ticket, bytes.max(self.bytes_of(ticket)));
        }
        fits
    }

    /// Lets a request wait until it holds so many bytes; its content may come to `claim`. It is refused if
    /// too many wait, and no peer has more of them than its own.
    pub(super) fn wait(&mut self, ticket: Ticket, bytes: u64, claim: u64) {
        let (bytes, claim) = (bytes.min(self.bounds.bytes_max), claim.min(self.bounds.bytes_max));
        self.set_claim(ticket, claim);
        let Some(holder) = self.holders.get_mut(&ticket) else { return };
        if bytes <= holder.bytes || matches!(holder.state, State::Refused) {
            return;
        }
        let account = holder.account;
        let most = self.crowds.last_key_value().map_or(0, |(waiting, _)| *waiting);
        if self.waiting.len() >= WAITING_MAX && self.accounts[account].waiting >= most {
            self.refuse(ticket);
            return;
        }
        (holder.state, holder.is_urgent) = (State::Waits(bytes, None), false);
        self.moving -= usize::from(holder.bytes > 0);
        self.set_waiting(account, self.accounts[account].waiting + 1);
        self.waiting.insert(ticket);
        self.is_settled = false;
    }

    fn set_waiting(&mut self, account: Place, waiting: usize) {
        let before = std::mem::replace(&mut self.accounts[account].waiting, waiting);
        for (waiting, comes) in [(before, false), (waiting, true)] {
            change_count(&mut self.crowds, waiting, comes);
        }
    }

    /// Gives a waiting request its bytes, if no other waits and enough room is left for others.
    pub(super) fn give_at_once(&mut self, ticket: Ticket) -> bool {
        let wanted = self.wanted(ticket);
        let fits = self.fits(ticket, wanted);
        if fits {
            self.give(ticket, wanted);
        }
        fits
    }

    /// Notes that a request has waited long.
    pub(super) fn urge(&mut self, ticket: Ticket) {
        if let Some(holder) = self.holders.get_mut(&ticket) {
            holder.is_urgent = true;
        }
        self.is_settled = false;
    }

    /// Ends the wait of a request, which keeps what it holds.
    pub(super) fn stop_waiting(&mut self, ticket: Ticket) {
        if !self.waiting.remove(&ticket) {
            return;
        }
        let Some(holder) = self.holders.get_mut(&ticket) else { return };
        holder.state = State::Moving;
        self.moving += usize::from(holder.bytes > 0);
        let account = holder.account;
        self.set_waiting(account, self.accounts[account].waiting - 1);
        self.is_settled = false;
    }

    /// Returns the state of a wait, and keeps the waker if it goes on.
    pub(super) fn look(&mut self, ticket: Ticket, waker: &Waker) -> Turn {
        match self.holders.get_mut(&ticket).map(|holder| &mut holder.state) {
            Some(State::Waits(_, kept)) => {
                match kept {
                    Some(kept) => kept.clone_from(waker),
                    None => *kept = Some(waker.clone()),
                }
                Turn::Waits
            }
            Some(State::Moving) => Turn::HasRoom,
            Some(State::Refused) | None => Turn::Refused,
        }
    }

    /// Gives room to the next request, or refuses one; `None` once nothing more can be done. The waker is for
    /// its task.
    pub(super) fn settle(&mut self) -> Option<Option<Waker>> {
        if self.is_settled {
            return None;
        }
        let settled = self.settle_one();
        self.is_settled = settled.is_none();
        settled
    }

    fn settle_one(&mut self) -> Option<Option<Waker>> {
        if self.waiting.len() > WAITING_MAX {
            return self.most_waiting().map(|ticket| self.refuse(ticket));
        }
        let first = self.first_of(|_| true)?;
        let wanted = self.wanted(first);
        if self.fits(first, wanted) {
            return Some(self.give(first, wanted));
        }
        if let Some(small) = self.passing(first) {
            return Some(self.pass(small));
        }
        let next = [Some(first), self.first_of(|holder| holder.bytes > 0)];
        if let Some(owner) = next.into_iter().flatten().find(|ticket| self.may_own(*ticket)) {
            let claim = self.claim_of(owner);
            self.change(owner, |room| room.owner = Some(owner));
            return Some(self.give(owner, claim));
        }
        let holds = self.in_order(|holder| holder.bytes > 0);
        let (_, last) = holds.filter(|(_, ticket)| *ticket != first).max()?;
        self.gives_way(last, first).then(|| self.refuse(last))
    }

    /// Returns the first small request in wait for which there is room, when there is none for the first of
    /// all. None passes one for which that would leave too little.
    fn passing(&mut self, first: Ticket) -> Option<Ticket> {
        let passed_max = self.bounds.bytes_max / PASSED_PART;
        if self.claim_of(first) + passed_max > self.bounds.bytes_max {
            return None;
        }
        let most = (self.bounds.bytes_max / SMALL_PART).min(passed_max.saturating_sub(self.passed));
        let small = self.first_of(|holder| holder.bytes == 0 && holder.claim() <= most)?;
        let claim = self.claim_of(small);
        self.fits(small, claim).then_some(small)
    }

    /// Gives a small request all that it will ask for.
    fn pass(&mut self, ticket: Ticket) -> Option<Waker> {
        if let Some(holder) = self.holders.get_mut(&ticket) {
            holder.has_passed = true;
        }
        let claim = self.claim_of(ticket);
        self.give(ticket, claim)
    }

    /// Returns the first waiting request that `is_such` selects.
    fn first_of(&self, is_such: impl Fn(&Holder) -> bool) -> Option<Ticket> {
        self.in_order(is_such).min().map(|(_, ticket)| ticket)
    }

    /// Returns the waiting requests that `is_such` selects, each with the bytes of its peer's other requests,
    /// by which they are ordered.
    fn in_order(&self, is_such: impl Fn(&Holder) -> bool) -> impl Iterator<Item = (u64, Ticket)> {
        self.waiting.iter().filter_map(move |ticket| {
            let holder = self.holders.get(ticket).filter(|holder| is_such(holder))?;
            Some((self.accounts[holder.account].bytes - holder.bytes, *ticket))
        })
    }

    /// Returns the youngest waiting request of the peer that has most of them.
    fn most_waiting(&self) -> Option<Ticket> {
        let waiting_of = |ticket: &Ticket| self.account_of(*ticket).map_or(0, |account| account.waiting);
        self.waiting.iter().copied().max_by_key(|ticket| (waiting_of(ticket), *ticket))
    }

    /// Returns true if a request may hold so many bytes with enough room left for others.
    fn fits(&mut self, ticket: Ticket, bytes: u64) -> bool {
        // The request counts with what it would lack then, not with what it lacks now.
        let lacks = self.lacks(ticket);
        self.set_lacking(lacks, false);
        let most_lacking = self.lacking.last_key_value().map_or(0, |(lacking, _)| *lacking);
        self.set_lacking(lacks, true);
        let lacks_then = self.claim_of(ticket).saturating_sub(bytes);
        let owned = self.owner.map_or(0, |owner| self.bytes_of(owner));
        let for_growth = most_lacking.max(lacks_then).saturating_sub(owned);
        let left = for_growth.max(self.fair_part(ticket));
        bytes - self.bytes_of(ticket) + left <= self.free()
    }

    /// Returns true if a request may own the reserve, which is kept for the first in wait.
    fn may_own(&self, ticket: Ticket) -> bool {
        let lacks = self.claim_of(ticket) - self.bytes_of(ticket);
        let is_alone = self.moving == 0;
        // While all wait nobody gives room back: then the fair part may be used as well.
        let left = if is_alone { 0 } else { self.fair_part(ticket) };
        self.owner.is_none() && lacks + left <= self.free()
    }

    /// Returns the room that the peer of a request has to leave to others.
    fn fair_part(&self, ticket: Ticket) -> u64 {
        if self.beside(ticket) > 0 { self.bounds.fair_bytes } else { 0 }
    }

    /// Returns true if `one` has to be refused so that `other` can have room.
    fn gives_way(&self, one: Ticket, other: Ticket) -> bool {
        if self.used - self.returning + self.wanted(other) - self.bytes_of(other) <= self.bounds.bytes_max
            && self.returning > 0
        {
            // Enough is on its way.
            return false;
        }
        let others = self.account_of(other).map_or(0, |account| account.bytes);
        let then = others + self.wanted(other) - self.bytes_of(other);
        let is_urgent = self.holders.get(&other).is_some_and(|holder| holder.is_urgent);
        let is_stuck = self.moving == 0 && self.owner.is_none() && self.returning == 0;
        (is_urgent && self.beside(one) >= then) || is_stuck
    }

    fn give(&mut self, ticket: Ticket, bytes: u64) -> Option<Waker> {
        let waker = self.take_waker(ticket);
        self.stop_waiting(ticket);
        self.set_bytes(ticket, bytes);
        waker
    }

    fn refuse(&mut self, ticket: Ticket) -> Option<Waker> {
        let waker = self.take_waker(ticket);
        self.stop_waiting(ticket);
        self.set_claim(ticket, 0);
        if let Some(holder) = self.holders.get_mut(&ticket) {
            holder.state = State::Refused;
            self.is_settled &= holder.bytes == 0;
            self.moving -= usize::from(holder.bytes > 0);
            self.returning += holder.bytes;
        }
        waker
    }

    fn take_waker(&mut self, ticket: Ticket) -> Option<Waker> {
        match &mut self.holders.get_mut(&ticket)?.state {
            State::Waits(_, waker) => waker.take(),
            _ => None,
        }
    }

    /// Returns the bytes that a request in wait wants to hold.
    fn wanted(&self, ticket: Ticket) -> u64 {
        self.holders.get(&ticket).map_or(0, Holder::wanted)
    }

    /// Returns the bytes that the other requests of the same peer hold.
    fn beside(&self, ticket: Ticket) -> u64 {
        self.account_of(ticket).map_or(0, |account| account.bytes) - self.bytes_of(ticket)
    }

    fn account_of(&self, ticket: Ticket) -> Option<&Account> {
        self.accounts.get(self.holders.get(&ticket)?.account)
    }

    fn bytes_of(&self, ticket: Ticket) -> u64 {
        self.holders.get(&ticket).map_or(0, |holder| holder.bytes)
    }

    fn claim_of(&self, ticket: Ticket) -> u64 {
        self.holders.get(&ticket).map_or(0, Holder::claim)
    }

    const fn free(&self) -> u64 {
        self.bounds.bytes_max - self.used
    }

    /// Returns the bytes that a request still lacks to hold its claim, if it grows and does not own the
    /// reserve.
    fn lacks(&self, ticket: Ticket) -> u64 {
        match self.holders.get(&ticket) {
            Some(holder) if holder.bytes > 0 && self.owner != Some(ticket) => {
                holder.claim.saturating_sub(holder.bytes)
            }
            _ => 0,
        }
    }

    /// Counts, or counts off, a request that lacks so many bytes.
    fn set_lacking(&mut self, bytes: u64, is_lacking: bool) {
        change_count(&mut self.lacking, bytes, is_lacking);
    }

    /// Changes a request, and the count of what it lacks.
    fn change(&mut self, ticket: Ticket, change: impl FnOnce(&mut Self)) {
        let lacks = self.lacks(ticket);
        self.set_lacking(lacks, false);
        change(self);
        let lacks = self.lacks(ticket);
        self.set_lacking(lacks, true);
    }

    fn set_claim(&mut self, ticket: Ticket, claim: u64) {
        let Some(holder) = self.holders.get(&ticket).filter(|holder| holder.claim != claim) else { return };
        self.is_settled &= holder.bytes == 0 && matches!(holder.state, State::Moving);
        self.change(ticket, |room| {
            if let Some(holder) = room.holders.get_mut(&ticket) {
                holder.claim = claim;
            }
        });
    }

    fn set_bytes(&mut self, ticket: Ticket, bytes: u64) {
        self.change(ticket, |room| room.replace_bytes(ticket, bytes));
    }

    fn replace_bytes(&mut self, ticket: Ticket, bytes: u64) {
        let Some(holder) = self.holders.get_mut(&ticket).filter(|holder| holder.bytes != bytes) else {
            return;
        };
        self.is_settled = false;
        let held = std::mem::replace(&mut holder.bytes, bytes);
        match holder.state {
            State::Moving => {
                self.moving = self.moving + usize::from(bytes > 0) - usize::from(held > 0);
            }
            State::Refused => self.returning = self.returning + bytes - held,
            State::Waits(..) => {}
        }
        self.used = self.used + bytes - held;
        if holder.has_passed {
            self.passed = self.passed + bytes - held;
        }
        let account = &mut self.accounts[holder.account];
        account.bytes = account.bytes + bytes - held;
        if self.owner == Some(ticket) && bytes < held {
            self.owner = None;
        }
    }
}

impl Holder {
    /// Returns the bytes that the request wants to hold.
    const fn wanted(&self) -> u64 {
        match self.state {
            State::Waits(bytes, _) => bytes,
            _ => self.bytes,
        }
    }

    /// Returns the most bytes that the request will hold.
    fn claim(&self) -> u64 {
        self.claim.max(self.bytes).max(self.wanted())
    }
}

/// Counts one more of a size, or one less; a size of 0 is not counted.
fn change_count<N: Copy + Default + Ord>(counts: &mut BTreeMap<N, usize>, size: N, comes: bool) {
    if size == N::default() {
        return;
    }
    let count = counts.entry(size).or_default();
    *count = if comes { *count + 1 } else { count.saturating_sub(1) };
    if *count == 0 {
        counts.remove(&size);
    }
}
