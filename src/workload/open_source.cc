// SPDX-License-Identifier: Apache-2.0
#include "lookaside/workload/open_source.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "lookaside/base/address.h"
#include "lookaside/base/status.h"
#include "lookaside/config/config_value.h"
#include "lookaside/config/nearest.h"
#include "lookaside/trace/open_trace.h"

namespace lookaside {
namespace {

constexpr std::string_view kPrefix = "gen:";
constexpr uint64_t kMostReaders = 4096;
constexpr uint64_t kMostReads = uint64_t{1} << 20;
constexpr uint64_t kMostRegion = uint64_t{1} << 40;

struct Parameter {
  std::string_view name;
  uint64_t MprotectConfig::* field;
  uint64_t min;
  uint64_t max;
};

constexpr Parameter kParameters[] = {
    {"t", &MprotectConfig::readers, 0, kMostReaders},
    {"p", &MprotectConfig::reads, 1, kMostReads},
    {"n", &MprotectConfig::pages, 1, kMostRegion / kPageBytes},
    {"l", &MprotectConfig::calls, 0, ~uint64_t{0} >> 1},
    {"size", &MprotectConfig::region, kPageBytes, kMostRegion},
};

constexpr std::pair<std::string_view, bool MprotectConfig::*> kFlags[] = {
    {"redraw", &MprotectConfig::redraw},
    {"sparse", &MprotectConfig::sparse},
};

std::vector<std::string_view> Split(std::string_view text) {
  std::vector<std::string_view> words;
  for (;;) {
    const size_t comma = text.find(',');
    words.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return words;
    text.remove_prefix(comma + 1);
  }
}

std::optional<uint64_t> ParseInteger(std::string_view text) {
  uint64_t value = 0;
  const auto [stop, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

absl::Status Set(MprotectConfig& config, std::string_view key,
                 std::string_view value) {
  for (const auto& [name, flag] : kFlags) {
    if (key != name) continue;
    if (value != "0" && value != "1") {
      return InvalidArgument("{}={}: expected 0 or 1", key, value);
    }
    config.*flag = value == "1";
    return absl::OkStatus();
  }
  for (const Parameter& parameter : kParameters) {
    if (parameter.name != key) continue;
    const bool size = key == "size";
    const auto number = size ? ParseSize(value) : ParseInteger(value);
    if (!number || *number < parameter.min || *number > parameter.max) {
      return InvalidArgument(
          "{}={}: expected {} from {} to {}", key, value,
          size ? "a size" : "an integer",
          size ? SizeToString(parameter.min) : std::to_string(parameter.min),
          size ? SizeToString(parameter.max) : std::to_string(parameter.max));
    }
    config.*parameter.field = *number;
    return absl::OkStatus();
  }
  std::vector<std::string> names;
  for (const Parameter& parameter : kParameters) {
    names.emplace_back(parameter.name);
  }
  for (const auto& [name, flag] : kFlags) names.emplace_back(name);
  return InvalidArgument(
      "unknown parameter '{}'; did you mean '{}'? mprotect has t, p, n, l, "
      "size, redraw and sparse",
      key, Nearest(key, names));
}

absl::Status SetAll(MprotectConfig& config,
                    std::span<const std::string_view> words) {
  std::vector<std::string_view> seen;
  for (const std::string_view word : words) {
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos) {
      return InvalidArgument("'{}': expected PARAMETER=VALUE", word);
    }
    const std::string_view key = word.substr(0, equals);
    if (std::ranges::find(seen, key) != seen.end()) {
      return InvalidArgument("{} is given twice", key);
    }
    seen.push_back(key);
    LOOKASIDE_RETURN_IF_ERROR(Set(config, key, word.substr(equals + 1)));
  }
  if (config.region % kPageBytes != 0) {
    return InvalidArgument("size={}: expected whole pages of 4K",
                           config.region);
  }
  if (config.pages > config.region / kPageBytes) {
    return InvalidArgument("n={}: the region has {} pages", config.pages,
                           config.region / kPageBytes);
  }
  return absl::OkStatus();
}

}  // namespace

bool NamesGenerator(const std::string& name) {
  return name.starts_with(kPrefix);
}

absl::StatusOr<MprotectConfig> ParseMprotect(const std::string& name) {
  const std::vector<std::string_view> words =
      Split(std::string_view(name).substr(kPrefix.size()));
  if (words.front() != "mprotect") {
    return InvalidArgument(
        "{}: unknown generator '{}'; there is gen:mprotect (a file of that "
        "name is ./{})",
        name, words.front(), name);
  }
  MprotectConfig config;
  const absl::Status set = SetAll(config, std::span(words).subspan(1));
  if (!set.ok()) {
    return absl::Status(set.code(), fmt::format("{}: {}", name, Message(set)));
  }
  return config;
}

absl::StatusOr<std::unique_ptr<TraceReader>> OpenSource(
    const std::string& name, uint64_t seed, const TraceOptions& reading) {
  if (!NamesGenerator(name)) return OpenTrace(name, reading);
  LOOKASIDE_ASSIGN_OR_RETURN(const MprotectConfig config, ParseMprotect(name));
  return std::make_unique<MprotectGenerator>(name, config, seed);
}

}  // namespace lookaside
