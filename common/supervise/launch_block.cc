// The variable part of a Launch, as bytes. All numbers are of this machine: writer and reader are
// two processes of one installation.
#include <linux/filter.h>
#include <sys/resource.h>

#include <cstring>

#include "common/base/check.h"
#include "common/supervise/launch_protocol.h"

namespace guard::supervise {
namespace {

constexpr std::int64_t kLongestWall = 10LL * 366 * 24 * 3600 * 1000;  // ten years
constexpr std::int64_t kLongestGrace = 3600 * 1000;
constexpr mode_t kUmaskBits = 0777;
constexpr int kOomScoreRange = 1000;

class Writer {
 public:
  template <class Number>
  void number(Number value) {
    const auto wide = static_cast<std::int64_t>(value);
    bytes_.append(reinterpret_cast<const char*>(&wide), sizeof wide);
  }
  void text(const std::string& value) {
    GUARD_CHECK(value.find('\0') == std::string::npos);
    number(value.size());
    bytes_ += value;
  }
  void texts(const std::vector<std::string>& values) {
    number(values.size());
    for (const auto& value : values) text(value);
  }
  template <class Plain>
  void array(const std::vector<Plain>& values) {
    number(values.size());
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Plain));
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads what Writer wrote. After the first thing that is wrong everything else is empty, and ok()
// says so; no count is believed beyond the bytes that are there.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  std::int64_t number(std::int64_t low, std::int64_t high) {
    std::int64_t value = low;
    const std::string_view bytes = take(sizeof value);
    if (!ok_) return low;
    std::memcpy(&value, bytes.data(), sizeof value);
    if (value >= low && value <= high) return value;
    ok_ = false;
    return low;
  }
  std::string text() {
    const std::string_view bytes = take(count(1));
    if (bytes.find('\0') != std::string_view::npos) ok_ = false;
    return std::string(bytes);
  }
  std::vector<std::string> texts() {
    const std::size_t size = count(sizeof(std::int64_t));
    std::vector<std::string> values;
    values.reserve(size);
    for (std::size_t i = 0; i < size && ok_; ++i) values.push_back(text());
    return values;
  }
  template <class Plain>
  std::vector<Plain> array(std::size_t most) {
    const std::size_t size = count(sizeof(Plain));
    if (size > most) ok_ = false;
    const std::string_view bytes = take(ok_ ? size * sizeof(Plain) : 0);
    std::vector<Plain> values(bytes.size() / sizeof(Plain));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && left_.empty(); }

 private:
  // A number of things that take at least `each` bytes.
  std::size_t count(std::size_t each) {
    const auto value = static_cast<std::size_t>(number(0, kMaxBlockBytes));
    if (value <= left_.size() / each) return value;
    ok_ = false;
    return 0;
  }
  std::string_view take(std::size_t size) {
    if (!ok_ || size > left_.size()) {
      ok_ = false;
      return {};
    }
    const std::string_view bytes = left_.substr(0, size);
    left_.remove_prefix(size);
    return bytes;
  }

  std::string_view left_;
  bool ok_ = true;
};

// What decode() takes a limit for; struct sandbox::Limit has padding, which is not sent.
struct PlainLimit {
  std::int64_t resource = 0;
  std::uint64_t value = 0;
};

}  // namespace

std::string encode(const Launch& launch) {
  GUARD_CHECK(!launch.argv.empty() && !launch.candidates.empty());
  Writer writer;
  writer.texts(launch.argv);
  writer.texts(launch.candidates);
  writer.texts(launch.env);
  writer.number(launch.confine);
  writer.number(launch.drop_capabilities);
  writer.array(launch.filter);
  std::vector<PlainLimit> limits;
  for (const auto& limit : launch.limits) limits.push_back({limit.resource, limit.value});
  writer.array(limits);
  writer.text(launch.canary_name);
  writer.number(launch.wall.count());
  writer.number(launch.grace.count());
  writer.number(launch.umask);
  writer.number(launch.oom_score_adj);
  return writer.take();
}

Result<Launch> decode(std::string_view block) {
  if (block.size() > kMaxBlockBytes) return failure(Errc::kInvalid, "the launch block is too long");
  Reader reader(block);
  Launch launch;
  launch.argv = reader.texts();
  launch.candidates = reader.texts();
  launch.env = reader.texts();
  launch.confine = reader.number(0, 1) != 0;
  launch.drop_capabilities = reader.number(0, 1) != 0;
  launch.filter = reader.array<sock_filter>(BPF_MAXINSNS);
  bool limits_known = true;
  for (const auto& limit : reader.array<PlainLimit>(RLIM_NLIMITS)) {
    limits_known = limits_known && limit.resource >= 0 && limit.resource < RLIM_NLIMITS;
    launch.limits.push_back({static_cast<int>(limit.resource), limit.value});
  }
  launch.canary_name = reader.text();
  launch.wall = std::chrono::milliseconds(reader.number(0, kLongestWall));
  launch.grace = std::chrono::milliseconds(reader.number(0, kLongestGrace));
  launch.umask = static_cast<mode_t>(reader.number(0, kUmaskBits));
  launch.oom_score_adj = static_cast<int>(reader.number(-kOomScoreRange, kOomScoreRange));
  if (!reader.at_end() || !limits_known || launch.argv.empty() || launch.candidates.empty())
    return failure(Errc::kInvalid, "the launch block is malformed");
  return launch;
}

}  // namespace guard::supervise
