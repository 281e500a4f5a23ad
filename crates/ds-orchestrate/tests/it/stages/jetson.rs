//! A Jetson, and a container without a decoder.

use std::fs;

use ds_ceilings::{Bytes, Ceilings, GpuTable};
use ds_orchestrate::nvml::NvmlError;
use ds_orchestrate::process::{CommandSpec, Exit, Outcome, RunError};
use ds_orchestrate::{Error, HwReading, read_hw};

use super::Machine;
use super::nvml::Answers;
use crate::support::{Fake, not_found, outcome, testdata};

const ORIN: &str = "NVIDIA Jetson AGX Orin Developer Kit\0";

fn tegrastats() -> String {
    fs::read_to_string(testdata("smi/tegrastats/agx-orin-jetpack7.2.txt")).expect("it is shipped")
}

/// A board with this device tree, and nvidia-smi where there is one.
fn read(
    tree: Option<&str>,
    smi: impl Fn(&CommandSpec) -> Result<Outcome, RunError>,
) -> (Result<HwReading, Error>, Vec<String>) {
    let fake = Fake::new(|spec| match (spec.program.as_str(), tree) {
        ("nvidia-smi", _) => smi(spec),
        ("cat", Some(tree)) => Ok(outcome(Exit::Code(0), tree, "")),
        ("cat", None) => Ok(outcome(Exit::Code(1), "", "cat: No such file or directory")),
        ("tegrastats", Some(_)) => Ok(outcome(Exit::TimedOut, tegrastats(), "")),
        _ => Err(not_found(spec)),
    });
    let machine = Machine {
        nvml: &Answers(Err(NvmlError::LibraryMissing)),
        ..Machine::new(&fake)
    };
    let reading = machine.session(read_hw).0;
    (reading, fake.purposes())
}

fn label(reading: &HwReading) -> Option<String> {
    let ceilings = Ceilings::new(&reading.gpus[0], GpuTable::built_in());
    ceilings.product.map(|product| product.label().to_owned())
}

#[test]
fn without_nvidia_smi_the_device_tree_says_which_module_it_is() {
    let (reading, asked) = read(Some(ORIN), |spec| Err(not_found(spec)));
    let reading = reading.expect("it is a Jetson");
    assert_eq!(label(&reading).as_deref(), Some("Jetson AGX Orin 64GB"));
    assert_eq!(
        reading.gpus[0].memory_total,
        Some(Bytes::from_mib(62_817)),
        "RAM of the whole board"
    );
    assert_eq!(asked, ["hw/identity", "hw/device-tree", "hw/tegrastats"]);
}

#[test]
fn another_board_and_a_pc_are_no_jetson() {
    for tree in [Some("Raspberry Pi 4 Model B Rev 1.4\0"), Some(""), None] {
        let (reading, _) = read(tree, |spec| Err(not_found(spec)));
        let error = reading.expect_err("nobody answers");
        assert!(matches!(error, Error::NobodyAnswers { .. }), "{error}");
    }
}

#[test]
fn nvidia_smi_of_a_jetson_is_completed() {
    let (reading, _) = read(Some(ORIN), |spec| {
        let Some(fields) = spec.args[0].strip_prefix("--query-gpu=") else {
            return Err(not_found(spec));
        };
        let cells: Vec<&str> = fields
            .split(',')
            .map(|field| match field {
                "index" => "0",
                "name" => "Orin (nvgpu)",
                _ => "[N/A]",
            })
            .collect();
        let text = format!("{}\n{}\n", fields.replace(',', ", "), cells.join(", "));
        Ok(outcome(Exit::Code(0), text, ""))
    });
    let reading = reading.expect("it answers");
    assert_eq!(label(&reading).as_deref(), Some("Jetson AGX Orin 64GB"));
    assert_eq!(reading.gpus[0].name, "Orin (nvgpu)");
    assert_eq!(reading.gpus[0].conflicts, []);
}

/// The findings on a machine whose loader prints this.
fn findings(exit: Exit, cache: &str) -> Vec<String> {
    let fake = Fake::new(|spec| match spec.program.as_str() {
        "ldconfig" => Ok(outcome(exit, cache, "")),
        _ => Err(not_found(spec)),
    });
    let machine = Machine {
        nvml: &Answers(Ok(vec![super::nvml::h200()])),
        ..Machine::new(&fake)
    };
    machine.session(read_hw).0.expect("NVML answers").findings
}

#[test]
fn a_container_without_the_video_capability() {
    let cache = "2 libs found in cache `/etc/ld.so.cache'\n\
                 \tlibnvidia-ml.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libnvidia-ml.so.1\n\
                 \tlibcuda.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libcuda.so.1\n";
    let found = findings(Exit::Code(0), cache);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with(
            "the loader knows no `libnvcuvid.so.1`, so that decoding will not work here"
        ),
        "{found:?}"
    );
    let with_decoder = format!(
        "{cache}\tlibnvcuvid.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libnvcuvid.so.1\n"
    );
    assert_eq!(findings(Exit::Code(0), &with_decoder), Vec::<String>::new());
    // Only a cache that was read says that something is missing from it.
    assert_eq!(findings(Exit::Code(1), cache), Vec::<String>::new());
    assert_eq!(findings(Exit::Code(0), "usage\n"), Vec::<String>::new());
    // The library of another version does not do.
    let other = cache.replace("libcuda.so.1 ", "libnvcuvid.so.12 ");
    assert_eq!(findings(Exit::Code(0), &other).len(), 1);
}
