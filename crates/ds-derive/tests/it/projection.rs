//! What another GPU would carry.

use ds_ceilings::{BytesPerSec, OpsPerSec, StreamCount};
use ds_derive::{
    BandwidthUse, CapacityInputs, ComputeRate, Confidence, DecodeCeiling, GpuRates, Projection,
    Resource, project,
};
use proptest::prelude::*;

use crate::support::{fps, share};

fn rates(tera: f64, giga: f64, decode: f64) -> GpuRates {
    GpuRates {
        tensor: OpsPerSec::from_tera(tera),
        memory: BytesPerSec::from_giga(giga),
        decode: DecodeCeiling::Known(fps(decode)),
    }
}

/// An H200 by its data sheet: 989 TFLOP/s of dense FP16 and 4.8 TB/s.
fn h200() -> GpuRates {
    rates(989.0, 4800.0, 7652.0)
}

/// An L4 by its data sheet: 121 TFLOP/s of dense FP16 and 300 GB/s.
fn l4() -> GpuRates {
    rates(121.0, 300.0, 2096.0)
}

fn measured(compute: ComputeRate) -> CapacityInputs {
    CapacityInputs {
        fps: fps(30.0),
        compute,
        decode: DecodeCeiling::Known(fps(7652.0)),
        bandwidth: None,
        e2e: Some(fps(900.0)),
    }
}

#[track_caller]
fn check(projection: &Projection, capacity: &str, capped: &str, decides: Option<Resource>) {
    assert_eq!(
        (
            projection.capacity.to_string().as_str(),
            projection.capped.to_string().as_str(),
            projection.capacity.dominating
        ),
        (capacity, capped, decides)
    );
    assert_eq!(projection.confidence, Confidence::Low);
    assert_eq!(
        projection.capacity.delivered, None,
        "a host does not travel"
    );
}

#[test]
fn a_smaller_gpu_by_hand() {
    // 121 / 989 = 0.12235 and 300 / 4800 = 0.0625.
    // 2000 × 0.12235 / 30 = 8.16 streams; 2000 × 0.0625 / 30 = 4.17.
    let projection = project(&measured(ComputeRate::Plateau(fps(2000.0))), &h200(), &l4());
    let compute = Some(Resource::Compute);
    check(&projection, "8 streams", "4 streams", compute);
    let shown = |speedup: Option<ds_derive::Speedup>| speedup.map(|s| s.to_string());
    assert_eq!(shown(projection.compute).as_deref(), Some("×0.12"));
    assert_eq!(shown(projection.memory).as_deref(), Some("×0.06"));
    // A plateau that was not reached stays a lower bound.
    let projection = project(&measured(ComputeRate::AtLeast(fps(2000.0))), &h200(), &l4());
    check(
        &projection,
        "at least 8 streams",
        "at least 4 streams",
        compute,
    );
}

#[test]
fn the_other_way_round_the_decoders_decide() {
    // 300 × 8.17 = 2452 fps, 81.7 streams; the other GPU decodes 900 fps, 30 streams. The bandwidth ratio of 16 is the
    // larger one and caps nothing.
    let other = GpuRates {
        decode: DecodeCeiling::Known(fps(900.0)),
        ..h200()
    };
    let projection = project(&measured(ComputeRate::Plateau(fps(300.0))), &l4(), &other);
    check(
        &projection,
        "30 streams",
        "30 streams",
        Some(Resource::Decode),
    );
}

#[test]
fn a_pipeline_without_decoders_needs_none_elsewhere() {
    let inputs = CapacityInputs {
        decode: DecodeCeiling::NotUsed,
        ..measured(ComputeRate::Plateau(fps(300.0)))
    };
    let other = GpuRates {
        decode: DecodeCeiling::Known(fps(0.0)),
        ..l4()
    };
    check(
        &project(&inputs, &l4(), &other),
        "10 streams",
        "10 streams",
        Some(Resource::Compute),
    );
}

#[test]
fn what_is_not_known_stays_unknown() {
    let inputs = measured(ComputeRate::Plateau(fps(2000.0)));
    let nothing = GpuRates {
        tensor: None,
        memory: None,
        decode: DecodeCeiling::Unknown,
    };
    check(
        &project(&inputs, &h200(), &nothing),
        "unknown",
        "unknown",
        None,
    );
    check(
        &project(&inputs, &nothing, &nothing),
        "unknown",
        "unknown",
        None,
    );
    // 2096 / 30 = 69.9; the tensor rate is not known, so that this is an upper bound.
    let decode_only = GpuRates {
        tensor: None,
        ..l4()
    };
    let decode = Some(Resource::Decode);
    check(
        &project(&inputs, &h200(), &decode_only),
        "at most 69 streams",
        "at most 69 streams",
        decode,
    );
    // Without the bandwidth only the capped figure loses its rate.
    let no_memory = GpuRates {
        memory: None,
        ..l4()
    };
    check(
        &project(&inputs, &h200(), &no_memory),
        "8 streams",
        "at most 69 streams",
        Some(Resource::Compute),
    );
}

#[test]
fn a_pipeline_that_memory_bounds_follows_the_memory() {
    let inputs = CapacityInputs {
        bandwidth: Some(BandwidthUse {
            e2e: fps(1800.0),
            share: share(0.9),
        }),
        ..measured(ComputeRate::Plateau(fps(2000.0)))
    };
    // 1800 / 0.9 = 2000 fps at full bandwidth; × 0.0625 = 125 fps, 4 streams.
    check(
        &project(&inputs, &h200(), &l4()),
        "4 streams",
        "4 streams",
        Some(Resource::Bandwidth),
    );
    // With an unknown bandwidth the ceiling still counts, and is unknown.
    let no_memory = GpuRates {
        memory: None,
        ..l4()
    };
    let projection = project(&inputs, &h200(), &no_memory);
    assert_eq!(projection.capacity.to_string(), "at most 8 streams");
    let limit = projection.capacity.limits.last().unwrap();
    assert_eq!((limit.resource, limit.streams), (Resource::Bandwidth, None));
}

prop_compose! {
    fn any_rates()(tera in 0.1_f64..5000.0, giga in 10.0_f64..10_000.0, decode in 0.0_f64..20_000.0) -> GpuRates {
        rates(tera, giga, decode)
    }
}

prop_compose! {
    fn any_measured()(rate in 1.0_f64..240.0, compute in 0.0_f64..20_000.0, reached in any::<bool>()) -> CapacityInputs {
        let compute = fps(compute);
        CapacityInputs {
            fps: fps(rate),
            compute: if reached { ComputeRate::Plateau(compute) } else { ComputeRate::AtLeast(compute) },
            decode: DecodeCeiling::Known(fps(1.0)),
            bandwidth: None,
            e2e: None,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_same_gpu_gives_the_same_numbers(inputs in any_measured(), gpu in any_rates()) {
        let inputs = CapacityInputs { decode: gpu.decode, ..inputs };
        let projection = project(&inputs, &gpu, &gpu);
        let own = ds_derive::capacity(&inputs);
        prop_assert_eq!(&projection.capacity, &own);
        prop_assert_eq!(&projection.capped, &own);
    }

    #[test]
    fn a_faster_gpu_never_carries_less(
        inputs in any_measured(), from in any_rates(), to in any_rates(), factor in 1.0_f64..4.0,
    ) {
        let faster = GpuRates {
            tensor: to.tensor.and_then(|rate| rate.scaled(factor)),
            memory: to.memory.and_then(|rate| rate.scaled(factor)),
            ..to
        };
        let (slow, fast) = (project(&inputs, &from, &to), project(&inputs, &from, &faster));
        prop_assert!(slow.capacity.streams <= fast.capacity.streams);
        prop_assert!(slow.capped.streams <= fast.capped.streams);
        // The cap never lifts a projection.
        prop_assert!(slow.capped.streams <= slow.capacity.streams);
        prop_assert!(slow.capacity.streams >= Some(StreamCount::ZERO));
    }
}
