//! From the ids of a dump to its part of the report.

use ds_ceilings::Fraction;
use ds_derive::{KEEPS_IDS, KEEPS_MOST_IDS};

use super::build::round;
use super::model::{RetentionReport, StreamRetentionReport};
use crate::retention::{IdCounts, MEMORY, MeasuredRetention, OVERLAP, SUCCESSION};

/// With fewer decided ids than this, one lost id moves the share by more than the distance between 99 % and 100 %.
const DECIDED_IDS: u64 = 100;

/// One dump as a report.
pub fn retention_report(measured: &MeasuredRetention) -> RetentionReport {
    let total = measured.retention.total();
    RetentionReport {
        path: measured.path.clone(),
        interval: measured.interval,
        retention_percent: percent(&total),
        definition: format!(
            "Retention is kept / (kept + replaced) over the ids. An id is replaced when another id with the same label \
             begins within {SUCCESSION} frames where the lost object would be (overlap of at least {OVERLAP}, as SORT \
             matches; Bewley et al., ICIP 2016); it is kept when it was seen twice or more and not replaced. From \
             {:.0} % on a measured interval is allowed, from {:.0} % on an interval of 1, below that none.",
            KEEPS_IDS * 100.0,
            KEEPS_MOST_IDS * 100.0,
        ),
        advice: advice(measured.interval, total.retention()),
        streams: measured
            .retention
            .streams
            .iter()
            .map(|(stream, counts)| StreamRetentionReport {
                stream: stream.to_string(),
                retention_percent: percent(counts),
                kept: counts.kept,
                replaced: counts.replaced,
                undecided: counts.undecided,
                short_gaps: counts.short_gaps,
                long_gaps: counts.long_gaps,
                frames: counts.frames,
            })
            .collect(),
        notes: notes(&total),
    }
}

fn percent(counts: &IdCounts) -> Option<f64> {
    counts.retention().map(|share| round(share.percent(), 2))
}

/// What follows for the interval, by the thresholds of rule R4a.
fn advice(interval: u32, share: Option<Fraction>) -> String {
    let Some(share) = share.map(Fraction::get) else {
        return "No id was followed far enough to tell: record a longer run".to_owned();
    };
    let measure = |interval: u32| {
        format!(
            "run again with `interval={interval}` and give that dump as `--tracks {interval}=DIR`"
        )
    };
    match interval {
        0 if share >= KEEPS_MOST_IDS => format!(
            "This is with inference in every batch; to know whether batches may be skipped, {}",
            measure(1)
        ),
        0 => "The ids are lost with inference in every batch already: skip none, and look at the tracker first"
            .to_owned(),
        k if share >= KEEPS_IDS => format!(
            "Interval {k} may be used; to know whether more may be skipped, {}",
            measure(k.saturating_add(1))
        ),
        1 if share >= KEEPS_MOST_IDS => "Interval 1 may be used, and no longer one".to_owned(),
        k if share >= KEEPS_MOST_IDS => {
            format!("Interval {k} loses too many ids; at most 1 may do, {}", measure(1))
        }
        k => format!("Interval {k} loses too many ids: skip no inference"),
    }
}

fn notes(total: &IdCounts) -> Vec<String> {
    let decided = total.kept + total.replaced;
    let mut notes = Vec::new();
    if (1..DECIDED_IDS).contains(&decided) {
        notes.push(format!(
            "only {decided} ids were decided: one of them is {:.1} %",
            100.0 / to_f64(decided)
        ));
    }
    if total.untracked > 0 {
        notes.push(format!(
            "{} of {} objects had no id: the tracker did not follow them",
            total.untracked, total.detections
        ));
    }
    if total.repeated > 0 {
        notes.push(format!(
            "{} objects had an id that stood in the same frame already; the first of each was taken",
            total.repeated
        ));
    }
    if total.missing_frames > 0 {
        notes.push(format!(
            "{} frame numbers are missing; gaps are counted in frames of the dump",
            total.missing_frames
        ));
    }
    if total.long_gaps > 0 {
        notes.push(format!(
            "{} ids came back after {SUCCESSION} to {MEMORY} frames: the tracker found them again",
            total.long_gaps
        ));
    }
    notes
}

#[expect(clippy::cast_precision_loss, reason = "the count is below 100")]
fn to_f64(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_advice_follows_the_thresholds() {
        let share = |kept: f64| Fraction::new(kept);
        for (interval, kept, said) in [
            (0, 1.0, "`--tracks 1=DIR`"),
            (0, 0.5, "look at the tracker"),
            (1, 0.99, "Interval 1 may be used; "),
            (1, 0.95, "Interval 1 may be used, and no longer one"),
            (2, 0.991, "`--tracks 3=DIR`"),
            (2, 0.95, "at most 1 may do"),
            (1, 0.899, "skip no inference"),
        ] {
            let advice = advice(interval, share(kept));
            assert!(advice.contains(said), "{interval} {kept}: {advice}");
        }
        assert!(advice(0, None).contains("longer run"));
    }
}
