// SPDX-License-Identifier: Apache-2.0
//
// Any bytes are a configuration or an error of one line, and what is accepted
// survives `config show`.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lookaside/base/check.h"
#include "lookaside/config/config_edit.h"
#include "lookaside/config/config_loader.h"
#include "lookaside/config/config_show.h"

namespace lookaside {
namespace {

void CheckOneLine(const absl::Status& status) {
  LOOKASIDE_CHECK(status.message().find('\n') == absl::string_view::npos);
}

void FuzzFile(std::string_view text) {
  const auto loaded = LoadConfigText("fuzz.toml", text);
  if (!loaded.ok()) return CheckOneLine(loaded.status());
  const auto again = LoadConfigText("again.toml", ShowConfig(*loaded));
  LOOKASIDE_CHECK(again.ok());
  LOOKASIDE_CHECK(again->config == loaded->config);
}

void FuzzSet(std::string_view key, std::string_view value) {
  static const SimConfig kTextbook = LoadPreset("textbook").value();
  SimConfig config = kTextbook;
  const absl::Status status = Set(config, key, value);
  if (!status.ok()) CheckOneLine(status);
}

}  // namespace
}  // namespace lookaside

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  lookaside::FuzzFile(text);
  const size_t newline = text.find('\n');
  const std::string_view key = text.substr(0, newline);
  lookaside::FuzzSet(key.empty() ? "tlb.stlb.pages" : key,
                     newline == std::string_view::npos
                         ? std::string_view()
                         : text.substr(newline + 1));
  return 0;
}
