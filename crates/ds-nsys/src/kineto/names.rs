//! What names say: of a kernel its bare name, of a copy between what memory it went.

/// The bare name of a kernel, as nsys keeps it beside the full one: without parameters, template arguments, return type
/// and name spaces.
pub(super) fn bare(name: &str) -> &str {
    let head = &name[..parameters(name).unwrap_or(name.len())];
    let head = without_template_arguments(head.trim_end());
    // What separates is looked for outside of brackets, from the end.
    let mut depth = 0_i32;
    for (at, byte) in head.bytes().enumerate().rev() {
        match byte {
            b'>' | b')' | b'}' => depth += 1,
            b'<' | b'(' | b'{' => depth -= 1,
            b':' | b' ' if depth == 0 => return non_empty(&head[at + 1..], name),
            _ => {}
        }
    }
    non_empty(head, name)
}

fn non_empty<'a>(bare: &'a str, name: &'a str) -> &'a str {
    if bare.is_empty() { name } else { bare }
}

/// Where the list of parameters begins: the first parenthesis outside of brackets that is no name.
fn parameters(name: &str) -> Option<usize> {
    const UNNAMED: &str = "(anonymous namespace)";
    let mut depth = 0_i32;
    let mut skip_to = 0;
    for (at, byte) in name.bytes().enumerate() {
        if at < skip_to {
            continue;
        }
        match byte {
            b'<' | b'{' => depth += 1,
            b'>' | b'}' => depth -= 1,
            b'(' if name[at..].starts_with(UNNAMED) => skip_to = at + UNNAMED.len(),
            b'(' if depth == 0 && name[..at].ends_with("operator") => skip_to = at + 2,
            b'(' if depth == 0 => return Some(at),
            _ => {}
        }
    }
    None
}

fn without_template_arguments(head: &str) -> &str {
    if !head.ends_with('>') {
        return head;
    }
    let mut depth = 0_i32;
    for (at, byte) in head.bytes().enumerate().rev() {
        match byte {
            b'>' => depth += 1,
            b'<' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &head[..at];
        }
    }
    head
}

/// Kinds of copies in Kineto's words, with their codes in `ENUM_CUDA_MEMCPY_OPER`.
const COPIES: [(&str, i64); 10] = [
    ("HtoD", 1),
    ("DtoH", 2),
    ("HtoA", 3),
    ("AtoH", 4),
    ("AtoA", 5),
    ("AtoD", 6),
    ("DtoA", 7),
    ("DtoD", 8),
    ("HtoH", 9),
    ("PtoP", 10),
];

/// Kinds of memory in Kineto's words, with their codes in `ENUM_CUDA_MEM_KIND`.
const MEMORIES: [(&str, i64); 7] = [
    ("Pageable", 0),
    ("Pinned", 1),
    ("Device", 2),
    ("Array", 3),
    ("Managed", 4),
    ("Device Static", 5),
    ("Managed Static", 6),
];

/// What the name of a copy says, in the codes of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CopyCodes {
    /// 0 where the name says nothing that is known, as CUPTI has it.
    pub(super) kind: i64,
    pub(super) from: Option<i64>,
    pub(super) to: Option<i64>,
}

/// Reads `Memcpy HtoD (Pinned -> Device)`.
pub(super) fn copy(name: &str) -> CopyCodes {
    let mut words = name.split_whitespace().skip(1);
    let kind = words.next().and_then(|word| code(&COPIES, word));
    let (from, to) = in_parentheses(name)
        .and_then(|inner| inner.split_once("->"))
        .unwrap_or_default();
    CopyCodes {
        kind: kind.unwrap_or(0),
        from: code(&MEMORIES, from.trim()),
        to: code(&MEMORIES, to.trim()),
    }
}

/// Reads `Memset (Device)`.
pub(super) fn set(name: &str) -> Option<i64> {
    code(&MEMORIES, in_parentheses(name)?.trim())
}

fn in_parentheses(name: &str) -> Option<&str> {
    let (_, rest) = name.split_once('(')?;
    rest.split_once(')').map(|(inner, _)| inner)
}

fn code(of: &[(&str, i64)], word: &str) -> Option<i64> {
    of.iter()
        .find(|(known, _)| *known == word)
        .map(|(_, code)| *code)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{CopyCodes, bare, copy, set};

    #[test]
    fn bare_names() {
        for (name, expected) in [
            (
                "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::Half, float, false>(int, float, \
                 c10::Half const*)",
                "vectorized_layer_norm_kernel",
            ),
            (
                "void at::native::vectorized_elementwise_kernel<8, at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, \
                 at::native::GeluType)::{lambda()#2}::operator()() const::{lambda(c10::Half)#1}, std::array<char*, 2ul> \
                 >(int, std::array<char*, 2ul>)",
                "vectorized_elementwise_kernel",
            ),
            (
                "nvjet_sm90_hsh_64x8_64x16_2x1_v_bz_bias_TNT",
                "nvjet_sm90_hsh_64x8_64x16_2x1_v_bz_bias_TNT",
            ),
            (
                "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
            ),
            (
                "void (anonymous namespace)::softmax_warp_forward<c10::Half, 11, false>(c10::Half*, int)",
                "softmax_warp_forward",
            ),
            (
                "void flash_fwd_kernel<Traits<64, (bool)1> >(Params)",
                "flash_fwd_kernel",
            ),
            ("triton_poi_fused_0", "triton_poi_fused_0"),
            ("", ""),
            ("(odd", "(odd"),
        ] {
            assert_eq!(bare(name), expected);
        }
    }

    #[test]
    fn copies_and_sets() {
        let expected = CopyCodes {
            kind: 1,
            from: Some(1),
            to: Some(2),
        };
        assert_eq!(copy("Memcpy HtoD (Pinned -> Device)"), expected);
        let unknown = CopyCodes {
            kind: 0,
            from: None,
            to: None,
        };
        assert_eq!(copy("Memcpy"), unknown);
        assert_eq!(copy("Memcpy <unknown> (Unknown -> ?)"), unknown);
        assert_eq!(set("Memset (Device)"), Some(2));
        assert_eq!(set("Memset (Managed Static)"), Some(6));
        assert_eq!(set("Memset"), None);
    }

    proptest! {
        #[test]
        fn no_name_panics(name in "[a-z<>(){}: é]{0,30}") {
            let _ = (bare(&name), copy(&name), set(&name));
        }
    }
}
