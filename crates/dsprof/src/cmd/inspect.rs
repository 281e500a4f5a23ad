//! `dsprof inspect`.

use anyhow::Result;
use ds_config::{Finding, KnobSetting, LintContext, Pipeline, Role, lint};
use ds_orchestrate::report::{Align, Block, Document, Table};
use ds_orchestrate::{Coverage, DiskFiles, coverage, read_pipeline};
use serde_json::json;

use crate::cli::InspectArgs;
use crate::exit::Status;
use crate::page;

pub(crate) fn run(args: &InspectArgs) -> Result<Status> {
    let pipeline = read_pipeline(&args.pipeline)?;
    let context = LintContext {
        files: Some(&DiskFiles),
        ..LintContext::default()
    };
    let findings = lint(&pipeline, &context);
    page::show(
        &args.page,
        |_| document(&pipeline, &findings),
        || super::json(&as_json(&pipeline, &findings)),
    )?;
    Ok(Status::Fine)
}

fn document(pipeline: &Pipeline, findings: &[Finding]) -> Document {
    let files: Vec<&str> = pipeline.files.iter().map(|file| file.path()).collect();
    let streams = pipeline
        .streams()
        .map_or_else(|| "unknown".to_owned(), |n| n.to_string());
    let left =
        |titles: &[&'static str]| -> Vec<_> { titles.iter().map(|t| (*t, Align::Left)).collect() };
    let mut out = Document::default();
    out.push(Block::Title(
        files.first().copied().unwrap_or("pipeline").to_owned(),
    ));
    out.push(Block::Paragraph(format!(
        "{}: {} streams, read from {}",
        pipeline.form,
        streams,
        files.join(", ")
    )));
    out.push(Block::Table(Table::new(
        &left(&["Element", "Name", "Place", "In a trace"]),
        element_rows(pipeline),
    )));
    out.push(Block::Table(Table::new(
        &left(&[
            "Element",
            "Knob",
            "Value",
            "Place that wins",
            "Overrides",
            "",
        ]),
        knob_rows(pipeline),
    )));
    let disabled = pipeline
        .disabled
        .iter()
        .map(|(name, place)| format!("switched off: {name} at {place}"));
    let faults = pipeline
        .faults
        .iter()
        .map(|fault| format!("fault: {fault}"));
    let others = pipeline
        .others
        .iter()
        .map(|place| format!("another pipeline of the same file, not read: {place}"));
    let findings = findings.iter().map(ToString::to_string);
    out.bullets(disabled.chain(findings).chain(faults).chain(others));
    out
}

fn covered(element: &ds_config::Element) -> String {
    match coverage(element) {
        _ if element.role == Role::Application => "–".to_owned(),
        Coverage::Covered(range) => format!("covered: {range}"),
        Coverage::Uninstrumented(_) => "uninstrumented".to_owned(),
    }
}

fn element_rows(pipeline: &Pipeline) -> Vec<Vec<String>> {
    pipeline
        .elements
        .iter()
        .map(|element| {
            vec![
                element.factory.clone(),
                element.name.clone(),
                element.place.to_string(),
                covered(element),
            ]
        })
        .collect()
}

fn knob_rows(pipeline: &Pipeline) -> Vec<Vec<String>> {
    pipeline
        .knobs()
        .iter()
        .filter(|setting| setting.place.is_some() || setting.default.is_some())
        .map(|setting| {
            let overridden: Vec<String> = setting
                .overridden
                .iter()
                .map(|o| format!("{} at {}", o.value, o.place))
                .collect();
            vec![
                pipeline
                    .element(setting.target.element)
                    .map_or_else(String::new, |element| element.name.clone()),
                setting.target.knob.key().to_owned(),
                value(setting),
                setting
                    .place
                    .as_ref()
                    .map_or_else(|| "(default)".to_owned(), ToString::to_string),
                overridden.join("; "),
                setting.not_editable.clone().unwrap_or_default(),
            ]
        })
        .collect()
}

fn value(setting: &KnobSetting) -> String {
    match (&setting.value, &setting.computed, setting.default) {
        (Some(value), ..) => value.to_string(),
        (None, Some(text), _) => format!("computed: {text}"),
        (None, None, Some(default)) => default.to_owned(),
        (None, None, None) => String::new(),
    }
}

fn as_json(pipeline: &Pipeline, findings: &[Finding]) -> serde_json::Value {
    let elements: Vec<_> = pipeline
        .elements
        .iter()
        .map(|element| {
            json!({
                "factory": element.factory,
                "name": element.name,
                "place": element.place.to_string(),
                "covered": matches!(coverage(element), Coverage::Covered(_)),
            })
        })
        .collect();
    let knobs: Vec<_> = pipeline
        .knobs()
        .iter()
        .map(|setting| {
            json!({
                "element": pipeline.element(setting.target.element).map(|element| element.name.clone()),
                "knob": setting.target.knob.key(),
                "value": setting.value.as_ref().map(ToString::to_string),
                "computed": setting.computed,
                "default": setting.default,
                "place": setting.place.as_ref().map(ToString::to_string),
                "overrides": setting.overridden.iter()
                    .map(|o| json!({"value": o.value.to_string(), "place": o.place.to_string()}))
                    .collect::<Vec<_>>(),
                "not_editable": setting.not_editable,
            })
        })
        .collect();
    json!({
        "schema": "dsprof.inspect/1",
        "form": pipeline.form.to_string(),
        "files": pipeline.files.iter().map(|file| file.path()).collect::<Vec<_>>(),
        "streams": pipeline.streams(),
        "elements": elements,
        "knobs": knobs,
        "disabled": pipeline.disabled.iter()
            .map(|(name, place)| json!({"name": name, "place": place.to_string()}))
            .collect::<Vec<_>>(),
        "findings": findings.iter()
            .map(|finding| json!({
                "rule": finding.rule.id,
                "severity": finding.severity.to_string(),
                "place": finding.place.as_ref().map(ToString::to_string),
                "message": finding.message,
                "remedy": finding.remedy,
                "fixed_by": finding.fixed_by,
            }))
            .collect::<Vec<_>>(),
        "faults": pipeline.faults.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}
