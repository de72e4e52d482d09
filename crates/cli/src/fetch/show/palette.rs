//! The colours of the output, for each background.

use anstyle::{Ansi256Color, AnsiColor, Color, Style as Paint};

use crate::args::Style;

/// The colour of each kind of token.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Palette {
    /// Names of members.
    pub(super) key: Paint,
    pub(super) string: Paint,
    pub(super) number: Paint,
    /// `true`, `false` and `null`.
    pub(super) word: Paint,
    /// Names of fields.
    pub(super) name: Paint,
    /// Methods and versions.
    pub(super) first: Paint,
    /// Statuses by their first digit, from 1 to 5.
    pub(super) statuses: [Paint; 5],
}

impl Default for Palette {
    fn default() -> Self {
        ANSI
    }
}

/// The terminal's own colours, which its user has chosen.
const ANSI: Palette = Palette {
    key: ansi(AnsiColor::Blue),
    string: ansi(AnsiColor::Green),
    number: ansi(AnsiColor::Cyan),
    word: ansi(AnsiColor::Magenta),
    name: ansi(AnsiColor::Cyan),
    first: ansi(AnsiColor::Blue),
    statuses: [
        ansi(AnsiColor::Blue).bold(),
        ansi(AnsiColor::Green).bold(),
        ansi(AnsiColor::Cyan).bold(),
        ansi(AnsiColor::Yellow).bold(),
        ansi(AnsiColor::Red).bold(),
    ],
};

/// The colours for an unknown background: each has a contrast of 4.5 to both black and white, as few colours
/// have.
const BOTH: Palette = Palette {
    key: cube(63),
    string: cube(29),
    number: cube(98),
    word: cube(163),
    name: cube(63),
    first: cube(63),
    statuses: [cube(63).bold(), cube(29).bold(), cube(98).bold(), cube(131).bold(), cube(163).bold()],
};

/// The colours for a dark background: each has a contrast of at least 4.5 to black, as WCAG requires for
/// text, whatever the terminal's sixteen colours are.
const DARK: Palette = Palette {
    key: cube(117),
    string: cube(114),
    number: cube(80),
    word: cube(176),
    name: cube(80),
    first: cube(117),
    statuses: [cube(117).bold(), cube(114).bold(), cube(80).bold(), cube(221).bold(), cube(210).bold()],
};

/// The colours for a light background, with the same contrast to white.
const LIGHT: Palette = Palette {
    key: cube(25),
    string: cube(28),
    number: cube(24),
    word: cube(90),
    name: cube(24),
    first: cube(25),
    statuses: [cube(25).bold(), cube(28).bold(), cube(24).bold(), cube(94).bold(), cube(124).bold()],
};

const fn ansi(color: AnsiColor) -> Paint {
    Paint::new().fg_color(Some(Color::Ansi(color)))
}

const fn cube(number: u8) -> Paint {
    Paint::new().fg_color(Some(Color::Ansi256(Ansi256Color(number))))
}

impl Palette {
    /// Returns the palette of a style; `background` is what COLORFGBG says.
    pub(super) fn of(style: Style, background: Option<&str>) -> Self {
        match style {
            Style::Ansi => ANSI,
            Style::Dark => DARK,
            Style::Light => LIGHT,
            Style::Auto => match background.and_then(is_dark) {
                Some(true) => DARK,
                Some(false) => LIGHT,
                None => BOTH,
            },
        }
    }

    pub(super) fn of_status(&self, code: u16) -> Paint {
        let digit = usize::from(code / 100);
        *digit.checked_sub(1).and_then(|place| self.statuses.get(place)).unwrap_or(&self.statuses[0])
    }
}

/// Parses `FOREGROUND;BACKGROUND`, two numbers of the sixteen colours; returns nothing if it is something
/// else.
fn is_dark(colors: &str) -> Option<bool> {
    match colors.rsplit(';').next()?.parse::<u8>().ok()? {
        0..=6 | 8 => Some(true),
        7 | 9..=15 => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The relative luminance of a colour of the cube of 216 (WCAG 2.2).
    fn luminance(paint: Paint) -> f64 {
        let Some(Color::Ansi256(Ansi256Color(number @ 16..=231))) = paint.get_fg_color() else {
            panic!("{paint:?}")
        };
        let linear = |step: u8| {
            let level = if step == 0 { 0.0 } else { 55.0 + 40.0 * f64::from(step) } / 255.0;
            if level <= 0.04045 { level / 12.92 } else { ((level + 0.055) / 1.055).powf(2.4) }
        };
        let place = number - 16;
        0.2126 * linear(place / 36) + 0.7152 * linear(place / 6 % 6) + 0.0722 * linear(place % 6)
    }

    #[test]
    fn text_stands_out_from_its_background() {
        for (palette, background) in [(DARK, 0.0), (LIGHT, 1.0), (BOTH, 0.0), (BOTH, 1.0)] {
            let Palette { key, string, number, word, name, first, statuses } = palette;
            for paint in [key, string, number, word, name, first].into_iter().chain(statuses) {
                let (one, other) = (luminance(paint) + 0.05, background + 0.05);
                let contrast = one.max(other) / one.min(other);
                assert!(contrast >= 4.5, "{paint:?}: {contrast:.2}");
            }
        }
    }

    #[test]
    fn the_background_decides_unless_a_style_does() {
        for (style, background, palette) in [
            (Style::Auto, None, BOTH),
            (Style::Auto, Some("15;0"), DARK),
            (Style::Auto, Some("0;15"), LIGHT),
            (Style::Auto, Some("0;default;7"), LIGHT),
            (Style::Auto, Some("12;8"), DARK),
            (Style::Auto, Some("default"), BOTH),
            (Style::Auto, Some("1;99"), BOTH),
            (Style::Dark, Some("0;15"), DARK),
            (Style::Light, None, LIGHT),
            (Style::Ansi, Some("15;0"), ANSI),
        ] {
            assert_eq!(Palette::of(style, background), palette, "{style:?} {background:?}");
        }
    }

    #[test]
    fn statuses_have_a_colour_for_each_class() {
        assert_eq!(ANSI.of_status(204), ansi(AnsiColor::Green).bold());
        assert_eq!((ANSI.of_status(599), ANSI.of_status(999)), (ANSI.statuses[4], ANSI.statuses[0]));
    }
}
