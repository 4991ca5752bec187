// SPDX-License-Identifier: Apache-2.0
// Names for the private fields of C types of the standard library.
//
// What such an object refers to is told by its tp_traverse, so an offset that is wrong here, in
// a version nobody measured, costs the name and makes no reference up. Types the collector is not
// told about have no tp_traverse: theirs is read here, and believed only if an object lies there.
#include "probe/cpython/types.h"

namespace lowtide::probe::cpython {

namespace {

struct Row {
  const char* type;  // tp_name
  int first, last;   // minor versions
  const char* fields;
};

inline constexpr int kAny = 99;

#define FUTURE "_loop@16 _callbacks@24 -_context@32 _callbacks@40 _exception@48 "
inline constexpr Row kRows[] = {
    {"_asyncio.Future", 8, 9, FUTURE "_result@56 _source_traceback@64 -_cancel_message@72"},
    {"_asyncio.Future", 10, 13,
     FUTURE "-exception_tb@56 _result@64 _source_traceback@72 -_cancel_message@80"},
    {"_asyncio.Task", 8, 8,
     FUTURE "_result@56 _source_traceback@64 _fut_waiter@104 _coro@112 _name@120 -_context@128"},
    {"_asyncio.Task", 9, 9,
     FUTURE "_result@56 _source_traceback@64 _fut_waiter@144 _coro@152 _name@160 -_context@168"},
    {"_asyncio.Task", 10, 10,
     FUTURE "_result@64 _source_traceback@72 _fut_waiter@152 _coro@160 _name@168 -_context@176"},
    {"_asyncio.Task", 11, 12,
     FUTURE "_result@64 _source_traceback@72 _fut_waiter@128 _coro@136 _name@144 -_context@152"},
    {"_asyncio.Task", 13, 13,
     FUTURE "_result@64 _source_traceback@72 _fut_waiter@112 _coro@120 _name@128 -_context@136"},
    {"_asyncio.FutureIter", 8, kAny, "-future@16"},
    {"TaskWakeupMethWrapper", 8, 9, "-task@16"},
    {"TaskStepMethWrapper", 8, kAny, "-task@16 -exception@24"},
    {"_thread._local", 8, 12, "-args@24 -kwargs@32 -values@48 -callback@56"},
    {"_thread._local", 13, 13, "-args@16 -kwargs@24 -values@40 -watchdogs@48"},
    {"_queue.SimpleQueue", 8, kAny, "-items@0"},
    {"_io.TextIOWrapper", 8, kAny,
     "-encoding@40 -encoder@48 -decoder@56 -newline@64 -errors@72 -decoded_chars@120 "
     "-pending_bytes@136 -snapshot@152 -raw@168"},
    {"_io.StringIO", 12, kAny, "-decoder@120 -newline@128"},
    {"_io.IncrementalNewlineDecoder", 8, kAny, "-decoder@16 -errors@24"},
    {"_io.BufferedRWPair", 8, kAny, "-reader@16 -writer@24"},
    {"_io._BytesIOBuffer", 8, kAny, "-source@16"},
    {"_csv.reader", 8, kAny, "-input@16 -dialect@24 -fields@32 -field@40"},
    {"_csv.writer", 8, kAny, "-write@16 -dialect@24"},
    {"_csv.Dialect", 8, kAny, "-lineterminator@40"},
    {"_json.Scanner", 9, kAny, "-memo@64"},
    {"_pickle.Pickler", 8, 12, "-persistent_id@24 -write@56 -memo@0"},
    {"_pickle.Pickler", 13, kAny, "-memo@0"},
    {"_pickle.Unpickler", 8, 12, "-stack@16 -memo@0"},
    {"_pickle.Unpickler", 13, kAny, "-stack@16 -memo@0"},
    {"_pickle.PicklerMemoProxy", 8, kAny, "-pickler@16"},
    {"_pickle.UnpicklerMemoProxy", 8, kAny, "-unpickler@16"},
    {"sqlite3.Connection", 10, 10, "-cache@80 -statements@88 -cursors@96 -callback@0"},
    {"sqlite3.Connection", 11, 11, "-cache@64 -cursors@72 -blobs@80 -callback@0"},
    {"sqlite3.Connection", 12, 13, "-cache@72 -cursors@80 -blobs@88 -callback@0"},
    {"sqlite3.Cursor", 8, kAny, "-statement@72"},
    {"sqlite3.Row", 8, kAny, "-data@16 -description@24"},
    {"decimal.Context", 8, kAny, "-traps@64 -flags@72"},
    {"datetime.timezone", 8, kAny, "-offset@16 -name@24"},
    {"_elementtree._element_iterator", 8, kAny, "-root@40 -tag@48 -parents@0"},
    {"xml.etree.ElementTree.TreeBuilder", 8, kAny,
     "-root@16 -this@24 -last@32 -data@40 -stack@56 -events@0"},
    {"itertools.chain", 8, kAny, "-source@16 -active@24"},
    {"itertools.cycle", 8, kAny, "-iterator@16 -saved@24"},
    {"itertools._tee", 8, kAny, "-data@16"},
    {"itertools._tee_dataobject", 8, kAny, "-iterator@16 -next@32 -values@0"},
    {"itertools.accumulate", 8, kAny, "-total@16 -iterator@24 -function@32 -initial@40"},
    {"itertools.groupby", 8, kAny,
     "-iterator@16 -function@24 -tgtkey@32 -currkey@40 -currvalue@48"},
    {"itertools._grouper", 8, kAny, "-groupby@16 -tgtkey@24"},
    {"itertools.compress", 8, kAny, "-data@16 -selectors@24"},
    {"itertools.starmap", 8, kAny, "-function@16 -iterator@24"},
    {"itertools.takewhile", 8, kAny, "-function@16 -iterator@24"},
    {"itertools.dropwhile", 8, kAny, "-function@16 -iterator@24"},
    {"itertools.filterfalse", 8, kAny, "-function@16 -iterator@24"},
    {"itertools.islice", 8, kAny, "-iterator@16"},
    {"itertools.batched", 12, kAny, "-iterator@16"},
    {"itertools.pairwise", 10, kAny, "-iterator@16 -old@24"},
    {"itertools.repeat", 8, kAny, "-element@16"},
    {"itertools.zip_longest", 8, kAny, "-iterators@32 -result@40 -fillvalue@48"},
    {"itertools.product", 8, kAny, "-pools@16 -result@32"},
    {"itertools.permutations", 8, kAny, "-pool@16"},
    {"itertools.combinations", 8, kAny, "-pool@16"},
    {"itertools.combinations_with_replacement", 8, kAny, "-pool@16"},
    {"map", 8, kAny, "-iterators@16 -function@24"},
    {"filter", 8, kAny, "-function@16 -iterator@24"},
    {"zip", 8, kAny, "-iterators@24 -result@32"},
    {"reversed", 8, kAny, "-sequence@24"},
    {"set_iterator", 8, kAny, "-set@16"},
    {"_collections._deque_iterator", 8, 11, "-deque@0"},
    {"_collections._deque_reverse_iterator", 8, 11, "-deque@0"},
    {"collections._deque_iterator", 12, kAny, "-deque@0"},
    {"collections._deque_reverse_iterator", 12, kAny, "-deque@0"},
    {"enumerate", 8, kAny, "-iterator@24 -result@32"},
    {"odict_iterator", 8, kAny, "-odict@24 -result@40 -current@48"},
    {"bytes_iterator", 8, kAny, "-sequence@24"},
    {"bytearray_iterator", 8, kAny, "-sequence@24"},
    {"str_iterator", 8, kAny, "-sequence@24"},
    {"str_ascii_iterator", 11, kAny, "-sequence@24"},
    {"dict_reversekeyiterator", 8, kAny, "-dict@16"},
    {"re.Pattern", 10, kAny, "-groupindex@32 -indexgroup@40"},
    {"itertools.count", 8, kAny, "-count@24 -step@32"},
    {"_struct.Struct", 8, kAny, "-format@0"},
    {"typing.TypeAliasType", 12, kAny, "-type_params@24 -compute_value@32 -value@40 -module@48"},
    {"operator.attrgetter", 8, kAny, "-attributes@24"},
    {"operator.itemgetter", 8, kAny, "-item@24"},
    {"operator.methodcaller", 8, kAny, "-name@16 -args@24 -kwargs@32"},
    {"functools.KeyWrapper", 8, kAny, "-function@16"},
    {"async_generator_asend", 8, kAny, "-generator@16 -value@24"},
    {"async_generator_athrow", 8, kAny, "-generator@16 -args@24"},
    {"hamt", 8, kAny, "-root@0"},
    {"keys", 8, kAny, "-map@0"},
    {"items", 8, kAny, "-map@0"},
    {"values", 8, kAny, "-map@0"},
    {"_abc._abc_data", 8, kAny, "-registry@16 -cache@24 -negative_cache@32"},
    {"types.GenericAlias", 9, kAny, "__origin__@16 __args__@24"},
};
#undef FUTURE

}  // namespace

const char* stdlib_fields(const char* type_name, int minor) {
  for (const Row& row : kRows)
    if (minor >= row.first && minor <= row.last && strcmp(row.type, type_name) == 0)
      return row.fields;
  return nullptr;
}

}  // namespace lowtide::probe::cpython
