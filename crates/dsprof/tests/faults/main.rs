//! The fault suite: what goes wrong around a run, one fault after the other, and what has to hold after each.
//!
//! dsprof runs the main job over a machine of shell scripts (`machine.rs`): an `nvidia-smi`, an `nsys` and a load. Then
//! something is killed, missing, full or endless. After every fault dsprof has ended in time, said what was wrong, left no
//! process behind and a bundle that can be read; what it had finished is still there, and a second run goes on from it.
//!
//! With `DSPROF_LIVE=1` the suite takes longer: a hundred interrupts in place of ten, a gigabyte of output in place of
//! sixty-four megabytes, programs that hang until their time is up, and a real nsys where one is on `PATH`.
//!
//! It has a `main` of its own because it counts: the last line says how many faults were tried and how many passed.

#![expect(
    clippy::print_stdout,
    reason = "a test without the harness says by itself what came of it"
)]

mod children;
mod disk;
mod interrupts;
mod killed;
mod live;
mod machine;
mod nsys;
mod output;
mod ran;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// One thing that goes wrong. It panics where something does not hold, and gives how many faults it tried.
struct Fault {
    name: &'static str,
    run: fn() -> Tried,
}

/// What a fault came to.
enum Tried {
    /// So many times something went wrong, and all that has to hold did.
    Passed(usize),
    /// It cannot be tried here, for this reason.
    Skipped(&'static str),
}

impl Fault {
    const fn new(name: &'static str, run: fn() -> Tried) -> Self {
        Self { name, run }
    }
}

/// Most of the time is spent in waiting, so that several faults go on at once.
const AT_ONCE: usize = 4;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let filters: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
    let all = [
        children::FAULTS,
        killed::FAULTS,
        interrupts::FAULTS,
        nsys::FAULTS,
        disk::FAULTS,
        output::FAULTS,
        live::FAULTS,
    ];
    let faults: Vec<&Fault> = all
        .into_iter()
        .flatten()
        .filter(|fault| {
            filters.is_empty()
                || filters
                    .iter()
                    .any(|word| fault.name.contains(word.as_str()))
        })
        .collect();
    if words.iter().any(|word| word == "--list") {
        for fault in faults {
            println!("{}: test", fault.name);
        }
        return ExitCode::SUCCESS;
    }

    let began = now();
    let next = AtomicUsize::new(0);
    let counts = Mutex::new((0, 0, Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(fault) = faults.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = catch_unwind(AssertUnwindSafe(fault.run));
                    let mut counts = counts.lock().expect("no fault panics here");
                    match result {
                        Ok(Tried::Passed(n)) => {
                            println!("fault {} ... ok ({n})", fault.name);
                            counts.0 += n;
                            counts.1 += n;
                        }
                        Ok(Tried::Skipped(why)) => println!("skipped: {}: {why}", fault.name),
                        Err(_) => {
                            println!("fault {} ... FAILED", fault.name);
                            counts.0 += 1;
                            counts.2.push(fault.name);
                        }
                    }
                }
            });
        }
    });
    let (tried, passed, failed) = counts.into_inner().expect("no fault panics there");
    let seconds = began.elapsed().as_secs();
    for name in &failed {
        println!("failed: {name}");
    }
    println!("faults: {tried} tried, {passed} passed, in {seconds} s");
    if failed.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Whether the longer variant is asked for.
fn is_live() -> bool {
    #[expect(clippy::disallowed_methods, reason = "this is how it is asked for")]
    std::env::var_os("DSPROF_LIVE").is_some_and(|value| value == "1")
}

#[expect(
    clippy::disallowed_methods,
    reason = "that a run ends in time is what is checked"
)]
fn now() -> Instant {
    Instant::now()
}
