//! What some rounds say together.

/// Median, least and most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

impl Spread {
    /// None without values; what is not a number is none.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        let (least, most) = (*values.first()?, *values.last()?);
        let middle = values.len() / 2;
        let median = if values.len() % 2 == 1 {
            values[middle]
        } else {
            f64::midpoint(values[middle - 1], values[middle])
        };
        Some(Self { median, least, most })
    }

    /// Of what is divided round by round, since a slow moment of the machine slows both.
    pub(crate) fn of_ratios(values: &[f64], by: &[f64]) -> Option<Self> {
        Self::of(values.iter().zip(by).filter(|(_, by)| **by > 0.0).map(|(value, by)| value / by))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_between_two_where_there_are_two() {
        assert_eq!(Spread::of([3.0, 1.0, 2.0]), Some(Spread { median: 2.0, least: 1.0, most: 3.0 }));
        assert_eq!(Spread::of([4.0, 1.0]), Some(Spread { median: 2.5, least: 1.0, most: 4.0 }));
        assert_eq!(Spread::of([]), None);
        assert_eq!(Spread::of([f64::NAN]), None);
        let ratios = Spread::of_ratios(&[2.0, 9.0, 6.0], &[1.0, f64::NAN, 2.0]);
        assert_eq!(ratios, Some(Spread { median: 2.5, least: 2.0, most: 3.0 }));
    }

    #[test]
    fn rounds_are_compared_with_themselves() {
        let ratios = Spread::of_ratios(&[2.0, 40.0, 6.0], &[1.0, 10.0, 2.0]);
        assert_eq!(ratios, Some(Spread { median: 3.0, least: 2.0, most: 4.0 }));
    }
}
