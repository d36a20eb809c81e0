// SPDX-License-Identifier: Apache-2.0
//
// A mapping of an address space: a range of pages with one protection, one
// kind of backing and one advice (Linux struct vm_area_struct).
//
// Backing is one of two: private memory, copied on write after a fork, or a
// page range of a shared object (MAP_SHARED), whose pages every mapping of it
// sees. Files are not told apart from memory: a private mapping of a file
// begins as private memory.
#ifndef LOOKASIDE_KERNEL_VMA_H_
#define LOOKASIDE_KERNEL_VMA_H_

#include <cstdint>

#include "lookaside/base/address.h"
#include "lookaside/base/digest.h"
#include "lookaside/base/typed_int.h"
#include "lookaside/pagetable/pte.h"

namespace lookaside {

struct SharedObjectIdTag;
// What a MAP_SHARED mapping maps; 0 is none.
using SharedObjectId = TypedInt<SharedObjectIdTag, uint32_t>;

// PROT_READ, PROT_WRITE, PROT_EXEC.
struct Protection {
  bool read = true;
  bool write = true;
  bool exec = false;

  // PROT_NONE: pages stay, and no access is allowed.
  bool none() const { return !read && !write && !exec; }

  friend bool operator==(const Protection&, const Protection&) = default;
};

// What x86 can say of it: whatever is present can be read.
constexpr PagePermissions PermissionsOf(const Protection& protection) {
  return {protection.write, true, !protection.exec};
}

// MADV_HUGEPAGE, MADV_NOHUGEPAGE.
enum class ThpAdvice : uint8_t { kNone, kHuge, kNoHuge };

// Without padding: it travels in the locals of frames.
struct VmaAttributes {
  Protection protection;
  ThpAdvice advice = ThpAdvice::kNone;
  SharedObjectId object{};
  uint32_t hugetlb = 0;  // MAP_HUGETLB: pages of 2M alone

  bool shared() const { return object.value() != 0; }

  friend bool operator==(const VmaAttributes&, const VmaAttributes&) = default;
};

struct Vma {
  VirtPage start;
  VirtPage end;  // past the last
  VmaAttributes attributes;
  uint64_t offset = 0;  // of `start` in the shared object, in pages

  uint64_t pages() const { return end.value() - start.value(); }
  uint64_t OffsetOf(VirtPage page) const {
    return offset + (page.value() - start.value());
  }

  // The part within [first, last), which overlaps it.
  Vma Clip(VirtPage first, VirtPage last) const {
    Vma part = *this;
    if (first > start) {
      part.start = first;
      if (attributes.shared()) part.offset = OffsetOf(first);
    }
    if (last < end) part.end = last;
    return part;
  }

  void AddTo(Digest& digest) const {
    digest.Add(start);
    digest.Add(end);
    digest.Add(attributes.protection.read);
    digest.Add(attributes.protection.write);
    digest.Add(attributes.protection.exec);
    digest.Add(attributes.advice);
    digest.Add(attributes.hugetlb);
    digest.Add(attributes.object);
    digest.Add(offset);
  }
  friend bool operator==(const Vma&, const Vma&) = default;
};

}  // namespace lookaside

#endif  // LOOKASIDE_KERNEL_VMA_H_
