//! Figures over a few values: medians that outliers do not move, and the test whether two means differ.

use crate::units::{FracNanos, Nanos, Share};

/// Where most of a set of durations lies.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Spread {
    /// How many there are.
    pub count: usize,
    /// The mean.
    pub mean: FracNanos,
    /// The middle one, or the mean of the two middle ones.
    pub median: FracNanos,
    /// The median distance from the median.
    pub deviation: FracNanos,
    /// The one that 95 in 100 do not exceed, by nearest rank.
    pub p95: Nanos,
}

impl Spread {
    /// The figures; `None` without a value.
    pub(super) fn of(mut values: Vec<i64>) -> Option<Self> {
        values.sort_unstable();
        let middle = median_of_sorted(&values)?;
        let mut distances: Vec<f64> = values
            .iter()
            .map(|value| (as_f64(*value) - middle).abs())
            .collect();
        distances.sort_unstable_by(f64::total_cmp);
        let rank = (values.len() * 95).div_ceil(100).max(1);
        let sum: f64 = values.iter().map(|value| as_f64(*value)).sum();
        Some(Self {
            count: values.len(),
            mean: FracNanos(sum / count_as_f64(values.len())),
            median: FracNanos(middle),
            deviation: FracNanos(middle_of(&distances, |value| *value)?),
            p95: Nanos(values[rank - 1]),
        })
    }

    /// The deviation as a share of the median: 0 for equal durations; `None` for a median of 0.
    #[must_use]
    pub fn irregularity(&self) -> Option<Share> {
        (self.median.0 > 0.0).then(|| Share(self.deviation.0 / self.median.0))
    }
}

fn median_of_sorted(values: &[i64]) -> Option<f64> {
    middle_of(values, |value| as_f64(*value))
}

fn middle_of<T>(sorted: &[T], number: impl Fn(&T) -> f64) -> Option<f64> {
    let upper = number(sorted.get(sorted.len() / 2)?);
    if sorted.len().is_multiple_of(2) {
        return Some(number(&sorted[sorted.len() / 2 - 1]).midpoint(upper));
    }
    Some(upper)
}

/// The median of numbers in any order; `None` without one.
pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    middle_of(&values, |value| *value)
}

/// How likely a difference of two means is chance.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Significance {
    /// Welch's t of second minus first.
    pub t: f64,
    /// The degrees of freedom by Welch and Satterthwaite.
    pub degrees: f64,
    /// The two-sided probability of a difference at least this large between samples of equal mean.
    pub p: Share,
}

/// Welch's test for samples of unequal variance.
///
/// `None` when a sample has fewer than two values, or when neither varies at all: then there is nothing to test against.
pub(super) fn welch(first: &[f64], second: &[f64]) -> Option<Significance> {
    let (mean_a, error_a) = mean_and_error(first)?;
    let (mean_b, error_b) = mean_and_error(second)?;
    let error = error_a + error_b;
    if error <= 0.0 {
        return None;
    }
    let t = (mean_b - mean_a) / error.sqrt();
    let terms = error_a.powi(2) / (count(first) - 1.0) + error_b.powi(2) / (count(second) - 1.0);
    let degrees = error.powi(2) / terms;
    let p = incomplete_beta(degrees / 2.0, 0.5, degrees / (degrees + t * t));
    Some(Significance {
        t,
        degrees,
        p: Share(p),
    })
}

/// The mean, and the square of its standard error.
fn mean_and_error(sample: &[f64]) -> Option<(f64, f64)> {
    if sample.len() < 2 {
        return None;
    }
    let n = count(sample);
    let mean = sample.iter().sum::<f64>() / n;
    let squares: f64 = sample.iter().map(|value| (value - mean).powi(2)).sum();
    Some((mean, squares / (n - 1.0) / n))
}

fn count(sample: &[f64]) -> f64 {
    count_as_f64(sample.len())
}

/// The regularised incomplete beta function, by its continued fraction (DLMF 8.17.22) evaluated after Lentz.
///
/// The two-sided tail of Student's t with ν degrees of freedom is I(ν/2, 1/2) at ν/(ν + t²) (DLMF 8.17, Abramowitz and
/// Stegun 26.7.1).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges fast only below the mean; above it the mirrored function is used (DLMF 8.17.4).
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    let front =
        (a * x.ln() + b * (1.0 - x).ln() + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b)).exp() / a;
    front / beta_fraction(a, b, x)
}

/// Stops when a term changes the fraction by less than this: beyond what any printed probability shows.
const CONVERGED: f64 = 1e-12;
/// Far more terms than the fraction needs below the mean; the loop is bounded for hostile arguments only.
const MOST_TERMS: u32 = 500;
/// Stands in for a zero denominator, as Lentz's method asks.
const TINY: f64 = 1e-300;

/// 1 + d₁/(1 + d₂/(1 + …)).
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut value, mut c, mut d) = (1.0, 1.0, 0.0);
    for term in 1..=MOST_TERMS {
        let m = f64::from(term / 2);
        let coefficient = if term % 2 == 0 {
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        } else {
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        };
        d = 1.0 / away_from_zero(1.0 + coefficient * d);
        c = away_from_zero(1.0 + coefficient / c);
        value *= c * d;
        if (c * d - 1.0).abs() < CONVERGED {
            break;
        }
    }
    value
}

/// The logarithm of the gamma function for positive arguments, by Stirling's series (DLMF 5.11.1).
///
/// The argument is first raised above 10 by the recurrence (DLMF 5.5.1); five terms then leave an error below 1e-13.
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut shift) = (x, 0.0);
    while x < 10.0 {
        shift += x.ln();
        x += 1.0;
    }
    let square = x * x;
    let series = (1.0 / 12.0
        - (1.0 / 360.0
            - (1.0 / 1260.0 - (1.0 / 1680.0 - 1.0 / (1188.0 * square)) / square) / square)
            / square)
        / x;
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series - shift
}

/// Nanoseconds as a number to calculate with.
#[expect(
    clippy::cast_precision_loss,
    reason = "2^53 ns are 104 days; no session is that long"
)]
pub(super) fn as_f64(nanos: i64) -> f64 {
    nanos as f64
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of values in memory stay far below 2^53"
)]
pub(super) fn count_as_f64(count: usize) -> f64 {
    count as f64
}

/// The share that some things are of all; `None` of nothing.
#[expect(
    clippy::cast_precision_loss,
    reason = "a share of more than 2^53 things needs no further digit"
)]
pub(super) fn share_of_count(part: u64, all: u64) -> Option<Share> {
    (all > 0).then(|| Share(part as f64 / all as f64))
}

#[cfg(test)]
mod tests {
    use super::{Spread, incomplete_beta, ln_gamma, welch};

    #[track_caller]
    fn check(found: f64, expected: f64, tolerance: f64) {
        assert!(
            (found - expected).abs() <= tolerance,
            "{found} instead of {expected}"
        );
    }

    #[test]
    fn half_of_the_distances_lie_within_the_deviation() {
        // Sorted 1 2 3 4 100: mean 22, median 3, distances 0 1 1 2 97 with median 1; rank ⌈0.95 × 5⌉ = 5 is the last one.
        let spread = Spread::of(vec![100, 2, 3, 4, 1]).expect("five values");
        check(spread.mean.0, 22.0, 0.0);
        check(spread.median.0, 3.0, 0.0);
        check(spread.deviation.0, 1.0, 0.0);
        assert_eq!((spread.count, spread.p95.0), (5, 100));
        assert_eq!(Spread::of(Vec::new()), None);
    }

    #[test]
    fn gamma_of_small_whole_numbers_is_a_factorial() {
        check(ln_gamma(1.0), 0.0, 1e-12);
        check(ln_gamma(5.0), 24.0_f64.ln(), 1e-12);
        check(ln_gamma(0.5), std::f64::consts::PI.sqrt().ln(), 1e-12);
    }

    #[test]
    fn beta_of_symmetric_arguments_is_a_half_in_the_middle() {
        check(incomplete_beta(3.0, 3.0, 0.5), 0.5, 1e-12);
        // I(1, b) at x is 1 − (1 − x)^b.
        check(incomplete_beta(1.0, 4.0, 0.3), 1.0 - 0.7_f64.powi(4), 1e-12);
    }

    #[test]
    fn welch_of_a_worked_example() {
        // Means 3 and 6, variances 2.5 and 10 over 5 values each: errors 0.5 and 2, t = 3/√2.5 = 1.8974,
        // ν = 2.5² / (0.25/4 + 4/4) = 5.8824; the tail for that t and ν is 0.10753 by numerical integration of the density.
        let found =
            welch(&[1.0, 2.0, 3.0, 4.0, 5.0], &[2.0, 4.0, 6.0, 8.0, 10.0]).expect("samples");
        check(found.t, 1.897_366_596, 1e-9);
        check(found.degrees, 5.882_352_941, 1e-9);
        check(found.p.0, 0.107_531, 1e-6);
        assert_eq!(welch(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(welch(&[1.0, 1.0], &[1.0, 1.0]), None);
    }
}
