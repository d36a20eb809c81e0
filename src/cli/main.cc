// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string_view>

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "version") {
    std::puts("lookaside 0.1.0");
    return 0;
  }
  std::fputs("usage: lookaside version\n", stderr);
  return 2;
}
