//! The stand-in `nvidia-smi` is read by dsprof's own reader.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use ds_ceilings::{
    BitDepth, Ceilings, Codec, Dmon, DmonColumn, GpuIdentity, GpuTable, IDENTITY_FIELDS,
    Resolution, SmiFailure, SmiQuery, SmiReport,
};
use gstdssim::model::Model;

fn smi(args: &[&str], state: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dssim-smi"))
        .args(args)
        .env("DSSIM_STATE", state)
        .stdin(Stdio::null())
        .output()
        .expect("dssim-smi runs")
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn identity(state: &Path) -> GpuIdentity {
    let query = format!("--query-gpu={}", IDENTITY_FIELDS.join(","));
    let query = smi(&[&query, "--format=csv"], state);
    let query = SmiQuery::parse(&text(&query)).expect("a query");
    let report = SmiReport::parse_xml(&text(&smi(&["-q", "-x"], state))).expect("a report");
    let gpus = GpuIdentity::from_machine(&query, Some(&report)).expect("a machine");
    assert_eq!(gpus.len(), 1);
    gpus.into_iter().next().expect("one GPU")
}

#[test]
fn it_is_a_t4_whose_decode_ceiling_the_default_model_has() {
    let state = tempfile::tempdir().expect("a folder");
    let gpu = identity(state.path());
    assert_eq!(gpu.name, "Tesla T4");
    assert!(gpu.conflicts.is_empty(), "{:?}", gpu.conflicts);
    let ceilings = Ceilings::new(&gpu, GpuTable::built_in());
    let size = Resolution::new(1920, 1080).expect("a size");
    let limit = ceilings.decode_fps(Codec::H264, BitDepth::Eight, size);
    let model = Model::default();
    let own = model.decoded_fps(model.decode_engines);
    let ceiling = limit.value().expect("a T4 is known").get();
    assert!((own / ceiling - 1.0).abs() < 1e-3, "{own} for {ceiling}");
}

#[test]
fn an_unknown_field_loses_the_query() {
    let state = tempfile::tempdir().expect("a folder");
    let output = smi(
        &["--query-gpu=name,clocks.max.video", "--format=csv"],
        state.path(),
    );
    let code = output.status.code().expect("an exit status");
    let failure = SmiFailure::from_run(code, &text(&output));
    assert_eq!(
        failure,
        Some(SmiFailure::InvalidField {
            field: "clocks.max.video".to_owned()
        })
    );
}

#[test]
fn a_series_shows_what_the_ledgers_say() {
    let state = tempfile::tempdir().expect("a folder");
    let ledger = state.path().join(std::process::id().to_string());
    fs::write(&ledger, "0 0 640\n").expect("written");
    let child = Command::new(env!("CARGO_BIN_EXE_dssim-smi"))
        .args(["dmon", "-s", "um", "-d", "1", "-c", "1"])
        .env("DSSIM_STATE", state.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("dssim-smi runs");
    // However long the second lasts on this machine, the GPU was busy for more than all of it.
    thread::sleep(Duration::from_millis(300));
    let minute = 60_000_000;
    fs::write(&ledger, format!("{minute} {minute} 640\n")).expect("written");
    let output = child.wait_with_output().expect("it ends");
    let dmon = Dmon::parse(&text(&output)).expect("a series");
    let sample = dmon.samples().first().expect("one sample");
    let percent = |column| sample.share(column).map(|share| share.percent().round());
    assert_eq!(percent(DmonColumn::Sm), Some(100.0));
    assert_eq!(percent(DmonColumn::Dec), Some(100.0));
    assert!(text(&output).contains("   640 "), "{}", text(&output));
}

#[test]
fn what_is_not_simulated_is_refused() {
    let state = tempfile::tempdir().expect("a folder");
    for args in [&["topo", "-m"][..], &["dmon", "-s", "x"], &[]] {
        let output = smi(args, state.path());
        assert_eq!(output.status.code(), Some(1), "{args:?}");
    }
}
