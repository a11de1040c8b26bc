# SPDX-License-Identifier: BSD-3-Clause
# lit.cfg.py - how lit runs the tests here. The build folder comes with --param build=FOLDER.
#
# A test is a file; its first line says what it shows, its RUN: lines show it. Beside lit's own
# substitutions there are %root, the repository, and %python. `nbcc`, `FileCheck`, `not` and
# `split-file` are found by name.

import os
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from lit_format import Apart

LLVM = "/usr/lib/llvm-19/bin"

config.name = "nbcc"
config.test_format = Apart(execute_external=True)
config.suffixes = [".nbc", ".sched", ".test"]
config.excludes = ["Inputs"]

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
build = os.path.abspath(lit_config.params.get("build", os.path.join(root, "build", "release")))
if not os.access(os.path.join(build, "bin", "nbcc"), os.X_OK):
    lit_config.fatal(f"{build}/bin/nbcc is not there; build it, or name a build: --param build=FOLDER")

config.test_source_root = os.path.join(root, "test")
config.test_exec_root = os.path.join(build, "test")
config.repository = root
config.build = build

# %rdma_vm OUTPUT COMMAND: in the virtual machine of scripts/rdma_vm. Kept where caches are, since it is downloaded.
machine = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "nbcc", "rdma_vm")
try:
    os.makedirs(machine, exist_ok=True)
except OSError:  # a home that is read-only, or none
    machine = os.path.join(build, "rdma_vm")
config.substitutions += [("%root", root), ("%build", build), ("%python", sys.executable),
                         ("%rdma_vm", f"{root}/scripts/rdma_vm/run {machine}")]
config.environment["PATH"] = os.pathsep.join([os.path.join(build, "bin"), LLVM, os.environ["PATH"]])
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "HOME"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# Programs keep what they free: memory that is new for each call costs a page fault for each of its pages, in a virtual
# machine more than the call. 9 ranks of shm-mpich.test: 36 s, and 10 s with it.
config.environment["GLIBC_TUNABLES"] = "glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold=4294967296"

# `REQUIRES: openmpi`, `mpich`: its programs were built. %run_openmpi N, %run_mpich N: on N ranks,
# for at most ten minutes. Ranks outnumber cores here: they yield where they can.
LAUNCHERS = {
    "openmpi": ("mpirun.openmpi --oversubscribe --mca mpi_yield_when_idle 1", "-x LD_PRELOAD=", []),
    "mpich": ("mpiexec.mpich", "-genv LD_PRELOAD ", [f"{build}/test/libmpich-yield.so"]),
}
# %preload_openmpi N, %preload_mpich N: likewise, with libnbc-mpi.so in front of the MPI; %tool_first_openmpi N,
# %tool_last_openmpi N, and so on: and a profiling tool before or behind it; %threads_openmpi N: and programs that call MPI_Init
# ask for MPI_THREAD_MULTIPLE.
for mpi, (launcher, preload, always) in LAUNCHERS.items():
    if os.access(os.path.join(build, "bin", f"mpi-check-{mpi}"), os.X_OK):
        config.available_features.add(mpi)
    dropin = f"{build}/lib/{mpi}/libnbc-mpi.so"
    tool, level = (f"{build}/test/libdropin-{name}-{mpi}.so" for name in ("tool", "level"))
    for name, libraries in [("run", []), ("preload", [dropin]), ("tool_first", [tool, dropin]), ("tool_last", [dropin, tool]),
                            ("threads", [level, dropin])]:
        words = preload + ":".join(always + libraries) if always + libraries else ""
        config.substitutions.append((f"%{name}_{mpi}", f"timeout 600 {launcher} {words} -n"))
config.environment["OMPI_ALLOW_RUN_AS_ROOT"] = config.environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"

# `REQUIRES: apps`: zstd and FFTW were there.
if all(os.path.exists(f"{build}/bin/app-{name}-{mpi}")
       for name in ("compression", "fft") for mpi in config.available_features & set(LAUNCHERS)):
    config.available_features.add("apps")

# `REQUIRES: fftw`, `hypre`: FFTW's MPI library, or hypre, was there, too, and for Open MPI, as Debian's are.
for name in ("fftw", "hypre"):
    if os.path.exists(f"{build}/bin/app-{name}-openmpi"):
        config.available_features.add(name)

# `REQUIRES: doxygen`, `groff`: see scripts/setup, group docs. %doxygen is the one that CMake found, or that has come since.
with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as cache:
    found = re.search(r"^DOXYGEN_EXECUTABLE:\w+=(/.+)$", cache.read(), re.MULTILINE)
doxygen = found.group(1) if found else shutil.which("doxygen")
if doxygen:
    config.available_features.add("doxygen")
    config.substitutions.append(("%doxygen", doxygen))
if shutil.which("groff"):
    config.available_features.add("groff")

# `UNSUPPORTED: sanitizer` is for tests that measure time or memory, link what was built with a plain cc, look at sources
# only, or repeat at length what others do.
with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as cache:
    config.sanitizer = bool(re.search(r"^NBCC_SANITIZE:\w+=.+$", cache.read(), re.MULTILINE))
if config.sanitizer:
    config.available_features.add("sanitizer")
    # UCX, below MPICH, patches the code of mmap and others while it is loaded. Where those are the sanitizer's, in
    # the program, that ends in a wild jump. It does without, and hwloc without plugins that leave memory behind.
    config.environment["UCX_MEM_EVENTS"] = "n"
    config.environment["HWLOC_COMPONENTS"] = "-gl,-opencl,-pci"
