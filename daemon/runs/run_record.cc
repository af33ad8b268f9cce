#include "daemon/runs/run_record.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

namespace guard::daemon {
namespace {

std::size_t bytes_of(const std::vector<std::string>& texts) {
  std::size_t total = 0;
  for (const std::string& text : texts) total += sizeof text + text.size();
  return total;
}

std::size_t bytes_of(const run::RunResult& result) {
  std::size_t total = bytes_of(result.discarded) + result.detail.size();
  if (const auto* error = std::get_if<run::SpawnError>(&result.ending)) {
    total += error->path.size() + error->message.size() + error->hint.size();
  }
  return total;
}

bool is_base(const sandbox::GrantLine& line) { return line.origin == sandbox::Origin::kBase; }

}  // namespace

RequestDigest digest_of(std::string_view bytes) {
  __extension__ using Number = unsigned __int128;
  constexpr Number kPrime = (Number{1} << 88) + 0x13b;
  Number hash = (Number{0x6c62272e07bb0142} << 64) + 0x62b821756295c58d;
  for (const char byte : bytes) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= kPrime;
  }
  return {static_cast<std::uint64_t>(hash >> 64), static_cast<std::uint64_t>(hash)};
}

KeptReport::KeptReport(sandbox::Report report, const KeptReport& before) : own_(std::move(report)) {
  auto& lines = own_.grants;
  const auto first = std::ranges::find_if(lines, is_base);
  const auto last = std::find_if_not(first, lines.end(), is_base);
  if (first == last) return;
  base_at_ = static_cast<std::size_t>(first - lines.begin());
  if (before.base_ && std::equal(first, last, before.base_->begin(), before.base_->end())) {
    base_ = before.base_;
  } else {
    base_ = std::make_shared<const Lines>(std::make_move_iterator(first),
                                          std::make_move_iterator(last));
  }
  lines.erase(first, last);
  lines.shrink_to_fit();
}

sandbox::Report KeptReport::whole() const {
  sandbox::Report report = own_;
  if (base_) {
    report.grants.insert(report.grants.begin() + static_cast<std::ptrdiff_t>(base_at_),
                         base_->begin(), base_->end());
  }
  return report;
}

std::size_t KeptReport::bytes() const {
  std::size_t total = bytes_of(own_.ungoverned) + bytes_of(own_.warnings) + own_.kernel.size() +
                      own_.private_home.size() +
                      2 * (own_.connect_ports.size() + own_.bind_ports.size());
  for (const auto& line : own_.protections) {
    total += sizeof line + line.by.size() + line.why.size();
  }
  for (const auto& line : own_.grants) {
    total += sizeof line + line.path.size() + line.resolved.size() + line.rights.size() +
             line.note.size();
  }
  return total;
}

std::size_t RunRecord::bytes() const {
  return sizeof *this + info.run_id.size() + bytes_of(info.args) + bytes_of(notes) +
         report.bytes() + (info.result ? bytes_of(*info.result) : 0);
}

}  // namespace guard::daemon
