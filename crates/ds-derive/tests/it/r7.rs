//! R7: capacity.

use ds_ceilings::StreamCount;
use ds_derive::{
    BandwidthUse, BoundKind, Capacity, CapacityInputs, ComputeRate, DecodeCeiling, Facts,
    Qualifier, Resource, capacity,
};
use proptest::prelude::*;

use crate::support::{faulty, fps, plateau_not_reached, share, snapshot};

fn inputs(compute: ComputeRate, decode: DecodeCeiling) -> CapacityInputs {
    CapacityInputs {
        fps: fps(30.0),
        compute,
        decode,
        bandwidth: None,
        e2e: None,
    }
}

#[track_caller]
fn check(inputs: &CapacityInputs, expected: &str, dominating: Option<Resource>) {
    let capacity = capacity(inputs);
    assert_eq!(
        (capacity.to_string().as_str(), capacity.dominating),
        (expected, dominating)
    );
}

#[test]
fn the_smallest_ceiling_by_hand() {
    use ComputeRate::{AtLeast, Plateau, Unknown};
    use DecodeCeiling::{Known, NotUsed};
    let (compute, decode) = (Some(Resource::Compute), Some(Resource::Decode));
    // 1000 / 30 = 33.3 and 7652 / 30 = 255.07.
    check(
        &inputs(Plateau(fps(1000.0)), Known(fps(7652.0))),
        "33 streams",
        compute,
    );
    // 1219 / 30 = 40.6 below 2000 / 30 = 66.7.
    check(
        &inputs(Plateau(fps(2000.0)), Known(fps(1219.0))),
        "40 streams",
        decode,
    );
    // 600 / 30 is exactly 20.
    check(&inputs(Plateau(fps(600.0)), NotUsed), "20 streams", compute);
    // 1739 / 30 = 57.97; the plateau was not reached.
    check(
        &inputs(AtLeast(fps(1739.0)), Known(fps(7652.0))),
        "at least 57 streams",
        compute,
    );
    // Decoding ends first, so that it does not matter how far compute goes.
    check(
        &inputs(AtLeast(fps(1739.0)), Known(fps(900.0))),
        "30 streams",
        decode,
    );
    check(
        &inputs(Plateau(fps(1000.0)), DecodeCeiling::Unknown),
        "at most 33 streams",
        compute,
    );
    check(
        &inputs(AtLeast(fps(1000.0)), DecodeCeiling::Unknown),
        "by what is known 33 streams",
        compute,
    );
    check(
        &inputs(Unknown, Known(fps(900.0))),
        "at most 30 streams",
        decode,
    );
    check(&inputs(Unknown, DecodeCeiling::Unknown), "unknown", None);
    // A MIG slice without a decoder carries nothing, whatever else is unknown.
    check(&inputs(Unknown, Known(fps(0.0))), "0 streams", decode);
    check(&inputs(Plateau(fps(31.0)), NotUsed), "1 stream", compute);
}

#[test]
fn a_stream_of_no_frames_has_no_capacity() {
    let mut inputs = inputs(ComputeRate::Plateau(fps(1000.0)), DecodeCeiling::NotUsed);
    inputs.fps = fps(0.0);
    check(&inputs, "unknown", None);
}

#[test]
fn memory_counts_only_for_a_pipeline_that_it_bounds() {
    let mut facts = faulty();
    facts.e2e = Some(fps(720.0));
    facts.dram = Some(share(0.9));
    assert_eq!(
        capacity(&CapacityInputs::of(&facts)).dominating,
        Some(Resource::Compute)
    );
    // 720 / 90 % = 800 fps; 800 / 30 = 26.7, below the 33 of compute.
    facts.bound = Some(BoundKind::Bandwidth);
    let bound = capacity(&CapacityInputs::of(&facts));
    assert_eq!(bound.to_string(), "26 streams");
    assert_eq!(
        (bound.dominating, bound.next),
        (Some(Resource::Bandwidth), Some(Resource::Compute))
    );
    // 720 / 30 = 24 are carried now.
    assert_eq!(bound.delivered, Some(StreamCount::new(24)));
}

fn show(capacity: &Capacity) -> String {
    let limits: Vec<String> = capacity
        .limits
        .iter()
        .map(|limit| format!("  {limit}"))
        .collect();
    let name = |resource: Option<Resource>| resource.map_or("nothing", Resource::name);
    format!(
        "{capacity}\n{}\n  {} decides: {}\n  {} is next",
        limits.join("\n"),
        name(capacity.dominating),
        capacity.dominating.map_or("", Resource::advice),
        name(capacity.next),
    )
}

#[track_caller]
fn scenario(name: &str, facts: &Facts) {
    snapshot(name, &show(&capacity(&CapacityInputs::of(facts))));
}

#[test]
fn capacities_as_a_reader_sees_them() {
    let mut facts = faulty();
    scenario("r7__compute", &facts);
    facts.plateau = Some(plateau_not_reached(16));
    scenario("r7__plateau_not_reached", &facts);
    facts.decode = DecodeCeiling::Unknown;
    scenario("r7__decode_unknown", &facts);
    facts.decode = DecodeCeiling::Known(fps(0.0));
    scenario("r7__no_decoder", &facts);
    facts.plateau = None;
    facts.decode = DecodeCeiling::NotUsed;
    scenario("r7__nothing_known", &facts);
    let mut bandwidth = faulty();
    bandwidth.bound = Some(BoundKind::Bandwidth);
    bandwidth.e2e = Some(fps(720.0));
    bandwidth.dram = Some(share(0.9));
    scenario("r7__bandwidth", &bandwidth);
}

prop_compose! {
    fn any_inputs()(
        rate in 1.0_f64..240.0,
        compute in 0.0_f64..20_000.0, compute_kind in 0..3,
        decode in 0.0_f64..20_000.0, decode_kind in 0..3,
        memory in proptest::option::of((1.0_f64..20_000.0, 0.01_f64..1.0)),
    ) -> CapacityInputs {
        CapacityInputs {
            fps: fps(rate),
            compute: match compute_kind {
                0 => ComputeRate::Unknown,
                1 => ComputeRate::AtLeast(fps(compute)),
                _ => ComputeRate::Plateau(fps(compute)),
            },
            decode: match decode_kind {
                0 => DecodeCeiling::Unknown,
                1 => DecodeCeiling::NotUsed,
                _ => DecodeCeiling::Known(fps(decode)),
            },
            bandwidth: memory.map(|(e2e, used)| BandwidthUse { e2e: fps(e2e), share: share(used) }),
            e2e: None,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_capacity_is_the_smallest_limit(inputs in any_inputs()) {
        let capacity = capacity(&inputs);
        let smallest = capacity.limits.iter().filter_map(|limit| limit.streams).min();
        prop_assert_eq!(capacity.streams, smallest);
        let unknown = capacity.limits.iter().any(|limit| limit.fps.is_none());
        if capacity.qualifier == Qualifier::Exactly && capacity.streams > Some(StreamCount::ZERO) {
            prop_assert!(!unknown);
        }
        // So many streams fit under every ceiling that is known.
        if let Some(streams) = capacity.streams {
            let needed = inputs.fps.get() * f64::from(streams.get());
            for limit in capacity.limits.iter().filter_map(|limit| limit.fps) {
                prop_assert!(needed <= limit.get() * (1.0 + 1e-6) + 1e-6);
            }
        }
    }

    #[test]
    fn a_faster_gpu_never_carries_less(inputs in any_inputs(), factor in 1.0_f64..3.0) {
        let faster = CapacityInputs {
            compute: match inputs.compute {
                ComputeRate::Unknown => ComputeRate::Unknown,
                ComputeRate::Plateau(rate) => ComputeRate::Plateau(rate.scaled(factor).unwrap()),
                ComputeRate::AtLeast(rate) => ComputeRate::AtLeast(rate.scaled(factor).unwrap()),
            },
            ..inputs
        };
        prop_assert!(capacity(&inputs).streams <= capacity(&faster).streams);
    }

    #[test]
    fn frames_in_another_unit_give_the_same_capacity(inputs in any_inputs(), power in -3_i32..4) {
        // A power of two scales floating point numbers exactly.
        let scale = |rate: ds_ceilings::Fps| rate.scaled(2.0_f64.powi(power)).unwrap();
        let scaled = CapacityInputs {
            fps: scale(inputs.fps),
            compute: match inputs.compute {
                ComputeRate::Unknown => ComputeRate::Unknown,
                ComputeRate::Plateau(rate) => ComputeRate::Plateau(scale(rate)),
                ComputeRate::AtLeast(rate) => ComputeRate::AtLeast(scale(rate)),
            },
            decode: match inputs.decode {
                DecodeCeiling::Known(rate) => DecodeCeiling::Known(scale(rate)),
                other => other,
            },
            bandwidth: inputs.bandwidth.map(|used| BandwidthUse { e2e: scale(used.e2e), ..used }),
            e2e: None,
        };
        let (one, other) = (capacity(&inputs), capacity(&scaled));
        prop_assert_eq!((one.streams, one.qualifier, one.dominating), (other.streams, other.qualifier, other.dominating));
    }
}
