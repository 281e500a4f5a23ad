//! `dsprof capacity`.

use anyhow::Result;
use ds_ceilings::{BitDepth, Ceilings, Codec, Resolution};
use ds_derive::{Capacity, CapacityInputs, ComputeRate, DecodeCeiling, PrecisionWish, capacity};
use ds_orchestrate::report::{Document, capacity_document, capacity_report};
use ds_orchestrate::{DiskFiles, facts_of, tune};

use super::hw::planned;
use super::json;
use super::what_if::{Measured, Projected, projected, projection_document};
use crate::args::BundleArgs;
use crate::cli::CapacityArgs;
use crate::exit::{Status, Usage};
use crate::load::{Arguments, Merged, positive_fps};
use crate::run::Opened;
use crate::{output, page};

pub(crate) fn run(args: &CapacityArgs) -> Result<Status> {
    let Found {
        fps,
        capacity,
        projected,
    } = match &args.replay {
        Some(_) => from_recording(args)?,
        None => from_numbers(args)?,
    };
    let report = capacity_report(&capacity);
    page::show(
        &args.page,
        |_| {
            let projection = projected
                .as_ref()
                .map_or_else(Document::default, |projected| {
                    projection_document(projected, fps)
                });
            capacity_document(&report, fps).then(projection)
        },
        || match &projected {
            None => json(&report),
            Some(projected) => json(&projected.document(&report)),
        },
    )?;
    match (args.require, capacity.streams) {
        (Some(required), Some(fit)) if fit.get() < required => {
            output::reason(&format!("{capacity} fit, {required} are required"));
            Ok(Status::LimitExceeded)
        }
        (Some(required), None) => {
            output::reason(&format!("it is not known whether {required} streams fit"));
            Ok(Status::LimitExceeded)
        }
        _ => Ok(Status::Fine),
    }
}

/// How many streams fit here, and how many would fit elsewhere.
struct Found {
    fps: f64,
    capacity: Capacity,
    projected: Option<Projected>,
}

fn from_recording(args: &CapacityArgs) -> Result<Found> {
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
    let measured = Measured {
        inputs: tuned.capacity_inputs,
        ceilings: &tuned.ceilings,
        is_fp32: request.wishes.precision == PrecisionWish::Fp32,
        decode: &|ceilings| facts_of(&pipeline, &request.wishes, Some(ceilings), &DiskFiles).decode,
    };
    Ok(Found {
        fps: request.wishes.fps.get(),
        capacity: tuned.capacity,
        projected: projected(args, Some(&measured))?,
    })
}

fn from_numbers(args: &CapacityArgs) -> Result<Found> {
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
    let on = match &args.gpu {
        None => None,
        Some(name) => {
            let codec = merged.get::<Codec>("codec")?;
            let size = merged.get::<Resolution>("source-size")?;
            let (Some(codec), Some(size)) = (codec, size) else {
                return Err(Usage(
                    "give --codec and --source-size with --gpu: the decode ceiling depends on both"
                        .to_owned(),
                )
                .into());
            };
            Some((planned(name)?, codec, size))
        }
    };
    let decode_of = |ceilings: &Ceilings, codec, size| {
        let ceiling = ceilings.decode_fps(codec, BitDepth::Eight, size).value();
        ceiling.map_or(DecodeCeiling::Unknown, DecodeCeiling::Known)
    };
    let decode = match &on {
        None => DecodeCeiling::Unknown,
        Some((ceilings, codec, size)) => decode_of(ceilings, *codec, *size),
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
    let projected = match &on {
        None => projected(args, None)?,
        Some((ceilings, codec, size)) => {
            let measured = Measured {
                inputs,
                ceilings,
                is_fp32: false,
                decode: &|other| decode_of(other, *codec, *size),
            };
            projected(args, Some(&measured))?
        }
    };
    Ok(Found {
        fps: fps.get(),
        capacity: capacity(&inputs),
        projected,
    })
}
