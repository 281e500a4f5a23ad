//! Names of what holds the clocks down.

/// The bits of `nvmlDeviceGetCurrentClocksThrottleReasons` (`nvml.h`, `nvmlClocksThrottleReason*`) under the names of
/// `nvidia-smi -q -x`, in its order. The idle bit (0x1) is left out: an idle GPU is not held down.
const REASONS: [(u64, &str); 8] = [
    (0x002, "applications_clocks_setting"),
    (0x004, "sw_power_cap"),
    (0x008, "hw_slowdown"),
    (0x040, "hw_thermal_slowdown"),
    (0x080, "hw_power_brake_slowdown"),
    (0x010, "sync_boost"),
    (0x020, "sw_thermal_slowdown"),
    (0x100, "display_clocks_setting"),
];

/// The names of the bits that are set; a bit without a name is passed over.
pub(super) fn names(bits: u64) -> Vec<String> {
    REASONS
        .into_iter()
        .filter(|(bit, _)| bits & bit != 0)
        .map(|(_, name)| name.to_owned())
        .collect()
}
