// SPDX-License-Identifier: Apache-2.0
//
// The only file that includes toml++.
#ifndef TOML_EXCEPTIONS
#define TOML_EXCEPTIONS 0
#endif
#ifndef TOML_HEADER_ONLY
#define TOML_HEADER_ONLY 1
#endif
#include <fmt/format.h>
// toml++ 3.3 asserts what text can break: "[}" fails in parse_value(). Without
// the assertion it goes on to report the error properly, which the fuzzer of
// this file watches. As an assumption (clang, NDEBUG) it would be worse.
#include <toml++/impl/preprocessor.h>
#undef TOML_ASSERT
#undef TOML_ASSERT_ASSUME
#define TOML_ASSERT(expression) static_assert(true)
#define TOML_ASSERT_ASSUME(expression) static_assert(true)
#include <toml++/toml.h>

#include <algorithm>
#include <utility>

#include "lookaside/base/status.h"
#include "lookaside/config/config_layer.h"

namespace lookaside {
namespace {

std::string ListText(const toml::array& list);

std::string ValueText(const toml::node& node) {
  if (const auto* b = node.as_boolean()) return b->get() ? "true" : "false";
  if (const auto* i = node.as_integer()) return fmt::to_string(i->get());
  if (const auto* d = node.as_floating_point())
    return fmt::format("{:#}", d->get());
  if (const auto* s = node.as_string()) return Quote(s->get());
  if (const auto* a = node.as_array()) return ListText(*a);
  return node.is_table() ? "{...}" : "(a date or time)";
}

std::string ListText(const toml::array& list) {
  std::string text = "[";
  for (const toml::node& element : list) {
    if (text.size() > 1) text += ", ";
    // What is longer will not be shown, and lists may be deep.
    if (text.size() > 100) break;
    text += element.is_array() ? "[...]" : ValueText(element);
  }
  return text + "]";
}

std::optional<std::vector<std::string>> StringList(const toml::array& list) {
  std::vector<std::string> words;
  for (const toml::node& element : list) {
    const auto* word = element.as_string();
    if (word == nullptr) return std::nullopt;
    words.push_back(word->get());
  }
  return words;
}

RawValue ToRaw(const toml::node& node) {
  RawValue raw;
  raw.text = Excerpt(ValueText(node));
  if (const auto* b = node.as_boolean()) raw.value = b->get();
  if (const auto* i = node.as_integer()) raw.value = i->get();
  if (const auto* d = node.as_floating_point()) raw.value = d->get();
  if (const auto* s = node.as_string()) raw.value = s->get();
  if (const auto* a = node.as_array()) {
    if (auto words = StringList(*a)) raw.value = *std::move(words);
  }
  return raw;
}

// The text by lines, numbered from 1 as toml++ does.
class Lines {
 public:
  explicit Lines(std::string_view text) {
    while (true) {
      const size_t end = text.find('\n');
      lines_.push_back(text.substr(0, end));
      if (end == std::string_view::npos) break;
      text.remove_prefix(end + 1);
    }
  }

  // The comment behind what ends at `end`, "" if something else or nothing
  // follows.
  std::string CommentAfter(toml::source_position end) const {
    if (end.line == 0 || end.line > lines_.size()) return "";
    std::string_view line = lines_[end.line - 1];
    line = AfterColumns(line, end.column - 1);
    line = Strip(line);
    if (!line.starts_with('#')) return "";
    line.remove_prefix(1);
    return std::string(Strip(line));
  }

 private:
  // Columns count characters, not bytes.
  static std::string_view AfterColumns(std::string_view line,
                                       uint32_t columns) {
    size_t i = 0;
    while (i < line.size() && columns > 0) {
      ++i;
      while (i < line.size() &&
             (static_cast<unsigned char>(line[i]) & 0xc0) == 0x80) {
        ++i;
      }
      --columns;
    }
    return line.substr(i);
  }

  static std::string_view Strip(std::string_view text) {
    constexpr std::string_view kBlank = " \t\r";
    const size_t begin = text.find_first_not_of(kBlank);
    if (begin == std::string_view::npos) return "";
    return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
  }

  std::vector<std::string_view> lines_;
};

// Walks a parsed document and collects its assignments.
class Collector {
 public:
  Collector(std::string_view name, std::string_view text)
      : name_(name), lines_(text) {}

  void Collect(const toml::table& table, const std::string& prefix,
               std::vector<Assignment>& assignments) const {
    std::vector<std::pair<const toml::key*, const toml::node*>> children;
    for (const auto& [key, node] : table) children.emplace_back(&key, &node);
    // toml++ sorts by name; the order of arrays is that of the text.
    std::ranges::sort(children, [](const auto& a, const auto& b) {
      const auto at = [](const auto& child) {
        const toml::source_position begin = child.first->source().begin;
        return std::pair(begin.line, begin.column);
      };
      return at(a) < at(b);
    });
    for (const auto& [key, node] : children) {
      const std::string dotted = prefix + KeyText(key->str());
      const toml::table* const inner = node->as_table();
      if (inner != nullptr && !inner->empty()) {
        Collect(*inner, dotted + ".", assignments);
        continue;
      }
      assignments.push_back(MakeAssignment(dotted, *key, *node));
    }
  }

 private:
  // A quoted key with a dot in it is not the dotted key of the same look.
  static std::string KeyText(std::string_view key) {
    return key.find('.') == std::string_view::npos ? std::string(key)
                                                   : Quote(key);
  }

  Assignment MakeAssignment(const std::string& dotted, const toml::key& key,
                            const toml::node& node) const {
    Assignment assignment;
    assignment.key = dotted;
    if (!node.is_table()) assignment.value = ToRaw(node);
    assignment.origin.place =
        fmt::format("{}:{}", name_, key.source().begin.line);
    assignment.origin.note = lines_.CommentAfter(node.source().end);
    return assignment;
  }

  std::string name_;
  Lines lines_;
};

absl::StatusOr<std::string> TakeString(const Assignment& assignment) {
  const std::string* const text =
      assignment.value ? std::get_if<std::string>(&assignment.value->value)
                       : nullptr;
  if (text != nullptr) return *text;
  return Locate(
      assignment.origin.place,
      InvalidArgument("{} = {}: expected a string", assignment.key,
                      assignment.value ? assignment.value->text : "{}"));
}

}  // namespace

absl::StatusOr<ConfigLayer> ParseTomlLayer(std::string_view name,
                                           std::string_view text) {
  const toml::parse_result result = toml::parse(text);
  if (!result) {
    const toml::parse_error& error = result.error();
    return InvalidArgument("{}:{}:{}: {}", name, error.source().begin.line,
                           error.source().begin.column,
                           OneLine(error.description()));
  }
  std::vector<Assignment> all;
  Collector(name, text).Collect(result.table(), "", all);
  ConfigLayer layer;
  layer.name = name;
  layer.is_file = true;
  for (Assignment& assignment : all) {
    if (assignment.key == "base") {
      LOOKASIDE_RETURN_IF_ERROR(TakeString(assignment).status());
      layer.base = std::move(assignment);
    } else if (assignment.key == "description") {
      LOOKASIDE_ASSIGN_OR_RETURN(layer.description, TakeString(assignment));
    } else {
      layer.assignments.push_back(std::move(assignment));
    }
  }
  return layer;
}

RawValue ParseRawValue(std::string_view text) {
  RawValue raw;
  raw.text = Excerpt(text);
  // Only what is one TOML value and nothing more: no second line, no comment.
  if (text.find_first_of("\r\n#") == std::string_view::npos) {
    const toml::parse_result result = toml::parse(fmt::format("v = {}", text));
    if (result) {
      const toml::node* const node = result.table().get("v");
      if (node != nullptr && result.table().size() == 1) {
        raw.value = ToRaw(*node).value;
        return raw;
      }
    }
  }
  if (text.find(',') == std::string_view::npos) {
    raw.value = std::string(text);
    return raw;
  }
  std::vector<std::string> words;
  while (true) {
    const size_t comma = text.find(',');
    words.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  raw.value = std::move(words);
  return raw;
}

}  // namespace lookaside
