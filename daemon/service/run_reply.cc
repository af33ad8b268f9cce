#include "daemon/service/run_reply.h"

#include <utility>

#include "common/wire/limits.h"
#include "common/wire/report.h"
#include "common/wire/run_event.h"
#include "common/wire/run_info.h"

namespace guard::daemon {
namespace {

constexpr std::size_t kMaxListBytes = wire::kMaxMessageBytes / 4 * 3;
constexpr std::size_t kFieldBytes = 8;  // around a message in a list

}  // namespace

v1::RunResult result_of(const RunRecord& record) {
  const auto at = record.info.finished_at.value_or(run::WallTime());
  if (record.info.started_at) return wire::to_proto(*record.info.result, at);
  const sandbox::Report report = record.report.whole();
  return wire::to_proto(*record.info.result, at, &report);
}

v1::RunInfo info_of(const RunRecord& record) {
  v1::RunInfo info = wire::to_proto(record.info);
  if (record.info.state != run::State::kStarting) {
    *info.mutable_report() = wire::to_proto(record.report.whole());
  }
  return info;
}

v1::ListReply list_of(const std::vector<const RunRecord*>& living,
                      const std::vector<Retention::Record>& kept, bool include_kept) {
  v1::ListReply reply;
  reply.set_live(static_cast<std::uint32_t>(living.size()));
  reply.set_kept(static_cast<std::uint32_t>(kept.size()));
  std::size_t bytes = 0;
  const auto add = [&](const RunRecord& record) {
    if (reply.truncated()) return;
    v1::RunInfo info = wire::to_proto(record.info);
    if (info.has_result()) info.mutable_result()->clear_discarded();
    bytes += info.ByteSizeLong() + kFieldBytes;
    if (bytes > kMaxListBytes) return reply.set_truncated(true);
    *reply.add_runs() = std::move(info);
  };
  for (const RunRecord* record : living) add(*record);
  if (!include_kept) return reply;
  for (const auto& record : kept) add(*record);
  return reply;
}

}  // namespace guard::daemon
