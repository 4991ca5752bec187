// SPDX-License-Identifier: Apache-2.0
#include "heap/naming.h"

#include <algorithm>
#include <array>
#include <vector>

#include "heap/graph.h"

namespace lowtide::heap {
namespace {

template <std::size_t N>
bool one_of(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Builtins and near-builtins that only carry something else.
constexpr std::array<std::string_view, 22> kPlumbing{"cell",
                                                     "frame",
                                                     "traceback",
                                                     "method",
                                                     "builtin_function_or_method",
                                                     "method-wrapper",
                                                     "code",
                                                     "property",
                                                     "functools.partial",
                                                     "functools._lru_cache_wrapper",
                                                     "functools._lru_list_elem",
                                                     "_contextvars.Context",
                                                     "Context",
                                                     "hamt",
                                                     "hamt_bitmap_node",
                                                     "hamt_array_node",
                                                     "hamt_collision_node",
                                                     "_thread._localdummy",
                                                     "_thread._local",
                                                     "mappingproxy",
                                                     "super",
                                                     "getset_descriptor"};

constexpr std::array<std::string_view, 19> kContainers{"collections.OrderedDict",
                                                       "collections.defaultdict",
                                                       "collections.deque",
                                                       "collections.Counter",
                                                       "collections.UserDict",
                                                       "collections.UserList",
                                                       "weakref.ReferenceType",
                                                       "weakref.KeyedRef",
                                                       "weakref.WeakMethod",
                                                       "weakref.WeakSet",
                                                       "weakref.WeakKeyDictionary",
                                                       "weakref.WeakValueDictionary",
                                                       "_weakrefset.WeakSet",
                                                       "weakref",
                                                       "weakproxy",
                                                       "types.SimpleNamespace",
                                                       "_thread.lock",
                                                       "_thread.RLock",
                                                       "decimal.Decimal"};

constexpr std::array<std::string_view, 6> kFunctions{
    "function",        "coroutine",        "generator",
    "async_generator", "_cython_function", "cython_function_or_method"};

constexpr std::array<std::string_view, 8> kBuffers{"numpy.ndarray", "array.array",  "mmap.mmap",
                                                   "_io.BytesIO",   "_io.StringIO", "io.StringIO",
                                                   "io.BytesIO",    "numpy.memmap"};

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool is_exception(std::string_view bare) {
  return ends_with(bare, "Error") || ends_with(bare, "Exception") || ends_with(bare, "Warning") ||
         ends_with(bare, "Interrupt") || ends_with(bare, "Exit") || ends_with(bare, "Iteration");
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t dot = text.find('.');
    parts.push_back(text.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    text.remove_prefix(dot + 1);
  }
}

}  // namespace

std::string_view bare_type(std::string_view type) {
  constexpr std::string_view kBuiltins = "builtins.";
  return type.substr(0, kBuiltins.size()) == kBuiltins ? type.substr(kBuiltins.size()) : type;
}

bool is_function(std::string_view type) { return one_of(kFunctions, bare_type(type)); }

bool is_class(std::string_view type) {
  const std::string_view bare = bare_type(type);
  return bare == "type" || bare == "abc.ABCMeta" || bare == "enum.EnumMeta" ||
         bare == "enum.EnumType" || bare == "typing._ProtocolMeta" || ends_with(bare, "Meta") ||
         ends_with(bare, "Metaclass") || ends_with(bare, "MetaClass");
}

bool is_stowaway_carrier(std::string_view type) {
  const std::string_view bare = bare_type(type);
  return bare == "traceback" || bare == "Context" || bare == "_contextvars.Context";
}

Fame fame_of(std::string_view type, std::uint8_t node_flags) {
  const std::string_view bare = bare_type(type);
  if (bare.empty() || one_of(kPlumbing, bare)) return Fame::Plumbing;
  if ((node_flags & kStorage) != 0) return Fame::Plumbing;
  if (is_function(bare)) return Fame::Function;
  if (is_class(bare) || bare == "module") return Fame::Class;
  if (one_of(kBuffers, bare)) return Fame::Buffer;
  if ((node_flags & kUser) != 0) return Fame::User;
  if (one_of(kContainers, bare) || bare.substr(0, 10) == "itertools.") return Fame::Builtin;
  if (bare.find('.') != std::string_view::npos) return Fame::Library;
  return is_exception(bare) ? Fame::Library : Fame::Builtin;
}

std::string_view package_of(std::string_view type) {
  const std::string_view bare = bare_type(type);
  const std::size_t dot = bare.find('.');
  return dot == std::string_view::npos ? std::string_view() : bare.substr(0, dot);
}

std::string public_name(std::string_view type) {
  std::string bare(bare_type(type));
  // "app.make.<locals>.Model" is app's Model.
  const std::string locals = ".<locals>";
  for (std::size_t at = bare.find(locals); at != std::string::npos; at = bare.find(locals)) {
    const std::size_t dot = bare.rfind('.', at - 1);
    const std::size_t from = dot == std::string::npos ? 0 : dot;
    bare.erase(from, at + locals.size() - from);
  }
  if (bare.substr(0, 1) == ".") bare.erase(0, 1);
  std::vector<std::string_view> parts = split(bare);
  if (parts.size() < 2) return bare;
  if (parts[0] == "__main__") parts.erase(parts.begin());
  std::string name(parts[0]);
  // "_asyncio.Task", "_io.StringIO": modules of the standard library that a person imports
  // without the underscore.
  if (parts.size() > 1 && name.size() > 1 && name[0] == '_' && name[1] != '_') name.erase(0, 1);
  // Four parts and more: where a package keeps its class is its own affair.
  const bool deep = parts.size() >= 4;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const bool last = i + 1 == parts.size();
    if (deep && !last && !(i == 1 && parts[2].substr(0, 1) == "_")) continue;
    name += '.';
    name += parts[i];
  }
  return name;
}

std::string common_label(std::string_view a, std::string_view b) {
  if (a == b) return std::string(a);
  std::size_t front = 0;
  while (front < a.size() && front < b.size() && a[front] == b[front]) ++front;
  std::size_t back = 0;
  const std::size_t rest = std::min(a.size(), b.size()) - front;
  while (back < rest && a[a.size() - 1 - back] == b[b.size() - 1 - back]) ++back;
  if (front + back < 3) return "";
  return std::string(a.substr(0, front)) + "*" + std::string(a.substr(a.size() - back));
}

}  // namespace lowtide::heap
