//! How well the mean of some windows is known.

use ds_ceilings::Fps;

/// Quantiles of Student's t for a two-sided interval of 95 %, from one degree of freedom on (NIST/SEMATECH e-Handbook of
/// Statistical Methods, section 1.3.6.7.2, column 0.975).
const T_95: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];

/// Half the width of the 95 % interval of the mean, as a share of the mean: Student's t times the standard error. It takes
/// windows for independent of each other, so that a slow drift shows only as far as it has come. `None` for fewer than two
/// windows, and for a mean of zero.
#[must_use]
pub fn relative_half_width(windows: &[Fps]) -> Option<f64> {
    let degrees = windows.len().checked_sub(2)?;
    // Beyond the table the quantile falls from 2.042 to 1.960: its last value errs on the safe side.
    let t = T_95[degrees.min(T_95.len() - 1)];
    #[expect(clippy::cast_precision_loss, reason = "no log holds 2^53 windows")]
    let n = windows.len() as f64;
    let mean = windows.iter().copied().sum::<Fps>().get() / n;
    let squares: f64 = windows
        .iter()
        .map(|window| (window.get() - mean).powi(2))
        .sum();
    let width = t * (squares / (n - 1.0) / n).sqrt() / mean;
    width.is_finite().then_some(width)
}

#[cfg(test)]
mod tests {
    use super::relative_half_width;
    use ds_ceilings::Fps;

    fn width(windows: &[f64]) -> Option<f64> {
        let windows: Vec<Fps> = windows.iter().copied().filter_map(Fps::new).collect();
        relative_half_width(&windows)
    }

    #[test]
    fn an_example_by_hand() {
        // Mean 100, deviations -1, 0, 1 twice: squares 4, variance 4 / 5, standard error sqrt(0.8 / 6) = 0.36515; times
        // 2.571 of five degrees of freedom is 0.93880, of a mean of 100.
        let found = width(&[99.0, 100.0, 101.0, 99.0, 100.0, 101.0]).expect("six windows");
        assert!((found - 0.009_388).abs() < 1e-6, "{found}");
    }

    #[test]
    fn equal_windows_have_no_width() {
        assert_eq!(width(&[30.0; 40]), Some(0.0));
    }

    #[test]
    fn too_little_to_say() {
        assert_eq!(width(&[]), None);
        assert_eq!(width(&[30.0]), None);
        assert_eq!(width(&[0.0; 8]), None);
    }
}
