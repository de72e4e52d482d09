//! The loop in which bytes are given to a machine, and each event to its driver, until nothing more comes.

use alula_machine::{ConnectionError, Event, ProtocolMachine, Time};

/// A driver of a machine.
pub trait Hearer {
    /// The machine that it drives.
    type Machine: ProtocolMachine;

    /// Returns the machine.
    fn machine(&mut self) -> &mut Self::Machine;

    /// Takes an event.
    fn event(&mut self, event: Event<'_, <Self::Machine as ProtocolMachine>::Fact>);

    /// Is called after each step: so many bytes were consumed, and there was an event or not.
    fn step(&mut self, consumed: usize, has_event: bool);
}

/// The rules that a peer of the hearer can break.
type RuleOf<H> = <<H as Hearer>::Machine as ProtocolMachine>::Rule;

/// Gives `bytes` to the machine behind those that are `unused` so far, until nothing comes of what is left,
/// which stays in `unused`.
///
/// # Errors
/// The connection has ended.
///
/// # Panics
/// When the machine consumes more than it was given, or makes something of bytes of which it said that
/// nothing would come.
pub fn feed<H: Hearer>(
    hearer: &mut H,
    unused: &mut Vec<u8>,
    bytes: &[u8],
    now: Time,
) -> Result<(), ConnectionError<RuleOf<H>>> {
    unused.extend_from_slice(bytes);
    let mut used = 0;
    let outcome = loop {
        match one(hearer, &unused[used..], now) {
            Ok(Some(consumed)) => used += consumed,
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    unused.drain(..used);
    outcome
}

/// Takes one step, and returns the bytes that it has consumed; none if nothing came of it.
fn one<H: Hearer>(
    hearer: &mut H,
    input: &[u8],
    now: Time,
) -> Result<Option<usize>, ConnectionError<RuleOf<H>>> {
    let rests = hearer.machine().rests(input);
    let received = hearer.machine().receive(input, now)?;
    assert!(received.consumed <= input.len(), "more was consumed than was given");
    let has_event = received.event.is_some();
    let is_nothing = received.consumed == 0 && !has_event;
    assert!(is_nothing || !rests, "something came of what was not to be asked");
    received.event.into_iter().for_each(|event| hearer.event(event));
    hearer.step(received.consumed, has_event);
    Ok((!is_nothing).then_some(received.consumed))
}
