//! `dsprof capacity`.

use anyhow::Result;
use ds_ceilings::{BitDepth, Codec, Resolution};
use ds_derive::{Capacity, CapacityInputs, ComputeRate, DecodeCeiling, capacity};
use ds_orchestrate::report::{capacity_markdown, capacity_report};
use ds_orchestrate::tune;

use super::hw::planned;
use super::json;
use crate::args::{BundleArgs, ReportFormat};
use crate::cli::CapacityArgs;
use crate::exit::{Status, Usage};
use crate::load::{Arguments, Merged, positive_fps};
use crate::output;
use crate::run::Opened;

pub(crate) fn run(args: &CapacityArgs) -> Result<Status> {
    let (fps, capacity) = match &args.replay {
        Some(_) => from_recording(args)?,
        None => from_numbers(args)?,
    };
    let report = capacity_report(&capacity);
    let text = match args.format {
        ReportFormat::Json => json(&report)?,
        ReportFormat::Text | ReportFormat::Md => capacity_markdown(&report, fps),
    };
    output::data(&text)?;
    match (args.require, capacity.streams) {
        (Some(required), Some(fit)) if fit.get() < required => {
            output::message(&format!("{capacity} fit, {required} are required"));
            Ok(Status::LimitExceeded)
        }
        (Some(required), None) => {
            output::message(&format!("it is not known whether {required} streams fit"));
            Ok(Status::LimitExceeded)
        }
        _ => Ok(Status::Fine),
    }
}

fn from_recording(args: &CapacityArgs) -> Result<(f64, Capacity)> {
    let opened = Opened::new(&BundleArgs {
        bundle: None,
        replay: args.replay.clone(),
    })?;
    let (path, pipeline) = opened.pipeline(None)?;
    let mut now = Arguments::new();
    let given = [
        ("fps", args.fps.map(|fps| fps.to_string())),
        ("codec", args.codec.clone()),
        ("source-size", args.source_size.clone()),
    ];
    now.extend(
        given
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?))),
    );
    let merged = opened.merged(now);
    let request = merged.request(merged.wishes(pipeline.streams())?, None)?;
    let tuned = opened.with_session(
        "capacity",
        Some((&path, &pipeline)),
        &merged,
        None,
        |session| Ok(tune(session, &pipeline, &request)?),
    )?;
    Ok((request.wishes.fps.get(), tuned.capacity))
}

fn from_numbers(args: &CapacityArgs) -> Result<(f64, Capacity)> {
    let fps = positive_fps("fps", args.fps.unwrap_or(30.0))?;
    let given = [
        ("codec", args.codec.clone()),
        ("source-size", args.source_size.clone()),
    ];
    let given = given
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect();
    let merged = Merged::new(given, Arguments::new());
    let decode = match &args.gpu {
        None => DecodeCeiling::Unknown,
        Some(name) => {
            let ceilings = planned(name)?;
            let codec = merged.get::<Codec>("codec")?;
            let size = merged.get::<Resolution>("source-size")?;
            let (Some(codec), Some(size)) = (codec, size) else {
                return Err(Usage(
                    "give --codec and --source-size with --gpu: the decode ceiling depends on both"
                        .to_owned(),
                )
                .into());
            };
            let ceiling = ceilings.decode_fps(codec, BitDepth::Eight, size).value();
            ceiling.map_or(DecodeCeiling::Unknown, DecodeCeiling::Known)
        }
    };
    if args.gpu.is_none() && args.plateau_fps.is_none() {
        return Err(Usage(
            "nothing to compute from: give --plateau-fps, or --gpu, or --replay".to_owned(),
        )
        .into());
    }
    let rate = |name, value: Option<f64>| value.map(|value| positive_fps(name, value)).transpose();
    let inputs = CapacityInputs {
        fps,
        compute: rate("plateau-fps", args.plateau_fps)?
            .map_or(ComputeRate::Unknown, ComputeRate::Plateau),
        decode,
        bandwidth: None,
        e2e: rate("e2e-fps", args.e2e_fps)?,
    };
    Ok((fps.get(), capacity(&inputs)))
}
