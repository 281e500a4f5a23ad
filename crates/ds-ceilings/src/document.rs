//! `docs/ceilings.md`: every product of the table with its ceilings and sources.

use std::fmt::Write as _;

use crate::ceilings::{
    CeilingRow, Ceilings, Figure, Limit, Measurement, TensorCeiling, measurements,
};
use crate::gpu::{GpuSpec, GpuTable, Precision};
use crate::units::OpsPerSec;

/// The page's opening.
const HEAD: &str = "\
# Ceilings

Generated from the data files of ds-ceilings by `cargo xtask codegen`; do not edit.

A bound is what no measurement exceeds; real programs stay below it. Tensor cores and decoders have
a *published* figure beside it, NVIDIA's own: the reference that people know and plan with. A
missing ceiling is unknown, not unlimited.

- **Tensor rates** are dense, `SM × op/clk/SM × clock`, a multiply-add counted as two operations.
  *Published* is at the clock of NVIDIA's own figures, *silicon limit*, the bound, at the highest SM
  clock that nvidia-smi printed on a real board.
- **Device memory** is `2 × clock × bus width / 8`; **host copies** are one direction of the
  device's own PCIe link with packets of 256 bytes. Both are bounds.
- **Decoding** is for 1920x1080, 4:2:0, all engines together, at the highest video clock that
  nvidia-smi printed on a real board; other sizes scale with their pixels. *Published* holds for
  NVIDIA's own streams; lighter ones were measured up to 25 % faster on an H200. *Limit*, the bound,
  is the best rate that was measured of one engine, scaled. Only the engine of Turing, GA100 and
  Hopper was measured, with H.264 and HEVC of 8 bits; everywhere else no limit is known.

On a machine, `dsprof hw` uses that machine's clocks and link instead.
";

/// Renders the page. The same table gives the same bytes.
#[must_use]
pub fn ceilings_document(table: &GpuTable) -> String {
    let mut page = HEAD.to_owned();
    measured_section(&mut page, table);
    let mut architecture = None;
    for spec in table.gpus() {
        let heading = section_of(spec);
        if architecture != Some(heading) {
            line(&mut page, format_args!("\n## {heading}"));
            architecture = Some(heading);
        }
        gpu_section(&mut page, spec, table);
    }
    page
}

/// Appends a line. Writing into a string cannot fail.
fn line(page: &mut String, text: std::fmt::Arguments<'_>) {
    writeln!(page, "{text}").expect("a string takes every write");
}

/// Jetson modules and discrete parts of one architecture stand apart.
fn section_of(spec: &GpuSpec) -> &str {
    if spec.label().starts_with("Jetson") {
        "Jetson"
    } else {
        &spec.architecture
    }
}

fn measured_section(page: &mut String, table: &GpuTable) {
    page.push_str("\n## What was reached\n");
    page.push_str(
        "\nThe share of the published figure is empty where the bound is the only figure.\n",
    );
    let mut run = None;
    for measurement in measurements() {
        let Measurement {
            gpu,
            driver,
            date,
            how,
            id,
            value,
        } = measurement;
        let this_run = (gpu, driver, date, how);
        if run != Some(this_run) {
            line(
                page,
                format_args!("\nOne {gpu}, driver {driver}, {date}; {how}:\n"),
            );
            page.push_str(
                "| what | measured | of the published figure | of the bound |\n|---|---|---|---|\n",
            );
            run = Some(this_run);
        }
        let rows = Ceilings::planned(gpu, table).rows();
        let Some(row) = rows.iter().find(|row| row.id == *id) else {
            continue;
        };
        let share_of = |figure: Figure| {
            rows.iter()
                .find(|row| row.subject() == id && row.figure == figure)
                .and_then(|row| row.share_of(*value))
                .map_or_else(String::new, |share| format!("{:.0} %", share * 100.0))
        };
        let (published, bound) = (share_of(Figure::Published), share_of(Figure::Bound));
        let label = subject(row);
        line(
            page,
            format_args!(
                "| {label} | {value:.1} {} | {published} | {bound} |",
                row.unit
            ),
        );
    }
}

fn gpu_section(page: &mut String, spec: &GpuSpec, table: &GpuTable) {
    let ceilings = Ceilings::planned(spec.label(), table);
    line(page, format_args!("\n### {}\n", spec.label()));
    line(page, format_args!("{}", facts(spec)));
    let mut gaps = Vec::new();
    tensor_table(page, spec, &ceilings, &mut gaps);
    let rows = ceilings.rows();
    other_table(
        page,
        rows.iter()
            .filter(|row| !row.id.starts_with("tensor.") && !is_bare_limit(row)),
        &mut gaps,
    );
    page.push('\n');
    for (reason, labels) in gaps {
        line(
            page,
            format_args!("- Unknown: {}: {reason}.", labels.join(", ")),
        );
    }
    if let Some(notes) = &spec.notes {
        line(page, format_args!("- Note: {notes}."));
    }
    let quoted = if spec.is_quoted() {
        " (figures of the data sheet as quoted elsewhere)"
    } else {
        ""
    };
    line(
        page,
        format_args!("- Sources{quoted}: {}.", spec.sources.join("; ")),
    );
    if let Some(source) = &spec.nvdec.source {
        line(page, format_args!("- Decoder count: {source}."));
    }
}

/// Reasons for unknown ceilings, each with the ceilings that it concerns, in the order of their
/// first appearance.
type Gaps = Vec<(String, Vec<String>)>;

fn note_gap(gaps: &mut Gaps, reason: &str, label: String) {
    match gaps.iter_mut().find(|(known, _)| known == reason) {
        Some((_, labels)) => labels.push(label),
        None => gaps.push((reason.to_owned(), vec![label])),
    }
}

/// One line per precision; those without any known rate are named together below the table.
fn tensor_table(page: &mut String, spec: &GpuSpec, ceilings: &Ceilings, gaps: &mut Gaps) {
    let mut has_head = false;
    for TensorCeiling {
        precision,
        published,
        silicon,
    } in &ceilings.tensor
    {
        if is_repetition(spec, *precision) {
            continue;
        }
        if published.value().is_none() && silicon.value().is_none() {
            let has_rate = spec.ops_per_clk_sm(*precision).is_some();
            let reason = published.reason().filter(|_| has_rate);
            note_gap(
                gaps,
                reason.unwrap_or("no tensor rate exists, or none is published"),
                precision.to_string(),
            );
            continue;
        }
        if !has_head {
            let at =
                |clock: Option<_>| clock.map_or_else(String::new, |clock| format!(" at {clock}"));
            let (published, silicon) = (at(spec.published_clock()), at(spec.seen_sm_clock()));
            line(
                page,
                format_args!(
                    "\n| precision | op/clk/SM | published{published} | silicon limit{silicon} | confidence |"
                ),
            );
            page.push_str("|---|---|---|---|---|\n");
            has_head = true;
        }
        let ops = spec
            .ops_per_clk_sm(*precision)
            .map_or_else(|| "–".to_owned(), |ops| ops.to_string());
        let show = |limit: &Limit<OpsPerSec>| {
            let shown = |value: OpsPerSec| format!("{:.1} {}", value.tera(), precision.unit());
            limit.value().map_or_else(|| "unknown".to_owned(), shown)
        };
        let confidence = published
            .known()
            .or(silicon.known())
            .map(|ceiling| ceiling.confidence);
        let confidence = confidence.map_or_else(String::new, |confidence| confidence.to_string());
        let (published, silicon) = (show(published), show(silicon));
        line(
            page,
            format_args!("| {precision} | {ops} | {published} | {silicon} | {confidence} |"),
        );
    }
}

/// Whether a line would only repeat the rate with the faster accumulator.
fn is_repetition(spec: &GpuSpec, precision: Precision) -> bool {
    let faster = match precision {
        Precision::Fp16Acc32 => Precision::Fp16,
        Precision::Fp8Acc32 => Precision::Fp8,
        _ => return false,
    };
    spec.ops_per_clk_sm(precision) == spec.ops_per_clk_sm(faster)
}

/// The label of what a row is about, without the word for its published figure.
fn subject(row: &CeilingRow) -> &str {
    row.label.strip_suffix(", published").unwrap_or(&row.label)
}

/// Whether a line would only repeat that most decoders were not measured, or that a codec is not
/// decoded at all.
fn is_bare_limit(row: &CeilingRow) -> bool {
    row.id.starts_with("decode.")
        && row.figure == Figure::Bound
        && row.value.is_none_or(|value| value <= 0.0)
}

fn other_table<'r>(page: &mut String, rows: impl Iterator<Item = &'r CeilingRow>, gaps: &mut Gaps) {
    let mut has_head = false;
    for row in rows {
        let (Some(value), Some(formula), Some(confidence)) =
            (row.value, &row.formula, row.confidence)
        else {
            note_gap(
                gaps,
                row.reason.as_deref().unwrap_or("no value"),
                subject(row).to_owned(),
            );
            continue;
        };
        if !has_head {
            page.push_str("\n| ceiling | value | formula | confidence |\n|---|---|---|---|\n");
            has_head = true;
        }
        line(
            page,
            format_args!(
                "| {} | {value:.1} {} | {formula} | {confidence} |",
                row.label, row.unit
            ),
        );
    }
}

/// One line of what the product is.
fn facts(spec: &GpuSpec) -> String {
    let mut facts = vec![format!(
        "{}, compute capability {}",
        spec.architecture, spec.compute_cap
    )];
    if spec.label() != spec.name {
        facts.push(format!("printed as `{}`", spec.name));
    }
    facts.extend(spec.sm_count.map(|count| format!("{count} SM")));
    let width = spec
        .memory
        .bus_bits
        .map_or_else(String::new, |bits| format!(" {bits} bit"));
    facts.push(format!("{}{width}", spec.memory.kind));
    facts.extend(spec.nvdec.count.map(|count| format!("{count} NVDEC")));
    facts.extend(spec.nvenc_count.map(|count| format!("{count} NVENC")));
    facts.extend(spec.tdp_w.map(|watts| format!("{watts} W")));
    facts.join(", ") + "."
}
