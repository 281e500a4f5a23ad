//! The eight columns that every summary of durations begins with.

use super::{Cell, Heading, Output};
use crate::error::Result;
use crate::samples::Summary;

/// The headings of such a report: what the third column counts, and what stands behind the eight.
macro_rules! time_columns {
    [$counted:literal; $($behind:literal),+] => {
        &[
            "Time (%)",
            "Total Time (ns)",
            $counted,
            "Avg (ns)",
            "Med (ns)",
            "Min (ns)",
            "Max (ns)",
            "StdDev (ns)",
            $($behind),+
        ]
    };
}
pub(super) use time_columns;

/// A row of such a report: its figures and what stands in the columns behind them.
pub(super) struct SummaryRow<'a> {
    pub(super) figures: Summary,
    pub(super) behind: Vec<Cell<'a>>,
}

/// Prints the rows in the order given, with each one's share of the total of all.
pub(super) fn print(
    heading: Heading,
    rows: &[SummaryRow<'_>],
    output: &mut Output<'_>,
) -> Result<()> {
    let whole: i64 = rows
        .iter()
        .fold(0, |sum, row| sum.saturating_add(row.figures.total));
    output.heading(heading);
    for row in rows {
        let figures = &row.figures;
        let mut cells = vec![
            percentage(figures.total, whole),
            Cell::Integer(figures.total),
            Cell::Integer(i64::try_from(figures.count).unwrap_or(i64::MAX)),
        ];
        cells.extend([
            Cell::tenths(figures.mean),
            Cell::tenths(figures.median),
            Cell::Integer(figures.min),
            Cell::Integer(figures.max),
            Cell::tenths(figures.stddev),
        ]);
        cells.extend(row.behind.iter().cloned());
        output.row(&cells)?;
    }
    Ok(())
}

/// The share in per cent; of nothing there is none.
#[expect(
    clippy::cast_precision_loss,
    reason = "the printed share is a quotient of doubles by definition"
)]
fn percentage(part: i64, whole: i64) -> Cell<'static> {
    if whole == 0 {
        Cell::Empty
    } else {
        Cell::tenths(part as f64 * 100.0 / whole as f64)
    }
}
