//! Files that are cut off, broken or odd: what is good is read and the rest is named, never a panic.

use ds_nsys::{Error, ErrorKind, GateId, GateState, Selection, Trace, Warning, Window};
use proptest::prelude::*;

use super::written::{Written, open_bytes, packed};

/// Three kernels in as few bytes as it takes.
fn three_kernels() -> String {
    let event = |name: &str, start: i64| {
        format!(
            "{{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"{name}\",\"ts\":{start}.5,\"dur\":1.25,\"args\":{{\"device\":0,\"stream\":7}}}}"
        )
    };
    format!(
        "{{\"schemaVersion\":1,\"traceEvents\":[{},{},{}]}}",
        event("a\\\\", 10),
        event("b", 20),
        event("c", 30)
    )
}

fn kernels(trace: &Trace) -> u64 {
    let kernels = trace
        .kernel_summary(Default::default(), Selection::default())
        .expect("readable");
    kernels
        .into_iter()
        .flatten()
        .map(|kernel| kernel.time.count)
        .sum()
}

/// Either an error, or what came before the cut with the cut named.
#[track_caller]
fn check_cut(bytes: &[u8], len: usize) -> Option<u64> {
    match open_bytes(&bytes[..len]) {
        Ok(trace) => {
            let facts = trace.kineto().expect("a trace of the profiler");
            assert!(facts.cut_off.is_some(), "cut at {len} and nothing said");
            assert!(
                trace
                    .warnings()
                    .iter()
                    .any(|warning| matches!(warning, Warning::CutOff(_)))
            );
            let kernels = kernels(&trace);
            assert_eq!(facts.events.gpu_work, kernels);
            trace.busy(Window::ALL).expect("readable");
            Some(kernels)
        }
        Err(error) => {
            assert!(
                matches!(error.kind(), ErrorKind::NotAnExport | ErrorKind::Damaged),
                "{error}"
            );
            None
        }
    }
}

#[test]
fn a_file_cut_at_any_byte_gives_what_was_read() {
    let json = three_kernels();
    let mut last = 0;
    for len in 0..json.len() {
        let found = check_cut(json.as_bytes(), len);
        // The end of the third kernel, not of the file.
        let expected = json.as_bytes()[..len]
            .windows(3)
            .filter(|end| matches!(**end, [b'}', b'}', b',' | b']']))
            .count() as u64;
        if let Some(found) = found {
            // A bracket that closes an event can be the last byte.
            assert!(found == expected || found == expected + 1, "cut at {len}");
            assert!(found >= last);
            last = found;
        }
    }
    assert_eq!(last, 3);
    assert_eq!(
        open_bytes(json.as_bytes())
            .map(|trace| kernels(&trace))
            .ok(),
        Some(3)
    );
}

#[test]
fn a_packed_file_cut_at_any_byte_gives_what_was_read() {
    let bytes = packed(three_kernels().as_bytes());
    for len in 0..bytes.len() {
        check_cut(&bytes, len);
    }
}

#[test]
fn a_cut_fails_the_gate_and_says_where() {
    let mut trace = Written::new();
    trace.kernel("a", 100, 200);
    trace.kernel("b", 300, 400);
    let json = trace.json();
    let cut = json.rfind("\"kernel\"").expect("the second kernel");
    let trace = open_bytes(&json.as_bytes()[..cut]).expect("readable");
    let verdict = trace.check(None, &Default::default()).expect("readable");
    let gate = verdict.gate(GateId::G6).expect("a gate");
    assert_eq!(gate.state, GateState::Fail);
    assert_eq!(
        gate.reason,
        format!("the file ends after {cut} B of JSON: it was not written to its end")
    );
    assert!(verdict.is_partial());
}

#[test]
fn events_that_cannot_be_understood_cost_themselves() {
    let mut trace = Written::new();
    trace.kernel("good", 100, 200);
    // Numbers that JSON lacks, raw bytes and wrong escapes are understood all the same.
    trace.raw("{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy DtoD (Device -> Device)\",\"ts\":5203268603000.3,\"dur\":0,\"args\":{\"device\":0,\"bytes\":8,\"memory bandwidth (GB/s)\":inf}}");
    trace.raw("{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"C:\\qx\",\"ts\":5203268603000.4,\"dur\":0.1,\"args\":{\"device\":0,\"occupancy\":-NaN}}");
    // These are not: no time, no number of bytes, no device, no JSON.
    trace.raw("{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"x\",\"ts\":NaN,\"dur\":1,\"args\":{\"device\":0}}");
    trace.raw("{\"ph\":\"X\",\"cat\":\"gpu_memset\",\"name\":\"Memset (Device)\",\"ts\":5203268603000.5,\"dur\":1,\"args\":{\"device\":0}}");
    trace.raw("{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"x\",\"pid\":\"a\",\"ts\":5203268603000.5,\"dur\":1}");
    trace.raw("{\"ph\" \"X\"}");
    let trace = trace.open();
    let facts = trace.kineto().expect("a trace of the profiler");
    assert_eq!((facts.events.untimed, facts.events.unreadable), (1, 3));
    assert_eq!(kernels(&trace), 2);
    assert_eq!(facts.events.gpu_work, 3);
    let texts: Vec<String> = trace.warnings().iter().map(ToString::to_string).collect();
    assert!(
        texts
            .iter()
            .any(|text| text == "left out: 3 events that cannot be understood, 1 without a time"),
        "{texts:?}"
    );
    // 4 of 8 are more than a thousandth.
    let verdict = trace.check(None, &Default::default()).expect("readable");
    assert_eq!(
        verdict.gate(GateId::G6).map(|gate| gate.state),
        Some(GateState::Fail)
    );
}

#[test]
fn other_json_is_named_for_what_it_is() {
    for (text, says) in [
        ("{}", "a JSON object without `traceEvents`"),
        ("{\"a\": [1, 2]}", "a JSON object without `traceEvents`"),
        (
            "{\"traceEvents\": 7}",
            "a JSON object without `traceEvents`",
        ),
        (
            "{\"a\": [1, 2",
            "a JSON object that ends after 11 bytes, without `traceEvents`",
        ),
        (
            "{\"a\" 1}",
            "text that begins as JSON and has `1` at byte 5",
        ),
    ] {
        let error = open_bytes(text.as_bytes()).expect_err("no trace");
        assert_eq!(error.kind(), ErrorKind::NotAnExport);
        assert!(error.to_string().ends_with(says), "{error}");
    }
    let error =
        open_bytes(b"{\"schemaVersion\": 1, \"deviceProperties\": [").expect_err("no events");
    assert!(matches!(error, Error::Damaged { .. }), "{error}");
    assert!(
        error
            .to_string()
            .ends_with("the trace of PyTorch's profiler ends after 42 bytes, before its events"),
        "{error}"
    );
}

#[test]
fn a_trace_without_any_work_is_one() {
    let trace = open_bytes(b"{\"traceEvents\": []}").expect("readable");
    assert!(
        trace
            .busy(Window::ALL)
            .expect("readable")
            .devices
            .is_empty()
    );
    let verdict = trace.check(None, &Default::default()).expect("readable");
    assert_eq!(
        verdict.gate(GateId::G4).map(|gate| gate.state),
        Some(GateState::Fail)
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// One byte changed anywhere: an error or figures, never a panic.
    #[test]
    fn a_changed_byte_panics_nowhere(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = three_kernels().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(trace) = open_bytes(&bytes) {
            prop_assert!(trace.check(None, &Default::default()).is_ok());
        }
    }
}
