#include "imbrex/base/cpu_quota.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

using namespace imbrex;

namespace {

/// A root directory with some of Linux's files in it.
struct Root {
  Root() : path(std::filesystem::temp_directory_path() / "imbrex_cpu_quota_test") {
    std::filesystem::remove_all(path);
  }
  ~Root() { std::filesystem::remove_all(path); }

  Root& file(const std::string& name, const std::string& text) {
    const std::filesystem::path full = path / name;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << text;
    return *this;
  }
  Root& groups(const std::string& text) { return file("proc/self/cgroup", text); }
  index_t quota() const { return cpu_quota(path.string()); }

  std::filesystem::path path;
};

}  // namespace

TEST_CASE("quota: no files and no limit are no quota") {
  CHECK(Root().quota() == 0);
  CHECK(Root().groups("0::/\n").quota() == 0);
  CHECK(Root().groups("0::/\n").file("sys/fs/cgroup/cpu.max", "max 100000\n").quota() == 0);
  CHECK(Root()
            .groups("3:cpu:/\n")
            .file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n")
            .file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n")
            .quota() == 0);
  CHECK(cpu_quota() >= 0);
}

TEST_CASE("quota: version 2, the least of a group and all it is in, rounded up") {
  const std::string at = "sys/fs/cgroup/";
  Root root;
  root.groups("0::/a/b\n").file(at + "a/b/cpu.max", "350000 100000\n");
  CHECK(root.quota() == 4);
  root.file(at + "a/cpu.max", "150000 100000\n");
  CHECK(root.quota() == 2);
  root.file(at + "a/cpu.max", "max 100000\n");
  CHECK(root.quota() == 4);
  root.file(at + "cpu.max", "20000 50000\n");
  CHECK(root.quota() == 1);
}

TEST_CASE("quota: version 1, also where a container sees its group's path outside") {
  const std::string at = "sys/fs/cgroup/cpu,cpuacct/";
  Root root;
  root.groups("5:memory:/x\n4:cpu,cpuacct:/docker/123\n1:name=systemd:/x\n0::/x\n");
  root.file(at + "cpu.cfs_quota_us", "300000\n").file(at + "cpu.cfs_period_us", "100000\n");
  CHECK(root.quota() == 3);
  root.file(at + "docker/123/cpu.cfs_quota_us", "100000\n");
  CHECK(root.quota() == 3);  // no period: not a group
  root.file(at + "docker/123/cpu.cfs_period_us", "50000\n");
  CHECK(root.quota() == 2);
  root.groups("4:cpuset,cpuacct:/docker/123\n");  // not the controller of processor time
  CHECK(root.quota() == 0);
}

TEST_CASE("quota: files that say something else are no quota") {
  const std::string at = "sys/fs/cgroup/cpu.max";
  for (const char* text : {"", "\n", "100000", "100000 \n", "100000 0\n", "0 100000\n", "-5 100\n",
                           "x y\n", "99999999999999999999999 100000\n"}) {
    CAPTURE(text);
    CHECK(Root().groups("0::/\n").file(at, text).quota() >= 0);
    CHECK(Root().groups("0::/\n").file(at, text).quota() <= 99999999999);
  }
  for (const char* text : {"", "0", "0:", "0::", "::\n::\n", "\n\n\n", "no colons at all"}) {
    CAPTURE(text);
    CHECK(Root().groups(text).quota() == 0);
  }
}
