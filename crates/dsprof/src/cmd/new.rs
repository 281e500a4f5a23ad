//! `dsprof new`.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use ds_ceilings::{Fps, StreamCount};
use ds_orchestrate::DiskFiles;
use ds_orchestrate::scaffold::{
    ModelSource, NewOutput, NewRequest, Scaffold, StatedModel, StreamSource, Variant, scaffold,
    write_scaffold,
};
use serde_json::json;

use super::hw::planned;
use crate::args::ReportFormat;
use crate::cli_new::NewArgs;
use crate::exit::{Status, Usage};
use crate::load::{Arguments, Merged, positive_fps};
use crate::output;
use crate::table::in_format;

/// Where the files are said to lie when they are only printed.
const NOWHERE: &str = "pipeline";

pub(crate) fn run(args: &NewArgs) -> Result<Status> {
    let request = request(args)?;
    let ceilings = args.gpu.as_deref().map(planned).transpose()?;
    let folder = args.dir.as_deref().unwrap_or(Path::new(NOWHERE));
    let made = scaffold(&request, folder, ceilings.as_ref(), &DiskFiles)?;
    if args.dir.is_some() {
        write_scaffold(&made)?;
    }
    let text = match args.format {
        ReportFormat::Json => super::json(&as_json(&made, args.dir.is_some()))?,
        format => as_text(&made, args.dir.is_some(), format),
    };
    output::data(&text)?;
    Ok(Status::Fine)
}

fn request(args: &NewArgs) -> Result<NewRequest> {
    let mut given = Arguments::new();
    let named = [
        ("dims", args.dims.clone()),
        ("source-size", Some(args.source_size.clone())),
        ("codec", args.codec.clone()),
        ("deepstream", Some(args.deepstream.clone())),
        ("fps", Some(args.fps.to_string())),
    ];
    given.extend(
        named
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?))),
    );
    let parsed = Merged::new(given, Arguments::new());
    let sources: Vec<StreamSource> = args
        .sources
        .iter()
        .map(|source| StreamSource::parse(source))
        .collect::<Result<_, _>>()?;
    let outputs: Vec<NewOutput> = args
        .outputs
        .iter()
        .map(|output| NewOutput::parse(output))
        .collect::<Result<_, _>>()?;
    let own = u32::try_from(sources.len()).ok();
    let mut merged = Arguments::new();
    merged.extend(args.streams.map(|n| ("streams".to_owned(), n.to_string())));
    // The same readers as for a pipeline that is there already.
    let wishes = Merged::new(merged, parsed.arguments().clone()).wishes(own)?;
    let model = match &args.model {
        Some(path) => ModelSource::Config(path.clone()),
        None => ModelSource::Stated(StatedModel {
            dims: wishes.dims,
            onnx: args.onnx.clone(),
            engine: args.engine.clone(),
            labels: args.labels.clone(),
            calibration: args.calibration.clone(),
        }),
    };
    let names_a_model = args.model.is_some() || args.onnx.is_some() || args.engine.is_some();
    let task = args.task.into();
    if !names_a_model && task != ds_orchestrate::scaffold::Task::Vlm {
        return Err(Usage(
            "no model is named: give --model CONFIG, --onnx FILE or --engine FILE".to_owned(),
        )
        .into());
    }
    let fps: Fps = positive_fps("fps", args.fps)?;
    Ok(NewRequest {
        model,
        task,
        form: args.form.into(),
        sources,
        streams: StreamCount::new(wishes.streams.get()),
        fps,
        source_size: wishes
            .source_size
            .ok_or_else(|| Usage("--source-size is needed".to_owned()))?,
        codec: wishes.codec,
        outputs,
        deepstream: wishes
            .deepstream
            .ok_or_else(|| Usage("--deepstream is needed".to_owned()))?,
    })
}

fn as_text(made: &Scaffold, is_written: bool, format: ReportFormat) -> String {
    let mut out = format!("{}.\n\n", made.summary);
    for (variant, path) in &made.entries {
        let what = match variant {
            Variant::Benchmark => "to measure",
            Variant::Output => "for its output",
        };
        let _ = writeln!(out, "- {what}: `{}`", path.display());
    }
    if let Some(command) = &made.build_command {
        let _ = writeln!(
            out,
            "- build the engine once, before anything is measured: `{command}`"
        );
    }
    for note in &made.notes {
        let _ = writeln!(out, "- {note}");
    }
    out.push_str("- next: `dsprof tune` on the benchmark variant measures the batch that stands in for a sweep here\n\n");
    let rows: Vec<Vec<String>> = made
        .presets
        .iter()
        .map(|preset| {
            vec![
                preset.knob.clone(),
                preset.value.clone(),
                preset.because.clone(),
                preset.unless.clone(),
            ]
        })
        .collect();
    out.push_str(&in_format(
        &["Preset", "Value", "Why", "Not when"],
        &rows,
        &[],
        format,
    ));
    if !is_written {
        out.push_str("\nNothing was written: `--dir DIR` writes these files.\n");
        for (path, text) in &made.files {
            let _ = write!(
                out,
                "\n--- {}\n{}",
                path.display(),
                String::from_utf8_lossy(text)
            );
        }
    }
    out
}

fn as_json(made: &Scaffold, is_written: bool) -> serde_json::Value {
    let files: Vec<serde_json::Value> = made
        .files
        .iter()
        .map(|(path, text)| {
            json!({
                "path": path.display().to_string(),
                "text": String::from_utf8_lossy(text),
            })
        })
        .collect();
    let presets: Vec<serde_json::Value> = made
        .presets
        .iter()
        .map(|preset| {
            json!({
                "knob": preset.knob,
                "value": preset.value,
                "because": preset.because,
                "unless": preset.unless,
            })
        })
        .collect();
    let entries: Vec<serde_json::Value> = made
        .entries
        .iter()
        .map(|(variant, path)| {
            let variant = match variant {
                Variant::Benchmark => "benchmark",
                Variant::Output => "output",
            };
            json!({ "variant": variant, "path": path.display().to_string() })
        })
        .collect();
    json!({
        "schema": "dsprof.new/1",
        "summary": made.summary,
        "written": is_written,
        "entries": entries,
        "files": files,
        "presets": presets,
        "build_command": made.build_command,
        "notes": made.notes,
    })
}
