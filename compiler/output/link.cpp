// SPDX-License-Identifier: BSD-3-Clause
// link.cpp - the headers of a shared object around what place() has put in order, and the seal.
//
//   NAME.o   =>   libNAME.so: nothing undefined, nothing needed, nothing to be relocated, no
//   constructors
//
//   headers, .hash, .dynsym, .dynstr, data | code      | .dynamic | sections
//   read-only                              | execute   | write    | not loaded
//
// Places in the file and addresses are the same numbers, but for .dynamic. A few symbols are
// exported and nothing else is asked of a linker, so we are that linker: no other program has to be
// there, the same input gives the same bytes, and it takes a fortieth of the time, which counts
// where a library is made while somebody waits. The loader writes into .dynamic; it is the only
// page that processes do not share. What is loaded is then sealed: its checksum is put into the
// tables.

#include "compiler/output/link.h"

#include <elf.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "compiler/output/place.h"
#include "nbc/library.h"

namespace nbcc {
namespace {

namespace fs = std::filesystem;

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
constexpr size_t kPage = 0x1000;
#elif defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64;
constexpr size_t kPage = 0x10000;  // the largest that kernels use
#else
#error "which machine is this, and how large are its pages?"
#endif

size_t roundUp(size_t n, size_t to) {
  return (n + to - 1) / to * to;
}

template <class T>
void put(std::string &file, size_t at, const T &value) {
  if (file.size() < at + sizeof value) file.resize(at + sizeof value);
  std::memcpy(file.data() + at, &value, sizeof value);
}

/// Strings one behind the other; the first is empty.
struct Strings {
  std::string bytes = std::string(1, '\0');
  uint32_t add(const std::string &s) {
    const size_t at = bytes.size();
    bytes.append(s.c_str(), s.size() + 1);
    return static_cast<uint32_t>(at);
  }
};

class SharedObject {
 public:
  SharedObject(const std::string &object, const std::string &name, Diag &diag)
      : object_(object), name_(name), diag_(diag) {}

  std::string bytes() {
    placed_ = place(object_, kPage, kPage, diag_);
    if (!diag_.ok()) return "";
    for (const PlacedSymbol &s : placed_.symbols) names_.push_back(strings_.add(s.name));
    soname_ = strings_.add(name_);
    const size_t symbols = placed_.symbols.size() + 1;
    hashAt_ = sizeof(Elf64_Ehdr) + kSegments * sizeof(Elf64_Phdr);
    symbolsAt_ = roundUp(hashAt_ + (2 + 1 + symbols) * sizeof(uint32_t), 8);
    stringsAt_ = symbolsAt_ + symbols * sizeof(Elf64_Sym);
    if (stringsAt_ + strings_.bytes.size() > kPage) {
      diag_.error(Loc(), "the library's names do not fit into a page");
      return "";
    }
    file_ = std::move(placed_.image);
    // At the end of a page of its own, which can be made read-only once it was written to.
    dynamicEnd_ = roundUp(placed_.codeEnd, kPage) + kPage;
    dynamicAt_ = dynamicEnd_ - kDynamic * sizeof(Elf64_Dyn);
    // In the file as near as pages allow: `strip` would move it there, and break the seal.
    moved_ = (dynamicAt_ - placed_.codeEnd) / kPage * kPage;
    file_.resize(dynamicEnd_ - moved_);
    putSections();  // after them, what a section's number is is known
    putSymbols();
    putDynamic();
    putSegments();
    putHeader();
    return std::move(file_);
  }

 private:
  static constexpr size_t kSegments = 6, kDynamic = 9;

  void putHash() {
    // One chain: there are two symbols.
    const auto symbols = static_cast<uint32_t>(placed_.symbols.size() + 1);
    put(file_, hashAt_, std::array<uint32_t, 3>{1, symbols, symbols > 1 ? 1u : 0u});
    for (uint32_t i = 0; i < symbols; ++i)
      put(file_, hashAt_ + (3 + i) * 4, i > 0 && i + 1 < symbols ? i + 1 : uint32_t{0});
  }

  void putSymbols() {
    putHash();
    for (size_t i = 0; i < placed_.symbols.size(); ++i) {
      const PlacedSymbol &s = placed_.symbols[i];
      uint16_t section = SHN_UNDEF;
      bool function = false;
      for (size_t k = 0; k < placed_.sections.size(); ++k) {
        const PlacedSection &in = placed_.sections[k];
        if (s.at < in.at || s.at >= in.at + in.bytes) continue;
        section = static_cast<uint16_t>(kFirstSection + k);
        function = in.executable;
      }
      Elf64_Sym symbol = {};
      symbol.st_name = names_[i];
      symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, function ? STT_FUNC : STT_OBJECT);
      symbol.st_shndx = section;
      symbol.st_value = s.at;
      symbol.st_size = s.bytes;
      put(file_, symbolsAt_ + (i + 1) * sizeof symbol, symbol);
    }
    std::memcpy(file_.data() + stringsAt_, strings_.bytes.data(), strings_.bytes.size());
  }

  void putDynamic() {
    const std::array<std::pair<int64_t, uint64_t>, kDynamic> entries = {
        {{DT_SONAME, soname_},
         {DT_HASH, hashAt_},
         {DT_STRTAB, stringsAt_},
         {DT_SYMTAB, symbolsAt_},
         {DT_STRSZ, strings_.bytes.size()},
         {DT_SYMENT, sizeof(Elf64_Sym)},
         {DT_FLAGS, DF_BIND_NOW},
         {DT_FLAGS_1, DF_1_NOW},
         {DT_NULL, 0}}};
    for (size_t i = 0; i < entries.size(); ++i) {
      Elf64_Dyn entry = {};
      entry.d_tag = entries[i].first;
      entry.d_un.d_val = entries[i].second;
      put(file_, dynamicAt_ - moved_ + i * sizeof entry, entry);
    }
  }

  void putSegments() {
    size_t at = sizeof(Elf64_Ehdr);
    const auto add = [&](uint32_t type, uint32_t flags, size_t begin, size_t end, size_t alignment,
                         size_t moved = 0) {
      Elf64_Phdr p = {};
      p.p_type = type;
      p.p_flags = flags;
      p.p_offset = begin - moved;
      p.p_vaddr = p.p_paddr = begin;
      p.p_filesz = p.p_memsz = end - begin;
      p.p_align = alignment;
      put(file_, at, p);
      at += sizeof p;
    };
    size_t dataEnd = kPage;
    for (const PlacedSection &s : placed_.sections)
      if (!s.executable) dataEnd = std::max(dataEnd, size_t(s.at + s.bytes));
    add(PT_LOAD, PF_R, 0, dataEnd, kPage);
    add(PT_LOAD, PF_R | PF_X, placed_.codeAt, placed_.codeEnd, kPage);
    add(PT_LOAD, PF_R | PF_W, dynamicAt_, dynamicEnd_, kPage, moved_);
    add(PT_DYNAMIC, PF_R | PF_W, dynamicAt_, dynamicEnd_, 8, moved_);
    add(PT_GNU_RELRO, PF_R, dynamicAt_, dynamicEnd_, 1, moved_);
    add(PT_GNU_STACK, PF_R | PF_W, 0, 0, 16);
  }

  /// They are not loaded; tools, and nbc_library_locate(), go by them.
  void putSections() {
    Strings names;
    std::vector<Elf64_Shdr> headers(1);
    const auto add = [&](const char *name, uint32_t type, uint64_t flags, size_t at, size_t bytes,
                         size_t alignment) {
      Elf64_Shdr s = {};
      s.sh_name = names.add(name);
      s.sh_type = type;
      s.sh_flags = flags;
      s.sh_addr = flags & SHF_ALLOC ? at : 0;
      s.sh_offset = at;
      s.sh_size = bytes;
      s.sh_addralign = alignment;
      headers.push_back(s);
      return static_cast<uint32_t>(headers.size() - 1);
    };
    const size_t symbols = placed_.symbols.size() + 1;
    const uint32_t hash = add(".hash", SHT_HASH, SHF_ALLOC, hashAt_, (3 + symbols) * 4, 8);
    const uint32_t table =
        add(".dynsym", SHT_DYNSYM, SHF_ALLOC, symbolsAt_, symbols * sizeof(Elf64_Sym), 8);
    const uint32_t strings =
        add(".dynstr", SHT_STRTAB, SHF_ALLOC, stringsAt_, strings_.bytes.size(), 1);
    headers[hash].sh_link = table;
    headers[hash].sh_entsize = sizeof(uint32_t);
    headers[table].sh_link = strings;
    headers[table].sh_info = 1;  // the first that is not local
    headers[table].sh_entsize = sizeof(Elf64_Sym);
    for (const PlacedSection &s : placed_.sections)
      add(s.name.c_str(), SHT_PROGBITS,
          s.executable ? SHF_ALLOC | SHF_EXECINSTR : uint64_t{SHF_ALLOC}, s.at, s.bytes,
          s.alignment);
    const uint32_t dynamic = add(".dynamic", SHT_DYNAMIC, SHF_ALLOC | SHF_WRITE, dynamicAt_,
                                 kDynamic * sizeof(Elf64_Dyn), 8);
    headers[dynamic].sh_offset -= moved_;
    headers[dynamic].sh_link = strings;
    headers[dynamic].sh_entsize = sizeof(Elf64_Dyn);
    const uint32_t own = add(".shstrtab", SHT_STRTAB, 0, file_.size(), 0, 1);
    headers[own].sh_size = names.bytes.size();
    file_ += names.bytes;
    sectionsAt_ = roundUp(file_.size(), 8);
    for (size_t i = 0; i < headers.size(); ++i)
      put(file_, sectionsAt_ + i * sizeof(Elf64_Shdr), headers[i]);
    sections_ = headers.size();
  }

  void putHeader() {
    Elf64_Ehdr e = {};
    std::memcpy(e.e_ident, ELFMAG, SELFMAG);
    e.e_ident[EI_CLASS] = ELFCLASS64;
    e.e_ident[EI_DATA] = ELFDATA2LSB;
    e.e_ident[EI_VERSION] = EV_CURRENT;
    e.e_type = ET_DYN;
    e.e_machine = kMachine;
    e.e_version = EV_CURRENT;
    e.e_phoff = sizeof e;
    e.e_shoff = sectionsAt_;
    e.e_ehsize = sizeof e;
    e.e_phentsize = sizeof(Elf64_Phdr);
    e.e_phnum = kSegments;
    e.e_shentsize = sizeof(Elf64_Shdr);
    e.e_shnum = static_cast<uint16_t>(sections_);
    e.e_shstrndx = static_cast<uint16_t>(sections_ - 1);
    put(file_, 0, e);
  }

  static constexpr size_t kFirstSection = 4;  // those before are the headers' own

  const std::string &object_, &name_;
  Diag &diag_;
  Placed placed_;
  std::string file_;
  Strings strings_;
  std::vector<uint32_t> names_;  // of symbols
  uint32_t soname_ = 0;
  size_t hashAt_ = 0, symbolsAt_ = 0, stringsAt_ = 0, dynamicAt_ = 0, dynamicEnd_ = 0;
  size_t moved_ = 0;  // by so much .dynamic stands before its address in the file
  size_t sectionsAt_ = 0, sections_ = 0;
};

void seal(std::string &shared, Diag &diag) {
  size_t at = 0, length = 0;
  const char *why = "";
  if (nbc_library_locate(shared.data(), shared.size(), &at, &length, &why))
    return diag.error(Loc(), "what was linked is no library: ", why);
  const uint64_t value = nbc_library_seal(shared.data(), shared.size(), at);
  std::memcpy(shared.data() + at + offsetof(nbc_library, seal), &value, sizeof value);
}

bool putFile(const std::string &bytes, const std::string &path) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush();
  return file.good();
}

}  // namespace

std::string linkShared(const std::string &object, const std::string &name, Diag &diag) {
  std::string shared = SharedObject(object, name, diag).bytes();
  if (diag.ok()) seal(shared, diag);
  return diag.ok() ? shared : "";
}

void writeWhole(const std::string &bytes, const std::string &path, Diag &diag) {
  const std::string beside = cat(path, ".", getpid(), ".part");
  std::error_code error;
  if (putFile(bytes, beside)) {
    fs::rename(beside, path, error);
    if (!error) return;
  }
  std::error_code ignored;
  fs::remove(beside, ignored);
  diag.error(Loc(), "cannot write ", path, error ? ": " + error.message() : "");
}

}  // namespace nbcc
