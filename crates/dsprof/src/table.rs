//! Text tables.

use comfy_table::presets::{NOTHING, UTF8_FULL_CONDENSED};
use comfy_table::{CellAlignment, ContentArrangement, Table, TableStyle};

/// A table with a heading; columns in `right` hold numbers.
pub(crate) fn table(heading: &[&str], rows: &[Vec<String>], right: &[usize]) -> String {
    render(UTF8_FULL_CONDENSED, Some(heading), rows, right)
}

/// Names and values without lines.
pub(crate) fn plain(rows: &[Vec<String>]) -> String {
    render(NOTHING, None, rows, &[])
}

fn render(
    style: TableStyle,
    heading: Option<&[&str]>,
    rows: &[Vec<String>],
    right: &[usize],
) -> String {
    let mut table = Table::new();
    table
        .load_style(style)
        .set_content_arrangement(ContentArrangement::Disabled);
    if let Some(heading) = heading {
        table.set_header(heading.iter().copied());
    }
    for row in rows {
        table.add_row(row);
    }
    for index in right {
        if let Some(column) = table.column_mut(*index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut out = String::new();
    for line in table.to_string().lines() {
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}
