// How much processor time the control groups of a Linux process leave it: containers are given
// "1.5 processors" that way, which no count of processors shows.
#pragma once

#include <cstdio>
#include <string>

#include "imbrex/base/index.hpp"

namespace imbrex::inline IMBREX_ABI {

namespace cpu_quota_detail {

/// The first bytes of a file, all that the files read here have; empty where there is none.
inline std::string contents(const std::string& path) {
  char bytes[4096];
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return {};
  const std::size_t count = std::fread(bytes, 1, sizeof bytes, file);
  std::fclose(file);
  return {bytes, count};
}

/// Takes a number from the front of `text`, and what follows it up to the next; -1 where there is
/// none ("max") or one that no group has.
inline index_t take_number(std::string& text) {
  std::size_t at = 0;
  index_t number = 0;
  while (at < text.size() && at < 16 && text[at] >= '0' && text[at] <= '9') {
    number = 10 * number + (text[at++] - '0');
  }
  const bool any = at > 0;
  while (at < text.size() && (text[at] == ' ' || text[at] == '\n')) ++at;
  text.erase(0, at);
  return any ? number : -1;
}

/// Processors that `quota` microseconds of every `period` are, rounded up; 0 for no limit.
inline index_t processors(index_t quota, index_t period) {
  return quota > 0 && period > 0 ? ceil_div(quota, period) : 0;
}

/// The smaller of two limits, either of which may be 0, none.
inline index_t tighter(index_t a, index_t b) { return a == 0 || (b > 0 && b < a) ? b : a; }

/// What one group has: version 2 in cpu.max, version 1 in two files.
inline index_t of_group(const std::string& directory) {
  std::string both = contents(directory + "/cpu.max");
  const index_t quota = take_number(both), period = take_number(both);
  if (const index_t limit = processors(quota, period); limit > 0) return limit;
  std::string old_quota = contents(directory + "/cpu.cfs_quota_us"),
              old_period = contents(directory + "/cpu.cfs_period_us");
  return processors(take_number(old_quota), take_number(old_period));
}

/// The least of a group and all it is in. (A container may see the path that its group has outside,
/// of which only the root is there.)
inline index_t of_groups(const std::string& root, std::string path) {
  index_t least = 0;
  while (true) {
    least = tighter(least, of_group(root + path));
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return least;
    path.erase(slash);
  }
}

}  // namespace cpu_quota_detail

/// How many processors' time this process may use, rounded up to whole ones; 0 for no limit. Read
/// from control groups of version 2 or 1 (kernel.org, admin-guide/cgroup-v2 and
/// scheduler/sched-bwc), below `root`.
inline index_t cpu_quota(const std::string& root = "") {
  std::string groups = cpu_quota_detail::contents(root + "/proc/self/cgroup");
  const std::string mounts = root + "/sys/fs/cgroup";
  index_t least = 0;
  while (!groups.empty()) {  // lines "number:controllers:path"; version 2 has no controllers
    const std::size_t end = groups.find('\n');
    const std::string line = groups.substr(0, end);
    groups.erase(0, end == std::string::npos ? end : end + 1);
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool has_cpu = ("," + controllers + ",").find(",cpu,") != std::string::npos;
    if (!controllers.empty() && !has_cpu) continue;
    const std::string mount = controllers.empty() ? mounts : mounts + "/" + controllers;
    least = cpu_quota_detail::tighter(least,
                                      cpu_quota_detail::of_groups(mount, line.substr(second + 1)));
  }
  return least;
}

}  // namespace imbrex::inline IMBREX_ABI
