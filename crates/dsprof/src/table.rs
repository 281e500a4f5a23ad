//! Text tables.

use comfy_table::presets::{NOTHING, UTF8_FULL_CONDENSED};
use comfy_table::{CellAlignment, ContentArrangement, Table, TableStyle};

use crate::args::ReportFormat;

/// A table with a heading; columns in `right` hold numbers.
pub(crate) fn table(heading: &[&str], rows: &[Vec<String>], right: &[usize]) -> String {
    render(UTF8_FULL_CONDENSED, Some(heading), rows, right)
}

/// A table in the asked format; columns in `right` hold numbers.
pub(crate) fn in_format(
    heading: &[&str],
    rows: &[Vec<String>],
    right: &[usize],
    format: ReportFormat,
) -> String {
    match format {
        ReportFormat::Md => markdown(heading, rows, right),
        ReportFormat::Text | ReportFormat::Json => {
            let cut: Vec<Vec<String>> = rows
                .iter()
                .map(|row| row.iter().map(|cell| shortened(cell)).collect())
                .collect();
            table(heading, &cut, right)
        }
    }
}

/// Names of template kernels run to thousands of characters; a terminal gets as many of them as nsys shows.
pub(crate) fn shortened(cell: &str) -> String {
    const LONGEST: usize = 100;
    if cell.chars().count() <= LONGEST {
        return cell.to_owned();
    }
    cell.chars().take(LONGEST - 1).chain(['…']).collect()
}

fn markdown(heading: &[&str], rows: &[Vec<String>], right: &[usize]) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    // A bar would end the cell, a line break the table.
    let escaped = |cell: &str| cell.replace('|', "\\|").replace('\n', " ");
    let rules: Vec<&str> = (0..heading.len())
        .map(|at| if right.contains(&at) { "--:" } else { "---" })
        .collect();
    let mut out = line(heading.iter().map(|cell| escaped(cell)).collect());
    out.extend(["|", &rules.join("|"), "|\n"]);
    out.extend(
        rows.iter()
            .map(|row| line(row.iter().map(|cell| escaped(cell)).collect())),
    );
    out
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
