//! A plot of growth, as SVG: a line for each server, both axes logarithmic.

use std::fmt::Write;

use super::super::holding::Who;
use super::figures::{Figures, Measure, Point, WHO, Way};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 90.0;
const TOP: f64 = 56.0;
const BOTTOM: f64 = 36.0;

/// An axis from one power of ten to another.
#[derive(Clone, Copy)]
struct Axis {
    least: i32,
    most: i32,
}

impl Axis {
    /// The powers around all of these.
    fn around(values: impl Iterator<Item = f64> + Clone) -> Self {
        let least = values.clone().fold(1e9, f64::min).max(1e-3).log10().floor() as i32;
        let most = values.fold(1e-3, f64::max).log10().ceil() as i32;
        Self { least, most: most.max(least + 1) }
    }

    /// The place of a value between 0 and 1.
    fn place(self, value: f64) -> f64 {
        (value.max(1e-3).log10() - f64::from(self.least)) / f64::from(self.most - self.least)
    }

    fn ticks(self) -> impl Iterator<Item = f64> {
        (self.least..=self.most).map(|power| 10f64.powi(power))
    }
}

/// Medians over sizes.
pub(super) fn svg(figures: &Figures, way: Way, measure: Measure) -> String {
    let lines: Vec<(Who, Vec<(f64, f64)>)> =
        WHO.map(|who| (who, line(figures, way, measure, who))).into_iter().collect();
    let points = || lines.iter().flat_map(|(_, points)| points.iter().copied());
    let (across, up) = (Axis::around(points().map(|(x, _)| x)), Axis::around(points().map(|(_, y)| y)));
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"12\" y=\"22\" font-size=\"15\" font-weight=\"bold\">{}</text>\n\
         <text x=\"12\" y=\"40\" fill=\"#555\">{}; medians</text>\n",
        way.title(),
        measure.title()
    );
    push_axes(&mut text, across, up);
    for (who, points) in &lines {
        push_line(&mut text, *who, points, across, up);
    }
    text.push_str("</svg>\n");
    text
}

fn line(figures: &Figures, way: Way, measure: Measure, who: Who) -> Vec<(f64, f64)> {
    let at = |size| figures.get(Point { way, size, who }, measure);
    way.sizes().into_iter().filter_map(|size| Some((size as f64, at(size)?.median))).collect()
}

fn x(axis: Axis, value: f64) -> f64 {
    LEFT + axis.place(value) * (WIDTH - LEFT - RIGHT)
}

fn y(axis: Axis, value: f64) -> f64 {
    HEIGHT - BOTTOM - axis.place(value) * (HEIGHT - TOP - BOTTOM)
}

fn push_axes(text: &mut String, across: Axis, up: Axis) {
    let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
    for tick in across.ticks() {
        let x = x(across, tick);
        writeln!(
            text,
            "<path d=\"M{x:.1} {TOP}V{bottom}\" stroke=\"#ddd\"/>\n<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{tick}</text>",
            bottom + 18.0
        )
        .expect("a String takes any text");
    }
    for tick in up.ticks() {
        let y = y(up, tick);
        writeln!(
            text,
            "<path d=\"M{LEFT} {y:.1}H{right}\" stroke=\"#ddd\"/>\n<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{tick}</text>",
            LEFT - 8.0,
            y + 4.0
        )
        .expect("a String takes any text");
    }
}

fn push_line(text: &mut String, who: Who, points: &[(f64, f64)], across: Axis, up: Axis) {
    let Some((last_x, last_y)) = points.last() else { return };
    let places: Vec<String> =
        points.iter().map(|(size, value)| format!("{:.1},{:.1}", x(across, *size), y(up, *value))).collect();
    let colour = match who {
        Who::Alula => "#2563a8",
        Who::Hyper => "#c2562d",
        Who::H2o => "#4c8c4a",
        _ => "#888",
    };
    writeln!(
        text,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\n\
         <text x=\"{:.1}\" y=\"{:.1}\" fill=\"{colour}\">{}</text>",
        places.join(" "),
        x(across, *last_x) + 8.0,
        y(up, *last_y) + 4.0,
        who.label()
    )
    .expect("a String takes any text");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axes_reach_around_all_points() {
        let mut figures = Figures::default();
        for (size, mebibytes) in [(1, 3.0), (10_000, 70.0)] {
            figures.add(Point { way: Way::Http2Connections, size, who: Who::Alula }, 1.0, mebibytes);
        }
        let svg = svg(&figures, Way::Http2Connections, Measure::Memory);
        assert!(svg.contains("points=\"60.0,") && svg.contains(" 670.0,"), "{svg}");
        assert!(svg.contains(">10000</text>") && svg.ends_with("</svg>\n"), "{svg}");
    }
}
