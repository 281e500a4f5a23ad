//! How figures are printed, the same in every answer.

use ds_nsys::{BusyShares, Bytes, DeviceKey, FracNanos, Interval, Nanos, Share, Spread, Verdict};
use serde_json::{Value, json};

use super::page::Page;

/// What stands where nothing is known.
pub(super) const UNKNOWN: &str = "unknown";

/// Milliseconds with three decimals.
pub(super) fn millis(time: Nanos) -> String {
    format!("{:.3}", time.as_millis_f64())
}

/// Microseconds with three decimals, which is every nanosecond.
pub(super) fn micros(time: Nanos) -> String {
    format!("{:.3}", time.as_millis_f64() * 1e3)
}

/// Milliseconds of a mean or median.
pub(super) fn frac_millis(time: FracNanos) -> String {
    format!("{:.3}", time.0 / 1e6)
}

/// A share, or that it is not known.
pub(super) fn percent(share: Option<Share>) -> String {
    share.map_or_else(|| UNKNOWN.to_owned(), |share| share.to_string())
}

/// 10^6 bytes, as nsys prints sizes.
pub(super) fn megabytes(bytes: Bytes) -> String {
    #[expect(
        clippy::cast_precision_loss,
        reason = "2^53 bytes are 9 PB; no GPU holds that"
    )]
    let bytes = bytes.0 as f64;
    format!("{:.3}", bytes / 1e6)
}

/// A rank in words.
pub(super) fn rank(device: DeviceKey) -> String {
    format!("PID {} device {}", device.process.pid(), device.ordinal)
}

/// A rank as JSON.
pub(super) fn rank_json(device: DeviceKey) -> Value {
    json!({"pid": device.process.pid(), "device": device.ordinal})
}

/// An interval as JSON.
pub(super) fn interval_json(interval: Interval) -> Value {
    json!({"start_ns": interval.start.0, "end_ns": interval.end.0})
}

/// Where most of a set of durations lies, as JSON.
pub(super) fn spread_json(spread: &Spread) -> Value {
    json!({
        "count": spread.count,
        "mean_ns": spread.mean.0,
        "median_ns": spread.median.0,
        "median_deviation_ns": spread.deviation.0,
        "p95_ns": spread.p95.0,
    })
}

/// Says where figures are of a part of the work, and where the profiler changed them.
pub(super) fn partial(page: &mut Page, verdict: &Verdict) {
    if verdict.is_partial() {
        let why = match verdict.distortion {
            None => "the profiler says that events are missing",
            Some(_) => "the file is cut off, or events in it cannot be used",
        };
        page.line(&format!(
            "partial: {why}, and every figure is of a part of the work"
        ));
    }
    if let Some(distortion) = &verdict.distortion {
        page.line(&format!("distorted: {distortion}"));
    }
}

/// The three busy shares of every rank under their names.
pub(super) fn busy_shares(page: &mut Page, shares: &[BusyShares]) {
    if shares.is_empty() {
        return;
    }
    page.heading("Busy shares");
    let rows: Vec<Vec<String>> = shares
        .iter()
        .map(|shares| {
            let upper = if shares.is_upper_figure { "≤ " } else { "" };
            let share = |share: Option<Share>| match share {
                Some(share) => format!("{upper}{share}"),
                None => UNKNOWN.to_owned(),
            };
            vec![
                shares.device.process.pid().to_string(),
                shares.device.ordinal.to_string(),
                share(shares.of_session),
                share(shares.of_span),
                share(shares.of_work),
                shares
                    .work
                    .map_or_else(|| UNKNOWN.to_owned(), |(basis, _)| basis.to_string()),
            ]
        })
        .collect();
    page.table(
        &[
            "PID",
            "Device",
            "Of session",
            "Of GPU-active span",
            "Of work",
            "Work is",
        ],
        &rows,
        &[0, 1, 2, 3, 4],
    );
    if shares.iter().any(|shares| shares.is_upper_figure) {
        page.line("≤ an upper figure: CUDA graphs were traced as a whole, and the gaps inside one count as busy");
    }
}

/// The three busy shares of every rank as JSON.
pub(super) fn busy_shares_json(shares: &[BusyShares]) -> Value {
    let share = |share: Option<Share>| share.map(|share| share.0);
    let of_rank = |shares: &BusyShares| {
        json!({
            "rank": rank_json(shares.device),
            "of_session": share(shares.of_session),
            "of_span": share(shares.of_span),
            "of_work": share(shares.of_work),
            "work_basis": shares.work.map(|(basis, _)| basis.to_string()),
            "work": shares.work.map(|(_, part)| interval_json(part)),
            "is_upper_figure": shares.is_upper_figure,
        })
    };
    shares.iter().map(of_rank).collect()
}
