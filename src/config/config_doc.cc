// SPDX-License-Identifier: Apache-2.0
#include "lookaside/config/config_doc.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "lookaside/config/config_key.h"
#include "lookaside/config/config_loader.h"
#include "lookaside/config/config_value.h"

namespace lookaside {
namespace {

constexpr std::string_view kIntroduction =
    R"(# Configuration

<!-- Generated from the table of keys (src/config/key_table.cc) by
     test/config/config_doc_test. Do not edit. -->

A configuration is a TOML file, and the same dotted names serve `--set`:

```toml
# my.toml
base = "skylake-sp"            # a preset, another .toml file, or "none"
description = "Skylake with a larger STLB"

[tlb.stlb]
entries = 3072
ways = 24
replacement = "lru"

[walk]
overlap = 0.25
```

```
lookaside config check my.toml
lookaside config show --config my.toml
lookaside replay trace --config my.toml --set walk.overlap=0.5
```

## Precedence

base < file < `--cpu` < `--set`, key by key.

- A file without `base` inherits from the preset `skylake-sp`. `base = "none"`
  inherits nothing: it starts from one CPU of 1000 MHz that has no array, no
  cache and no cost but a cycle for each instruction. A base that ends in
  `.toml` is a file, relative to the one that names it; at most 16 files may
  inherit from one another.
- A preset describes a whole processor: with `--cpu` its TLB arrays replace all
  arrays of the file. What it does not give (`kernel.*`, `replay.*`,
  `paging.thp`, `paging.node_memory`, `cost.refill_*`) stays as the file has
  it.
- Of several `--set` of one key the last counts.

## Values

Integers are TOML integers. A size is a number of bytes or a string with the
suffix K, M, G or T (powers of 1024). A fraction has at most three decimals.
With `--set`, words need no quotes, and a list may be written `4K,2M`. Nothing
is ever corrected silently: an unknown key, a wrong type, a value out of range
and a geometry that cannot exist are errors.
)";

constexpr std::string_view kArrays = R"(
### TLB arrays: `tlb.<name>.*`

Any number of arrays, under names of at most 40 lower-case letters, digits and
`_` (but not `inclusion`, which is a key of its own); usual ones are `itlb_4k`,
`itlb_2m`, `dtlb_4k`, `dtlb_2m`, `dtlb_1g`, `stlb` and `stlb_1g`. Only a file may
add an array, giving every required key. With `entries = 0` one is removed.
Several arrays of one level and side that list the same page size are banks of
it.

An array whose `ways` equal its `entries` is fully associative, and stays so
when `entries` is changed without `ways`.

)";

constexpr std::string_view kCosts = R"(
`cost.*` amounts are given in `_ns` or in `_cycles`. Nanoseconds become cycles
of `machine.mhz` once, in integers, rounded half up. Both units of one cost in
one file are an error; in a later layer the one replaces the other.
)";

std::string DefaultText(const std::optional<ConfigValue>& value) {
  return value ? fmt::format("`{}`", ToToml(*value)) : "";
}

// "an integer from 0 to 8" as a cell.
std::string AllowedCell(const KeyShape& shape) {
  std::string cell = Allowed(shape);
  if (!shape.unit.empty() && shape.unit != "bytes") {
    cell += fmt::format(" ({})", shape.unit);
  }
  return cell;
}

std::string ArrayTable() {
  std::string text =
      "| key | allowed | when not given | meaning |\n|---|---|---|---|\n";
  for (const Key<TlbConfig>& key : ArrayKeys()) {
    text += fmt::format(
        "| `tlb.<name>.{}` | {} | {} | {} |\n", key.shape.name,
        AllowedCell(key.shape),
        key.shape.required ? "required" : DefaultText(key.get(TlbConfig())),
        key.shape.doc);
  }
  return text;
}

std::string_view GroupOf(const Key<SimConfig>& key) {
  const std::string_view name = key.shape.name;
  return name.substr(0, name.find('.'));
}

std::string KeyRow(const Key<SimConfig>& key, const SimConfig& preset) {
  return fmt::format("| `{}` | {} | {} | {} |\n", key.shape.name,
                     AllowedCell(key.shape), DefaultText(key.get(preset)),
                     key.shape.doc);
}

}  // namespace

std::string ConfigurationDoc() {
  const SimConfig preset = LoadPreset(kDefaultPreset).value_or(SimConfig());
  std::string text(kIntroduction);
  text += fmt::format("\n## Keys\n\nThe defaults are those of `{}`.\n",
                      kDefaultPreset);
  std::string_view group;
  for (const Key<SimConfig>& key : SimKeys()) {
    if (GroupOf(key) != group) {
      if (group == "tlb") text += fmt::format("{}{}", kArrays, ArrayTable());
      group = GroupOf(key);
      text += fmt::format("\n### `{}.*`\n", group);
      if (group == "cost") text += kCosts;
      text += "\n| key | allowed | default | meaning |\n|---|---|---|---|\n";
    }
    text += KeyRow(key, preset);
  }
  return text;
}

}  // namespace lookaside
