"""The libraries that imbrex needs as Conan packages of what Debian has installed, where ConanCenter
cannot be reached: `conan create .packaging/conan/system_library --name eigen --version 3.4.0`, and
the same for pcre2 10.42 and nlohmann_json 3.11.2."""
from conan import ConanFile


class SystemLibrary(ConanFile):
    package_type = "unknown"

    def package_info(self):
        info = self.cpp_info
        info.includedirs = info.libdirs = info.bindirs = []
        if self.name == "eigen":
            info.includedirs = ["/usr/include/eigen3"]
            info.set_property("cmake_target_name", "Eigen3::Eigen")
        elif self.name == "nlohmann_json":
            info.set_property("cmake_target_name", "nlohmann_json::nlohmann_json")
        elif self.name == "pcre2":
            library = info.components["pcre2-8"]
            library.includedirs = library.libdirs = library.bindirs = []
            library.system_libs = ["pcre2-8"]
        else:
            raise ValueError(f"no system library is known for {self.name}")
