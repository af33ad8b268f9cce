#include "client/render/text_renderer.h"

#include <csignal>
#include <string>

#include <fmt/format.h>

#include "common/base/duration_text.h"
#include "common/base/shell_quote.h"
#include "common/base/size_text.h"
#include "common/sandbox/report_text.h"
#include "common/sandbox/report_words.h"

namespace guard::client {
namespace {

using run::Reason;

std::string processes(std::uint32_t count) {
  return fmt::format("{} process{}", count, count == 1 ? "" : "es");
}

// Why the run ended when the program did not choose to; empty for what its exit status says.
std::string_view explain(Reason reason) {
  switch (reason) {
    case Reason::kExited:
    case Reason::kSignaled:
    case Reason::kSpawnFailed:
      return "";
    case Reason::kTimeout:
      return "the time limit passed";
    case Reason::kCancelled:
      return "the run was cancelled";
    case Reason::kOutputLimit:
      return "the output limit was passed";
    case Reason::kCpuLimit:
      return "the CPU limit was passed";
    case Reason::kMemoryLimit:
      return "the memory limit was passed";
    case Reason::kOomKilled:
      return "the kernel ran out of memory and killed it";
    case Reason::kPolicyViolation:
      return "it broke the policy";
    case Reason::kSupervisorLost:
      return "its supervisor died, and the run was killed";
    case Reason::kDaemonShutdown:
      return "guardd was shut down, and the run was killed";
  }
  return "guardd gives a reason that this guardctl does not know";
}

}  // namespace

Result<> TextRenderer::show(const run::Event& event) {
  if (const auto* output = std::get_if<run::Output>(&event.what)) {
    switch (output->stream) {
      case run::Stream::kStdout:
        return out_.write(output->data);
      case run::Stream::kStderr:
        return messages_.pass_on(output->data);
      case run::Stream::kResult:
        return {};  // not asked for
    }
  }
  if (const auto* started = std::get_if<run::Started>(&event.what)) show_started(*started);
  if (const auto* done = std::get_if<run::Finished>(&event.what)) show_finished(done->result);
  return {};
}

void TextRenderer::show_started(const run::Started& started) {
  const sandbox::Report& report = started.report;
  confined_ = report.confined();
  if (started.attached) {
    messages_.warning("an earlier call started this run; its output goes, or went, there");
  }
  if (verbose_) {
    messages_.lines(sandbox::report_text(report, {messages_.prefix(), true}));
    for (const std::string& note : started.notes) messages_.note(note);
    return;
  }
  if (!report.confined()) messages_.warning("no sandbox: --unsafe-no-guard");
  const std::string weakened = sandbox::weakened_words(report);
  if (report.confined() && !weakened.empty()) messages_.warning("weakened: " + weakened);
  for (const std::string& warning : report.warnings) messages_.warning(warning);
  for (const sandbox::GrantLine& grant : report.grants) {
    if (grant.access != sandbox::Access::kWrite || grant.note.empty()) continue;
    messages_.warning("allow-write " + sandbox::grant_words(grant));
  }
}

void TextRenderer::show_finished(const run::RunResult& result) {
  if (const auto* failed = std::get_if<run::SpawnError>(&result.ending)) {
    messages_.error(failed->message, failed->hint);
  }
  const auto* signaled = std::get_if<run::Signaled>(&result.ending);
  if (confined_ && signaled != nullptr && signaled->signal == SIGSYS) {
    messages_.warning("ended by SIGSYS, as every 32-bit program is here");
  }
  if (const std::string_view why = explain(result.reason); !why.empty()) {
    const std::string detail = result.detail.empty() ? "" : ": " + result.detail;
    messages_.warning(std::string(why) + detail);
  }
  if (result.killed > 0) {
    messages_.warning(processes(result.killed) + " outlived the program and " +
                      (result.killed == 1 ? "was" : "were") + " killed");
  }
  if (result.stragglers > 0) {
    messages_.warning(processes(result.stragglers) + " did not end within 5 s of being killed");
  }
  for (const run::StreamTotal& total : result.streams) {
    if (!total.truncated) continue;
    messages_.warning(fmt::format("{} was cut short: {} bytes were written",
                                  total.stream == run::Stream::kStderr ? "stderr" : "stdout",
                                  total.bytes));
  }
  if (!verbose_) return;
  if (!result.discarded.empty()) {
    messages_.note("left in the private HOME and TMPDIR, and discarded: " +
                   shell_join(result.discarded));
  }
  const auto wall = std::chrono::duration_cast<std::chrono::milliseconds>(result.usage.wall);
  messages_.note(fmt::format("{} after {}, largest process {}", run::name_of(result.reason),
                             duration_text(wall), size_text(result.usage.max_rss_bytes)));
}

}  // namespace guard::client
