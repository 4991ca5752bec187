# SPDX-License-Identifier: Apache-2.0
# verdict: leak
# type: type | function
# holder: processors
# Rows get a new type per query, and the table of processors is keyed by type, so it never hits.
import collections
import os
import time


class Database:
    processors = {}

    def processor(self, row_type):
        made = self.processors.get(row_type)
        if made is None:
            def made(values):
                return row_type(*values)

            self.processors[row_type] = made
        return made

    def query(self, text):
        row_type = collections.namedtuple("Row", ["ident", "name", "price"])
        return self.processor(row_type)((1, text, 2.5))


def main():
    end = time.monotonic() + float(os.environ.get("ZOO_SECONDS", "6"))
    database = Database()
    number = 0
    while time.monotonic() < end:
        for _ in range(20):
            database.query("SELECT * FROM goods WHERE ident = %d" % number)
            number += 1
        print("queries:", number, flush=True)
        time.sleep(0.03)


if __name__ == "__main__":
    main()
