// SPDX-License-Identifier: Apache-2.0
#include "lookaside/pagetable/frame_allocator.h"

#include <algorithm>
#include <bit>

#include "lookaside/base/check.h"
#include "lookaside/base/status.h"

namespace lookaside {
namespace {

constexpr uint64_t kBlockBytes = uint64_t{1} << 30;
constexpr uint64_t kPhysicalBytes = uint64_t{1} << 52;  // MAXPHYADDR at most

}  // namespace

FrameAllocator::Bits512 FrameAllocator::Bits512::AllSet() {
  Bits512 bits;
  bits.words.fill(~uint64_t{0});
  return bits;
}

void FrameAllocator::Bits512::Set(unsigned i, bool on) {
  const uint64_t bit = uint64_t{1} << (i % 64);
  uint64_t& word = words[i / 64];
  word = on ? word | bit : word & ~bit;
}

bool FrameAllocator::Bits512::Any() const {
  return std::any_of(words.begin(), words.end(),
                     [](uint64_t word) { return word != 0; });
}

unsigned FrameAllocator::Bits512::Lowest() const {
  unsigned i = 0;
  while (words[i] == 0) ++i;
  return i * 64 + static_cast<unsigned>(std::countr_zero(words[i]));
}

absl::StatusOr<FrameAllocator> FrameAllocator::Create(
    uint32_t nodes, uint64_t node_memory, uint32_t nodes_per_socket) {
  LOOKASIDE_CHECK(nodes > 0 && nodes_per_socket > 0);
  LOOKASIDE_CHECK(nodes % nodes_per_socket == 0);
  if (node_memory == 0 || node_memory % kBlockBytes != 0) {
    return InvalidArgument(
        "paging.node_memory = {}: must be a positive multiple of 1 GiB",
        node_memory);
  }
  if (node_memory > kPhysicalBytes / nodes) {
    return InvalidArgument(
        "paging.node_memory = {}: {} nodes of it must fit the 52 bits of a "
        "physical address, so at most {} GiB each",
        node_memory, nodes, kPhysicalBytes / nodes / kBlockBytes);
  }
  return FrameAllocator(nodes, static_cast<uint32_t>(node_memory / kBlockBytes),
                        nodes_per_socket);
}

FrameAllocator::FrameAllocator(uint32_t nodes, uint32_t blocks_per_node,
                               uint32_t nodes_per_socket)
    : blocks_per_node_(blocks_per_node),
      nodes_per_socket_(nodes_per_socket),
      blocks_per_socket_(uint64_t{blocks_per_node} * nodes_per_socket),
      first_block_of_socket_(nodes),
      nodes_(nodes) {
  for (uint32_t node = 0; node < nodes; ++node) {
    first_block_of_socket_[node] = node / nodes_per_socket * blocks_per_socket_;
  }
}

absl::StatusOr<FrameNumber> FrameAllocator::Allocate(PageSize size, NodeId node,
                                                     Mobility mobility) {
  LOOKASIDE_CHECK(node.value() < nodes());
  const auto take = [&](uint32_t n) -> std::optional<FrameNumber> {
    const std::optional<uint64_t> frame = AllocateOn(nodes_[n], size, mobility);
    if (!frame) return std::nullopt;
    const uint64_t first = uint64_t{n} * blocks_per_node_ << kBlockOrder;
    return FrameNumber(first + *frame);
  };
  if (const auto frame = take(node.value())) return *frame;
  for (const bool same_socket : {true, false}) {
    for (uint32_t distance = 1; distance < nodes(); ++distance) {
      // Unsigned: below node 0 wraps to a number that no node has.
      for (const uint32_t n :
           {node.value() - distance, node.value() + distance}) {
        if (n >= nodes() || SameSocket(NodeId(n), node) != same_socket) {
          continue;
        }
        if (const auto frame = take(n)) return *frame;
      }
    }
  }
  return ResourceExhausted(
      "no free block of {} on any of {} nodes of {} GiB (paging.node_memory)",
      Name(size), nodes(), blocks_per_node_);
}

std::optional<uint64_t> FrameAllocator::AllocateOn(Node& node, PageSize size,
                                                   Mobility mobility) const {
  std::optional<uint64_t> frame;
  switch (size) {
    case PageSize::k4K:
      frame = TakeFrame(node, mobility);
      break;
    case PageSize::k2M:
      frame = TakePart(node);
      break;
    case PageSize::k1G:
      if (const std::optional<uint32_t> number = TakeBlock(node)) {
        node.blocks[*number].whole = true;
        frame = uint64_t{*number} << kBlockOrder;
      }
      break;
  }
  if (frame) node.used_frames += PagesIn(size);
  return frame;
}

// Enters the lowest free block into `blocks`, its state not yet set.
std::optional<uint32_t> FrameAllocator::TakeBlock(Node& node) const {
  uint32_t number = node.end;
  if (!node.holes.empty()) {
    number = node.holes.extract(node.holes.begin()).value();
  } else if (node.end < blocks_per_node_) {
    ++node.end;
  } else {
    return std::nullopt;
  }
  node.blocks.try_emplace(number);
  return number;
}

std::optional<uint64_t> FrameAllocator::TakePart(Node& node) const {
  if (node.with_part.empty()) {
    const std::optional<uint32_t> number = TakeBlock(node);
    if (!number) return std::nullopt;
    node.blocks[*number].free_parts = Bits512::AllSet();
    node.with_part.insert(*number);
  }
  const uint32_t number = *node.with_part.begin();
  Block& block = node.blocks.at(number);
  const unsigned part = block.free_parts.Lowest();
  block.free_parts.Set(part, false);
  if (!block.free_parts.Any()) node.with_part.erase(number);
  return (uint64_t{number} << kBlockOrder) + (uint64_t{part} << kPartOrder);
}

// Splits a free part for frames of that mobility, if there is one.
bool FrameAllocator::OpenPart(Node& node, Mobility mobility) const {
  const std::optional<uint64_t> first = TakePart(node);
  if (!first) return false;
  const auto number = static_cast<uint32_t>(*first >> kBlockOrder);
  const auto part = static_cast<unsigned>(*first >> kPartOrder) & 511u;
  node.blocks.at(number).parts.emplace(part, Part{mobility, Bits512::AllSet()});
  SetOpen(node, number, part, mobility, true);
  return true;
}

void FrameAllocator::SetOpen(Node& node, uint32_t number, unsigned part,
                             Mobility mobility, bool open) {
  const auto kind = static_cast<size_t>(mobility);
  Bits512& open_parts = node.blocks.at(number).open_parts[kind];
  open_parts.Set(part, open);
  if (open) {
    node.with_open[kind].insert(number);
  } else if (!open_parts.Any()) {
    node.with_open[kind].erase(number);
  }
}

std::optional<uint64_t> FrameAllocator::TakeFrame(Node& node,
                                                  Mobility mobility) const {
  auto kind = static_cast<size_t>(mobility);
  if (node.with_open[kind].empty() && !OpenPart(node, mobility)) {
    kind = 1 - kind;
    if (node.with_open[kind].empty()) return std::nullopt;
  }
  const uint32_t number = *node.with_open[kind].begin();
  Block& block = node.blocks.at(number);
  const unsigned part = block.open_parts[kind].Lowest();
  Bits512& free = block.parts.at(part).free;
  const unsigned frame = free.Lowest();
  free.Set(frame, false);
  if (!free.Any()) {
    SetOpen(node, number, part, static_cast<Mobility>(kind), false);
  }
  return (uint64_t{number} << kBlockOrder) + (uint64_t{part} << kPartOrder) +
         frame;
}

void FrameAllocator::Free(FrameNumber frame, PageSize size) {
  LOOKASIDE_CHECK(frame.value() % PagesIn(size) == 0);
  const uint32_t node_number = NodeOf(frame).value();
  LOOKASIDE_CHECK(node_number < nodes());
  Node& node = nodes_[node_number];
  const auto number =
      static_cast<uint32_t>(frame.value() >> kBlockOrder) % blocks_per_node_;
  const auto part = static_cast<unsigned>(frame.value() >> kPartOrder) & 511u;
  const auto block = node.blocks.find(number);
  LOOKASIDE_CHECK(block != node.blocks.end());
  LOOKASIDE_CHECK(block->second.whole == (size == PageSize::k1G));
  node.used_frames -= PagesIn(size);
  if (size == PageSize::k1G) return FreeBlock(node, number);
  const bool is_split = block->second.parts.contains(part);
  LOOKASIDE_CHECK(is_split == (size == PageSize::k4K));
  if (is_split && !FreeFrame(node, number, part,
                             static_cast<unsigned>(frame.value()) & 511u)) {
    return;
  }
  FreePart(node, number, part);
}

// Whether that was the last frame in use of its part, which then is whole.
bool FrameAllocator::FreeFrame(Node& node, uint32_t number, unsigned part,
                               unsigned frame) {
  std::map<uint32_t, Part>& parts = node.blocks.at(number).parts;
  const auto entry = parts.find(part);
  LOOKASIDE_CHECK(!entry->second.free.Get(frame));
  entry->second.free.Set(frame, true);
  const bool all_free = entry->second.free == Bits512::AllSet();
  SetOpen(node, number, part, entry->second.mobility, !all_free);
  if (all_free) parts.erase(entry);
  return all_free;
}

void FrameAllocator::FreePart(Node& node, uint32_t number, unsigned part) {
  Block& block = node.blocks.at(number);
  LOOKASIDE_CHECK(!block.free_parts.Get(part));
  block.free_parts.Set(part, true);
  node.with_part.insert(number);
  if (block.free_parts != Bits512::AllSet()) return;
  node.with_part.erase(number);
  FreeBlock(node, number);
}

void FrameAllocator::FreeBlock(Node& node, uint32_t number) {
  node.blocks.erase(number);
  node.holes.insert(number);
  while (node.end > 0 && node.holes.erase(node.end - 1) == 1) --node.end;
}

void FrameAllocator::AddTo(Digest& digest) const {
  const auto add_bits = [&digest](const Bits512& bits) {
    for (const uint64_t word : bits.words) digest.Add(word);
  };
  digest.Add(blocks_per_node_);
  digest.Add(nodes_per_socket_);
  digest.Add(nodes_.size());
  for (const Node& node : nodes_) {
    digest.Add(node.blocks.size());
    for (const auto& [number, block] : node.blocks) {
      digest.Add(number);
      digest.Add(block.whole);
      add_bits(block.free_parts);
      digest.Add(block.parts.size());
      for (const auto& [number_in_block, part] : block.parts) {
        digest.Add(number_in_block);
        digest.Add(part.mobility);
        add_bits(part.free);
      }
    }
  }
}

}  // namespace lookaside
