//! NVML beside nvidia-smi, alone, missing, recorded and replayed.

use std::cell::RefCell;
use std::fs;
use std::rc::Rc;

use ds_ceilings::{Ceilings, GpuTable};
use ds_orchestrate::bundle::{Bundle, BundleError, Inputs, RecordedBundle};
use ds_orchestrate::nvml::{
    NVML_FILE, NvmlAnswer, NvmlError, NvmlGpu, NvmlMigDevice, NvmlSource, RecordedNvml,
};
use ds_orchestrate::process::{Replay, Runner};
use ds_orchestrate::report::{HardwareReport, hardware_report};
use ds_orchestrate::{Error, ErrorKind, HwReading, Via, read_hw};

use super::Machine;
use crate::support::{Fake, folder, not_found, put, testdata};

/// Answers as a library would.
pub(super) struct Answers(pub(super) NvmlAnswer);

impl NvmlSource for Answers {
    fn read(&self) -> Result<Option<NvmlAnswer>, BundleError> {
        Ok(Some(self.0.clone()))
    }
}

/// A library that nobody may ask.
struct Forbidden;

impl NvmlSource for Forbidden {
    fn read(&self) -> Result<Option<NvmlAnswer>, BundleError> {
        panic!("NVML was asked")
    }
}

/// An H200 as NVML described one (`bundles/h200-hw`): 132 SM of 128 cores, and the other numbers of its
/// `nvidia-smi -q -x`.
pub(super) fn h200() -> NvmlGpu {
    NvmlGpu {
        index: 0,
        name: Some("NVIDIA H200".to_owned()),
        uuid: Some("GPU-00000000-0000-4000-8000-000000000001".to_owned()),
        bus_id: Some("00000000:00:06.0".to_owned()),
        driver_version: Some("580.159.04".to_owned()),
        compute_capability: Some((9, 0)),
        memory_total_bytes: Some(143_771 << 20),
        memory_free_bytes: Some(150_109_880_320),
        max_sm_mhz: Some(1980),
        max_memory_mhz: Some(3201),
        max_video_mhz: Some(1545),
        sm_mhz: Some(345),
        memory_mhz: Some(3201),
        video_mhz: Some(765),
        pcie_max_generation: Some(5),
        pcie_max_width: Some(16),
        pcie_width: Some(16),
        memory_bus_bits: Some(6016),
        cores: Some(16_896),
        mig_enabled: Some(false),
        mig_devices: Vec::new(),
        // Idle, which holds nothing down.
        throttle_bits: Some(1),
        virtualization: Some("Pass-Through".to_owned()),
        unread: Vec::new(),
    }
}

/// nvidia-smi of the same machine, as it was recorded.
fn recording() -> RecordedBundle {
    RecordedBundle::open(&testdata("bundles/h200-resnet152")).expect("it is shipped")
}

fn smi() -> Replay {
    Replay::new(recording()).expect("it is whole")
}

#[track_caller]
fn read(runner: &dyn Runner, nvml: &dyn NvmlSource, via: Via) -> HwReading {
    let machine = Machine {
        nvml,
        via,
        ..Machine::new(runner)
    };
    machine.session(read_hw).0.expect("somebody answers")
}

#[track_caller]
fn failure(runner: &dyn Runner, nvml: &dyn NvmlSource, via: Via) -> Error {
    let machine = Machine {
        nvml,
        via,
        ..Machine::new(runner)
    };
    machine.session(read_hw).0.expect_err("nobody answers")
}

fn report(reading: &HwReading) -> HardwareReport {
    let gpu = reading.gpu(0).expect("one GPU");
    hardware_report(gpu, &Ceilings::new(gpu, GpuTable::built_in()))
}

/// No program is installed.
fn bare() -> Fake<'static> {
    Fake::new(|spec| Err(not_found(spec)))
}

#[test]
fn each_alone_and_both_together_say_the_same() {
    let nvml = Answers(Ok(vec![h200()]));
    let by_smi = read(&smi(), &Forbidden, Via::NvidiaSmi);
    let both = read(&smi(), &nvml, Via::Both);
    let fake = bare();
    let by_nvml = read(&fake, &nvml, Via::Nvml);
    assert!(!fake.asked().iter().any(|spec| spec.program == "nvidia-smi"));
    for reading in [&by_smi, &both, &by_nvml] {
        assert_eq!(reading.gaps, Vec::<String>::new());
    }
    let expected = report(&by_smi);
    assert_eq!(expected.sm_count, Some(132));
    assert_eq!(report(&both), expected);
    assert_eq!(report(&by_nvml), expected);
    // What nvidia-smi does not print comes from NVML.
    let (one, other) = (&by_smi.gpus[0], &both.gpus[0]);
    assert_eq!((one.sm_count, one.bus_bits), (None, None));
    assert_eq!((other.sm_count, other.bus_bits), (Some(132), Some(6016)));
    assert_eq!(other.conflicts, []);
}

#[test]
fn both_said_the_same_of_two_real_h200() {
    for name in ["h200-hw", "h200-video-cnn"] {
        both_said_the_same(name);
    }
}

#[track_caller]
fn both_said_the_same(name: &str) {
    let bundle = testdata(&format!("bundles/{name}"));
    let recording = RecordedBundle::open(&bundle).expect("it is shipped");
    let nvml = RecordedNvml::new(recording.clone());
    let by = |via| {
        let runner = Replay::new(recording.clone()).expect("it is whole");
        let reading = read(&runner, &nvml, via);
        assert_eq!(reading.gaps, Vec::<String>::new());
        reading
    };
    let answer = nvml.read().expect("it is whole").expect("it was asked");
    let gpus = answer.expect("it answered");
    assert_eq!(gpus[0].unread, Vec::<String>::new());
    // Every value that nvidia-smi prints, clocks of that moment and free memory included.
    let mut expected = by(Via::Nvml).gpus[0].clone();
    assert_eq!(
        (expected.sm_count.take(), expected.bus_bits.take()),
        (Some(132), Some(6016))
    );
    assert_eq!(by(Via::NvidiaSmi).gpus, [expected]);
    assert_eq!(by(Via::Both).gpus[0].conflicts, []);
}

#[test]
fn what_both_say_differently_is_a_finding() {
    let nvml = NvmlGpu {
        max_sm_mhz: Some(1965),
        memory_total_bytes: Some(143_000 << 20),
        // These change from moment to moment.
        sm_mhz: Some(1980),
        memory_free_bytes: Some(1 << 20),
        ..h200()
    };
    let reading = read(&smi(), &Answers(Ok(vec![nvml])), Via::Both);
    let findings = report(&reading).findings;
    assert_eq!(
        findings,
        [
            "programs disagree about memory.total: `140.4 GiB` against `139.6 GiB`",
            "programs disagree about clocks.max.sm: `1980 MHz` against `1965 MHz`",
        ]
    );
}

#[test]
fn a_gpu_that_only_one_of_them_lists() {
    let other = NvmlGpu {
        index: 1,
        uuid: Some("GPU-other".to_owned()),
        bus_id: Some("00000000:01:00.0".to_owned()),
        ..h200()
    };
    let reading = read(&smi(), &Answers(Ok(vec![other.clone(), h200()])), Via::Both);
    assert_eq!(
        reading.gaps,
        ["nvidia-smi does not list `GPU-other`, NVML does"]
    );
    assert_eq!(reading.gpus.len(), 2);
    assert_eq!(reading.gpus[0].sm_count, Some(132));
    let reading = read(&smi(), &Answers(Ok(vec![other])), Via::Both);
    assert_eq!(
        reading.gaps[0],
        "NVML does not list `GPU-00000000-0000-4000-8000-000000000001`, nvidia-smi does"
    );
}

#[test]
fn a_call_that_failed_is_a_gap_and_a_value_that_is_not_offered_is_none() {
    let nvml = NvmlGpu {
        cores: None,
        max_video_mhz: None,
        unread: vec!["core count: unknown error".to_owned()],
        ..h200()
    };
    let nobody = bare();
    let machine = Machine {
        nvml: &Answers(Ok(vec![nvml])),
        via: Via::Nvml,
        ..Machine::new(&nobody)
    };
    let (reading, events) = machine.session(read_hw);
    let reading = reading.expect("it answers");
    assert_eq!(reading.gaps, ["NVML, GPU 0: core count: unknown error"]);
    assert_eq!(events, ["note: NVML, GPU 0: core count: unknown error"]);
    let gpu = &reading.gpus[0];
    assert_eq!((gpu.sm_count, gpu.max_clocks.video), (None, None));
}

#[test]
fn without_the_library_nvidia_smi_speaks_alone() {
    let alone = read(&smi(), &Forbidden, Via::NvidiaSmi);
    let reading = read(&smi(), &Answers(Err(NvmlError::LibraryMissing)), Via::Both);
    assert_eq!(reading.gpus, alone.gpus);
    assert_eq!(
        reading.gaps,
        ["no reading of NVML, nvidia-smi speaks alone: `libnvidia-ml.so.1` cannot be loaded"]
    );
    // A build without NVML says so only where NVML is asked for by name.
    let not_built = Answers(Err(NvmlError::NotBuilt));
    assert_eq!(
        read(&smi(), &not_built, Via::Both).gaps,
        Vec::<String>::new()
    );
    let error = failure(&smi(), &not_built, Via::Nvml);
    assert!(matches!(error, Error::Nvml(NvmlError::NotBuilt)), "{error}");
}

#[test]
fn without_nvidia_smi_nvml_speaks_alone() {
    let nvml = Answers(Ok(vec![h200()]));
    let reading = read(&bare(), &nvml, Via::Both);
    assert_eq!(
        reading.gaps,
        [
            "no reading of nvidia-smi, NVML speaks alone: nvidia-smi reported an error: `nvidia-smi` is not installed"
        ]
    );
    assert_eq!(reading.gpus[0].name, "NVIDIA H200");
}

#[test]
fn nobody_answers() {
    let error = failure(
        &bare(),
        &Answers(Err(NvmlError::DriverNotLoaded)),
        Via::Both,
    );
    assert_eq!(error.kind(), ErrorKind::Program);
    assert_eq!(
        error.to_string(),
        "neither NVML (the NVIDIA driver is not loaded) nor nvidia-smi answers"
    );
    // A library that sees no GPU does not make up for a missing program.
    let none = Answers(Ok(Vec::new()));
    assert!(matches!(failure(&bare(), &none, Via::Both), Error::Smi(_)));
    let error = failure(&bare(), &none, Via::Nvml);
    assert_eq!(error.kind(), ErrorKind::Program);
}

#[test]
fn every_failure_has_a_remedy_and_is_kept() {
    for error in [
        NvmlError::LibraryMissing,
        NvmlError::DriverNotLoaded,
        NvmlError::VersionMismatch,
        NvmlError::NoPermission,
        NvmlError::GpuLost { index: 1 },
        NvmlError::Call {
            call: "nvmlInit".to_owned(),
            reason: "unknown error".to_owned(),
        },
        NvmlError::NotBuilt,
    ] {
        assert!(error.remedy().len() > 20, "{error}");
        let answer = Err(error);
        let (first, second) = kept(&answer);
        assert_eq!(first, answer);
        assert_eq!(second.gaps, read(&smi(), &Answers(answer), Via::Both).gaps);
    }
}

fn inputs() -> Inputs {
    Inputs {
        command: "hw".to_owned(),
        ..Inputs::default()
    }
}

/// Records a reading with this answer of NVML, and gives what the bundle then says of it, and what a replay reads.
#[track_caller]
fn kept(answer: &NvmlAnswer) -> (NvmlAnswer, HwReading) {
    let folder = folder();
    let bundle = Bundle::open(folder.path(), inputs()).expect("an empty folder");
    let replay = smi();
    let machine = Machine {
        nvml: &Answers(answer.clone()),
        bundle: Some(Rc::new(RefCell::new(bundle))),
        ..Machine::new(&replay)
    };
    machine.session(read_hw).0.expect("nvidia-smi answers");
    let recorded = RecordedBundle::open(folder.path()).expect("it was written");
    let source = RecordedNvml::new(recorded);
    let replayed = read(&smi(), &source, Via::Both);
    let answer = source.read().expect("it is whole").expect("it was kept");
    (answer, replayed)
}

#[test]
fn a_reading_replays_from_the_bundle() {
    let gpu = NvmlGpu {
        mig_devices: vec![NvmlMigDevice {
            index: 3,
            uuid: Some("MIG-3".to_owned()),
            sm_count: Some(16),
            decoders: Some(0),
            memory_mib: Some(18_432),
            ..NvmlMigDevice::default()
        }],
        unread: vec!["name: odd".to_owned()],
        ..h200()
    };
    let answer = Ok(vec![gpu]);
    let (recorded, reading) = kept(&answer);
    assert_eq!(recorded, answer);
    assert_eq!(reading, read(&smi(), &Answers(answer), Via::Both));
}

#[test]
fn a_recording_without_nvml_never_asks_for_it() {
    for name in ["h200-resnet50", "h200-resnet152", "h200-resnet152-graphs"] {
        let bundle = RecordedBundle::open(&testdata(&format!("bundles/{name}"))).expect("shipped");
        let source = RecordedNvml::new(bundle);
        assert_eq!(source.read().expect("it is whole"), None, "{name}");
    }
    let source = RecordedNvml::new(recording());
    assert_eq!(
        read(&smi(), &source, Via::Both),
        read(&smi(), &Forbidden, Via::NvidiaSmi)
    );
    let error = failure(&smi(), &source, Via::Nvml);
    assert_eq!(error.kind(), ErrorKind::Input);
    assert_eq!(error.to_string(), "the recording holds no reading of NVML");
}

/// What a bundle whose NVML file holds `text` is refused with.
#[track_caller]
fn check_refused(text: &str, expected: &str) {
    let folder = folder();
    let mut bundle = Bundle::open(folder.path(), inputs()).expect("an empty folder");
    bundle.write(NVML_FILE, text.as_bytes()).expect("a file");
    bundle.save().expect("a manifest");
    let recorded = RecordedBundle::open(folder.path()).expect("it was written");
    let error = RecordedNvml::new(recorded).read().expect_err("it is odd");
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn a_file_that_dsprof_did_not_write_is_refused() {
    check_refused("no JSON", "hw/nvml.json");
    check_refused("{}", "its schema is `(none)`");
    check_refused(
        r#"{"schema": "dsprof.nvml/2", "answer": {"gpus": []}}"#,
        "its schema is `dsprof.nvml/2`, this dsprof reads `dsprof.nvml/1`",
    );
    check_refused(
        r#"{"schema": "dsprof.nvml/1", "answer": {"gpus": [{"colour": 1}]}}"#,
        "unknown field `colour`",
    );
}

#[test]
fn a_changed_reading_is_refused() {
    let folder = folder();
    let mut bundle = Bundle::open(folder.path(), inputs()).expect("an empty folder");
    bundle.write(NVML_FILE, b"{}").expect("a file");
    bundle.save().expect("a manifest");
    put(&folder.path().join(NVML_FILE), "{ }");
    assert!(fs::exists(folder.path().join(NVML_FILE)).expect("readable"));
    let recorded = RecordedBundle::open(folder.path()).expect("it was written");
    let error = RecordedNvml::new(recorded).read().expect_err("it changed");
    assert!(matches!(error, BundleError::Changed { .. }), "{error}");
}

#[test]
fn throttling_has_the_names_of_nvidia_smi() {
    let reasons = |bits| {
        let gpu = NvmlGpu {
            throttle_bits: Some(bits),
            ..NvmlGpu::default()
        };
        gpu.identity().throttle_reasons.join(",")
    };
    assert_eq!(reasons(0), "");
    // nvml.h: idle 0x1, software power cap 0x4, hardware slowdown 0x8, hardware thermal slowdown 0x40.
    assert_eq!(reasons(0x1), "");
    assert_eq!(reasons(0x5), "sw_power_cap");
    assert_eq!(reasons(0x48), "hw_slowdown,hw_thermal_slowdown");
    assert_eq!(
        reasons(0x1ff),
        "applications_clocks_setting,sw_power_cap,hw_slowdown,hw_thermal_slowdown,hw_power_brake_slowdown,sync_boost,\
         sw_thermal_slowdown,display_clocks_setting"
    );
    assert_eq!(reasons(1 << 40), "", "a bit of a driver to come");
}

#[test]
fn cores_become_multiprocessors_by_the_capability() {
    let sms = |cores, capability| {
        let gpu = NvmlGpu {
            cores: Some(cores),
            compute_capability: capability,
            ..NvmlGpu::default()
        };
        gpu.identity().sm_count
    };
    // 64 cores in an SM of 8.0, 128 in one of 8.9: A100 and L4 by their data sheets.
    assert_eq!(sms(6912, Some((8, 0))), Some(108));
    assert_eq!(sms(7424, Some((8, 9))), Some(58));
    assert_eq!(sms(7424, None), None);
}
