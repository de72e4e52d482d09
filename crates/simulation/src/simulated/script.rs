//! What happens in one call, on both sides: both work it out from the seed and the call's number.

use std::time::Duration;

use alula_testkit::Rng;

use super::weather::milliseconds;

/// The time that a server thinks that never answers: its callers do not wait so long.
const NEVER: Duration = Duration::from_secs(20);

#[derive(Clone, Debug)]
pub(super) struct Script {
    pub(super) number: u32,
    pub(super) method: &'static str,
    pub(super) upload: Upload,
    pub(super) answer: Answer,
    /// The number of bytes that the answer has, unless it is the request sent back.
    pub(super) bytes: usize,
    /// How long the server thinks before it answers.
    pub(super) thinks: Duration,
    pub(super) has_trailers: bool,
    /// The time that the caller waits before each piece of the answer.
    pub(super) reads_after: Duration,
    /// The number of bytes that the caller reads at most at a time; 0 takes what there is.
    pub(super) reads_at_most: usize,
    pub(super) deadline: Option<Duration>,
    pub(super) given_up: Option<GivenUp>,
    /// The caller drops its writer in the midst of the content, and waits for the response all the same.
    pub(super) breaks_off: bool,
    /// The time that the caller rests before the call.
    pub(super) rests: Duration,
}

/// The content of the request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Upload {
    None,
    Whole(usize),
    Pieces(usize, Pieces),
}

/// How content is sent piece by piece.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Pieces {
    pub(super) bytes: usize,
    pub(super) pause: Duration,
}

/// How the server answers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Answer {
    /// When it has read the request, at once.
    Whole,
    /// When it has read the request, piece by piece.
    Pieces(Pieces),
    /// With what it reads, as it comes.
    Echo,
    /// Without reading the request.
    Early,
    /// Not at all, which is 500.
    Not,
    /// With half of an answer.
    Half,
}

/// When a caller gives up.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum GivenUp {
    /// When it has been polled so often, as it would be once more.
    Polls(usize),
    /// After this long.
    After(Duration),
    /// Not at all; but when it has been polled so often, it is not polled for this long.
    Stalls(usize, Duration),
}

impl Script {
    /// Returns true if it may be carried out more than once (RFC 9110 §9.2.2).
    pub(super) fn is_idempotent(&self) -> bool {
        self.method != "POST"
    }

    /// `small` is for worlds whose windows are small: much content takes many turns there.
    pub(super) fn of(seed: u64, number: u32, small: bool) -> Self {
        let rng = &mut Rng::new(seed.rotate_left(17) ^ u64::from(number));
        let upload = Upload::of(rng, small);
        let answer = Answer::of(rng, upload);
        let mut bytes = bytes(rng, small);
        if answer == Answer::Early && matches!(upload, Upload::Whole(_)) {
            // Such a caller reads nothing before all is sent, and such a server reads nothing before its
            // answer is sent.
            bytes = 0;
        }
        let mut script = Self {
            number,
            method: match upload {
                Upload::None if answer == Answer::Whole && rng.one_in(10) => "HEAD",
                Upload::None => "GET",
                _ => "POST",
            },
            upload,
            answer,
            bytes,
            thinks: pause(rng),
            has_trailers: rng.one_in(4),
            reads_after: pause(rng),
            reads_at_most: if rng.one_in(3) { bytes / 8 + 1 } else { 0 },
            deadline: rng.one_in(6).then(|| milliseconds(rng.below(500))),
            given_up: rng.one_in(4).then(|| GivenUp::of(rng)),
            breaks_off: matches!(upload, Upload::Pieces(..)) && rng.one_in(8),
            rests: pause(rng),
        };
        if rng.one_in(60) {
            (script.thinks, script.deadline) = (NEVER, Some(milliseconds(rng.below(500))));
        }
        script
    }

    /// The caller hears at once of what happens: it does nothing else meanwhile.
    pub(super) fn is_prompt(&self) -> bool {
        let has_pauses = matches!(self.upload, Upload::Pieces(_, pieces) if !pieces.pause.is_zero());
        !has_pauses && self.reads_after.is_zero() && self.given_up.is_none()
    }
}

impl Upload {
    fn of(rng: &mut Rng, small: bool) -> Self {
        match rng.below(6) {
            0 => Self::Whole(bytes(rng, small)),
            1 | 2 => {
                let bytes = bytes(rng, small);
                Self::Pieces(bytes, Pieces::of(rng, bytes))
            }
            _ => Self::None,
        }
    }

    pub(super) fn bytes(self) -> usize {
        match self {
            Self::None => 0,
            Self::Whole(bytes) | Self::Pieces(bytes, _) => bytes,
        }
    }
}

impl Pieces {
    fn of(rng: &mut Rng, bytes: usize) -> Self {
        Self {
            bytes: bytes / rng.range(1..20) + 1,
            pause: if rng.one_in(2) { Duration::ZERO } else { pause(rng) },
        }
    }
}

impl Answer {
    fn of(rng: &mut Rng, upload: Upload) -> Self {
        match rng.below(20) {
            0..8 => Self::Whole,
            8..12 => Self::Pieces(Pieces::of(rng, 10_000)),
            12..17 if matches!(upload, Upload::Pieces(..)) => Self::Echo,
            17 => Self::Early,
            18 => Self::Not,
            19 => Self::Half,
            _ => Self::Whole,
        }
    }
}

impl GivenUp {
    fn of(rng: &mut Rng) -> Self {
        match rng.below(3) {
            0 => Self::Polls(rng.range(1..8)),
            1 => Self::After(milliseconds(rng.below(300))),
            _ => Self::Stalls(rng.range(1..6), milliseconds(rng.below(400))),
        }
    }
}

fn bytes(rng: &mut Rng, small: bool) -> usize {
    let most = match rng.below(10) {
        0..2 => 0,
        2..6 => 200,
        6..9 => 5_000,
        _ if small => 5_000,
        _ => crate::content::BYTES_MAX,
    };
    rng.below(most + 1)
}

fn pause(rng: &mut Rng) -> Duration {
    milliseconds(match rng.below(40) {
        0..20 => 0,
        20..38 => rng.below(30),
        38 => rng.below(300),
        _ => rng.below(3_000),
    })
}
