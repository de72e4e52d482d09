//! The accounts of memory: one per connection, and one budget for all of them.
//!
//! Rule 1: what is charged is what is really held, capacities and not lengths.
//! Rule 2: an account gives back what it has charged to the budget when it is dropped.

use alloc::sync::Arc;
use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The memory that all connections of a process may hold together; shared by their accounts.
#[derive(Debug)]
pub struct MemoryBudget {
    held: AtomicU64,
    bytes_max: u64,
    /// The bytes from which on no new work is begun.
    bytes_soft: u64,
    /// The bytes from which on unknown peers get less memory.
    bytes_crowded: u64,
}

/// Memory of a program that is charged to a budget until it is dropped; [`MemoryBudget::reserve`] makes it.
///
/// It allocates nothing: it stands for memory that the program holds elsewhere.
#[derive(Debug)]
#[must_use = "the memory is charged for as long as the reservation is held"]
pub struct Reservation {
    bytes: u64,
    budget: Arc<MemoryBudget>,
}

/// The memory that one connection holds, with its own limit and, if there is one, the limit of a budget.
///
/// ```
/// use alula::machine::{MemoryAccount, MemoryBudget};
/// use std::sync::Arc;
///
/// let budget = Arc::new(MemoryBudget::new(1000));
/// let mut account = MemoryAccount::within(&budget, 600);
/// account.charge(500)?;
/// assert!(account.charge(101).is_err());
/// assert_eq!((account.held(), budget.held()), (500, 500));
/// drop(account);
/// assert_eq!(budget.held(), 0);
/// # Ok::<(), alula::machine::OverBudget>(())
/// ```
#[derive(Debug)]
pub struct MemoryAccount {
    held: u64,
    bytes_max: u64,
    budget: Option<Arc<MemoryBudget>>,
}

/// The failure of a charge beyond a limit; nothing was charged.
#[derive(Copy, Clone, Debug, Eq, PartialEq)]
pub struct OverBudget {
    /// The bytes of the failed charge.
    pub asked: u64,
    /// The limit in bytes.
    pub bytes_max: u64,
    /// True if the budget of the process is used up, and not the account's own limit.
    pub of_process: bool,
}

impl MemoryBudget {
    /// Creates a budget of so many bytes.
    pub const fn new(bytes_max: u64) -> Self {
        Self::with_soft(bytes_max, bytes_max)
    }

    /// Creates a budget of `bytes_max` bytes that [is used up](Self::is_used_up) for new work at `bytes_soft`
    /// bytes.
    pub const fn with_soft(bytes_max: u64, bytes_soft: u64) -> Self {
        let quarter = bytes_max / 4;
        let bytes_crowded = if quarter < bytes_soft { quarter } else { bytes_soft };
        Self { held: AtomicU64::new(0), bytes_max, bytes_soft, bytes_crowded }
    }

    /// Returns the bytes charged now.
    #[inline]
    pub fn held(&self) -> u64 {
        self.held.load(Relaxed)
    }

    /// Returns true if the soft bound is reached: new work should be refused until bytes are released. A soft
    /// bound that is the bound itself refuses nothing.
    #[inline]
    pub fn is_used_up(&self) -> bool {
        self.bytes_soft < self.bytes_max && self.held() >= self.bytes_soft
    }

    /// Returns true if a quarter of the budget, or the soft bound, is reached: unknown peers get less memory,
    /// and so do peers that hold more than they have paid for.
    #[inline]
    pub fn is_crowded(&self) -> bool {
        self.held() >= self.bytes_crowded
    }

    /// Returns true if two thirds of the soft bound are reached: peers that hold much and make no progress
    /// should end before new work is refused. A soft bound that is the bound itself asks for nothing.
    #[inline]
    pub fn is_scarce(&self) -> bool {
        self.bytes_soft < self.bytes_max && self.held() >= self.bytes_soft / 3 * 2
    }

    /// Charges bytes that the program holds; `None` if that would pass the soft bound. Costs one
    /// compare-and-swap and the clone of an `Arc`.
    pub fn reserve(self: &Arc<Self>, bytes: u64) -> Option<Reservation> {
        self.charge_up_to(bytes, self.bytes_soft).then(|| Reservation { bytes, budget: Arc::clone(self) })
    }

    /// Charges bytes that are held already and cannot be refused, regardless of the bounds; later charges
    /// find less.
    pub fn hold(self: &Arc<Self>, bytes: u64) -> Reservation {
        self.held.fetch_add(bytes, Relaxed);
        Reservation { bytes, budget: Arc::clone(self) }
    }

    /// Returns true if so many bytes more could be charged now.
    pub fn has_room(&self, bytes: u64) -> bool {
        self.held().checked_add(bytes).is_some_and(|held| held <= self.bytes_max)
    }

    fn charge(&self, bytes: u64) -> Result<(), OverBudget> {
        match self.charge_up_to(bytes, self.bytes_max) {
            true => Ok(()),
            false => Err(OverBudget { asked: bytes, bytes_max: self.bytes_max, of_process: true }),
        }
    }

    fn charge_up_to(&self, bytes: u64, bound: u64) -> bool {
        let grown = |held: u64| held.checked_add(bytes).filter(|held| *held <= bound);
        self.held.fetch_update(Relaxed, Relaxed, grown).is_ok()
    }
}

impl Reservation {
    /// Returns the bytes that are charged.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Changes the charge to another number of bytes. Returns false, with the old number still charged, if
    /// more was asked for and that would pass the soft bound of the budget; less is always granted.
    #[must_use = "the bytes may have been refused"]
    pub fn resize(&mut self, bytes: u64) -> bool {
        let is_granted = match bytes.checked_sub(self.bytes) {
            Some(more) => self.budget.charge_up_to(more, self.budget.bytes_soft),
            None => {
                self.budget.held.fetch_sub(self.bytes - bytes, Relaxed);
                true
            }
        };
        if is_granted {
            self.bytes = bytes;
        }
        is_granted
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.held.fetch_sub(self.bytes, Relaxed);
    }
}

impl MemoryAccount {
    /// Creates an account with its own limit only.
    pub const fn new(bytes_max: u64) -> Self {
        Self { held: 0, bytes_max, budget: None }
    }

    /// Creates an account with its own limit that also charges a budget.
    pub fn within(budget: &Arc<MemoryBudget>, bytes_max: u64) -> Self {
        Self { held: 0, bytes_max, budget: Some(Arc::clone(budget)) }
    }

    /// Returns the bytes charged now.
    #[inline]
    pub fn held(&self) -> u64 {
        self.held
    }

    /// Charges so many bytes.
    ///
    /// # Errors
    /// When the account or the budget would pass its limit; nothing is charged then.
    #[inline]
    pub fn charge(&mut self, bytes: u64) -> Result<(), OverBudget> {
        let held = match self.held.checked_add(bytes) {
            Some(held) if held <= self.bytes_max => held,
            _ => return Err(OverBudget { asked: bytes, bytes_max: self.bytes_max, of_process: false }),
        };
        if let Some(budget) = &self.budget {
            budget.charge(bytes)?;
        }
        self.held = held;
        Ok(())
    }

    /// Releases so many bytes, at most those that are charged.
    #[inline]
    pub fn release(&mut self, bytes: u64) {
        let bytes = bytes.min(self.held);
        self.held -= bytes;
        if let Some(budget) = &self.budget {
            budget.held.fetch_sub(bytes, Relaxed);
        }
    }

    /// Charges or releases the difference for a buffer whose capacity has changed.
    ///
    /// # Errors
    /// As [`charge`](Self::charge); the old capacity is still charged then.
    #[inline]
    pub fn resize(&mut self, before: u64, after: u64) -> Result<(), OverBudget> {
        match after.checked_sub(before) {
            Some(more) => self.charge(more),
            None => {
                self.release(before - after);
                Ok(())
            }
        }
    }
}

impl Drop for MemoryAccount {
    fn drop(&mut self) {
        self.release(self.held);
    }
}

impl fmt::Display for OverBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whose = if self.of_process { "all connections" } else { "one connection" };
        write!(f, "{} bytes more would pass the {} that {whose} may hold", self.asked, self.bytes_max)
    }
}

impl core::error::Error for OverBudget {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_refused_charge_charges_nobody() {
        let budget = Arc::new(MemoryBudget::new(100));
        let (mut one, mut other) = (MemoryAccount::within(&budget, 80), MemoryAccount::within(&budget, 80));
        one.charge(60).unwrap();
        let message = other.charge(41).unwrap_err().to_string();
        assert_eq!(message, "41 bytes more would pass the 100 that all connections may hold");
        let message = one.charge(21).unwrap_err().to_string();
        assert_eq!(message, "21 bytes more would pass the 80 that one connection may hold");
        assert_eq!((one.held(), other.held(), budget.held()), (60, 0, 60));
        assert!(budget.has_room(40) && !budget.has_room(41) && !budget.has_room(u64::MAX));
        one.charge(u64::MAX).unwrap_err();
        other.charge(40).unwrap();
        one.release(1000);
        assert_eq!((one.held(), budget.held()), (0, 40));
    }

    #[test]
    fn reservations_stop_at_the_soft_bound() {
        let budget = Arc::new(MemoryBudget::with_soft(100, 75));
        let mut account = MemoryAccount::within(&budget, 100);
        assert!(budget.reserve(76).is_none());
        let mut reservation = budget.reserve(70).unwrap();
        assert!(budget.reserve(6).is_none() && !reservation.resize(76) && !budget.is_used_up());
        assert_eq!((reservation.bytes(), budget.held()), (70, 70));
        account.charge(30).unwrap();
        assert!(budget.is_used_up() && account.charge(1).is_err());
        assert!(reservation.resize(40) && !reservation.resize(46) && !budget.is_used_up());
        assert!(reservation.resize(45) && budget.is_used_up());
        let beyond = budget.hold(60);
        assert_eq!((budget.held(), budget.has_room(0)), (135, false));
        drop((reservation, beyond));
        assert_eq!(budget.held(), 30);
    }

    #[test]
    fn capacities_are_followed() {
        let mut account = MemoryAccount::new(100);
        account.resize(0, 64).unwrap();
        account.resize(64, 16).unwrap();
        assert_eq!(account.held(), 16);
        account.resize(16, 101).unwrap_err();
        assert_eq!(account.held(), 16);
    }

    #[test]
    fn threads_share_a_budget() {
        extern crate std;
        let budget = Arc::new(MemoryBudget::new(1000));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..1000 {
                        let mut account = MemoryAccount::within(&budget, 300);
                        let _ = account.charge(300);
                        assert!(budget.held() <= 1000);
                    }
                });
            }
        });
        assert_eq!(budget.held(), 0);
    }
}
