/* A libnvidia-ml.so.1 that answers what a test has scripted; whatever it has not is Not Supported.

   stub_set and stub_rate give a key of a card a number, or one that grows since the call; stub_type
   says in which member of the union a field comes; stub_fail makes a key, or with "*" the whole
   card, answer with an error code. Signatures and structures are those of nvml.h. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SUCCESS, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7 };
enum { MOST = 512, MOST_SAMPLES = 256, TYPE_UINT = 1, TYPE_ULONGLONG = 3 };

typedef struct { unsigned card; char key[32]; int code, type; double start, per_s, since; } Entry;
typedef struct { unsigned card, buffer; unsigned long long stamp_us; unsigned value; } Sample;
typedef union { double d; unsigned u; unsigned long long ull; } Value;
typedef struct { unsigned long long timeStamp; Value value; } nvmlSample;
typedef struct {
  unsigned field, scope; long long timestamp, latency; int type, code; Value value;
} FieldValue;
typedef struct {
  char legacy[16]; unsigned domain, bus, device, id, subsystem; char address[32];
} PciInfo;
typedef struct { unsigned long long total, free, used; } Memory;
typedef struct { unsigned gpu, memory; } Rates;
typedef struct { const char *name, *long_name, *unit; } MetricInfo;
typedef struct { unsigned id; int code; double value; MetricInfo info; } Metric;
typedef struct { unsigned card; double at; } GpmSample;
typedef struct { unsigned version, count; GpmSample *from, *to; Metric metrics[477]; } GpmMetrics;
typedef struct { unsigned version, supported; } GpmSupport;
typedef struct { unsigned pid; unsigned long long used; unsigned gi, ci; } Process;

static Entry entries[MOST];
static Sample samples[MOST_SAMPLES];
static unsigned entry_count, sample_count, card_count;
static int init_code, gpm_samples;
static char names[16][64];

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static Entry *find(unsigned card, const char *key) {
  for (unsigned i = 0; i < entry_count; i++)
    if (entries[i].card == card && !strcmp(entries[i].key, key)) return &entries[i];
  return NULL;
}

static Entry *entry(unsigned card, const char *key) {
  Entry *e = find(card, key);
  if (!e && entry_count < MOST) {
    e = &entries[entry_count++];
    memset(e, 0, sizeof *e);
    e->card = card;
    e->type = TYPE_UINT;
    snprintf(e->key, sizeof e->key, "%s", key);
  }
  return e;
}

/* --- the script ------------------------------------------------------------------------------ */

void stub_reset(unsigned cards) {
  entry_count = sample_count = 0;
  card_count = cards;
  init_code = SUCCESS;
}
void stub_init(int code) { init_code = code; }
void stub_name(unsigned card, const char *name) { snprintf(names[card], 64, "%s", name); }
void stub_rate(unsigned card, const char *key, double start, double per_s) {
  Entry *e = entry(card, key);
  e->code = SUCCESS;
  e->start = start;
  e->per_s = per_s;
  e->since = now();
}
void stub_set(unsigned card, const char *key, double value) { stub_rate(card, key, value, 0); }
void stub_type(unsigned card, const char *key, int type) { entry(card, key)->type = type; }
void stub_fail(unsigned card, const char *key, int code) { entry(card, key)->code = code; }
void stub_sample(unsigned card, unsigned buffer, unsigned long long stamp_us, unsigned value) {
  if (sample_count < MOST_SAMPLES)
    samples[sample_count++] = (Sample){card, buffer, stamp_us, value};
}

/* For a process of its own: STUB_NVML="0 power 212500 0;0 field198 0 1e8;", a card, a key, where it
   starts and how fast it grows. */
__attribute__((constructor)) static void from_environment(void) {
  const char *script = getenv("STUB_NVML");
  unsigned card;
  char key[32];
  double start, per_s;
  int read;
  while (script && sscanf(script, "%u %31s %lf %lf;%n", &card, key, &start, &per_s, &read) == 4) {
    stub_rate(card, key, start, per_s);
    if (card >= card_count) card_count = card + 1;
    snprintf(names[card], sizeof names[card], "Stub %u", card);
    script += read;
  }
}

/* --- answers --------------------------------------------------------------------------------- */

static unsigned card_of(void *handle) { return (unsigned)(size_t)handle - 1; }

static int answer(void *handle, const char *key, double *value, int *type) {
  Entry *all = find(card_of(handle), "*"), *e = find(card_of(handle), key);
  if (all && all->code) return all->code;
  if (!e) return NOT_SUPPORTED;
  if (e->code) return e->code;
  *value = e->start + e->per_s * (now() - e->since);
  if (type) *type = e->type;
  return SUCCESS;
}

static int whole(void *handle, const char *key, unsigned *out) {
  double value;
  int code = answer(handle, key, &value, NULL);
  if (!code) *out = (unsigned)value;
  return code;
}

int nvmlInitWithFlags(unsigned flags) { (void)flags; return init_code; }
int nvmlInit_v2(void) { return init_code; }
int nvmlShutdown(void) { return SUCCESS; }
const char *nvmlErrorString(int code) {
  switch (code) {
    case 3: return "Not Supported";
    case 4: return "Insufficient Permissions";
    case 9: return "Driver Not Loaded";
    case 15: return "GPU is lost";
    default: return "Unknown Error";
  }
}
int nvmlSystemGetDriverVersion(char *text, unsigned size) {
  snprintf(text, size, "595.45.04");
  return SUCCESS;
}
int nvmlSystemGetCudaDriverVersion(int *version) { *version = 13020; return SUCCESS; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = card_count; return SUCCESS; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **handle) {
  Entry *all = find(index, "*");
  if (index >= card_count) return INVALID_ARGUMENT;
  *handle = (void *)(size_t)(index + 1);
  return all ? all->code : SUCCESS;
}
int nvmlDeviceGetName(void *handle, char *text, unsigned size) {
  snprintf(text, size, "%s", names[card_of(handle)]);
  return SUCCESS;
}
int nvmlDeviceGetPciInfo_v3(void *handle, PciInfo *pci) {
  memset(pci, 0, sizeof *pci);
  unsigned id = 0x20b010de;
  whole(handle, "pci_id", &id);
  pci->id = id;
  snprintf(pci->address, sizeof pci->address, "00000000:%02X:00.0", card_of(handle) + 1);
  return SUCCESS;
}
int nvmlDeviceGetMemoryInfo(void *handle, Memory *memory) {
  double used, total = 0;
  int code = answer(handle, "memory_used", &used, NULL);
  if (code) return code;
  answer(handle, "memory_total", &total, NULL);
  *memory = (Memory){(unsigned long long)total, (unsigned long long)(total - used),
                     (unsigned long long)used};
  return SUCCESS;
}
int nvmlDeviceGetPowerUsage(void *h, unsigned *mw) { return whole(h, "power", mw); }
int nvmlDeviceGetEnforcedPowerLimit(void *h, unsigned *mw) { return whole(h, "power_limit", mw); }
int nvmlDeviceGetTemperature(void *h, int sensor, unsigned *c) {
  (void)sensor;
  return whole(h, "temperature", c);
}
int nvmlDeviceGetClockInfo(void *h, int kind, unsigned *mhz) {
  return whole(h, kind == 1 ? "clock_sm" : "clock_memory", mhz);
}
int nvmlDeviceGetMaxClockInfo(void *h, int kind, unsigned *mhz) {
  return whole(h, kind == 1 ? "max_clock_sm" : "max_clock_memory", mhz);
}
int nvmlDeviceGetMemoryBusWidth(void *h, unsigned *bits) { return whole(h, "bus", bits); }
int nvmlDeviceGetCurrPcieLinkGeneration(void *h, unsigned *g) { return whole(h, "gen", g); }
int nvmlDeviceGetCurrPcieLinkWidth(void *h, unsigned *w) { return whole(h, "lanes", w); }
int nvmlDeviceGetMaxPcieLinkGeneration(void *h, unsigned *g) { return whole(h, "max_gen", g); }
int nvmlDeviceGetMaxPcieLinkWidth(void *h, unsigned *w) { return whole(h, "max_lanes", w); }
int nvmlDeviceGetCurrentClocksEventReasons(void *handle, unsigned long long *bits) {
  unsigned low;
  int code = whole(handle, "reasons", &low);
  if (!code) *bits = low;
  return code;
}
int nvmlDeviceGetUtilizationRates(void *handle, Rates *rates) {
  int code = whole(handle, "rates_gpu", &rates->gpu);
  return code ? code : whole(handle, "rates_memory", &rates->memory);
}
int nvmlDeviceGetPcieThroughput(void *handle, int direction, unsigned *kb_s) {
  nanosleep(&(struct timespec){0, 20000000}, NULL);
  return whole(handle, direction ? "throughput_rx" : "throughput_tx", kb_s);
}
int nvmlDeviceGetComputeRunningProcesses_v3(void *handle, unsigned *count, Process *processes) {
  unsigned running;
  int code = whole(handle, "processes", &running);
  if (code) return code;
  unsigned room = *count;
  *count = running;
  if (running && (!processes || room < running)) return INSUFFICIENT_SIZE;
  for (unsigned i = 0; i < running; i++) processes[i] = (Process){1000 + i, 1 << 20, 0, 0};
  return SUCCESS;
}
int nvmlDeviceGetSamples(void *handle, int buffer, unsigned long long since, int *type,
                         unsigned *count, nvmlSample *out) {
  Entry *all = find(card_of(handle), "*");
  unsigned found = 0, known = 0;
  if (all && all->code) return all->code;
  for (unsigned i = 0; i < sample_count; i++) {
    if (samples[i].card != card_of(handle) || samples[i].buffer != (unsigned)buffer) continue;
    known++;
    if (samples[i].stamp_us <= since) continue;
    if (out && found < *count) {
      out[found].timeStamp = samples[i].stamp_us;
      out[found].value.u = samples[i].value;
    }
    found++;
  }
  if (!known) return NOT_SUPPORTED;
  if (!found) return NOT_FOUND;
  *type = TYPE_UINT;
  *count = found;
  return SUCCESS;
}
int nvmlDeviceGetFieldValues(void *handle, int count, FieldValue *values) {
  Entry *all = find(card_of(handle), "*");
  if (all && all->code) return all->code;
  for (int i = 0; i < count; i++) {
    char key[32];
    double value = 0;
    snprintf(key, sizeof key, "field%u", values[i].field);
    values[i].type = TYPE_UINT;
    values[i].code = answer(handle, key, &value, &values[i].type);
    if (values[i].type == TYPE_UINT)
      values[i].value.u = (unsigned)(unsigned long long)value; /* wraps at 2^32 */
    else if (values[i].type == TYPE_ULONGLONG)
      values[i].value.ull = (unsigned long long)value;
    else
      values[i].value.d = value;
  }
  return SUCCESS;
}

/* Between cards: "path1" is the ancestor shared with card 1, "peer1" whether its memory can be read,
   "link0" the card at the end of NVLink 0, or -1 for a switch. */
static int toward(void *from, void *to, const char *what, int *out) {
  char key[32];
  unsigned found;
  snprintf(key, sizeof key, "%s%u", what, card_of(to));
  int code = whole(from, key, &found);
  if (!code) *out = (int)found;
  return code;
}
int nvmlDeviceGetTopologyCommonAncestor(void *a, void *b, int *out) {
  return toward(a, b, "path", out);
}
int nvmlDeviceGetP2PStatus(void *a, void *b, int index, int *out) {
  return index ? NOT_SUPPORTED : toward(a, b, "peer", out);
}
static int link_end(void *handle, unsigned link, double *end) {
  char key[32];
  snprintf(key, sizeof key, "link%u", link);
  return answer(handle, key, end, NULL);
}
int nvmlDeviceGetNvLinkState(void *handle, unsigned link, unsigned *active) {
  double end;
  int code = link_end(handle, link, &end);
  if (!code) *active = 1;
  return code;
}
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *handle, unsigned link, PciInfo *pci) {
  double end;
  int code = link_end(handle, link, &end);
  if (code || end < 0) return code ? code : NOT_SUPPORTED;
  return nvmlDeviceGetPciInfo_v3((void *)(size_t)(end + 1), pci);
}

/* GPM: "gpm" says whether the card has it, "gpm10" is a count that grows; a metric is
   what it starts with, and its growth between two samples. */
int nvmlGpmQueryDeviceSupport(void *handle, GpmSupport *support) {
  return whole(handle, "gpm", &support->supported);
}
int nvmlGpmSampleAlloc(GpmSample **sample) {
  *sample = calloc(1, sizeof **sample);
  gpm_samples++;
  return SUCCESS;
}
int nvmlGpmSampleFree(GpmSample *sample) {
  free(sample);
  gpm_samples--;
  return SUCCESS;
}
int nvmlGpmSampleGet(void *handle, GpmSample *sample) {
  Entry *all = find(card_of(handle), "*");
  if (all && all->code) return all->code;
  *sample = (GpmSample){card_of(handle), now()};
  return SUCCESS;
}
int nvmlGpmMetricsGet(GpmMetrics *asked) {
  if (asked->version != 1 || asked->to->at - asked->from->at < 0.09) return INVALID_ARGUMENT;
  for (unsigned i = 0; i < asked->count; i++) {
    char key[32];
    snprintf(key, sizeof key, "gpm%u", asked->metrics[i].id);
    Entry *e = find(asked->to->card, key);
    asked->metrics[i].code = e ? e->code : NOT_SUPPORTED;
    if (!e) continue;
    asked->metrics[i].value = e->start + e->per_s * (asked->to->at - asked->from->at);
  }
  return SUCCESS;
}
int stub_gpm_samples(void) { return gpm_samples; }
