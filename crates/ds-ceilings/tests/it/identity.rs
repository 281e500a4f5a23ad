//! Readings of one machine put together.

use ds_ceilings::{
    Bytes, Ceilings, ComputeCap, Finding, GpuIdentity, GpuTable, Megahertz, MigMode, SmiQuery,
    SmiReport, Tegrastats, Virtualization, VisibleDevice, visible_devices,
};

use crate::support::{read, testdata};

/// A report of two GPUs in an order of its own.
const REPORT: &str = "<nvidia_smi_log><driver_version>595.80</driver_version>\
    <gpu id=\"B\"><product_name>NVIDIA L4</product_name><uuid>GPU-bbbb</uuid>\
    <max_clocks><sm_clock>2040 MHz</sm_clock><video_clock>1770 MHz</video_clock></max_clocks></gpu>\
    <gpu id=\"A\"><product_name>NVIDIA L40S</product_name><uuid>GPU-aaaa</uuid>\
    <max_clocks><sm_clock>2520 MHz</sm_clock><video_clock>1965 MHz</video_clock></max_clocks></gpu>\
    </nvidia_smi_log>";

fn machine(query: &str) -> Vec<GpuIdentity> {
    let report = SmiReport::parse_xml(REPORT).expect("two GPUs");
    GpuIdentity::from_machine(&SmiQuery::parse(query).expect("a query"), Some(&report))
        .expect("values")
}

fn video_clocks(gpus: &[GpuIdentity]) -> Vec<Option<u32>> {
    gpus.iter()
        .map(|gpu| gpu.max_clocks.video.map(Megahertz::get))
        .collect()
}

#[test]
fn gpus_are_matched_by_uuid_then_address_then_position() {
    let by_uuid = machine("uuid, name\nGPU-aaaa, NVIDIA L40S\nGPU-bbbb, NVIDIA L4\n");
    assert_eq!(video_clocks(&by_uuid), [Some(1965), Some(1770)]);
    let by_address = machine("pci.bus_id, name\nA, NVIDIA L40S\nB, NVIDIA L4\n");
    assert_eq!(video_clocks(&by_address), [Some(1965), Some(1770)]);
    let by_position = machine("index, name\n0, NVIDIA L4\n1, NVIDIA L40S\n");
    assert_eq!(video_clocks(&by_position), [Some(1770), Some(1965)]);
    // A UUID that the report lacks is another GPU, whatever its position.
    let stranger = machine("uuid, name\nGPU-cccc, NVIDIA L4\n");
    assert_eq!(video_clocks(&stranger), [None]);
    assert_eq!(stranger[0].driver_version.as_deref(), Some("595.80"));
}

#[test]
fn programs_that_disagree_are_both_quoted() {
    let gpus = machine("uuid, name, clocks.max.sm [MHz]\nGPU-aaaa, NVIDIA L40S, 2505 MHz\n");
    let findings = Ceilings::new(&gpus[0], GpuTable::built_in()).findings;
    let shown: Vec<String> = findings.iter().map(Finding::to_string).collect();
    assert_eq!(
        shown,
        [
            "the highest SM clock 2505 MHz lies below the 2520 MHz of NVIDIA's figures",
            "programs disagree about clocks.max.sm: `2505 MHz` against `2520 MHz`",
        ]
    );
    assert_eq!(
        gpus[0].max_clocks.sm,
        Some(Megahertz::new(2505)),
        "the first reading is kept"
    );
}

#[test]
fn query_and_report_of_one_machine_agree() {
    let query =
        SmiQuery::parse(&read(&testdata("query/rtx2080s-610.57.04-idle.csv"))).expect("readable");
    let report =
        SmiReport::parse_text(&read(&testdata("q/rtx2080s-610.57.04-idle.txt"))).expect("readable");
    let gpus = GpuIdentity::from_machine(&query, Some(&report)).expect("values");
    let [gpu] = gpus.as_slice() else {
        panic!("one GPU")
    };
    assert_eq!(gpu.conflicts, []);
    assert_eq!(gpu.name, "NVIDIA GeForce RTX 2080 SUPER");
    assert_eq!(gpu.driver_version.as_deref(), Some("610.57.04"));
    assert_eq!(gpu.compute_cap, Some(ComputeCap::new(7, 5)));
    assert_eq!(gpu.memory_total, Some(Bytes::from_mib(8192)));
    assert_eq!(gpu.max_clocks.sm, Some(Megahertz::new(2145)));
    assert_eq!(gpu.max_clocks.memory, Some(Megahertz::new(7751)));
    assert_eq!(gpu.max_clocks.video, Some(Megahertz::new(1995)));
    assert_eq!(
        (gpu.pcie_max_generation, gpu.pcie_max_width),
        (Some(3), Some(16))
    );
    assert_eq!(gpu.mig_mode, None);
    assert_eq!(gpu.virtualization, Some(Virtualization::Bare));
}

#[test]
fn a_jetson_comes_from_device_tree_and_tegrastats() {
    let lines = Tegrastats::parse(&read(&testdata("tegrastats/agx-orin-jetpack7.2.txt")));
    let stats = lines.expect("readable");
    let model = "NVIDIA Jetson AGX Orin Developer Kit\0";
    let gpu = GpuIdentity::from_jetson(model, stats.first());
    let found = GpuTable::built_in().find(&gpu.query());
    assert_eq!(
        found.found().map(|spec| spec.label()),
        Some("Jetson AGX Orin 64GB")
    );
    // Without the memory size two modules carry this model.
    let unsized_gpu = GpuIdentity::from_jetson(model, None);
    assert!(
        GpuTable::built_in()
            .find(&unsized_gpu.query())
            .found()
            .is_none()
    );
}

#[test]
fn cores_become_multiprocessors_only_where_they_divide() {
    let mut gpu = GpuIdentity::named("NVIDIA H200");
    gpu.set_cores(16_896);
    assert_eq!(gpu.sm_count, None, "without a capability");
    gpu.compute_cap = Some(ComputeCap::new(9, 0));
    gpu.set_cores(16_896);
    assert_eq!(gpu.sm_count, Some(132));
    gpu.set_cores(100);
    assert_eq!(
        gpu.sm_count,
        Some(132),
        "100 cores are no whole number of SMs"
    );
}

#[test]
fn vgpu_types_are_told_from_products() {
    for (name, is_vgpu) in [
        ("NVIDIA H100L-2-24C", true),
        ("GRID T4-8C", true),
        ("NVIDIA A40-48Q", true),
        ("NVIDIA A100-SXM4-40GB", false),
        ("Tesla P100-PCIE-16GB", false),
        ("NVIDIA H200", false),
        ("", false),
    ] {
        assert_eq!(GpuIdentity::named(name).is_vgpu(), is_vgpu, "{name}");
    }
}

#[test]
fn a_divided_gpu_lists_its_devices() {
    let report = SmiReport::parse_xml(&read(&testdata("xml/a100-sxm4-80gb-mig-535.54.03.xml")))
        .expect("readable");
    let gpu = GpuIdentity::from_report(&report.gpus[0]);
    assert_eq!(gpu.mig_mode, Some(MigMode::Enabled));
    let device = gpu
        .on_instance(3)
        .and_then(|part| part.instance)
        .expect("four devices");
    assert_eq!(
        (device.gpu_instance, device.sm_count, device.decoders),
        (Some(6), Some(14), Some(1))
    );
    assert_eq!(device.memory, Some(Bytes::from_mib(19_968)));
}

#[test]
fn cuda_visible_devices() {
    let gpus = machine("index, uuid, name\n0, GPU-aaaa, NVIDIA L40S\n1, GPU-bbbb, NVIDIA L4\n");
    let visible = |value: &'static str| -> Vec<String> {
        let show = |device: &VisibleDevice<'_>| match device {
            VisibleDevice::Gpu(gpu) => gpu.name.clone(),
            VisibleDevice::Mig(uuid) => (*uuid).to_owned(),
        };
        visible_devices(value, &gpus).iter().map(show).collect()
    };
    assert_eq!(visible("1,0"), ["NVIDIA L4", "NVIDIA L40S"]);
    assert_eq!(visible("GPU-bb"), ["NVIDIA L4"]);
    assert_eq!(visible("MIG-1234, 0"), ["MIG-1234", "NVIDIA L40S"]);
    // The list ends where an entry names nothing, or more than one thing.
    assert_eq!(visible("0,7,1"), ["NVIDIA L40S"]);
    assert_eq!(visible("GPU-,1"), Vec::<String>::new());
    assert_eq!(visible(""), Vec::<String>::new());
    assert_eq!(visible("-1"), Vec::<String>::new());
}
