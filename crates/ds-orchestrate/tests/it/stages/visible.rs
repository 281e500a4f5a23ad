//! `CUDA_VISIBLE_DEVICES`.

use ds_ceilings::{BitDepth, Ceilings, Codec, GpuIdentity, GpuTable, Resolution};
use ds_orchestrate::nvml::{NvmlGpu, NvmlMigDevice};
use ds_orchestrate::{Error, ErrorKind, HwReading, Via, read_hw};

use super::Machine;
use super::nvml::{Answers, h200};
use crate::support::{Fake, not_found};

/// A machine of two GPUs, the second divided in two.
fn two() -> Vec<NvmlGpu> {
    let device = |index, uuid: &str, sm_count, decoders| NvmlMigDevice {
        index,
        uuid: Some(uuid.to_owned()),
        sm_count: Some(sm_count),
        decoders: Some(decoders),
        ..NvmlMigDevice::default()
    };
    let divided = NvmlGpu {
        index: 1,
        uuid: Some("GPU-second".to_owned()),
        bus_id: Some("00000000:01:00.0".to_owned()),
        mig_enabled: Some(true),
        // NVML counts no cores of a divided GPU.
        cores: None,
        mig_devices: vec![device(0, "MIG-a", 60, 3), device(2, "MIG-b", 16, 0)],
        ..h200()
    };
    vec![h200(), divided]
}

/// The reading under this value, and the index that the work then runs on.
fn read(value: &str) -> (Result<HwReading, Error>, u32) {
    let fake = Fake::new(|spec| Err(not_found(spec)));
    let machine = Machine {
        nvml: &Answers(Ok(two())),
        via: Via::Nvml,
        visible: Some(value),
        ..Machine::new(&fake)
    };
    let work = |session: &mut ds_orchestrate::Session<'_>| (read_hw(session), session.gpu_index);
    machine.session(work).0
}

#[track_caller]
fn check(value: &str, uuids: &[&str], index: u32) {
    let (reading, now) = read(value);
    let reading = reading.expect("it names a GPU");
    let seen: Vec<&str> = reading
        .gpus
        .iter()
        .filter_map(|gpu| gpu.uuid.as_deref())
        .collect();
    assert_eq!((seen.as_slice(), now), (uuids, index), "{value}");
    let chosen = reading.gpu(index).expect("the first is the one");
    assert_eq!(chosen.uuid.as_deref(), Some(uuids[0]));
    let is_whole = value == "0,1";
    assert_eq!(
        reading.findings.is_empty(),
        is_whole,
        "{:?}",
        reading.findings
    );
}

#[test]
fn the_work_runs_on_the_first_that_is_named() {
    let first = "GPU-00000000-0000-4000-8000-000000000001";
    check("0,1", &[first, "GPU-second"], 0);
    check("1,0", &["GPU-second", first], 1);
    check("1", &["GPU-second"], 1);
    check("GPU-sec", &["GPU-second"], 1);
    check("0,7,1", &[first], 0);
}

#[test]
fn a_list_that_names_nothing_is_refused() {
    for value in ["", "-1", "7", "GPU-"] {
        let error = read(value).0.expect_err("nothing is left");
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert_eq!(
            error.to_string(),
            format!("CUDA_VISIBLE_DEVICES `{value}` leaves none of 2 GPUs visible")
        );
    }
    let error = read("MIG-c").0.expect_err("there is none");
    assert_eq!(
        error.to_string(),
        "CUDA_VISIBLE_DEVICES `MIG-c` names the MIG device `MIG-c`, and NVML lists none of this UUID"
    );
}

/// SMs, and decoded frames of H.265 in a second.
fn ceilings(gpu: &GpuIdentity) -> (Option<u32>, Option<f64>) {
    let ceilings = Ceilings::new(gpu, GpuTable::built_in());
    let decode = ceilings.decode_fps(Codec::Hevc, BitDepth::Eight, Resolution::FULL_HD);
    (ceilings.sm_count, decode.value().map(|fps| fps.get()))
}

#[test]
fn a_mig_device_has_its_own_multiprocessors_and_decoders() {
    let reading = read("MIG-b,MIG-a").0.expect("both are listed");
    let [small, large] = reading.gpus.as_slice() else {
        panic!("two devices");
    };
    assert_eq!(ceilings(small), (Some(16), Some(0.0)), "no decoder");
    let (sms, decode) = ceilings(large);
    assert_eq!(sms, Some(60));
    // Three of the seven decoders of the whole GPU.
    let (_, whole) = ceilings(&h200().identity());
    let share = decode.expect("known") / whole.expect("known");
    assert!((share - 3.0 / 7.0).abs() < 1e-9, "{share}");
}

#[test]
fn a_divided_gpu_of_which_no_device_is_named() {
    let reading = read("1").0.expect("it is listed");
    let findings = Ceilings::new(&reading.gpus[0], GpuTable::built_in()).findings;
    let shown: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(
        shown
            .iter()
            .any(|text| text.starts_with("MIG is on (2 devices)")),
        "{shown:?}"
    );
}
