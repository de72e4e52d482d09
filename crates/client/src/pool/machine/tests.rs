//! The machine among numbers: its table, and long walks through it.

use std::{
    cell::{Cell, RefCell},
    fmt::Write as _,
    rc::Rc,
    time::Duration,
};

use super::*;

const LIMITS: Limits = Limits { connections_max: 2, idle_max: 1, http2_connections_max: 2 };

/// A connection that is a number.
#[derive(Clone)]
struct Numbered(Rc<Facts>);

struct Facts {
    number: usize,
    is_http1: bool,
    is_open: Cell<bool>,
    room: Cell<usize>,
}

impl Member for Numbered {
    type Weak = Self;

    fn downgrade(&self) -> Self {
        self.clone()
    }

    fn upgrade(weak: &Self) -> Option<Self> {
        Some(weak.clone())
    }

    fn is_same(one: &Self, other: &Self) -> bool {
        Rc::ptr_eq(&one.0, &other.0)
    }

    fn is_http1(&self) -> bool {
        self.0.is_http1
    }

    fn is_open(&self) -> bool {
        self.0.is_open.get()
    }

    fn room(&self) -> usize {
        if self.is_open() { self.0.room.get() } else { 0 }
    }
}

/// A machine with its connections and callers, both numbered as they come.
struct Pool {
    machine: Machine<Numbered, char, usize>,
    conns: Vec<Numbered>,
    callers: Vec<(Option<Ticket>, bool)>,
    openings: RefCell<std::ops::RangeInclusive<char>>,
    now: Instant,
}

fn call(caller: Option<usize>) -> String {
    caller.map(|caller| format!(", call {caller}")).unwrap_or_default()
}

fn let_go(conns: &[Numbered]) -> String {
    conns.iter().map(|conn| format!(", let go of {}", conn.0.number)).collect()
}

/// The effects in words.
fn told(effects: Effects<Numbered, usize>) -> String {
    let close = effects.close.map(|conn| format!(", close {}", conn.0.number));
    call(effects.call) + &close.unwrap_or_default()
}

impl Pool {
    fn new() -> Self {
        Self {
            machine: Machine::new(LIMITS),
            conns: Vec::new(),
            callers: Vec::new(),
            openings: RefCell::new('a'..='z'),
            now: Instant::now(),
        }
    }

    fn ask(&mut self) -> String {
        self.callers.push((None, false));
        self.ask_again(self.callers.len() - 1)
    }

    fn ask_again(&mut self, caller: usize) -> String {
        let begin = |_: &[Numbered]| self.openings.borrow_mut().next().unwrap_or('?');
        let now = self.now;
        let (ticket, opens) = &mut self.callers[caller];
        let reply = self.machine.ask(ticket, *opens, || now, begin);
        if let Some(ticket) = ticket {
            self.machine.watch(ticket, &caller);
        }
        let answer = match reply.answer {
            Answer::Take(conn) => format!("take {}", conn.0.number),
            Answer::First(opening) => format!("outcome of {opening}"),
            Answer::Own(opening) => {
                *opens = true;
                format!("queue, or its own {opening}")
            }
            Answer::Wait(None) => "queue".to_owned(),
            Answer::Wait(Some(opening)) => format!("queue, or {opening}"),
            Answer::Closed => "refused".to_owned(),
        };
        let start = reply.start.map(|opening| format!(", start {opening}"));
        answer + &call(reply.call) + &start.unwrap_or_default() + &let_go(&reply.gone)
    }

    fn leave(&mut self, caller: usize) -> String {
        let ticket = self.callers[caller].0.take().expect("it has a ticket");
        let (effects, next) = self.machine.left(ticket);
        told(effects) + &call(next)
    }

    fn opened(&mut self, is_http1: bool, room: usize) -> String {
        let number = self.conns.len() + 1;
        let facts = Facts { number, is_http1, is_open: Cell::new(true), room: Cell::new(room) };
        let conn = Numbered(Rc::new(facts));
        self.conns.push(conn.clone());
        let joins = if self.machine.count(&conn) { ", joins" } else { "" };
        let (effects, gone) = self.machine.opened(conn, self.now);
        joins.to_owned() + &told(effects) + &let_go(&gone)
    }

    fn not_opened(&mut self) -> String {
        told(self.machine.not_opened(self.now))
    }

    fn heard(&mut self, conn: usize, news: News) -> String {
        told(self.machine.heard(&self.conns[conn - 1], news))
    }

    fn close(&mut self) -> String {
        let (conns, callers) = self.machine.close();
        let conns: String = conns.map(|conn| format!(", close {}", conn.0.number)).collect();
        conns + &callers.map(|caller| format!(", call {caller}")).collect::<String>()
    }

    /// The state in words.
    fn state(&self) -> String {
        let mut words = match &self.machine.state {
            State::Unknown => "Unknown".to_owned(),
            State::First(opening) => format!("First {opening}"),
            State::Single(single) => {
                let free: Vec<usize> = single.free().iter().map(|conn| conn.0.number).collect();
                format!("Single free {free:?} opening {}", single.opening())
            }
            State::Shared(shared) => {
                let conns: Vec<usize> = shared.conns().iter().map(|conn| conn.0.number).collect();
                format!("Shared {conns:?} {}", shared.more_in_words())
            }
            State::Closed => "Closed".to_owned(),
        };
        let members: Vec<usize> = self.machine.members.iter().map(|conn| conn.0.number).collect();
        write!(words, " members {members:?} waiting {}", self.machine.waiting()).unwrap();
        words
    }
}

type Step = fn(&mut Pool);

/// The situations of the table, each by the steps that lead to it from the one of that number.
const SITUATIONS: [(&str, usize, Step); 17] = [
    ("Unknown", 0, |_| {}),
    ("First", 0, |pool| drop(pool.ask())),
    ("Single, one free", 1, |pool| drop(pool.opened(true, 1))),
    ("Single, none free", 2, |pool| drop(pool.ask())),
    ("Single, one opens", 3, |pool| drop(pool.ask())),
    ("Single, full", 4, |pool| {
        pool.opened(true, 1);
        pool.ask_again(2);
        pool.leave(2);
    }),
    ("Single, full, two wait", 5, |pool| drop((pool.ask(), pool.ask()))),
    ("Single, the first is called", 6, |pool| drop(pool.heard(1, News::Free))),
    ("Shared, with room", 1, |pool| drop(pool.opened(false, 1))),
    ("Shared, without room", 8, |pool| pool.conns[0].0.room.set(0)),
    ("Shared, one more opens", 9, |pool| drop(pool.ask())),
    ("Shared, paused", 10, |pool| drop(pool.not_opened())),
    ("Shared, full, two wait", 10, |pool| drop((pool.opened(false, 0), pool.ask()))),
    ("Shared, the first is called", 12, |pool| drop(pool.heard(1, News::Room))),
    ("Shared, all gone", 9, |pool| pool.conns[0].0.is_open.set(false)),
    ("Shared, all gone, one opens", 10, |pool| pool.conns[0].0.is_open.set(false)),
    ("Closed", 2, |pool| drop(pool.close())),
];

fn situation(index: usize) -> Pool {
    let (_, before, step) = SITUATIONS[index];
    let mut pool = if index == 0 { Pool::new() } else { situation(before) };
    step(&mut pool);
    pool
}

/// An input, and its effects; nothing where there is no such connection or caller.
type Input = fn(&mut Pool) -> Option<String>;

const INPUTS: [(&str, Input); 11] = [
    ("a call asks", |pool| Some(pool.ask())),
    ("the first asks again", |pool| pool.first_waiting().map(|caller| pool.ask_again(caller))),
    ("the first leaves", |pool| pool.first_waiting().map(|caller| pool.leave(caller))),
    ("opened HTTP/1.1", |pool| pool.is_opening().then(|| pool.opened(true, 1))),
    ("opened HTTP/2", |pool| pool.is_opening().then(|| pool.opened(false, 1))),
    ("not opened", |pool| pool.is_opening().then(|| pool.not_opened())),
    ("1 Free", |pool| (pool.has_one() && !pool.is_one_free()).then(|| pool.heard(1, News::Free))),
    ("1 Room", |pool| pool.has_one().then(|| pool.heard(1, News::Room))),
    ("1 Lost", |pool| pool.has_one().then(|| pool.heard(1, News::Lost))),
    ("forget 1", |pool| {
        let conn = pool.conns.first()?;
        pool.machine.forget(conn);
        Some(String::new())
    }),
    ("close", |pool| Some(pool.close())),
];

impl Pool {
    fn first_waiting(&self) -> Option<usize> {
        self.callers.iter().position(|(ticket, _)| ticket.is_some())
    }

    fn has_one(&self) -> bool {
        !self.conns.is_empty()
    }

    fn is_one_free(&self) -> bool {
        matches!(&self.machine.state, State::Single(single) if single.free().iter().any(|conn| conn.0.number == 1))
    }

    /// Returns true if a connection is being opened, or may have been when the pool was closed.
    fn is_opening(&self) -> bool {
        match &self.machine.state {
            State::Unknown => false,
            State::First(_) | State::Closed => true,
            State::Single(single) => single.opening() > 0,
            State::Shared(shared) => shared.more_in_words() == "more opening",
        }
    }
}

/// Returns the table of transitions, with one row for each situation and input.
fn table() -> String {
    let mut text = String::new();
    for (index, (name, ..)) in SITUATIONS.iter().enumerate() {
        writeln!(text, "{name}: {}", situation(index).state()).unwrap();
        for (input, on) in INPUTS {
            let mut pool = situation(index);
            if let Some(effects) = on(&mut pool) {
                let effects = effects.trim_start_matches(", ");
                writeln!(text, "  {input:<21}  {effects:<36}  {}", pool.state()).unwrap();
            }
        }
        text.push('\n');
    }
    text
}

#[test]
fn every_situation_and_input_is_as_written_down() {
    assert_eq!(table(), include_str!("../machine.txt"), "\n{}", table());
}

#[test]
fn another_connection_is_opened_when_the_pause_is_over() {
    let mut pool = situation(11);
    assert_eq!(pool.ask(), "queue");
    pool.now += Duration::from_secs(1);
    assert_eq!(pool.ask(), "queue, or c, start c");
}

#[test]
fn where_one_connection_is_all_there_may_be_nobody_asks_for_its_room() {
    let mut pool = Pool::new();
    pool.machine.limits.http2_connections_max = 1;
    pool.ask();
    assert_eq!(pool.opened(false, 0), "", "it does not join");
    assert_eq!(pool.ask(), "take 1");
}

/// A generator of numbers, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// A pool of HTTP/1.1 in which anything happens in any order.
struct Walk {
    pool: Pool,
    /// Callers that were woken, and have not asked.
    called: Vec<usize>,
    /// Connections that are used.
    used: Vec<usize>,
}

impl Walk {
    fn note(&mut self, effects: &str) {
        for word in effects.split(", ") {
            if let Some(caller) = word.strip_prefix("call ") {
                self.called.push(caller.parse().expect("a number"));
            }
            if let Some(conn) = word.strip_prefix("take ") {
                self.used.push(conn.parse().expect("a number"));
            }
            if let Some(conn) = word.strip_prefix("close ") {
                let lost = self.pool.heard(conn.parse().expect("a number"), News::Lost);
                self.note(&lost);
            }
        }
    }

    /// A caller looks; with a connection it leaves.
    fn look(&mut self, caller: usize) {
        let effects = self.pool.ask_again(caller);
        self.note(&effects);
        if effects.starts_with("take") && self.pool.callers[caller].0.is_some() {
            let effects = self.pool.leave(caller);
            self.note(&effects);
        }
    }

    fn step(&mut self, numbers: &mut Numbers) {
        let is_opening = self.pool.machine.counted() > self.pool.machine.members.len();
        let used = (!self.used.is_empty()).then(|| numbers.below(self.used.len()));
        let caller = (!self.pool.callers.is_empty()).then(|| numbers.below(self.pool.callers.len()));
        let waiting = caller.filter(|caller| self.pool.callers[*caller].0.is_some());
        let effects = match (numbers.below(6), used, waiting) {
            (0, ..) => {
                self.pool.callers.push((None, false));
                return self.look(self.pool.callers.len() - 1);
            }
            (1, Some(used), _) => {
                let conn = self.used.swap_remove(used);
                self.pool.heard(conn, News::Free)
            }
            (2, Some(used), _) => {
                let conn = self.used.swap_remove(used);
                self.pool.heard(conn, News::Lost)
            }
            (3, _, Some(caller)) => self.pool.leave(caller),
            (4, ..) if is_opening => self.ended(true),
            (5, ..) if is_opening => self.ended(false),
            _ => return,
        };
        self.note(&effects);
    }

    /// An opening ends: its caller hears of it.
    fn ended(&mut self, well: bool) -> String {
        let own = self.pool.callers.iter().position(|(_, opens)| *opens);
        let effects = if well { self.pool.opened(true, 1) } else { self.pool.not_opened() };
        if let Some(own) = own {
            self.pool.callers[own].1 = false;
            if self.pool.callers[own].0.is_some() {
                self.note(&effects);
                if well {
                    self.look(own)
                } else {
                    return self.pool.leave(own);
                }
                return String::new();
            }
        }
        effects
    }

    /// Lets every caller that was called look for a connection.
    fn settle(&mut self) {
        while !self.called.is_empty() {
            let caller = self.called.remove(0);
            if self.pool.callers[caller].0.is_some() {
                self.look(caller);
            }
        }
    }

    fn check(&self) {
        let machine = &self.pool.machine;
        let State::Single(single) = &machine.state else { panic!("{}", self.pool.state()) };
        assert!(machine.counted() <= LIMITS.connections_max, "{}", self.pool.state());
        assert_eq!(machine.members.len(), single.free().len() + self.used.len(), "{}", self.pool.state());
        let waiting = self.pool.callers.iter().filter(|(ticket, _)| ticket.is_some());
        assert_eq!(waiting.clone().count(), machine.waiting(), "all that were called have looked");
        if machine.waiting() > 0 {
            assert!(single.free().is_empty(), "a caller waits while one is free");
            let in_vain = waiting.filter(|(_, opens)| !opens).count();
            assert!(
                in_vain == 0 || machine.counted() == LIMITS.connections_max,
                "a caller waits while there is room"
            );
        } else {
            assert!(single.free().len() <= LIMITS.idle_max, "more idle than may");
        }
    }
}

#[test]
fn no_caller_waits_in_vain_whatever_happens() {
    for seed in 0..200 {
        let mut numbers = Numbers(seed);
        let mut walk = Walk { pool: situation(2), called: Vec::new(), used: Vec::new() };
        for _ in 0..300 {
            // Some steps come before those that were called have looked.
            for _ in 0..=numbers.below(3) {
                walk.step(&mut numbers);
            }
            walk.settle();
            walk.check();
        }
    }
}
