"""imbrex for Conan 2: `conan create .packaging/conan` in a checkout."""
import re
from pathlib import Path

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.files import copy, load
from conan.tools.layout import basic_layout


class Imbrex(ConanFile):
    name = "imbrex"
    license = "MIT"
    description = "Named, typed tensor shapes and a Llama-style decoder on them"
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {name: [True, False] for name in ("openmp", "text", "json", "eigen")}
    default_options = {name: True for name in options}
    no_copy_source = True

    @property
    def _tree(self):
        return Path(self.recipe_folder).parents[1]

    def set_version(self):
        header = load(self, self._tree / "include/imbrex/base/version.hpp")
        self.version = ".".join(re.findall(r"define IMBREX_VERSION_[A-Z]+ (\d+)", header))

    def export_sources(self):
        copy(self, "include/*", self._tree, self.export_sources_folder)
        copy(self, "LICENSE", self._tree, self.export_sources_folder)

    def layout(self):
        basic_layout(self)

    def requirements(self):
        if self.options.text:
            self.requires("pcre2/[>=10.40 <11]", transitive_headers=True, transitive_libs=True)
        if self.options.json:
            self.requires("nlohmann_json/[>=3.10 <4]", transitive_headers=True)
        if self.options.eigen:
            self.requires("eigen/[>=3.4 <4]", transitive_headers=True)

    def validate(self):
        check_min_cppstd(self, 20)

    def package_id(self):
        self.info.clear()

    def package(self):
        copy(self, "include/*", self.source_folder, self.package_folder)
        copy(self, "LICENSE", self.source_folder, Path(self.package_folder) / "licenses")

    def package_info(self):
        # The whole package is a target of its own, which would be called as the first component is.
        self.cpp_info.set_property("cmake_target_name", "imbrex::all")
        self._component("imbrex", "imbrex", [])
        if self.options.openmp:
            openmp = self._component("openmp", "imbrex-openmp", ["imbrex"])
            openmp.cxxflags = openmp.exelinkflags = openmp.sharedlinkflags = ["-fopenmp"]
        if self.options.text:
            self._component("text", "imbrex-text", ["imbrex", "pcre2::pcre2-8"])
        if self.options.json:
            self._component("json", "imbrex-json", ["imbrex", "nlohmann_json::nlohmann_json"])
        if self.options.eigen:
            self._component("eigen", "imbrex-eigen", ["imbrex", "eigen::eigen"])

    def _component(self, name, pc_name, requires):
        component = self.cpp_info.components[name]
        component.set_property("cmake_target_name", f"imbrex::{name}")
        component.set_property("pkg_config_name", pc_name)
        component.bindirs = component.libdirs = []
        component.requires = requires
        return component
