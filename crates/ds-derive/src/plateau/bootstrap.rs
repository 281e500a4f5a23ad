//! How far the noise of the windows reaches: a percentile bootstrap with its own generator, so that the same windows
//! give the same interval on every machine.

use ds_ceilings::Fps;

/// Resamples per interval. At 2,000 the ends of a 95 % interval rest on the 50 most extreme values a side.
const RESAMPLES: usize = 2_000;

/// Values cut off at each end: 2.5 % of the resamples.
const TAIL: usize = RESAMPLES / 40;

/// Any fixed number serves; this one is the fractional part of the golden ratio in 64 bits.
const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

/// A 95 % interval of a mean, or of a ratio of means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval95 {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Interval95 {
    /// The interval of mean(`to`) / mean(`from`), each resampled with replacement (Efron and Tibshirani, "An
    /// Introduction to the Bootstrap", 1993, chapter 13: the percentile interval). `None` with fewer than two windows
    /// on a side, where there is no spread to resample, or if an end is not finite.
    pub(super) fn of_ratio(from: &[Fps], to: &[Fps]) -> Option<Self> {
        if from.len() < 2 || to.len() < 2 {
            return None;
        }
        Self::of_statistic(|random| resampled_mean(to, random) / resampled_mean(from, random))
    }

    /// The interval of mean(`windows`), resampled in the same way. `None` with fewer than two windows.
    pub(super) fn of_mean(windows: &[Fps]) -> Option<Self> {
        if windows.len() < 2 {
            return None;
        }
        Self::of_statistic(|random| resampled_mean(windows, random))
    }

    fn of_statistic(resampled: impl Fn(&mut SplitMix64) -> f64) -> Option<Self> {
        let mut random = SplitMix64(SEED);
        let mut values: Vec<f64> = (0..RESAMPLES).map(|_| resampled(&mut random)).collect();
        values.sort_unstable_by(f64::total_cmp);
        let (low, high) = (values[TAIL], values[RESAMPLES - 1 - TAIL]);
        (low.is_finite() && high.is_finite()).then_some(Self { low, high })
    }
}

/// The mean of the windows; zero for none.
pub(super) fn mean(windows: &[Fps]) -> Fps {
    let sum: Fps = windows.iter().copied().sum();
    sum.scaled((windows.len().max(1) as f64).recip())
        .unwrap_or(Fps::ZERO)
}

fn resampled_mean(windows: &[Fps], random: &mut SplitMix64) -> f64 {
    let sum: f64 = windows
        .iter()
        .map(|_| windows[random.below(windows.len())].get())
        .sum();
    sum / windows.len() as f64
}

/// SplitMix64: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014, with the constants
/// of its reference code (public domain, Sebastiano Vigna, 2015).
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// An index below `len`: the high half of a 128-bit product (Lemire, "Fast Random Integer Generation in an
    /// Interval", 2019). Its bias is below `len` / 2⁶⁴.
    fn below(&mut self, len: usize) -> usize {
        let product = u128::from(self.next()) * len as u128;
        usize::try_from(product >> 64).expect("the high half is below `len`, which is a usize")
    }
}

#[cfg(test)]
mod tests {
    use super::{Interval95, SplitMix64};
    use ds_ceilings::Fps;

    #[test]
    fn the_generator_gives_the_published_sequence() {
        let mut random = SplitMix64(1_234_567);
        let first: Vec<u64> = (0..5).map(|_| random.next()).collect();
        // The sequence for seed 1234567 in Rosetta Code's task "Pseudo-random numbers/Splitmix64".
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(first, expected);
    }

    #[test]
    fn indices_reach_both_ends_and_no_further() {
        let mut random = SplitMix64(7);
        let mut seen = [0_u32; 5];
        for _ in 0..1_000 {
            seen[random.below(5)] += 1;
        }
        assert!(seen.iter().all(|count| *count > 100), "{seen:?}");
    }

    #[test]
    fn windows_without_spread_give_an_interval_without_width() {
        let flat = |value| vec![Fps::new(value).unwrap(); 6];
        let interval = Interval95::of_ratio(&flat(100.0), &flat(150.0)).unwrap();
        assert!((interval.low - 1.5).abs() < 1e-12 && (interval.high - 1.5).abs() < 1e-12);
    }

    #[test]
    fn the_interval_of_a_mean_lies_round_the_mean() {
        // 16 windows of 98 and 102: mean 100, deviation 2, standard error 2 / sqrt(16) = 0.5, so about 99 to 101.
        let windows: Vec<Fps> = [98.0, 102.0].map(|fps| Fps::new(fps).unwrap()).repeat(8);
        let interval = Interval95::of_mean(&windows).unwrap();
        assert!((interval.low - 99.0).abs() < 0.3, "{interval:?}");
        assert!((interval.high - 101.0).abs() < 0.3, "{interval:?}");
        assert_eq!(Interval95::of_mean(&windows[..1]), None);
    }
}
