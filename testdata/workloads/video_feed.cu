// The native half of video_cnn.py: sessions of NVDEC whose frames are gathered into batches and stay on the GPU, the
// conversion of a batch into the input of a network, and ranges of NVTX.
//
//   nvcc -O2 -std=c++17 -arch=native -shared -Xcompiler -fPIC video_feed.cu -o video_feed.so -ldl
//
// Decoding goes through the driver's libnvcuvid (headers: nv-codec-headers); NVTX is a header of CUDA.

#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <ffnvcodec/dynlink_loader.h>
#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <mutex>
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

// A batch of NV12 frames, one after the other without padding, and the stream that each came from.
struct Slot {
    unsigned char *frames = nullptr;
    std::vector<int> sources;
    int filled = 0;
    bool free = true;
};

struct Feed {
    int batch, width, height;
    std::vector<Slot> slots;
    std::mutex mutex;
    std::condition_variable full;
    // One a stream: frames are taken from the streams in turn.
    std::vector<std::condition_variable> turns;
    size_t turn = 0, filling = 0, next = 0;
    int taken = 0;
    bool held = false;
    std::atomic<bool> stop{false};
    CuvidFunctions *cuvid = nullptr;
    std::vector<char> video;
    cudaVideoCodec codec = cudaVideoCodec_H264;
    std::vector<std::thread> threads;

    size_t frame_bytes() const { return (size_t)width * height * 3 / 2; }
};

struct Session {
    Feed *feed;
    int source;
    cudaStream_t stream = nullptr;
    CUvideodecoder decoder = nullptr;
};

static int CUDAAPI on_sequence(void *user, CUVIDEOFORMAT *format) {
    auto *session = (Session *)user;
    const int surfaces = format->min_num_decode_surfaces + 4;
    if (session->decoder) return surfaces;
    const int width = format->display_area.right, height = format->display_area.bottom;
    if (width != session->feed->width || height != session->feed->height || format->bit_depth_luma_minus8 != 0) {
        std::fprintf(stderr, "the video is %dx%d with %d bits, not %dx%d with 8\n", width, height,
                     format->bit_depth_luma_minus8 + 8, session->feed->width, session->feed->height);
        std::exit(1);
    }
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
    info.display_area.right = (short)width;
    info.display_area.bottom = (short)height;
    info.ulTargetWidth = width;
    info.ulTargetHeight = height;
    CHECK(session->feed->cuvid->cuvidCreateDecoder(&session->decoder, &info));
    return surfaces;
}

static int CUDAAPI on_decode(void *user, CUVIDPICPARAMS *picture) {
    auto *session = (Session *)user;
    CHECK(session->feed->cuvid->cuvidDecodePicture(session->decoder, picture));
    return 1;
}

// A decoded frame waits for its stream's turn and takes the next place of the batch that is being filled.
static int CUDAAPI on_display(void *user, CUVIDPARSERDISPINFO *shown) {
    auto *session = (Session *)user;
    Feed &feed = *session->feed;
    CUVIDPROCPARAMS how = {};
    how.progressive_frame = shown->progressive_frame;
    how.top_field_first = shown->top_field_first;
    how.output_stream = session->stream;
    CUdeviceptr frame;
    unsigned int pitch;
    CHECK(feed.cuvid->cuvidMapVideoFrame(session->decoder, shown->picture_index, &frame, &pitch, &how));
    Slot *slot = nullptr;
    int place = 0;
    {
        std::unique_lock<std::mutex> lock(feed.mutex);
        feed.turns[session->source].wait(lock, [&] {
            return feed.stop || (feed.turn == (size_t)session->source && feed.slots[feed.filling].free);
        });
        if (!feed.stop) {
            slot = &feed.slots[feed.filling];
            place = feed.taken++;
            slot->sources[place] = session->source;
            if (feed.taken == feed.batch) {
                slot->free = false;
                feed.filling = (feed.filling + 1) % feed.slots.size();
                feed.taken = 0;
            }
            feed.turn = (feed.turn + 1) % feed.turns.size();
            feed.turns[feed.turn].notify_one();
        }
    }
    if (slot) {
        unsigned char *to = slot->frames + place * feed.frame_bytes();
        const int rows = feed.height * 3 / 2;  // the chroma plane follows the luma plane in the decoder's surface too
        CHECK(cudaMemcpy2DAsync(to, feed.width, (void *)frame, pitch, feed.width, rows, cudaMemcpyDeviceToDevice,
                                session->stream));
        CHECK(cudaStreamSynchronize(session->stream));
    }
    CHECK(feed.cuvid->cuvidUnmapVideoFrame(session->decoder, frame));
    if (slot) {
        std::lock_guard<std::mutex> lock(feed.mutex);
        if (++slot->filled == feed.batch) feed.full.notify_all();
    }
    return 1;
}

static void decode(Feed *feed, int source) {
    Session session{feed, source};
    CHECK(cudaSetDevice(0));
    CHECK(cudaFree(nullptr));
    CHECK(cudaStreamCreateWithFlags(&session.stream, cudaStreamNonBlocking));
    CUVIDPARSERPARAMS params = {};
    params.CodecType = feed->codec;
    params.ulMaxNumDecodeSurfaces = 1;
    params.ulMaxDisplayDelay = 4;
    params.pUserData = &session;
    params.pfnSequenceCallback = on_sequence;
    params.pfnDecodePicture = on_decode;
    params.pfnDisplayPicture = on_display;
    CUvideoparser parser;
    CHECK(feed->cuvid->cuvidCreateVideoParser(&parser, &params));
    const size_t piece = 64 << 10;
    while (!feed->stop)
        for (size_t at = 0; at < feed->video.size() && !feed->stop; at += piece) {
            CUVIDSOURCEDATAPACKET packet = {};
            packet.payload = (unsigned char *)feed->video.data() + at;
            packet.payload_size = std::min(piece, feed->video.size() - at);
            CHECK(feed->cuvid->cuvidParseVideoData(parser, &packet));
        }
    CHECK(feed->cuvid->cuvidDestroyVideoParser(parser));
    if (session.decoder) CHECK(feed->cuvid->cuvidDestroyDecoder(session.decoder));
    CHECK(cudaStreamDestroy(session.stream));
}

// BT.709, limited range, to RGB in 0 to 255.
__device__ static void to_rgb(float y, float u, float v, float rgb[3]) {
    y = (y - 16) * 1.1644f;
    u -= 128;
    v -= 128;
    rgb[0] = fminf(fmaxf(y + 1.7927f * v, 0), 255);
    rgb[1] = fminf(fmaxf(y - 0.2132f * u - 0.5329f * v, 0), 255);
    rgb[2] = fminf(fmaxf(y + 2.1124f * u, 0), 255);
}

__device__ static float bilinear(const unsigned char *plane, int width, int height, int step, float x, float y) {
    const int x0 = min(max((int)floorf(x), 0), width - 1), y0 = min(max((int)floorf(y), 0), height - 1);
    const int x1 = min(x0 + 1, width - 1), y1 = min(y0 + 1, height - 1);
    const float fx = fminf(fmaxf(x - x0, 0), 1), fy = fminf(fmaxf(y - y0, 0), 1);
    const size_t pitch = (size_t)width * step;
    const float top = plane[y0 * pitch + x0 * step] * (1 - fx) + plane[y0 * pitch + x1 * step] * fx;
    const float bottom = plane[y1 * pitch + x0 * step] * (1 - fx) + plane[y1 * pitch + x1 * step] * fx;
    return top * (1 - fy) + bottom * fy;
}

// One thread a pixel of the network's input, which is FP16, channels last, `scale` times (colour minus its mean).
__global__ static void convert(const unsigned char *frames, int width, int height, __half *out, int size, float scale) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= size || y >= size) return;
    const unsigned char *luma = frames + blockIdx.z * ((size_t)width * height * 3 / 2);
    const unsigned char *chroma = luma + (size_t)width * height;
    const float sx = (x + 0.5f) * width / size - 0.5f, sy = (y + 0.5f) * height / size - 0.5f;
    float rgb[3];
    to_rgb(bilinear(luma, width, height, 1, sx, sy), bilinear(chroma, width / 2, height / 2, 2, sx / 2, sy / 2),
           bilinear(chroma + 1, width / 2, height / 2, 2, sx / 2, sy / 2), rgb);
    const float mean[3] = {123.675f, 116.28f, 103.53f};
    __half *pixel = out + (((size_t)blockIdx.z * size + y) * size + x) * 3;
    for (int c = 0; c < 3; c++) pixel[c] = __float2half((rgb[c] - mean[c]) * scale);
}

extern "C" {

// `slots` batches, and `streams` sessions that decode the file over and over to fill them.
Feed *feed_new(const char *path, int streams, int batch, int width, int height, int slots) {
    auto *feed = new Feed{batch, width, height};
    std::ifstream file(path, std::ios::binary);
    feed->video.assign((std::istreambuf_iterator<char>(file)), {});
    if (feed->video.empty()) {
        std::fprintf(stderr, "%s cannot be read or is empty\n", path);
        std::exit(1);
    }
    if (std::string(path).find("265") != std::string::npos) feed->codec = cudaVideoCodec_HEVC;
    CHECK(cuvid_load_functions(&feed->cuvid, nullptr));
    feed->slots.resize(slots);
    for (auto &slot : feed->slots) {
        slot.sources.resize(batch);
        CHECK(cudaMalloc(&slot.frames, batch * feed->frame_bytes()));
    }
    feed->turns = std::vector<std::condition_variable>(streams);
    for (int source = 0; source < streams; source++) feed->threads.emplace_back(decode, feed, source);
    return feed;
}

static void stop(Feed *feed) {
    {
        std::lock_guard<std::mutex> lock(feed->mutex);
        feed->stop = true;
    }
    for (auto &turn : feed->turns) turn.notify_all();
    for (auto &thread : feed->threads) thread.join();
    feed->threads.clear();
}

void feed_stop(Feed *feed) { stop(feed); }

// Waits until every slot is full.
void feed_preroll(Feed *feed) {
    std::unique_lock<std::mutex> lock(feed->mutex);
    feed->full.wait(lock, [&] {
        return std::all_of(feed->slots.begin(), feed->slots.end(),
                           [&](const Slot &slot) { return slot.filled == feed->batch; });
    });
}

// Ends decoding behind `feed_preroll`; from then on the same frames are given again and again.
void feed_hold(Feed *feed) {
    {
        std::lock_guard<std::mutex> lock(feed->mutex);
        feed->held = true;
    }
    stop(feed);
}

// Waits for the next full batch, writes down whose frames it holds and gives its slot.
int feed_next(Feed *feed, int *sources) {
    std::unique_lock<std::mutex> lock(feed->mutex);
    Slot &slot = feed->slots[feed->next];
    feed->full.wait(lock, [&] { return slot.filled == feed->batch; });
    std::copy(slot.sources.begin(), slot.sources.end(), sources);
    const int index = (int)feed->next;
    feed->next = (feed->next + 1) % feed->slots.size();
    return index;
}

// Scales, converts and normalises the frames of a slot into the input of a network.
void feed_convert(Feed *feed, int slot, void *out, int size, float scale, void *stream) {
    const dim3 block(32, 8), grid((size + 31) / 32, (size + 7) / 8, feed->batch);
    convert<<<grid, block, 0, (cudaStream_t)stream>>>(feed->slots[slot].frames, feed->width, feed->height,
                                                      (__half *)out, size, scale);
    CHECK(cudaGetLastError());
}

// Gives a slot back to be filled.
void feed_release(Feed *feed, int slot) {
    std::lock_guard<std::mutex> lock(feed->mutex);
    if (feed->held) return;
    feed->slots[slot].filled = 0;
    feed->slots[slot].free = true;
    feed->turns[feed->turn].notify_one();
}

nvtxDomainHandle_t range_domain(const char *name) { return nvtxDomainCreateA(name); }

void range_push(nvtxDomainHandle_t domain, const char *text) {
    nvtxEventAttributes_t event = {};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = text;
    nvtxDomainRangePushEx(domain, &event);
}

void range_pop(nvtxDomainHandle_t domain) { nvtxDomainRangePop(domain); }

}  // extern "C"
