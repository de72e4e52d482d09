//! The Mersenne Twister MT19937, as Python seeds it, so that a seed stands for the same bytes as with
//! httpbin.

/// Words of the state.
const WORDS: usize = 624;
/// The distance of the words that are mixed.
const MIDDLE: usize = 397;

/// A generator.
pub(super) struct Twister {
    state: [u32; WORDS],
    at: usize,
}

impl Twister {
    /// Begins with a number; its sign does not count.
    pub(super) fn seeded(seed: i128) -> Self {
        let mut key: Vec<u32> = Vec::new();
        let mut rest = seed.unsigned_abs();
        while rest > 0 || key.is_empty() {
            key.push(rest as u32);
            rest >>= 32;
        }
        Self::of_key(&key)
    }

    fn of_key(key: &[u32]) -> Self {
        let mut state = initial(19_650_218);
        let mut at = 1;
        for round in 0..WORDS.max(key.len()) {
            let place = round % key.len();
            let mixed = state[at] ^ mix(state[at - 1], 1_664_525);
            state[at] = mixed.wrapping_add(key[place]).wrapping_add(place as u32);
            at = next(&mut state, at);
        }
        for _ in 1..WORDS {
            let mixed = state[at] ^ mix(state[at - 1], 1_566_083_941);
            state[at] = mixed.wrapping_sub(at as u32);
            at = next(&mut state, at);
        }
        state[0] = 1 << 31;
        Self { state, at: WORDS }
    }

    /// The next byte, each as likely as any other: nine bits, and again where they are more than a byte.
    pub(super) fn byte(&mut self) -> u8 {
        loop {
            if let Ok(byte) = u8::try_from(self.word() >> 23) {
                return byte;
            }
        }
    }

    fn word(&mut self) -> u32 {
        if self.at == WORDS {
            self.twist();
        }
        let mut word = self.state[self.at];
        self.at += 1;
        word ^= word >> 11;
        word ^= word << 7 & 0x9d2c_5680;
        word ^= word << 15 & 0xefc6_0000;
        word ^ word >> 18
    }

    fn twist(&mut self) {
        for at in 0..WORDS {
            let both = self.state[at] & 1 << 31 | self.state[(at + 1) % WORDS] & !(1 << 31);
            let odd = if both & 1 == 1 { 0x9908_b0df } else { 0 };
            self.state[at] = self.state[(at + MIDDLE) % WORDS] ^ both >> 1 ^ odd;
        }
        self.at = 0;
    }
}

fn initial(seed: u32) -> [u32; WORDS] {
    let mut state = [seed; WORDS];
    for at in 1..WORDS {
        state[at] = mix(state[at - 1], 1_812_433_253).wrapping_add(at as u32);
    }
    state
}

fn mix(word: u32, factor: u32) -> u32 {
    (word ^ word >> 30).wrapping_mul(factor)
}

/// The place after this one; the first word is the last one's then.
fn next(state: &mut [u32; WORDS], at: usize) -> usize {
    if at + 1 < WORDS {
        return at + 1;
    }
    state[0] = state[WORDS - 1];
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that Python 3.11 gives for `random.seed(seed)` and `random.randint(0, 255)`.
    #[test]
    fn a_seed_stands_for_the_bytes_of_python() {
        for (seed, expected) in [
            (1, [68, 32, 130, 60, 253, 230, 241, 194]),
            (0, [197, 215, 20, 132, 248, 207, 155, 244]),
            (-5, [130, 183, 14, 238, 127, 26, 80, 57]),
        ] {
            let mut twister = Twister::seeded(seed);
            assert_eq!([(); 8].map(|()| twister.byte()), expected, "{seed}");
        }
        let mut twister = Twister::seeded((1 << 70) + 3);
        let bytes: Vec<u8> = (0..2000).map(|_| twister.byte()).collect();
        assert_eq!((&bytes[..4], &bytes[1996..]), (&[83, 169, 125, 144][..], &[108, 121, 224, 169][..]));
    }
}
