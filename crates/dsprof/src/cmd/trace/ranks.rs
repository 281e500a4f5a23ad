//! `dsprof trace ranks`.

use std::path::Path;

use anyhow::Result;
use ds_nsys::{
    CollectiveTime, FracNanos, RankBasis, RankKey, RankOptions, RankTable, Straggler,
    StragglerEvidence, Trace,
};
use serde_json::{Value, json};

use super::figures::{UNKNOWN, frac_millis, millis, rank_json, spread_json};
use super::input;
use super::kineto;
use super::page::Page;
use super::sources::Sources;
use crate::args::ReportFormat;
use crate::cli_trace::RanksArgs;
use crate::cmd::json as json_text;
use crate::exit::Status;
use crate::output;

pub(super) fn run(args: &RanksArgs, sources: &Sources) -> Result<Status> {
    let paths = input::exports(&args.traces)?;
    let mut traces = paths
        .iter()
        .map(|path| sources.open(path))
        .collect::<Result<Vec<Trace>>>()?;
    kineto::in_rank_order(&mut traces);
    let options = RankOptions {
        window: input::window(args.window)?,
        taxonomy: input::taxonomy(&args.rules)?,
        ..RankOptions::default()
    };
    let all: Vec<&Trace> = traces.iter().collect();
    let first = all.first().map_or(Path::new(""), |trace| trace.path());
    let table = input::reading(first, || RankTable::new(&all, &options))?;
    let text = match args.print.format {
        ReportFormat::Json => json_text(&as_json(&table, &traces))?,
        format => as_page(&table, &traces, format),
    };
    output::data(&text)?;
    Ok(Status::Fine)
}

fn as_page(table: &RankTable, traces: &[Trace], format: ReportFormat) -> String {
    let mut page = Page::new(format);
    if table.ranks.is_empty() {
        page.line("no GPU work: no ranks to compare");
        return page.finish();
    }
    page.heading(match table.basis {
        RankBasis::Step => "Ranks, in the mean clean step",
        RankBasis::Capture => "Ranks, over the whole capture",
    });
    let frac = |time: Option<FracNanos>| time.map_or_else(|| UNKNOWN.to_owned(), frac_millis);
    let collective = |time: Option<CollectiveTime>, part: fn(CollectiveTime) -> ds_nsys::Nanos| {
        time.map_or_else(|| "–".to_owned(), |time| millis(part(time)))
    };
    let rows: Vec<Vec<String>> = table
        .ranks
        .iter()
        .map(|row| {
            vec![
                row.rank.to_string(),
                row.step
                    .map_or_else(|| "–".to_owned(), |step| frac_millis(step.median)),
                frac_millis(row.busy),
                frac(row.compute),
                frac(row.communication),
                collective(row.collectives, |time| time.transfer),
                collective(row.collectives, |time| time.waiting),
            ]
        })
        .collect();
    let heading = [
        "Rank",
        "Step (ms)",
        "Busy (ms)",
        "Compute (ms)",
        "Comm. (ms)",
        "All transfers ≤ (ms)",
        "All waiting (ms)",
    ];
    page.table(&heading, &rows, &[1, 2, 3, 4, 5, 6]);
    for (at, trace) in traces.iter().enumerate() {
        page.line(&format!(
            "trace {}: {}{}",
            at + 1,
            trace.path().display(),
            kineto::label(trace)
        ));
    }
    for problem in kineto::incomplete(traces) {
        page.line(&problem);
    }
    if table.is_hidden_by_graphs {
        page.line(
            "graphs traced as a whole hide kernels: compute and communication cannot be told apart",
        );
    }
    if let Some(imbalance) = table.busy_imbalance {
        page.line(&format!(
            "busy imbalance: the longest is {:.3} of the mean",
            imbalance.0
        ));
    }
    if table.unmatched_collectives > 0 {
        let why = if table.are_recorded_apart {
            "the traces were recorded one after the other"
        } else if table.ranks.len() < 2 {
            "there is one rank only"
        } else {
            "ranks ran different numbers of them"
        };
        page.line(&format!(
            "{} collectives could not be matched: {why}",
            table.unmatched_collectives
        ));
    }
    page.line(&match &table.straggler {
        Some(straggler) => straggler_line(straggler),
        None => "no rank stands out".to_owned(),
    });
    categories(&mut page, table);
    page.finish()
}

fn straggler_line(straggler: &Straggler) -> String {
    let evidence = evidence(straggler.evidence);
    let category = straggler
        .category
        .as_ref()
        .map_or_else(String::new, |(category, factor)| {
            format!(", most of it in {category} ({:.2} of the others)", factor.0)
        });
    format!(
        "slow: {}, {:.2} of the others' compute time, by {evidence}{category}",
        straggler.rank, straggler.factor.0
    )
}

fn evidence(evidence: StragglerEvidence) -> &'static str {
    match evidence {
        StragglerEvidence::ComputeAndCollectives => "compute time and collectives",
        StragglerEvidence::ComputeOnly => "compute time only",
    }
}

fn categories(page: &mut Page, table: &RankTable) {
    if table.categories.is_empty() {
        return;
    }
    page.heading(&format!("Categories, by rules {}", table.taxonomy_version));
    let rows: Vec<Vec<String>> = table
        .categories
        .iter()
        .map(|category| {
            vec![
                category.category.to_string(),
                frac_millis(category.min),
                frac_millis(category.median),
                frac_millis(category.max),
                category
                    .factor
                    .map_or_else(|| "–".to_owned(), |factor| format!("{:.3}", factor.0)),
                category.slowest.to_string(),
            ]
        })
        .collect();
    page.table(
        &[
            "Category",
            "Min (ms)",
            "Median (ms)",
            "Max (ms)",
            "Of the others",
            "Slowest",
        ],
        &rows,
        &[1, 2, 3, 4],
    );
}

fn as_json(table: &RankTable, traces: &[Trace]) -> Value {
    let nanos = |time: Option<FracNanos>| time.map(|time| time.0);
    let ranks: Vec<Value> = table
        .ranks
        .iter()
        .map(|row| {
            json!({
                "rank": key_json(row.rank),
                "step": row.step.as_ref().map(spread_json),
                "busy_ns": row.busy.0,
                "compute_ns": nanos(row.compute),
                "communication_ns": nanos(row.communication),
                "collectives": row.collectives.map(|time| json!({
                    "count": time.count,
                    "transfer_ns": time.transfer.0,
                    "waiting_ns": time.waiting.0,
                })),
            })
        })
        .collect();
    let categories: Vec<Value> = table
        .categories
        .iter()
        .map(|category| {
            json!({
                "category": category.category.to_string(),
                "min_ns": category.min.0,
                "median_ns": category.median.0,
                "max_ns": category.max.0,
                "slowest": key_json(category.slowest),
                "factor": category.factor.map(|factor| factor.0),
            })
        })
        .collect();
    json!({
        "schema": "dsprof.ranks/1",
        "traces": traces.iter().map(|trace| trace.path().display().to_string()).collect::<Vec<_>>(),
        "distributed_ranks": traces
            .iter()
            .map(|trace| trace.kineto().and_then(|facts| facts.distributed.rank))
            .collect::<Vec<_>>(),
        "problems": kineto::incomplete(traces),
        "taxonomy": table.taxonomy_version,
        "basis": match table.basis { RankBasis::Step => "step", RankBasis::Capture => "capture" },
        "ranks": ranks,
        "categories": categories,
        "busy_imbalance": table.busy_imbalance.map(|share| share.0),
        "straggler": table.straggler.as_ref().map(|straggler| json!({
            "rank": key_json(straggler.rank),
            "factor": straggler.factor.0,
            "evidence": evidence(straggler.evidence),
            "category": straggler.category.as_ref().map(|(category, _)| category.to_string()),
        })),
        "unmatched_collectives": table.unmatched_collectives,
        "is_hidden_by_graphs": table.is_hidden_by_graphs,
    })
}

fn key_json(key: RankKey) -> Value {
    let mut rank = rank_json(key.device);
    rank["trace"] = (key.trace + 1).into();
    rank
}
