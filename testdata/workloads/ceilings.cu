// What one GPU reaches: matrix products by precision, copies on the device and over PCIe, and decoding with as many
// sessions as there are engines. Native code, so that the host is not the limit. One JSON object a line.
//
//   nvcc -O2 -std=c++17 -arch=sm_90 ceilings.cu -o ceilings -lcublasLt -lcuda -ldl
//   ./ceilings [SECONDS [SESSIONS STREAM.h264|STREAM.h265 …]]
//
// Streams are Annex B elementary streams. Decoding goes through the driver's libnvcuvid (headers: nv-codec-headers).

#include <cublasLt.h>
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <ffnvcodec/dynlink_loader.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#define CHECK(call)                                                              \
    do {                                                                         \
        auto status = (call);                                                    \
        if (status != 0) {                                                       \
            std::fprintf(stderr, "%s:%d: %s gave %d\n", __FILE__, __LINE__, #call, (int)status); \
            std::exit(1);                                                        \
        }                                                                        \
    } while (0)

using Clock = std::chrono::steady_clock;

static double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Random bits in every byte but the sign and the upper exponent, so that no value overflows and none is zero by design.
__global__ void fill(unsigned char *data, size_t bytes, unsigned char mask, unsigned char offset, int width) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < bytes; i += (size_t)gridDim.x * blockDim.x) {
        unsigned long long x = i * 0x9E3779B97F4A7C15ull;
        x ^= x >> 29;
        x *= 0xBF58476D1CE4E5B9ull;
        unsigned char byte = (unsigned char)(x >> 40);
        data[i] = (i % width == width - 1) ? (unsigned char)((byte & mask) | offset) : byte;
    }
}

struct Kind {
    const char *name;
    cudaDataType_t type, out;
    cublasComputeType_t compute;
    cudaDataType_t scale;
    int width;
    unsigned char mask, offset;
};

// 8192 x 8192 x 8192: 2 n^3 operations a product.
static void gemm(const Kind &kind, double seconds) {
    const int64_t n = 8192;
    void *a, *b, *c, *workspace;
    const size_t bytes = n * n * kind.width, space = 64 << 20;
    CHECK(cudaMalloc(&a, bytes));
    CHECK(cudaMalloc(&b, bytes));
    CHECK(cudaMalloc(&c, n * n * 4));
    CHECK(cudaMalloc(&workspace, space));
    fill<<<1024, 256>>>((unsigned char *)a, bytes, kind.mask, kind.offset, kind.width);
    fill<<<1024, 256>>>((unsigned char *)b, bytes, kind.mask, kind.offset, kind.width);
    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t la, lb, lc;
    cublasLtMatmulPreference_t preference;
    CHECK(cublasLtCreate(&handle));
    CHECK(cublasLtMatmulDescCreate(&desc, kind.compute, kind.scale));
    cublasOperation_t transpose = CUBLAS_OP_T;
    CHECK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &transpose, sizeof transpose));
    CHECK(cublasLtMatrixLayoutCreate(&la, kind.type, n, n, n));
    CHECK(cublasLtMatrixLayoutCreate(&lb, kind.type, n, n, n));
    CHECK(cublasLtMatrixLayoutCreate(&lc, kind.out, n, n, n));
    CHECK(cublasLtMatmulPreferenceCreate(&preference));
    CHECK(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &space, sizeof space));
    cublasLtMatmulHeuristicResult_t found[16];
    int count = 0;
    CHECK(cublasLtMatmulAlgoGetHeuristic(handle, desc, la, lb, lc, lc, preference, 16, found, &count));
    float alpha = 1, beta = 0;
    int one = 1, zero = 0;
    const bool integer = kind.scale == CUDA_R_32I;
    const void *pa = integer ? (void *)&one : (void *)&alpha, *pb = integer ? (void *)&zero : (void *)&beta;
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    double best = 0;
    for (int i = 0; i < count; i++) {
        auto run = [&] {
            return cublasLtMatmul(handle, desc, pa, a, la, b, lb, pb, c, lc, c, lc, &found[i].algo, workspace, space, 0);
        };
        if (run() != CUBLAS_STATUS_SUCCESS || cudaDeviceSynchronize() != cudaSuccess) continue;
        const int repeats = 10;
        const auto started = Clock::now();
        do {
            CHECK(cudaEventRecord(begin));
            for (int r = 0; r < repeats; r++) run();
            CHECK(cudaEventRecord(end));
            CHECK(cudaEventSynchronize(end));
            float ms;
            CHECK(cudaEventElapsedTime(&ms, begin, end));
            best = std::max(best, 2.0 * n * n * n * repeats / (ms * 1e-3) / 1e12);
        } while (seconds_since(started) < seconds / 16);
    }
    std::printf("{\"what\": \"%s\", \"tera_ops\": %.1f}\n", kind.name, best);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
    CHECK(cudaFree(workspace));
}

static void copies() {
    const size_t bytes = (size_t)4 << 30;
    void *device[2], *host;
    CHECK(cudaMalloc(&device[0], bytes));
    CHECK(cudaMalloc(&device[1], bytes));
    CHECK(cudaMallocHost(&host, bytes / 4));
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    auto rate = [&](const char *name, void *to, void *from, size_t size, double moved) {
        double best = 0;
        for (int i = 0; i < 20; i++) {
            CHECK(cudaEventRecord(begin));
            CHECK(cudaMemcpyAsync(to, from, size, cudaMemcpyDefault));
            CHECK(cudaEventRecord(end));
            CHECK(cudaEventSynchronize(end));
            float ms;
            CHECK(cudaEventElapsedTime(&ms, begin, end));
            best = std::max(best, moved * size / (ms * 1e-3) / 1e9);
        }
        std::printf("{\"what\": \"%s\", \"giga_bytes_per_second\": %.1f}\n", name, best);
    };
    rate("device copy, read and write", device[1], device[0], bytes, 2);
    rate("host to device, pinned", device[0], host, bytes / 4, 1);
    rate("device to host, pinned", host, device[0], bytes / 4, 1);
    CHECK(cudaFree(device[0]));
    CHECK(cudaFree(device[1]));
    CHECK(cudaFreeHost(host));
}

struct Session {
    CuvidFunctions *cuvid;
    CUvideodecoder decoder = nullptr;
    cudaVideoCodec codec;
    std::atomic<long> frames{0};
};

static int CUDAAPI on_sequence(void *user, CUVIDEOFORMAT *format) {
    auto *session = (Session *)user;
    const int surfaces = format->min_num_decode_surfaces + 4;
    if (session->decoder) return surfaces;
    CUVIDDECODECREATEINFO info = {};
    info.CodecType = format->codec;
    info.ChromaFormat = format->chroma_format;
    info.OutputFormat = cudaVideoSurfaceFormat_NV12;
    info.DeinterlaceMode = cudaVideoDeinterlaceMode_Weave;
    info.ulNumDecodeSurfaces = surfaces;
    info.ulNumOutputSurfaces = 2;
    info.ulCreationFlags = cudaVideoCreate_PreferCUVID;
    info.ulWidth = info.ulMaxWidth = format->coded_width;
    info.ulHeight = info.ulMaxHeight = format->coded_height;
    info.ulTargetWidth = format->display_area.right;
    info.ulTargetHeight = format->display_area.bottom;
    CHECK(session->cuvid->cuvidCreateDecoder(&session->decoder, &info));
    return surfaces;
}

static int CUDAAPI on_decode(void *user, CUVIDPICPARAMS *picture) {
    auto *session = (Session *)user;
    CHECK(session->cuvid->cuvidDecodePicture(session->decoder, picture));
    return 1;
}

// A frame counts when it could be mapped, which waits for its decoding.
static int CUDAAPI on_display(void *user, CUVIDPARSERDISPINFO *shown) {
    auto *session = (Session *)user;
    CUVIDPROCPARAMS how = {};
    how.progressive_frame = shown->progressive_frame;
    how.top_field_first = shown->top_field_first;
    CUdeviceptr frame;
    unsigned int pitch;
    CHECK(session->cuvid->cuvidMapVideoFrame(session->decoder, shown->picture_index, &frame, &pitch, &how));
    CHECK(session->cuvid->cuvidUnmapVideoFrame(session->decoder, frame));
    session->frames++;
    return 1;
}

static void decode(CuvidFunctions *cuvid, const std::string &path, int sessions, double seconds) {
    std::ifstream file(path, std::ios::binary);
    std::vector<char> stream((std::istreambuf_iterator<char>(file)), {});
    if (stream.empty()) {
        std::fprintf(stderr, "%s is empty\n", path.c_str());
        std::exit(1);
    }
    const bool hevc = path.find("265") != std::string::npos;
    std::vector<Session> all(sessions);
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (auto &session : all) {
        session.cuvid = cuvid;
        threads.emplace_back([&] {
            CHECK(cudaSetDevice(0));
            CHECK(cudaFree(nullptr));
            CUVIDPARSERPARAMS params = {};
            params.CodecType = hevc ? cudaVideoCodec_HEVC : cudaVideoCodec_H264;
            params.ulMaxNumDecodeSurfaces = 1;
            params.ulMaxDisplayDelay = 4;
            params.pUserData = &session;
            params.pfnSequenceCallback = on_sequence;
            params.pfnDecodePicture = on_decode;
            params.pfnDisplayPicture = on_display;
            CUvideoparser parser;
            CHECK(cuvid->cuvidCreateVideoParser(&parser, &params));
            const size_t piece = 256 << 10;
            while (!stop)
                for (size_t at = 0; at < stream.size() && !stop; at += piece) {
                    CUVIDSOURCEDATAPACKET packet = {};
                    packet.payload = (unsigned char *)stream.data() + at;
                    packet.payload_size = std::min(piece, stream.size() - at);
                    CHECK(cuvid->cuvidParseVideoData(parser, &packet));
                }
            CHECK(cuvid->cuvidDestroyVideoParser(parser));
            CHECK(cuvid->cuvidDestroyDecoder(session.decoder));
        });
    }
    auto total = [&] {
        long sum = 0;
        for (auto &session : all) sum += session.frames;
        return sum;
    };
    std::this_thread::sleep_for(std::chrono::seconds(1));
    const long before = total();
    const auto begin = Clock::now();
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    const double fps = (total() - before) / seconds_since(begin);
    stop = true;
    for (auto &thread : threads) thread.join();
    std::printf("{\"what\": \"decode %s\", \"sessions\": %d, \"frames_per_second\": %.1f}\n", hevc ? "HEVC" : "H.264", sessions, fps);
    std::fflush(stdout);
}

int main(int argc, char **argv) {
    const double seconds = argc > 1 ? std::atof(argv[1]) : 4;
    const int most = argc > 2 ? std::atoi(argv[2]) : 0;
    const Kind kinds[] = {
        {"FP16", CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, CUDA_R_32F, 2, 0x83, 0x34},
        {"BF16", CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUDA_R_32F, 2, 0x80, 0x3c},
        {"TF32", CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, 4, 0x80, 0x3c},
        {"FP8", CUDA_R_8F_E4M3, CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUDA_R_32F, 1, 0x87, 0x30},
        {"INT8", CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, CUDA_R_32I, 1, 0xff, 0x00},
    };
    for (const auto &kind : kinds) {
        gemm(kind, seconds);
        std::fflush(stdout);
    }
    copies();
    std::fflush(stdout);
    if (most == 0) return 0;
    CuvidFunctions *cuvid = nullptr;
    CHECK(cuvid_load_functions(&cuvid, nullptr));
    for (int i = 3; i < argc; i++)
        for (int sessions : {1, 2, most, 2 * most}) decode(cuvid, argv[i], sessions, seconds);
    return 0;
}
